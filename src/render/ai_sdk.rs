//! The window as messages of Vercel's AI SDK, which hands them on to any provider.
//!
//! Since any provider may stand behind it, the rules are those of [`super::alternating`].

use std::borrow::Cow;

use super::alternating::{Item, exchanges, joined_text, result};
use super::arguments::arguments_object;
use super::blocks::{Block, Dialect, Place, maker};
use super::names::{safe_id, safe_tool_name};
use super::tree::{Node, Object, member};
use super::turns::{AnsweredCall, Said};
use super::{Format, Request, paragraphs};
use crate::content::{Media, MediaKind, Part, Reasoning, Source};
use crate::json::to_json;
use crate::message::Role;
use crate::text::Text;

/// The longest name of a tool that every provider takes.
const MAX_NAME: usize = 64;

const DIALECT: Dialect = Dialect { name: "ai-sdk", maker: "ai-sdk", takes, takes_reasoning: |_, _| true };

/// Vercel's AI SDK.
pub const FORMAT: Format = Format { name: DIALECT.name, render: |request| to_json(&to_ai_sdk(request)) };

fn takes(media: &Media, place: Place) -> bool {
    match (media.kind, &media.source, place) {
        (_, Source::Id(_) | Source::Text(_), _) => false,
        (MediaKind::Image, _, Place::User) => true,
        // A file needs a type.
        (_, _, Place::User) => media.essence().is_some(),
        // What the model or a tool made is here, or it is nowhere.
        (_, source, Place::Assistant | Place::ToolResult) => {
            matches!(source, Source::Data(_)) && media.essence().is_some()
        }
    }
}

/// The parts of a request that come from the session: `{ system, messages }`.
///
/// The system text is the prompt, the memory block and every system message of the window; it is left out when there
/// is no text in it.
pub fn to_ai_sdk<'a>(request: &'a Request<'_>) -> Object<'a> {
    let instructions = request.instructions().map(Text::as_slice);
    let system = paragraphs(request.system_parts().chain(instructions)).filter(|text| !text.as_slice().is_blank());
    let mut messages: Vec<Object<'a>> = Vec::new();
    for exchange in exchanges(request, &DIALECT, safe_id).list {
        if exchange.role == Role::Assistant {
            let said = exchange.items.iter().find_map(said_of);
            let content = exchange.items.into_iter().map(assistant_part).collect();
            messages.push(message("assistant", shortest(content), said));
            continue;
        }
        let mut items = exchange.items.into_iter().peekable();
        let mut results: Vec<Node<'a>> = Vec::new();
        while let Some(Item::Result(_, call, id)) = items.next_if(|item| matches!(item, Item::Result(..))) {
            results.push(tool_result(&call, id).into());
        }
        if !results.is_empty() {
            messages.push(message("tool", results.into(), None));
        }
        let said = items.peek().and_then(said_of);
        let content: Vec<_> = items.map(user_part).collect();
        if !content.is_empty() {
            messages.push(message("user", shortest(content), said));
        }
    }
    Object::new().with_some("system", system).with("messages", messages)
}

fn message<'a>(role: &'static str, content: Node<'a>, said: Option<Said<'a>>) -> Object<'a> {
    let extra = said.and_then(|said| DIALECT.message_extra(said));
    let options = member(extra, "providerOptions");
    Object::new().with("role", role).with("content", content).with_some("providerOptions", options)
}

fn said_of<'a>(item: &Item<'a>) -> Option<Said<'a>> {
    match item {
        Item::Text { said, .. } => *said,
        Item::Block(said, _) | Item::Call(said, ..) => Some(*said),
        Item::Result(..) => None,
    }
}

/// A piece of content: text that has nothing beside it can be joined with more of its kind.
enum Piece<'a> {
    Text(Cow<'a, Text>),
    Other(Node<'a>),
}

/// Text alone as a string, anything else as a list of parts.
fn shortest(content: Vec<Piece<'_>>) -> Node<'_> {
    if content.iter().all(|piece| matches!(piece, Piece::Text(_))) {
        let texts = content.into_iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text),
            Piece::Other(_) => None,
        });
        let joined = texts.reduce(|mut joined, text| {
            super::push_paragraph(joined.to_mut(), text.as_slice());
            joined
        });
        return joined.unwrap_or_default().into();
    }
    let nodes = content.into_iter().map(|piece| match piece {
        Piece::Text(text) => Object::of_type("text").with("text", text).into(),
        Piece::Other(node) => node,
    });
    Node::List(nodes.collect())
}

fn text_piece<'a>(said: Option<Said<'a>>, text: Cow<'a, Text>, part: Option<&'a Part>) -> Piece<'a> {
    if part.is_none() {
        return Piece::Text(text);
    }
    let extra = said.and_then(|said| DIALECT.extra(said, part));
    Piece::Other(Object::of_type("text").with("text", text).with_members(extra).into())
}

fn user_part(item: Item<'_>) -> Piece<'_> {
    match item {
        Item::Text { said, text, part } => text_piece(said, text, part),
        Item::Block(said, Block::Media(media, part)) => {
            Piece::Other(media_part(media).with_members(DIALECT.extra(said, Some(part))).into())
        }
        Item::Block(_, Block::Custom(json, _)) => Piece::Other(json.into()),
        Item::Block(_, Block::Text { text, .. }) => Piece::Text(text),
        Item::Block(..) | Item::Call(..) | Item::Result(..) => Piece::Text(Cow::Owned(Text::new())),
    }
}

fn assistant_part(item: Item<'_>) -> Piece<'_> {
    match item {
        Item::Call(said, call, id) => {
            let object = Object::of_type("tool-call").with("toolCallId", id);
            let object = object.with("toolName", safe_tool_name(call.call.name.as_slice(), MAX_NAME));
            let object = object.with("input", arguments_object(&call.call.arguments));
            Piece::Other(object.with_members(DIALECT.call_extra(said, call.call)).into())
        }
        Item::Block(said, Block::Media(media, part)) => {
            Piece::Other(file_part(media).with_members(DIALECT.extra(said, Some(part))).into())
        }
        Item::Block(said, Block::Reasoning(reasoning, part)) => Piece::Other(thought(said, reasoning, part).into()),
        other => user_part(other),
    }
}

fn thought<'a>(said: Said<'a>, reasoning: &'a Reasoning, part: &'a Part) -> Object<'a> {
    let summary = || {
        let mut lines = reasoning.summary.iter();
        let mut text = lines.next().cloned().unwrap_or_default();
        lines.for_each(|line| super::push_paragraph(&mut text, line.as_slice()));
        text
    };
    let text = reasoning.text.clone().unwrap_or_else(summary);
    let object = Object::of_type("reasoning").with("text", text);
    if let Some(extra) = DIALECT.extra(said, Some(part)) {
        return object.with_members(Some(extra));
    }
    // How each maker's adapter wants its proof back.
    let details = said.message.details.as_ref();
    let from = part.provider.as_ref().or_else(|| details.and_then(|details| details.provider.as_ref()));
    let (name, options) = match maker(from.and_then(Text::as_str).unwrap_or_default()) {
        "anthropic" => {
            let options = Object::new().with_some("signature", reasoning.signature.as_ref());
            ("anthropic", options.with_some("redactedData", reasoning.encrypted.as_ref()))
        }
        "openai" => {
            let options = Object::new().with_some("itemId", part.item_id.as_ref());
            ("openai", options.with_some("reasoningEncryptedContent", reasoning.encrypted.as_ref()))
        }
        "gemini" => ("google", Object::new().with_some("thoughtSignature", reasoning.signature.as_ref())),
        _ => return object,
    };
    object.with("providerOptions", Object::new().with(name, options))
}

fn media_part(media: &Media) -> Object<'_> {
    if media.kind != MediaKind::Image {
        return file_part(media);
    }
    let object = Object::of_type("image").with("image", address(media));
    object.with_some("mediaType", media.essence())
}

fn file_part(media: &Media) -> Object<'_> {
    let media_type = media.essence().unwrap_or(Cow::Borrowed("application/octet-stream"));
    let object = Object::of_type("file").with("data", address(media)).with("mediaType", media_type);
    object.with_some("filename", media.name.as_ref())
}

fn address(media: &Media) -> &Text {
    match &media.source {
        Source::Data(text) | Source::Url(text) | Source::Text(text) | Source::Id(text) => text,
    }
}

fn tool_result<'a>(call: &AnsweredCall<'a>, id: Cow<'a, Text>) -> Object<'a> {
    let (blocks, is_error) = result(&DIALECT, call);
    let extra = call.result.and_then(|said| DIALECT.message_extra(said));
    let output = member(extra, "output").map_or_else(|| Node::from(output(blocks, is_error)), Node::from);
    let object = Object::of_type("tool-result").with("toolCallId", id);
    let object = object.with("toolName", safe_tool_name(call.call.name.as_slice(), MAX_NAME)).with("output", output);
    object.with_members(extra)
}

fn output(blocks: Vec<Block<'_>>, is_error: bool) -> Object<'_> {
    if !blocks.iter().any(|block| matches!(block, Block::Media(..))) {
        return Object::of_type(if is_error { "error-text" } else { "text" }).with("value", joined_text(&blocks));
    }
    let parts = blocks.into_iter().filter(|block| !block.is_blank()).filter_map(|block| match block {
        Block::Text { text, .. } => Some(Object::of_type("text").with("text", text)),
        Block::Media(media, _) => {
            let media_type = media.essence().unwrap_or(Cow::Borrowed("application/octet-stream"));
            Some(Object::of_type("media").with("data", address(media)).with("mediaType", media_type))
        }
        _ => None,
    });
    Object::of_type("content").with("value", parts.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::tests::rendered;

    #[track_caller]
    fn check(window: &str, expect: &[&str]) {
        assert_eq!(rendered(&FORMAT, window), format!(r#"{{"messages":[{}]}}"#, expect.join(",")));
    }

    #[test]
    fn results_are_one_message_of_their_own() {
        check(
            r#"[{"role":"user","content":"u"},
                {"role":"assistant","content":"a","toolCalls":[{"id":"1","name":"f","arguments":{"b":2}}]},
                {"role":"tool","content":"r","toolCallId":"1","parts":[{"type":"text","text":"r"},
                    {"type":"image","data":"AAAA","mediaType":"image/png"}]},
                {"role":"user","content":"v"}]"#,
            &[
                r#"{"role":"user","content":"u"}"#,
                concat!(
                    r#"{"role":"assistant","content":[{"type":"text","text":"a"},"#,
                    r#"{"type":"tool-call","toolCallId":"1","toolName":"f","input":{"b":2}}]}"#
                ),
                concat!(
                    r#"{"role":"tool","content":[{"type":"tool-result","toolCallId":"1","toolName":"f","#,
                    r#""output":{"type":"content","value":[{"type":"text","text":"r"},"#,
                    r#"{"type":"media","data":"AAAA","mediaType":"image/png"}]}}]}"#
                ),
                r#"{"role":"user","content":"v"}"#,
            ],
        );
    }
}
