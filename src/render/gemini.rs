//! The window for Google's Gemini API.
//!
//! Its rules are those of [`super::alternating`]; a function's result names the function, and calls need no id.

use std::borrow::Cow;

use super::alternating::{Item, exchanges, joined_text, result};
use super::arguments::arguments_object;
use super::blocks::{Block, Dialect, Place};
use super::names::{safe_id, safe_tool_name};
use super::tree::{Node, Object, member};
use super::turns::{AnsweredCall, Said};
use super::{Format, Request, paragraphs};
use crate::content::{Media, Source};
use crate::json::to_json;
use crate::message::{Role, ToolCall};
use crate::text::Text;

/// The longest name of a function.
const MAX_NAME: usize = 64;

const DIALECT: Dialect = Dialect {
    name: "gemini",
    maker: "gemini",
    takes,
    takes_reasoning: |reasoning, _| {
        reasoning.signature.is_some() || reasoning.text.as_ref().is_some_and(|text| !text.as_slice().is_blank())
    },
};

/// Google's Gemini API.
pub const FORMAT: Format = Format { name: DIALECT.name, render: |request| to_json(&to_gemini(request)) };

fn takes(media: &Media, place: Place) -> bool {
    // What a function returns is an object; media of it stand beside it.
    if place == Place::ToolResult {
        return false;
    }
    // The API guesses no types.
    match (&media.source, media.essence()) {
        (Source::Data(_) | Source::Url(_) | Source::Id(_), Some(essence)) => is_readable(&essence),
        _ => false,
    }
}

/// The types that the API reads.
fn is_readable(essence: &str) -> bool {
    match essence.split_once('/') {
        Some(("image", kind)) => matches!(kind, "png" | "jpeg" | "webp" | "heic" | "heif"),
        Some(("audio" | "video", _)) => true,
        Some(("application", kind)) => kind == "pdf",
        _ => false,
    }
}

/// The parts of a request that come from the session: `{ systemInstruction, contents }`.
///
/// The system instruction is the prompt, the memory block and every system message of the window; it is left out when
/// there is no text in it.
pub fn to_gemini<'a>(request: &'a Request<'_>) -> Object<'a> {
    let instructions = request.instructions().map(Text::as_slice);
    let system = paragraphs(request.system_parts().chain(instructions)).filter(|text| !text.as_slice().is_blank());
    let system = system.map(|text| Object::new().with("parts", vec![Object::new().with("text", text)]));
    let contents = exchanges(request, &DIALECT, safe_id).list.into_iter().map(|exchange| {
        let role = if exchange.role == Role::Assistant { "model" } else { "user" };
        let mut parts = Vec::with_capacity(exchange.items.len());
        // All answers come first, and behind them what the functions returned beside them.
        let mut returned = Vec::new();
        for item in exchange.items {
            if !matches!(item, Item::Result(..)) {
                parts.append(&mut returned);
            }
            push_part(&mut parts, &mut returned, item);
        }
        parts.append(&mut returned);
        Object::new().with("role", role).with("parts", parts)
    });
    Object::new().with_some("systemInstruction", system).with("contents", contents.collect::<Vec<_>>())
}

fn push_part<'a>(parts: &mut Vec<Node<'a>>, returned: &mut Vec<Node<'a>>, item: Item<'a>) {
    let object = match item {
        Item::Text { said, text, part } => {
            let extra = said.and_then(|said| DIALECT.extra(said, part));
            Object::new().with("text", text).with_members(extra)
        }
        Item::Call(said, call, id) => {
            let object = Object::new().with_some("id", own_id(said, call.call, id));
            let object =
                object.with("name", function_name(call.call)).with("args", arguments_object(&call.call.arguments));
            let extra = DIALECT.call_extra(said, call.call);
            Object::new().with("functionCall", object).with_members_but(extra, &[GENERATED_ID])
        }
        Item::Result(caller, call, id) => {
            // What came inside the answer goes back inside it.
            if let Some(said) = call.result
                && member(DIALECT.message_extra(said), "functionResponse").is_none()
            {
                returned.extend(returned_media(said));
            }
            function_response(caller, &call, id)
        }
        Item::Block(said, Block::Media(media, part)) => media_part(media).with_members(DIALECT.extra(said, Some(part))),
        Item::Block(said, Block::Reasoning(reasoning, part)) => {
            let text = reasoning.text.clone().unwrap_or_default();
            let object = Object::new().with("text", text).with("thought", true);
            let object = object.with_some("thoughtSignature", reasoning.signature.as_ref());
            object.with_members(DIALECT.extra(said, Some(part)))
        }
        Item::Block(_, Block::Custom(json, _)) => return parts.push(json.into()),
        Item::Block(_, Block::Text { text, .. }) => Object::new().with("text", text),
        Item::Block(_, Block::Call(_)) => return,
    };
    parts.push(object.into());
}

/// Says that the library made the id of a call, since the API had given none.
const GENERATED_ID: &str = "generatedId";

/// The id that goes back with a call: none when the API had given none, and none that another provider made. The API
/// pairs by order then.
fn own_id<'a>(said: Said<'_>, call: &ToolCall, id: Cow<'a, Text>) -> Option<Cow<'a, Text>> {
    let is_generated = member(DIALECT.call_extra(said, call), GENERATED_ID).is_some();
    (DIALECT.made_message(said) && !is_generated).then_some(id)
}

/// The function's name; it has to begin with a letter or `_`.
fn function_name(call: &ToolCall) -> Cow<'_, str> {
    let name = safe_tool_name(call.name.as_slice(), MAX_NAME);
    if name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        return name;
    }
    Cow::Owned(format!("_{name}").chars().take(MAX_NAME).collect())
}

fn function_response<'a>(caller: Said<'_>, call: &AnsweredCall<'a>, id: Cow<'a, Text>) -> Object<'a> {
    let (blocks, is_error) = result(&DIALECT, call);
    let own = call.result.and_then(|said| DIALECT.message_extra(said));
    let response = member(own, "response").filter(|json| json.as_str().starts_with('{')).map_or_else(
        || {
            let text = joined_text(&blocks);
            Node::from(Object::new().with(if is_error { "error" } else { "output" }, text))
        },
        Node::from,
    );
    let id = own_id(caller, call.call, id);
    let object = Object::new().with_some("id", id).with("name", function_name(call.call)).with("response", response);
    Object::new().with("functionResponse", object.with_members(member(own, "functionResponse").as_ref()))
}

/// What a function returned beside text.
fn returned_media(said: Said<'_>) -> Vec<Node<'_>> {
    let blocks = DIALECT.blocks(said, Place::User).into_iter();
    let media = blocks.filter_map(|block| match block {
        Block::Media(media, _) => Some(media_part(media).into()),
        _ => None,
    });
    media.collect()
}

fn media_part(media: &Media) -> Object<'_> {
    let media_type = media.essence().unwrap_or(Cow::Borrowed("application/octet-stream"));
    let object = Object::new().with("mimeType", media_type);
    match &media.source {
        Source::Data(data) | Source::Text(data) => Object::new().with("inlineData", object.with("data", data)),
        Source::Url(uri) | Source::Id(uri) => Object::new().with("fileData", object.with("fileUri", uri)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::tests::rendered;

    #[track_caller]
    fn check(window: &str, expect: &[&str]) {
        assert_eq!(rendered(&FORMAT, window), format!(r#"{{"contents":[{}]}}"#, expect.join(",")));
    }

    #[test]
    fn results_name_their_function_and_come_first() {
        check(
            r#"[{"role":"user","content":"u"},
                {"role":"assistant","content":"","toolCalls":[{"id":"1","name":"9f","arguments":"{\"a\":1}"},
                    {"id":"2","name":"g","arguments":""}]},
                {"role":"user","content":"v"},
                {"role":"tool","content":"r","toolCallId":"2","isError":true}]"#,
            &[
                r#"{"role":"user","parts":[{"text":"u"}]}"#,
                concat!(
                    r#"{"role":"model","parts":[{"functionCall":{"name":"_9f","args":{"a":1}}},"#,
                    r#"{"functionCall":{"name":"g","args":{}}}]}"#
                ),
                concat!(
                    r#"{"role":"user","parts":[{"functionResponse":{"name":"_9f","#,
                    r#""response":{"error":"[not run: no result was recorded for this call]"}}},"#,
                    r#"{"functionResponse":{"name":"g","response":{"error":"r"}}},{"text":"v"}]}"#
                ),
            ],
        );
    }

    #[test]
    fn media_need_a_type_that_is_read() {
        check(
            r#"[{"role":"user","content":"","parts":[{"type":"image","url":"https://a.example/b.png"},
                {"type":"image","url":"https://a.example/b"},{"type":"file","data":"JVBERi0x"}]}]"#,
            &[concat!(
                r#"{"role":"user","parts":[{"fileData":{"mimeType":"image/png","fileUri":"https://a.example/b.png"}},"#,
                r#"{"text":"[image]"},{"inlineData":{"mimeType":"application/pdf","data":"JVBERi0x"}}]}"#
            )],
        );
    }
}
