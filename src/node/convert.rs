//! Between the core's values and those of `types`.

use std::sync::Arc;

use napi::bindgen_prelude::{Either, Either3, Float64Array, Uint32Array, Utf16String};
use serde::Serialize;
use serde::ser::SerializeMap;

use super::types::{CoreOptions, Failure, JsText, Payload, WithVectors};
use crate::error::{Error, ErrorKind, Result};
use crate::fold::Policy;
use crate::json::{Number, to_json};
use crate::message::{ArchivedMessage, Message, Role, StoredMessage};
use crate::model::Functions;
use crate::recall::Vector;
use crate::session::{Config, Context, Incoming, Outcome, Problem, Recalled};
use crate::state::Slice;
use crate::text::Text;
use crate::tokens::{Cost, Encoding, MediaCosts, Rules, Tokenizer};

impl From<CoreOptions> for Config {
    fn from(options: CoreOptions) -> Self {
        Self {
            policy: Policy {
                max_tokens: options.max_tokens,
                target_tokens: options.target_tokens,
                keep_recent: options.keep_recent,
                align_to_user: options.align_to_user,
            },
            summary_max_tokens: options.summary_max_tokens,
            tokenizer: options
                .encoding
                .as_deref()
                .and_then(Encoding::from_name)
                .map(Tokenizer::Exact)
                .unwrap_or_default(),
            per_message_overhead: options.per_message_overhead,
            media_costs: MediaCosts {
                image: cost(options.image_tokens),
                file: cost(options.file_tokens),
                audio: cost(options.audio_tokens),
            },
            recall_top_k: options.recall_top_k,
            recall_min_score: options.recall_min_score,
            recall_max_tokens: options.recall_max_tokens,
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked not to be negative")]
            archive_max: options.archive_max as usize,
            defer_failed_folds: options.defer_failed_folds,
            accept_empty_summary: options.accept_empty_summary,
            functions: Functions {
                summarize: options.has_summarize,
                extract_facts: options.has_extract_facts,
                embed: options.has_embed,
                retrieve: options.has_retrieve,
                on_archive: options.has_on_archive,
            },
        }
    }
}

/// What a kind of media costs: a figure, or the name of the provider whose rules apply.
fn cost(option: Option<Either<f64, String>>) -> Cost {
    match option {
        None => Cost::OfMessage,
        Some(Either::A(tokens)) => Cost::Fixed(tokens),
        Some(Either::B(name)) => Rules::from_name(&name).map_or(Cost::OfMessage, Cost::By),
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        let kind = error.kind();
        #[expect(clippy::cast_precision_loss, reason = "a counter of thrown objects")]
        let thrown = if let ErrorKind::Callback(number) = kind { Some(number as f64) } else { None };
        Self { code: kind.code().to_owned(), message: error.to_string(), type_error: kind.is_type_error(), thrown }
    }
}

impl From<Text> for JsText {
    fn from(text: Text) -> Self {
        match text.as_str() {
            Some(text) => Either::A(text.to_owned()),
            None => Either::B(Utf16String::from(text.to_utf16())),
        }
    }
}

/// What the facade is told: JSON, and the vectors of the messages in it, which cross beside it.
pub(super) struct Reply {
    json: String,
    vectors: Vec<Option<Arc<Vector>>>,
}

impl From<String> for Reply {
    fn from(json: String) -> Self {
        Self { json, vectors: Vec::new() }
    }
}

impl From<Reply> for Payload {
    fn from(Reply { json, vectors }: Reply) -> Self {
        if vectors.iter().all(Option::is_none) {
            return Either3::A(json);
        }
        #[expect(clippy::cast_possible_truncation, reason = "no vector has 2^32 numbers")]
        let width = |vector: &Option<Arc<Vector>>| vector.as_ref().map_or(0, |vector| vector.len() as u32);
        let widths: Vec<u32> = vectors.iter().map(width).collect();
        let numbers: Vec<f64> = vectors.iter().flatten().flat_map(|vector| vector.to_f64()).collect();
        Either3::B(WithVectors { json, widths: Uint32Array::new(widths), numbers: Float64Array::new(numbers) })
    }
}

/// Takes the vectors out of archived messages, for them to cross beside the JSON.
pub(super) fn without_vectors(messages: &[&ArchivedMessage]) -> (Vec<ArchivedMessage>, Vec<Option<Arc<Vector>>>) {
    let bare = |message: &&ArchivedMessage| ArchivedMessage { embedding: None, ..(*message).clone() };
    (messages.iter().map(bare).collect(), messages.iter().map(|message| message.embedding.clone()).collect())
}

impl Reply {
    /// JSON with the vectors of the messages in it.
    pub(super) fn with_vectors(json: String, vectors: Vec<Option<Arc<Vector>>>) -> Self {
        Self { json, vectors }
    }
}

/// A string of the app.
pub(super) fn text(string: &Utf16String) -> Text {
    Text::from_utf16(string)
}

/// Takes the messages out of the one string that the facade packs them into.
///
/// The string is a header, a line feed, and then each message's content and JSON members, one after the other. The
/// header has `role,content length,members length,tokens` per message, separated by semicolons: the role as its
/// index, lengths in UTF-16 units, the tokens empty unless the app counts. One string crosses in one call, and each
/// character is copied once.
pub(super) fn unpack_messages(packed: &[u16]) -> Result<Vec<Incoming>> {
    let malformed = || Error::new(ErrorKind::Internal, "the facade packed messages in a way that cannot be read");
    let header_end = packed.iter().position(|unit| *unit == u16::from(b'\n')).ok_or_else(malformed)?;
    let header = String::from_utf16(&packed[..header_end]).map_err(|_| malformed())?;
    let mut rest = &packed[header_end + 1..];
    let mut take = |length: usize| {
        let (taken, left) = rest.split_at_checked(length).ok_or_else(malformed)?;
        rest = left;
        Ok::<_, Error>(taken)
    };
    header
        .split(';')
        .map(|entry| {
            let mut figures = entry.split(',');
            let mut whole = || figures.next()?.parse::<usize>().ok();
            let (Some(role), Some(content), Some(members)) = (whole(), whole(), whole()) else {
                return Err(malformed());
            };
            let text_tokens = figures.next().filter(|tokens| !tokens.is_empty());
            let text_tokens = text_tokens.map(str::parse).transpose().map_err(|_| malformed())?;
            let role =
                [Role::User, Role::Assistant, Role::System, Role::Tool].get(role).copied().ok_or_else(malformed)?;
            let content = Text::from_utf16(take(content)?);
            let message = if members == 0 {
                Message::new(role, content)
            } else {
                let json = String::from_utf16(take(members)?).map_err(|_| malformed())?;
                Message::with_members(role, content, &json).map_err(|error| {
                    Error::new(ErrorKind::InvalidArgument, "a message cannot be stored").with_source(error)
                })?
            };
            Ok(Incoming { message, text_tokens })
        })
        .collect()
}

/// What the facade gets for an operation: the value, and what goes beside it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Envelope<V> {
    value: V,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<ProblemJson>,
    /// The lines of the facts, for an app that counts tokens itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    facts_text: Option<Text>,
    /// Which of the retriever's hits stay, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    retrieved: Option<Vec<usize>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProblemJson {
    stage: &'static str,
    code: String,
    message: String,
    type_error: bool,
    thrown: Option<f64>,
}

impl From<&Problem> for ProblemJson {
    fn from(problem: &Problem) -> Self {
        let Failure { code, message, type_error, thrown } = Failure::from(&problem.error);
        Self { stage: problem.stage.as_str(), code, message, type_error, thrown }
    }
}

/// The envelope of a plain value.
pub(super) fn envelope(value: impl Serialize) -> Reply {
    to_json(&Envelope { value, problem: None, facts_text: None, retrieved: None }).into()
}

/// The envelope of what `add` gives.
pub(super) fn add_envelope(outcome: &Outcome) -> Reply {
    #[derive(Serialize)]
    struct AddResult<'a> {
        added: usize,
        compacted: bool,
        folded: usize,
        summary: &'a Text,
        facts: &'a [crate::facts::Fact],
    }
    let Outcome { added, folded, summary, facts, problem } = outcome;
    let value = AddResult { added: *added, compacted: *folded > 0, folded: *folded, summary, facts };
    to_json(&Envelope { value, problem: problem.as_ref().map(Into::into), facts_text: None, retrieved: None }).into()
}

/// The envelope of what `compact` gives.
pub(super) fn compact_envelope(outcome: &Outcome) -> Reply {
    #[derive(Serialize)]
    struct CompactResult<'a> {
        folded: usize,
        summary: &'a Text,
        facts: &'a [crate::facts::Fact],
    }
    let Outcome { folded, summary, facts, problem, .. } = outcome;
    let value = CompactResult { folded: *folded, summary, facts };
    to_json(&Envelope { value, problem: problem.as_ref().map(Into::into), facts_text: None, retrieved: None }).into()
}

/// The envelope of what `context` gives.
pub(super) fn context_envelope(context: &Context) -> Reply {
    let Context { session, recalled, recalled_tokens, system, facts, tokenizer, problem } = context;
    let retrieved = recalled.iter().map(|it| match it {
        Recalled::Retrieved(retrieved) => Some(retrieved.index),
        Recalled::Archived(..) => None,
    });
    let retrieved: Option<Vec<usize>> = retrieved.collect();
    let count = |text: &Text| tokenizer.count(text.as_slice());
    let recent = session.window_tokens();
    let archived = recalled.iter().filter_map(|it| match it {
        Recalled::Archived(message, _) => Some(message),
        Recalled::Retrieved(_) => None,
    });
    let (bare, vectors) = without_vectors(&archived.collect::<Vec<_>>());
    let value = ContextJson {
        context,
        archived: &bare,
        tokens: TokensJson {
            summary: Number(count(&session.summary)),
            facts: Number(count(facts)),
            recalled: Number(*recalled_tokens),
            recent: Number(recent),
            total: Number(count(system) + recent),
        },
    };
    let retrieved = retrieved.filter(|indexes| !indexes.is_empty());
    let problem = problem.as_ref().map(Into::into);
    let json = to_json(&Envelope { value, problem, facts_text: Some(facts.clone()), retrieved });
    Reply::with_vectors(json, vectors)
}

struct ContextJson<'a> {
    context: &'a Context,
    /// The recalled messages that are the archive's, without their vectors.
    archived: &'a [ArchivedMessage],
    tokens: TokensJson,
}

#[derive(Serialize)]
struct TokensJson {
    summary: Number,
    facts: Number,
    recalled: Number,
    recent: Number,
    total: Number,
}

impl Serialize for ContextJson<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct RecalledJson<'a> {
            message: &'a ArchivedMessage,
            score: Number,
        }
        let Context { session, recalled, system, .. } = self.context;
        let archived = || {
            let scores = recalled.iter().filter_map(|it| match it {
                Recalled::Archived(_, score) => Some(Number(*score)),
                Recalled::Retrieved(_) => None,
            });
            self.archived.iter().zip(scores).map(|(message, score)| RecalledJson { message, score })
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("sessionId", &session.id)?;
        map.serialize_entry("summary", &session.summary)?;
        map.serialize_entry("facts", &session.facts)?;
        map.serialize_entry("recalled", &Slice(archived))?;
        map.serialize_entry("recent", &Slice(|| session.recent.iter().map(|stored| &stored.message)))?;
        map.serialize_entry("system", system)?;
        map.serialize_entry("tokens", &self.tokens)?;
        map.end()
    }
}

/// The public shapes of stored messages.
pub(super) fn public<'a>(messages: impl Iterator<Item = &'a Arc<StoredMessage>>) -> Vec<&'a Message> {
    messages.map(|stored| &stored.message).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    #[test]
    fn messages_are_unpacked_by_utf16_lengths() {
        let incoming = unpack_messages(&packed("0,2,0,;3,1,12,1.5\n\u{1F600}x{\"name\":\"n\"}")).unwrap();
        assert_eq!(incoming[0].message.content, "\u{1F600}");
        assert_eq!(incoming[0].text_tokens, None);
        assert_eq!(incoming[1].message.role, Role::Tool);
        assert_eq!(incoming[1].message.speaker(), crate::text::TextSlice::from("n"));
        assert_eq!(incoming[1].text_tokens, Some(1.5));
    }

    #[test]
    fn what_cannot_be_unpacked_is_an_error() {
        for wrong in ["", "0,1,0,", "0,9,0,\nx", "9,0,0,\n", "0,x,0,\n", "0,0,2,\n{]"] {
            assert!(unpack_messages(&packed(wrong)).is_err(), "{wrong}");
        }
    }
}
