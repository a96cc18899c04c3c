//! The window for the Chat Completions API, which many services speak.

use std::borrow::Cow;

use super::blocks::{Block, Dialect, Place, Step, quoted_text, steps};
use super::names::{safe_name, safe_tool_name, unique_ids};
use super::tree::{Node, Object, member};
use super::turns::{AnsweredCall, NOT_RUN, Said};
use super::{Format, Request, paragraphs};
use crate::content::{Media, MediaKind, Part, PartKind, Source};
use crate::json::{Loose, to_json};
use crate::message::{Message, Role};
use crate::text::Text;

/// The longest name of a speaker or a function.
const MAX_NAME: usize = 64;

/// Where services that send thoughts as text put them.
const REASONING_MEMBERS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];

/// Members of an answer that no request takes.
const ANSWER_ONLY: [&str; 3] = ["annotations", "audio", "function_call"];

const DIALECT: Dialect = Dialect {
    name: "openai",
    maker: "openai",
    takes,
    takes_reasoning: |_, part| REASONING_MEMBERS.iter().any(|name| member(part.extra.as_ref(), name).is_some()),
};

/// OpenAI's Chat Completions API.
pub const FORMAT: Format = Format { name: DIALECT.name, render: |request| to_json(&to_openai(request)) };

fn takes(media: &Media, place: Place) -> bool {
    if place != Place::User {
        return false;
    }
    let essence = media.essence();
    match (media.kind, &media.source) {
        (MediaKind::Image, Source::Url(_)) | (MediaKind::File, Source::Id(_)) => true,
        (MediaKind::Image, Source::Data(_)) => {
            essence.is_none_or(|it| matches!(&*it, "image/jpeg" | "image/png" | "image/gif" | "image/webp"))
        }
        (MediaKind::Audio, Source::Data(_)) => audio_format(media).is_some(),
        (MediaKind::File, Source::Data(_)) => essence.is_some_and(|it| it == "application/pdf"),
        _ => false,
    }
}

fn audio_format(media: &Media) -> Option<&'static str> {
    match media.essence()?.as_ref() {
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => Some("wav"),
        "audio/mpeg" | "audio/mp3" | "audio/mpeg3" => Some("mp3"),
        _ => None,
    }
}

/// One system message of the prompt and the memory block, when either has text, and then the window.
///
/// System messages of the window stay where they are. Ids stay as they are as well, since services make them carry
/// meaning; only an id that comes twice in one message gets a number at its end. Pictures that tools return stand in
/// one message of the person behind all results of the turn: results are text here.
pub fn to_openai<'a>(request: &'a Request<'_>) -> Vec<Object<'a>> {
    let steps = steps(request, &DIALECT);
    let mut messages = Vec::with_capacity(steps.len() + 1);
    if let Some(system) = paragraphs(request.system_parts()) {
        messages.push(message(Role::System, system));
    }
    for step in steps {
        match step {
            Step::System(said) | Step::UnaddressedResult(said) => messages.push(plain(said, &said.message.content)),
            Step::User { said: Some(said), blocks } if said.message.role == Role::User => {
                messages.push(plain(said, content(said, blocks)));
            }
            Step::User { said: Some(said), blocks } => messages.push(message(Role::User, content(said, blocks))),
            Step::User { said: None, blocks } => messages.push(message(Role::User, texts(&blocks))),
            Step::Assistant { said, blocks, .. } => push_assistant(&mut messages, said, &blocks),
        }
    }
    messages
}

fn push_assistant<'a>(messages: &mut Vec<Object<'a>>, said: Said<'a>, blocks: &[Block<'a>]) {
    let calls: Vec<AnsweredCall<'a>> = blocks.iter().filter_map(call_of).collect();
    let ids = unique_ids(calls.iter().map(|it| own_id(said, &it.call.id)));
    let (text, refusal) = assistant_text(blocks);
    let mut object = plain(said, text).with_some("refusal", refusal);
    for block in blocks {
        if let Block::Reasoning(_, part) = block {
            for name in REASONING_MEMBERS {
                object = object.with_some(name, member(part.extra.as_ref(), name));
            }
        }
    }
    if !calls.is_empty() {
        let tool_calls = calls.iter().zip(&ids).map(|(it, id)| tool_call(said, it, id.clone()));
        object.set("tool_calls", tool_calls.collect::<Vec<_>>());
    }
    messages.push(object.with_members_but(DIALECT.message_extra(said), &ANSWER_ONLY));
    let mut pictures = Vec::new();
    for (it, id) in calls.iter().zip(ids) {
        let result = match it.result {
            Some(said) => {
                pictures.extend(returned_media(said));
                let object = plain(said, texts(&DIALECT.blocks(said, Place::ToolResult))).with("tool_call_id", id);
                object.with_members(DIALECT.message_extra(said))
            }
            None => message(Role::Tool, Text::from(NOT_RUN)).with("tool_call_id", id),
        };
        messages.push(result);
    }
    if !pictures.is_empty() {
        messages.push(message(Role::User, pictures));
    }
}

/// The longest id of a call, as OpenAI has it.
const MAX_ID: usize = 40;

/// The id of a call: as it is, since services make ids carry meaning, unless another API made it longer than any id is
/// here.
fn own_id<'a>(said: Said<'_>, id: &'a Text) -> Cow<'a, Text> {
    let is_foreign = said.message.details.as_ref().is_some_and(|details| details.provider.is_some());
    if !is_foreign || DIALECT.made_message(said) || id.as_bytes().len() <= MAX_ID {
        return Cow::Borrowed(id);
    }
    Cow::Owned(id.as_slice().utf16_prefix(MAX_ID - 8))
}

fn call_of<'a>(block: &Block<'a>) -> Option<AnsweredCall<'a>> {
    match block {
        Block::Call(call) => Some(*call),
        _ => None,
    }
}

fn tool_call<'a>(said: Said<'_>, call: &AnsweredCall<'a>, id: Cow<'a, Text>) -> Object<'a> {
    let name = safe_tool_name(call.call.name.as_slice(), MAX_NAME);
    let arguments = call.call.arguments.as_slice();
    let object = Object::new().with("id", id);
    let object = if call.call.is_custom() {
        let custom = Object::new().with("name", name).with("input", arguments);
        object.with("type", "custom").with("custom", custom)
    } else {
        let function = Object::new().with("name", name).with("arguments", arguments);
        object.with("type", "function").with("function", function)
    };
    object.with_members(DIALECT.call_extra(said, call.call))
}

/// What a tool returned beside text, under a line that says which tool it was.
fn returned_media<'a>(said: Said<'a>) -> Vec<Node<'a>> {
    let media = |part: &'a Part| match &part.kind {
        PartKind::Media(media) => match DIALECT.media(said, media, part, Place::User) {
            Block::Media(media, _) => Some(media_part(media).into()),
            _ => None,
        },
        _ => None,
    };
    let mut media: Vec<Node<'a>> = said.parts.iter().filter_map(media).collect();
    if !media.is_empty() {
        media.insert(0, text_part(Cow::Owned(quoted_text(said, "returned:"))).into());
    }
    media
}

/// The message's own role, content and speaker.
fn plain<'a>(said: Said<'a>, content: impl Into<Node<'a>>) -> Object<'a> {
    message(said.message.role, content).with_some("name", speaker(said.message))
}

fn message<'a>(role: Role, content: impl Into<Node<'a>>) -> Object<'a> {
    Object::new().with("role", role.as_str()).with("content", content)
}

/// The text of what the model said, and of what it refused. Blank text is kept where nothing else is said.
fn assistant_text<'a>(blocks: &[Block<'a>]) -> (Cow<'a, Text>, Option<Cow<'a, Text>>) {
    let of_kind = |wanted: bool| {
        let texts = blocks.iter().filter_map(move |block| match block {
            Block::Text { text, refusal, .. } if *refusal == wanted => Some(text.clone()),
            _ => None,
        });
        texts.reduce(|mut joined, text| {
            joined.to_mut().push('\n');
            joined.to_mut().push_slice(text.as_slice());
            joined
        })
    };
    (of_kind(false).unwrap_or_default(), of_kind(true))
}

fn texts<'a>(blocks: &[Block<'a>]) -> Cow<'a, Text> {
    super::alternating::joined_text(blocks)
}

/// Plain content as the string that it is, anything else as a list of parts.
fn content<'a>(said: Said<'a>, blocks: Vec<Block<'a>>) -> Node<'a> {
    if blocks.iter().all(|block| matches!(block, Block::Text { part: None, .. })) {
        return texts(&blocks).into();
    }
    let blocks = blocks.into_iter().filter(|block| !block.is_blank());
    let parts = blocks.filter_map(|block| match block {
        Block::Text { text, part, .. } => Some(text_part(text).with_members(DIALECT.extra(said, part)).into()),
        Block::Media(media, part) => Some(media_part(media).with_members(DIALECT.extra(said, Some(part))).into()),
        Block::Custom(json, _) => Some(Node::from(json)),
        Block::Reasoning(..) | Block::Call(_) => None,
    });
    let parts: Vec<Node<'a>> = parts.collect();
    if parts.is_empty() { Node::from(&said.message.content) } else { parts.into() }
}

fn text_part(text: Cow<'_, Text>) -> Object<'_> {
    Object::of_type("text").with("text", text)
}

fn media_part(media: &Media) -> Object<'_> {
    match (media.kind, &media.source) {
        (MediaKind::Audio, Source::Data(data)) => {
            let audio = Object::new().with("data", data).with("format", audio_format(media).unwrap_or("wav"));
            Object::of_type("input_audio").with("input_audio", audio)
        }
        (MediaKind::File, Source::Data(data)) => {
            let name = media.name.clone().unwrap_or_else(|| Text::from("file.pdf"));
            let url = media.data_url(data.as_slice(), "application/pdf");
            let file = Object::new().with("filename", name).with("file_data", url);
            Object::of_type("file").with("file", file)
        }
        (_, Source::Id(id)) => Object::of_type("file").with("file", Object::new().with("file_id", id)),
        (_, source) => {
            let url = match source {
                Source::Data(data) => Cow::Owned(media.data_url(data.as_slice(), "image/png")),
                Source::Url(url) | Source::Text(url) | Source::Id(url) => Cow::Borrowed(url),
            };
            let image = Object::new().with("url", url).with_some("detail", media.detail.as_ref());
            Object::of_type("image_url").with("image_url", image)
        }
    }
}

/// The message's name, unless JavaScript takes it for false.
fn speaker(message: &Message) -> Option<Cow<'_, str>> {
    if let Some(Loose::Other(json)) = &message.details.as_ref()?.name
        && matches!(json.as_str(), "false" | "0")
    {
        return None;
    }
    Some(safe_name(message.name()?, MAX_NAME)).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::tests::{any_window, check_openai, naive_openai, well_formed_window};
    use crate::text::TextSlice;
    use proptest::prelude::*;

    #[track_caller]
    fn check(window: &str, expect: &[&str]) {
        let window: Vec<Message> = serde_json::from_str(window).unwrap();
        let window: Vec<_> = window.iter().collect();
        let request = Request::new(None, "".into(), &window);
        check_openai(&window, &(FORMAT.render)(&request));
        assert_eq!(to_openai(&request).iter().map(to_json).collect::<Vec<_>>(), expect);
    }

    #[track_caller]
    fn check_system(prompt: Option<&str>, block: &str, expect: &str) {
        assert_eq!((FORMAT.render)(&Request::new(prompt.map(TextSlice::from), block.into(), &[])), expect);
    }

    #[test]
    fn prompt_and_block_are_one_system_message() {
        check_system(None, "", "[]");
        check_system(Some(" \n"), "\u{FEFF}", "[]");
        check_system(Some(" a "), "", r#"[{"role":"system","content":"a"}]"#);
        check_system(None, "\nb", r#"[{"role":"system","content":"b"}]"#);
        check_system(Some("a\n"), " b", r#"[{"role":"system","content":"a\n\nb"}]"#);
    }

    #[test]
    fn the_documented_window_is_mapped_one_to_one() {
        check(
            r#"[{"role":"user","content":"Any tables for six on Friday?"},
                {"role":"assistant","content":"","toolCalls":[
                    {"id":"call_1","name":"find_slots","arguments":{"party":6,"day":"friday"}}]},
                {"role":"tool","toolCallId":"call_1","name":"find_slots","content":"7pm and 9pm are free"},
                {"role":"system","content":"Be brief."},
                {"role":"assistant","content":"Seven or nine?","name":"Mia"},
                {"role":"user","content":" "},
                {"role":"tool","content":"late news"}]"#,
            &[
                r#"{"role":"user","content":"Any tables for six on Friday?"}"#,
                concat!(
                    r#"{"role":"assistant","content":"","tool_calls":[{"id":"call_1","type":"function","#,
                    r#""function":{"name":"find_slots","arguments":"{\"party\":6,\"day\":\"friday\"}"}}]}"#
                ),
                r#"{"role":"tool","content":"7pm and 9pm are free","name":"find_slots","tool_call_id":"call_1"}"#,
                r#"{"role":"system","content":"Be brief."}"#,
                r#"{"role":"assistant","content":"Seven or nine?","name":"Mia"}"#,
                r#"{"role":"user","content":" "}"#,
                r#"{"role":"tool","content":"late news"}"#,
            ],
        );
    }

    fn call(id: &str, arguments: &str) -> String {
        let function = format!(r#"{{"name":"f","arguments":"{arguments}"}}"#);
        format!(r#"{{"id":"{id}","type":"function","function":{function}}}"#)
    }

    fn calling(calls: &[String]) -> String {
        format!(r#"{{"role":"assistant","content":"","tool_calls":[{}]}}"#, calls.join(","))
    }

    #[test]
    fn a_late_result_moves_up_past_everything() {
        check(
            r#"[{"role":"assistant","content":"","toolCalls":[{"id":"1","name":"f","arguments":""},
                    {"id":"2","name":"f","arguments":"{"}]},
                {"role":"tool","content":"b","toolCallId":"2"},
                {"role":"system","content":"s"},
                {"role":"user","content":"u"},
                {"role":"tool","content":"a","toolCallId":"1"}]"#,
            &[
                &calling(&[call("1", ""), call("2", "{")]),
                r#"{"role":"tool","content":"a","tool_call_id":"1"}"#,
                r#"{"role":"tool","content":"b","tool_call_id":"2"}"#,
                r#"{"role":"system","content":"s"}"#,
                r#"{"role":"user","content":"u"}"#,
            ],
        );
    }

    #[test]
    fn a_call_without_a_result_is_answered() {
        check(
            r#"[{"role":"assistant","content":"","toolCalls":[{"id":"1","name":"f","arguments":""}]}]"#,
            &[
                &calling(&[call("1", "")]),
                r#"{"role":"tool","content":"[not run: no result was recorded for this call]","tool_call_id":"1"}"#,
            ],
        );
    }

    #[test]
    fn a_result_without_a_call_is_quoted() {
        check(
            r#"[{"role":"tool","content":"x","name":"f","toolCallId":"9"},
                {"role":"assistant","content":"","toolCalls":[{"id":"1","name":"f","arguments":""}]},
                {"role":"tool","content":"y","toolCallId":"1"},
                {"role":"tool","content":"z","toolCallId":"1"}]"#,
            &[
                r#"{"role":"user","content":"[f] x"}"#,
                &calling(&[call("1", "")]),
                r#"{"role":"tool","content":"y","tool_call_id":"1"}"#,
                r#"{"role":"user","content":"[tool] z"}"#,
            ],
        );
    }

    #[test]
    fn ids_differ_within_a_message_only() {
        let calls = r#"[{"id":"1","name":"f","arguments":""},{"id":"1","name":"f","arguments":""}]"#;
        let window = format!(
            r#"[{{"role":"assistant","content":"","toolCalls":{calls}}},
                {{"role":"tool","content":"x","toolCallId":"1"}},
                {{"role":"tool","content":"y","toolCallId":"1"}},
                {{"role":"assistant","content":"","toolCalls":[{{"id":"1","name":"f","arguments":""}}]}},
                {{"role":"tool","content":"z","toolCallId":"1"}}]"#
        );
        check(
            &window,
            &[
                &calling(&[call("1", ""), call("1_2", "")]),
                r#"{"role":"tool","content":"x","tool_call_id":"1"}"#,
                r#"{"role":"tool","content":"y","tool_call_id":"1_2"}"#,
                &calling(&[call("1", "")]),
                r#"{"role":"tool","content":"z","tool_call_id":"1"}"#,
            ],
        );
    }

    #[track_caller]
    fn check_name(name: &str, expect: &str) {
        check(
            &format!(r#"[{{"role":"user","content":"u","name":{name}}}]"#),
            &[&format!(r#"{{"role":"user","content":"u"{expect}}}"#)],
        );
    }

    #[test]
    fn names_are_made_acceptable_or_left_out() {
        check_name(r#""Dana Scully""#, r#","name":"Dana_Scully""#);
        check_name(r#""""#, "");
        check_name("null", "");
        check_name("false", "");
        check_name("0", "");
        check_name("7", r#","name":"7""#);
        check_name(&format!(r#""{}""#, "é".repeat(70)), &format!(r#","name":"{}""#, "_".repeat(64)));
    }

    #[test]
    fn calls_of_other_roles_are_not_sent() {
        check(
            r#"[{"role":"user","content":"u","toolCalls":[{"id":"1","name":"f","arguments":""}]},
                {"role":"assistant","content":"a","toolCalls":[]}]"#,
            &[r#"{"role":"user","content":"u"}"#, r#"{"role":"assistant","content":"a"}"#],
        );
    }

    proptest! {
        #[test]
        fn every_window_is_accepted(messages in any_window()) {
            let window: Vec<_> = messages.iter().collect();
            check_openai(&window, &(FORMAT.render)(&Request::new(None, "".into(), &window)));
        }

        #[test]
        fn a_well_formed_window_is_mapped_one_to_one(messages in well_formed_window()) {
            let window: Vec<_> = messages.iter().collect();
            prop_assert_eq!((FORMAT.render)(&Request::new(None, "".into(), &window)), naive_openai(&messages));
        }
    }
}
