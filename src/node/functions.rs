//! The pure functions of the main door.

use std::borrow::Cow;

use napi::bindgen_prelude::{Either, Float64Array, Uint32Array, Utf16String};
use napi_derive::napi;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::bridge::panic_error;
use super::convert::text;
use super::stores::answered;
use super::types::{Answered, Failure, GroupRange, JsText};
use crate::error::{Error, ErrorKind, Result};
use crate::facts::{self, Fact};
use crate::json::{reason, to_json};
use crate::message::{Arguments, Message};
use crate::recall;
use crate::render::{self, FORMATS, Format, Headings, MemoryBlock, OpenCalls, Request};
use crate::summary;
use crate::text::{Text, TextSlice, one_line};
use crate::tokens::{self, Encoding};
use crate::tools;

/// A string or a failure.
type TextAnswer = Either<JsText, Failure>;

fn text_answer(answer: Result<Text>) -> TextAnswer {
    match answer {
        Ok(text) => Either::A(text.into()),
        Err(error) => Either::B(Failure::from(&error)),
    }
}

fn read<T: DeserializeOwned>(json: &str, what: &str) -> Result<T> {
    serde_json::from_str(json)
        .map_err(|error| Error::new(ErrorKind::InvalidArgument, format!("{what} cannot be read: {}", reason(&error))))
}

/// `estimateTokens`.
#[napi(catch_unwind)]
pub fn estimate_tokens(string: Utf16String) -> f64 {
    tokens::estimate(text(&string).as_slice())
}

/// `countTokens`. The encoding is one of the names that `encodings` gives.
#[napi(catch_unwind)]
pub fn count_tokens(string: String, encoding: String) -> Either<f64, Failure> {
    #[expect(clippy::cast_precision_loss, reason = "no text has 2^53 tokens")]
    let count = |encoding: Encoding| encoding.count(&string) as f64;
    match named(&encoding) {
        Ok(encoding) => Either::A(count(encoding)),
        Err(error) => Either::B(Failure::from(&error)),
    }
}

/// `encode`.
#[napi(catch_unwind)]
pub fn encode_tokens(string: String, encoding: String) -> Either<Uint32Array, Failure> {
    match named(&encoding) {
        Ok(encoding) => Either::A(encoding.encode(&string).into()),
        Err(error) => Either::B(Failure::from(&error)),
    }
}

/// `decode`.
#[napi(catch_unwind)]
pub fn decode_tokens(tokens: Uint32Array, encoding: String) -> Answered {
    answered(named(&encoding).and_then(|encoding| {
        let bytes = encoding.decode(&tokens);
        let bytes = bytes.ok_or_else(|| {
            Error::new(ErrorKind::InvalidArgument, format!("tokens has one that {} does not have", encoding.name()))
        })?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }))
}

/// The names of the encodings.
#[napi(catch_unwind)]
pub fn encodings() -> Vec<String> {
    Encoding::ALL.iter().map(|encoding| encoding.name().to_owned()).collect()
}

fn named(encoding: &str) -> Result<Encoding> {
    Encoding::from_name(encoding).ok_or_else(|| Error::new(ErrorKind::Internal, "there is no such encoding"))
}

/// `cosine`.
#[napi(catch_unwind)]
pub fn cosine(left: Float64Array, right: Float64Array) -> f64 {
    recall::cosine(&left, &right)
}

/// `normalizeFactKey`.
#[napi(catch_unwind)]
pub fn normalize_fact_key(key: Utf16String) -> JsText {
    facts::normalize_key(text(&key).as_slice()).into()
}

/// `parseFacts`, as JSON.
#[napi(catch_unwind)]
pub fn parse_facts(string: Utf16String) -> String {
    to_json(&facts::parse(text(&string).as_slice()))
}

/// `oneLine`.
#[napi(catch_unwind)]
pub fn one_line_text(string: Utf16String, max: Option<f64>) -> JsText {
    one_line(text(&string).as_slice(), max).into()
}

/// `transcript`, of a JSON list of messages.
#[napi(catch_unwind)]
pub fn transcript(messages: String) -> TextAnswer {
    text_answer(read::<Vec<Message>>(&messages, "the messages").map(|messages| summary::transcript(messages.iter())))
}

/// `messageText`, of a JSON message.
#[napi(catch_unwind)]
pub fn message_text(message: String) -> TextAnswer {
    text_answer(read::<Message>(&message, "the message").map(|message| message.text().into_owned()))
}

/// `parseArguments` for a string, as JSON.
#[napi(catch_unwind)]
pub fn parse_arguments(string: Utf16String) -> String {
    to_json(&render::arguments_object(&Arguments::Text(text(&string))))
}

/// `toolGroupAt`, of a JSON list of messages.
#[napi(catch_unwind)]
pub fn tool_group_at(messages: String, index: u32) -> Either<Option<GroupRange>, Failure> {
    let messages: Vec<Message> = match read(&messages, "the messages") {
        Ok(messages) => messages,
        Err(error) => return Either::B(Failure::from(&error)),
    };
    let group = tools::group_at(&messages.iter().collect::<Vec<_>>(), index as usize);
    #[expect(clippy::cast_possible_truncation, reason = "a JavaScript list has fewer than 2^32 items")]
    Either::A(group.map(|group| GroupRange { start: group.start as u32, end: group.end as u32 }))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptInput {
    #[serde(default)]
    previous_summary: Text,
    messages: Vec<Message>,
    #[serde(default)]
    facts: Vec<Fact>,
    #[serde(default)]
    max_tokens: Option<f64>,
}

impl PromptInput {
    fn max_tokens(&self) -> f64 {
        self.max_tokens.unwrap_or(f64::INFINITY)
    }
}

/// `summaryPrompt`.
#[napi(catch_unwind)]
pub fn summary_prompt(input: String) -> TextAnswer {
    text_answer(read::<PromptInput>(&input, "the input").map(|input| {
        let previous = input.previous_summary.as_slice();
        summary::summary_prompt(previous, input.messages.iter(), &input.facts, input.max_tokens())
    }))
}

/// `factsPrompt`.
#[napi(catch_unwind)]
pub fn facts_prompt(input: String) -> TextAnswer {
    text_answer(
        read::<PromptInput>(&input, "the input")
            .map(|input| summary::facts_prompt(input.messages.iter(), &input.facts)),
    )
}

/// `extractiveSummary` with the default count.
#[napi(catch_unwind)]
pub fn extractive_summary(input: String) -> TextAnswer {
    text_answer(
        read::<PromptInput>(&input, "the input").map(|input| {
            summary::extractive(input.previous_summary.as_slice(), input.messages.iter(), input.max_tokens())
        }),
    )
}

/// All lines of `extractiveSummary` as JSON, for an app that counts tokens itself.
#[napi(catch_unwind)]
pub fn extractive_lines(input: String) -> Answered {
    answered(
        read::<PromptInput>(&input, "the input")
            .map(|input| to_json(&summary::extractive_lines(input.previous_summary.as_slice(), input.messages.iter()))),
    )
}

#[derive(Deserialize)]
struct RenderInput {
    summary: Text,
    facts: Vec<Fact>,
    recalled: Vec<Message>,
    headings: HeadingsInput,
}

#[derive(Deserialize)]
struct HeadingsInput {
    summary: Text,
    facts: Text,
    recalled: Text,
}

/// `renderMemory`.
#[napi(catch_unwind)]
pub fn render_memory(input: String) -> TextAnswer {
    text_answer(read::<RenderInput>(&input, "the parts").map(|input| {
        let recalled: Vec<&Message> = input.recalled.iter().collect();
        let block = MemoryBlock { summary: input.summary.as_slice(), facts: &input.facts, recalled: &recalled };
        let HeadingsInput { summary, facts, recalled } = input.headings;
        render::render_memory(&block, &Headings { summary, facts, recalled })
    }))
}

/// `renderFacts`, of a JSON list of facts.
#[napi(catch_unwind)]
pub fn render_facts(facts: String) -> TextAnswer {
    text_answer(read::<Vec<Fact>>(&facts, "the facts").map(|facts| render::render_facts(&facts)))
}

/// `renderRecalled`, of a JSON list of messages.
#[napi(catch_unwind)]
pub fn render_recalled(messages: String) -> TextAnswer {
    text_answer(
        read::<Vec<Message>>(&messages, "the messages")
            .map(|messages| render::render_recalled(&messages.iter().collect::<Vec<_>>())),
    )
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestInput {
    system_prompt: Option<Text>,
    /// The memory block as it is, or what it is made of when recall has a place of its own.
    system: Option<Text>,
    #[serde(default)]
    summary: Text,
    #[serde(default)]
    facts: Vec<Fact>,
    #[serde(default)]
    recalled: Vec<Message>,
    recent: Vec<Message>,
    #[serde(default)]
    recall_last: bool,
    #[serde(default)]
    omit_open_calls: bool,
    #[serde(default)]
    cache_control: bool,
    provider: Option<String>,
}

impl RequestInput {
    fn render(&self, format: &Format) -> String {
        let window: Vec<&Message> = self.recent.iter().collect();
        let headings = Headings::default();
        let block =
            |summary, facts, recalled| render::render_memory(&MemoryBlock { summary, facts, recalled }, &headings);
        let (system, recalled) = if let Some(system) = &self.system {
            (Cow::Borrowed(system), Text::new())
        } else {
            let recalled: Vec<&Message> = self.recalled.iter().collect();
            let recalled = block(TextSlice::from(""), &[], &recalled);
            (Cow::Owned(block(self.summary.as_slice(), &self.facts, &[])), recalled)
        };
        let prompt = self.system_prompt.as_ref().map(Text::as_slice);
        let request = Request {
            recalled,
            recall_last: self.recall_last,
            open_calls: if self.omit_open_calls { OpenCalls::Omit } else { OpenCalls::Answer },
            cache_control: self.cache_control,
            maker: self.provider.clone(),
            ..Request::new(prompt, system.as_slice(), &window)
        };
        render::well_formed((format.render)(&request))
    }
}

/// A request for the API of the given name, as JSON.
#[napi(catch_unwind)]
pub fn render_request(format: String, input: String) -> Answered {
    answered(read::<RequestInput>(&input, "the context").and_then(|input| {
        let format = FORMATS.iter().find(|it| it.name == format);
        let format = format.ok_or_else(|| Error::new(ErrorKind::Internal, "there is no such format"))?;
        Ok(input.render(format))
    }))
}

/// Panics, for the test that a panic becomes an error.
///
/// # Errors
///
/// The panic, with the code of a fault of the library.
#[napi]
pub fn test_panic() -> napi::Result<(), String> {
    let panic = std::panic::catch_unwind(|| panic!("asked to panic"));
    panic.map_err(|panic| {
        let error = panic_error(&*panic);
        napi::Error::new(error.kind().code().to_owned(), error.to_string())
    })
}
