//! The window for Anthropic's Messages API.
//!
//! Its rules are those of [`super::alternating`]; ids of calls are unique in the whole request.

use std::borrow::Cow;

use super::alternating::{Exchange, Exchanges, Item, exchanges, result};
use super::arguments::arguments_object;
use super::blocks::{Block, Dialect, Place};
use super::names::{safe_id, safe_tool_name};
use super::tree::{Node, Object, member};
use super::turns::Said;
use super::{Format, Request, paragraphs, push_paragraph};
use crate::content::{Media, MediaKind, Source};
use crate::json::to_json;
use crate::message::Role;
use crate::text::Text;

/// The longest name of a tool.
const MAX_NAME: usize = 128;

const DIALECT: Dialect = Dialect {
    name: "anthropic",
    maker: "anthropic",
    takes,
    takes_reasoning: |reasoning, _| {
        reasoning.encrypted.is_some() || (reasoning.signature.is_some() && reasoning.text.is_some())
    },
};

/// Where a cache reaches to.
const CACHE_CONTROL: &str = "cache_control";

/// So many cache points a request may have.
const MAX_MARKS: usize = 4;

/// Which cache points a request has.
#[derive(Clone, Copy, PartialEq)]
enum Marks {
    /// Those that messages came with.
    Stored,
    /// The library's own, or none: those that messages came with are too many, or would stand among the others.
    Own,
}

/// How many cache points the messages came with.
fn stored_marks(request: &Request<'_>) -> usize {
    let details = || request.window.said().filter_map(|said| said.message.details.as_ref());
    let of_messages = details().filter_map(|details| details.extra.as_ref());
    let calls = details().filter_map(|details| details.tool_calls.as_ref()).flat_map(|calls| &calls.calls);
    let of_calls = calls.filter_map(|call| call.origin.as_ref()?.extra.as_ref());
    let of_parts = request.window.said().flat_map(|said| said.parts).filter_map(|part| part.extra.as_ref());
    let all = of_messages.chain(of_calls).chain(of_parts);
    all.filter(|extra| member(Some(extra), CACHE_CONTROL).is_some()).count()
}

/// Anthropic's Messages API.
pub const FORMAT: Format = Format { name: DIALECT.name, render: |request| to_json(&to_anthropic(request)) };

fn takes(media: &Media, place: Place) -> bool {
    if place == Place::Assistant {
        return false;
    }
    let essence = media.essence();
    match (media.kind, &media.source) {
        (_, Source::Url(_)) if !media.is_at("https") => false,
        (MediaKind::Image | MediaKind::File, Source::Id(_)) => true,
        // The media type behind an address is found out by whoever fetches it.
        (MediaKind::Image, Source::Url(_)) if essence.is_none() => true,
        (MediaKind::Image, Source::Url(_) | Source::Data(_)) => {
            essence.is_some_and(|it| matches!(&*it, "image/jpeg" | "image/png" | "image/gif" | "image/webp"))
        }
        (MediaKind::File, Source::Data(_) | Source::Url(_)) if essence.as_deref() == Some("application/pdf") => true,
        (MediaKind::File, _) => media.document_text().is_some_and(|text| !text.as_slice().is_blank()),
        _ => false,
    }
}

/// The parts of a request that come from the session: `{ system, messages }`.
///
/// The system text is the prompt, the memory block and every system message of the window. Messages that follow each
/// other in one role are merged, and blank text is left out. Text alone is a string, anything else a list of blocks.
///
/// With cache control the system text and every content is a list of blocks, and up to three of them are marked: the
/// end of the system text, the end of what the next turn repeats, and the end of a run of tools that is under way.
pub fn to_anthropic<'a>(request: &'a Request<'_>) -> Object<'a> {
    let exchanges = exchanges(request, &DIALECT, safe_id);
    let marks = if request.cache_control { cache_marks(request, &exchanges) } else { Vec::new() };
    let stored = if request.cache_control || stored_marks(request) > MAX_MARKS { Marks::Own } else { Marks::Stored };
    let last = exchanges.list.len().saturating_sub(1);
    let messages = exchanges.list.into_iter().enumerate().map(|(idx, exchange)| {
        let is_marked = |item: usize| marks.contains(&(idx, item));
        message(exchange, stored, request.cache_control, is_marked, idx == last)
    });
    Object::new().with("system", system(request)).with("messages", messages.collect::<Vec<_>>())
}

fn system<'a>(request: &'a Request<'_>) -> Node<'a> {
    let instructions = || request.instructions().map(Text::as_slice);
    if !request.cache_control {
        return paragraphs(request.system_parts().chain(instructions())).unwrap_or_default().into();
    }
    let stable =
        paragraphs(request.stable_system_parts().chain(instructions())).filter(|text| !text.as_slice().is_blank());
    let recalled = request.recalled_in_system().cloned();
    let block = |text: Text| Object::of_type("text").with("text", text);
    let stable = stable.map(|text| block(text).with("cache_control", cache_control()));
    let blocks: Vec<_> = stable.into_iter().chain(recalled.map(block)).collect();
    if blocks.is_empty() { Text::new().into() } else { blocks.into() }
}

fn cache_control<'a>() -> Object<'a> {
    Object::of_type("ephemeral")
}

/// Which items a cache reaches to.
fn cache_marks(request: &Request<'_>, exchanges: &Exchanges<'_>) -> Vec<(usize, usize)> {
    // What stands behind the system text is cached only as long as that stays the same.
    if request.recalled_in_system().is_some() {
        return Vec::new();
    }
    let list = &exchanges.list;
    let end = (list.len(), 0);
    let newest = exchanges.newest.unwrap_or(end);
    let spoke = |(exchange, item): (usize, usize)| {
        list[exchange..].iter().enumerate().any(|(idx, it)| it.role == Role::Assistant && (idx > 0 || item == 0))
    };
    let mut marks = vec![last_before(list, newest)];
    if newest != end && spoke(newest) {
        marks.push(last_before(list, end));
    }
    marks.into_iter().flatten().collect()
}

/// The last item before a place that can be marked. Reasoning cannot.
fn last_before(list: &[Exchange<'_>], (exchange, item): (usize, usize)) -> Option<(usize, usize)> {
    let items = |exchange: usize, count: usize| (0..count).map(move |item| (exchange, item));
    let before = (0..exchange).flat_map(|idx| items(idx, list[idx].items.len())).chain(items(exchange, item));
    let can_be_marked = |(exchange, item): &(usize, usize)| {
        !matches!(list[*exchange].items[*item], Item::Block(_, Block::Reasoning(..) | Block::Custom(..)))
    };
    before.rev().find(can_be_marked)
}

fn message<'a>(
    exchange: Exchange<'a>,
    marks: Marks,
    cache_control: bool,
    is_marked: impl Fn(usize) -> bool,
    is_last: bool,
) -> Object<'a> {
    let Exchange { role, mut items } = exchange;
    // A request that ends with the assistant asks the model to go on from there, and not from white space.
    if is_last
        && role == Role::Assistant
        && let Some(Item::Text { text, .. }) = items.last_mut()
    {
        let trimmed = text.as_slice().trim_end();
        if trimmed != text.as_slice() {
            *text = Cow::Owned(trimmed.to_text());
        }
    }
    // The text beside calls is a block of its own.
    let beside_calls = |said: &Option<Said<'_>>| said.is_some_and(|said| !said.message.live_calls().is_empty());
    let is_plain = |item: &Item<'_>| matches!(item, Item::Text { part: None, said, .. } if !beside_calls(said));
    let plain = if cache_control { 0 } else { items.iter().take_while(|item| is_plain(item)).count() };
    let mut rest = items.into_iter().enumerate();
    let joined = rest.by_ref().take(plain).filter_map(|(_, item)| match item {
        Item::Text { text, .. } => Some(text),
        _ => None,
    });
    let joined = joined.reduce(|mut joined, text| {
        push_paragraph(joined.to_mut(), text.as_slice());
        joined
    });
    let object = Object::new().with("role", role.as_str());
    let mut blocks: Vec<Node<'a>> = rest.map(|(idx, item)| block(item, is_marked(idx), marks)).collect();
    match joined {
        Some(text) if blocks.is_empty() => object.with("content", text),
        Some(text) => {
            blocks.insert(0, Object::of_type("text").with("text", text).into());
            object.with("content", blocks)
        }
        None => object.with("content", blocks),
    }
}

fn block(item: Item<'_>, is_marked: bool, marks: Marks) -> Node<'_> {
    let (object, extra) = match item {
        Item::Text { said, text, part } => {
            let extra = said.and_then(|said| DIALECT.extra(said, part));
            (Object::of_type("text").with("text", text), extra)
        }
        Item::Call(said, call, id) => {
            let name = safe_tool_name(call.call.name.as_slice(), MAX_NAME);
            let object = Object::of_type("tool_use").with("id", id).with("name", name);
            (object.with("input", arguments_object(&call.call.arguments)), DIALECT.call_extra(said, call.call))
        }
        Item::Result(_, call, id) => {
            let (blocks, is_error) = result(&DIALECT, &call);
            let object = Object::of_type("tool_result").with("tool_use_id", id);
            let object = object.with("content", result_content(call.result, blocks, marks));
            let object = if is_error { object.with("is_error", true) } else { object };
            (object, call.result.and_then(|said| DIALECT.message_extra(said)))
        }
        Item::Block(said, Block::Media(media, part)) => (media_block(media), DIALECT.extra(said, Some(part))),
        Item::Block(said, Block::Reasoning(reasoning, part)) => {
            let object = match (&reasoning.encrypted, &reasoning.text) {
                (Some(data), _) => Object::of_type("redacted_thinking").with("data", data),
                (None, text) => Object::of_type("thinking").with_some("thinking", text.as_ref()),
            };
            let signature = reasoning.signature.as_ref().filter(|_| reasoning.encrypted.is_none());
            (object.with_some("signature", signature), DIALECT.extra(said, Some(part)))
        }
        Item::Block(_, Block::Custom(json, _)) => return json.into(),
        Item::Block(_, Block::Text { text, .. }) => (Object::of_type("text").with("text", text), None),
        Item::Block(_, Block::Call(_)) => (Object::new(), None),
    };
    let object = if is_marked { object.with("cache_control", cache_control()) } else { object };
    let left_out: &[&str] = if marks == Marks::Own { &[CACHE_CONTROL] } else { &[] };
    object.with_members_but(extra, left_out).into()
}

fn result_content<'a>(said: Option<Said<'a>>, blocks: Vec<Block<'a>>, marks: Marks) -> Node<'a> {
    let Some(said) = said.filter(|said| !said.parts.is_empty()) else {
        return super::alternating::joined_text(&blocks).into();
    };
    let blocks = blocks.into_iter().filter(|block| !block.is_blank());
    let blocks = blocks.filter_map(|it| match it {
        Block::Text { text, part, .. } => Some(block(Item::Text { said: Some(said), text, part }, false, marks)),
        Block::Media(..) | Block::Custom(..) => Some(block(Item::Block(said, it), false, marks)),
        Block::Reasoning(..) | Block::Call(_) => None,
    });
    let blocks: Vec<_> = blocks.collect();
    if blocks.is_empty() { Text::new().into() } else { blocks.into() }
}

fn media_block(media: &Media) -> Object<'_> {
    let name = if media.kind == MediaKind::Image { "image" } else { "document" };
    let of_type = |name: &'static str| Object::of_type(name);
    let source = match &media.source {
        Source::Url(url) => of_type("url").with("url", url),
        Source::Id(id) => of_type("file").with("file_id", id),
        Source::Data(data) if name == "image" || !media.is_text() => {
            let media_type = media.essence().map_or(Node::from("application/pdf"), Node::from);
            of_type("base64").with("media_type", media_type).with("data", data)
        }
        Source::Data(_) | Source::Text(_) => {
            let text = media.document_text().unwrap_or_default();
            of_type("text").with("media_type", "text/plain").with("data", text)
        }
    };
    let title = media.name.as_ref().filter(|title| name == "document" && !title.as_slice().is_blank());
    Object::of_type(name).with("source", source).with_some("title", title)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;
    use crate::message::Message;
    use crate::render::tests::{any_window, check_anthropic, naive_anthropic, well_formed_window};
    use crate::text::TextSlice;
    use proptest::prelude::*;
    use serde_json::Value;

    /// Renders and checks a window; gives the messages.
    #[track_caller]
    fn messages(window: &[Message]) -> Vec<Json> {
        let window: Vec<_> = window.iter().collect();
        let json = (FORMAT.render)(&Request::new(None, "".into(), &window));
        check_anthropic(&window, &json);
        let json: Json = serde_json::from_str(&json).unwrap();
        serde_json::from_str(member(Some(&json), "messages").unwrap().as_str()).unwrap()
    }

    #[track_caller]
    fn check(window: &str, expect: &[&str]) {
        let window: Vec<Message> = serde_json::from_str(window).unwrap();
        assert_eq!(messages(&window).iter().map(Json::as_str).collect::<Vec<_>>(), expect);
    }

    /// A window in a few letters, as in the tests of `tools`; `c` words call with blank content.
    #[track_caller]
    fn check_script(script: &str, expect: &[&str]) {
        let mut window = crate::tools::tests::messages(script);
        for message in &mut window {
            if !message.live_calls().is_empty() {
                message.content = Text::new();
            }
        }
        let brief = |message: &Json| brief(&serde_json::from_str(message.as_str()).unwrap());
        assert_eq!(messages(&window).iter().map(brief).collect::<Vec<_>>(), expect);
    }

    /// A message as its role's first letter and its blocks: `u:=1 text` is a result for call 1 and a text.
    fn brief(message: &Value) -> String {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let block = |block: &Value| match block["type"].as_str().unwrap() {
            "text" => text(&block["text"]),
            "tool_use" => format!("!{}", text(&block["id"])),
            "tool_result" if block["is_error"] == true => format!("-{}", text(&block["tool_use_id"])),
            _ => format!("={}", text(&block["tool_use_id"])),
        };
        let content = match message["content"].as_array() {
            None => text(&message["content"]),
            Some(blocks) => blocks.iter().map(block).collect::<Vec<_>>().join(" "),
        };
        format!("{}:{content}", &text(&message["role"])[..1])
    }

    #[track_caller]
    fn check_system(prompt: Option<&str>, block: &str, window: &str, expect: &str) {
        let messages: Vec<Message> = serde_json::from_str(window).unwrap();
        let window: Vec<_> = messages.iter().collect();
        let json = (FORMAT.render)(&Request::new(prompt.map(TextSlice::from), block.into(), &window));
        assert!(json.starts_with(&format!(r#"{{"system":{},"#, to_json(&Text::from(expect)))), "{json}");
    }

    #[test]
    fn all_instructions_are_the_system_text() {
        check_system(None, "", "[]", "");
        check_system(Some(" a\n"), " b ", "[]", "a\n\nb");
        check_system(Some(" "), "b", "[]", "b");
        let window =
            r#"[{"role":"system","content":" s "},{"role":"user","content":"u"},{"role":"system","content":""}]"#;
        check_system(Some("a"), "", window, "a\n\n s \n\n");
        check_system(None, "", window, " s \n\n");
    }

    #[test]
    fn the_documented_window_is_mapped_one_to_one() {
        check(
            r#"[{"role":"user","content":"Any tables for six on Friday?"},
                {"role":"assistant","content":"","toolCalls":[
                    {"id":"call_1","name":"find_slots","arguments":"{\"party\":6,\"day\":\"friday\"}"}]},
                {"role":"tool","toolCallId":"call_1","name":"find_slots","content":"7pm and 9pm are free"},
                {"role":"assistant","content":"Seven or nine?"},
                {"role":"tool","name":"news","content":"late"}]"#,
            &[
                r#"{"role":"user","content":"Any tables for six on Friday?"}"#,
                concat!(
                    r#"{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"find_slots","#,
                    r#""input":{"party":6,"day":"friday"}}]}"#
                ),
                concat!(
                    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","#,
                    r#""content":"7pm and 9pm are free"}]}"#
                ),
                r#"{"role":"assistant","content":"Seven or nine?"}"#,
                r#"{"role":"user","content":"[news] late"}"#,
            ],
        );
    }

    #[test]
    fn neighbours_of_one_role_are_merged() {
        check_script("u u a a u", &["u:u\n\nu", "a:a\n\na", "u:u"]);
        check_script("u s u", &["u:u\n\nu"]);
        check_script("u a c1 r1 u u", &["u:u", "a:a !1", "u:=1 u u"]);
    }

    #[test]
    fn results_come_first_and_in_call_order() {
        check_script("u c12 r2 r1 u", &["u:u", "a:!1 !2", "u:=1 =2 u"]);
        check_script("u c1 u r1 a", &["u:u", "a:!1", "u:=1 u", "a:a"]);
        check_script("u c12 r1 a r2", &["u:u", "a:!1 !2", "u:=1 =2", "a:a"]);
        check_script("u c1 r1 c2 r2", &["u:u", "a:!1", "u:=1", "a:!2", "u:=2"]);
        check_script("u c1 s r1", &["u:u", "a:!1", "u:=1"]);
    }

    #[test]
    fn nothing_follows_a_call_but_a_call() {
        check_script("u c1 c2 r1 r2", &["u:u", "a:!1 !2", "u:=1 =2"]);
        check_script("u c1 s c2 r2 r1 a", &["u:u", "a:!1 !2", "u:=1 =2", "a:a"]);
        check_script("u c1 a r1", &["u:u", "a:!1", "u:=1", "a:a"]);
        check_script("u c1 a c2 r1 r2", &["u:u", "a:!1", "u:=1", "a:a !2", "u:=2"]);
    }

    #[test]
    fn results_without_calls_are_quoted_and_calls_without_results_answered() {
        check_script("r9 u", &["u:[tool] r9\n\nu"]);
        check_script("u c1 r9 r1 r1", &["u:u", "a:!1", "u:=1 [tool] r9 [tool] r1"]);
        check_script("u c12 r2", &["u:u", "a:!1 !2", "u:-1 =2"]);
        check_script("u c1", &["u:u", "a:!1", "u:-1"]);
        check(
            r#"[{"role":"user","content":"u"},
                {"role":"assistant","content":"a","toolCalls":[{"id":"1","name":"","arguments":"x"}]}]"#,
            &[
                r#"{"role":"user","content":"u"}"#,
                concat!(
                    r#"{"role":"assistant","content":[{"type":"text","text":"a"},"#,
                    r#"{"type":"tool_use","id":"1","name":"tool","input":{"arguments":"x"}}]}"#
                ),
                concat!(
                    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","#,
                    r#""content":"[not run: no result was recorded for this call]","is_error":true}]}"#
                ),
            ],
        );
    }

    #[test]
    fn the_person_begins() {
        check_script("a u", &["u:(continuing the conversation)", "a:a", "u:u"]);
        check_script("c1 r1", &["u:(continuing the conversation)", "a:!1", "u:=1"]);
        check_script("s", &[]);
        check_script("", &[]);
    }

    #[test]
    fn blank_text_is_left_out() {
        let continuing = r#"{"role":"user","content":"(continuing the conversation)"}"#;
        check(r#"[{"role":"user","content":" \n"},{"role":"assistant","content":""}]"#, &[continuing]);
        check(
            r#"[{"role":"user","content":"a"},{"role":"assistant","content":"\ufeff"},{"role":"user","content":"b"}]"#,
            &[r#"{"role":"user","content":"a\n\nb"}"#],
        );
    }

    #[test]
    fn the_last_message_of_the_assistant_has_no_white_space_at_its_end() {
        check(
            r#"[{"role":"user","content":"u \n"},{"role":"assistant","content":" a \n"}]"#,
            &[r#"{"role":"user","content":"u \n"}"#, r#"{"role":"assistant","content":" a"}"#],
        );
        check(
            r#"[{"role":"user","content":"u"},{"role":"assistant","content":"a "},{"role":"user","content":"u"}]"#,
            &[
                r#"{"role":"user","content":"u"}"#,
                r#"{"role":"assistant","content":"a "}"#,
                r#"{"role":"user","content":"u"}"#,
            ],
        );
    }

    #[test]
    fn ids_are_unique_in_the_request() {
        check_script("u c1 r1 c1 r1", &["u:u", "a:!1", "u:=1", "a:!1_2", "u:=1_2"]);
        check_script("u c.: r: r. c_ r_", &["u:u", "a:!__2 !__3", "u:=__2 =__3", "a:!_", "u:=_"]);
    }

    #[test]
    fn arguments_of_any_depth_are_rendered() {
        let deep = format!("{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000));
        let mut messages = crate::tools::tests::messages("u c1 r1");
        let calls = messages[1].details.as_mut().unwrap().tool_calls.as_mut().unwrap();
        calls.calls[0].arguments = crate::message::Arguments::Text(deep.clone().into());
        let window: Vec<_> = messages.iter().collect();
        assert!((FORMAT.render)(&Request::new(None, "".into(), &window)).contains(&format!(r#""input":{deep}}}"#)));
    }

    proptest! {
        #[test]
        fn every_window_is_accepted(messages in any_window()) {
            let window: Vec<_> = messages.iter().collect();
            check_anthropic(&window, &(FORMAT.render)(&Request::new(None, "".into(), &window)));
        }

        #[test]
        fn a_well_formed_window_is_mapped_one_to_one(messages in well_formed_window()) {
            let window: Vec<_> = messages.iter().collect();
            prop_assert_eq!((FORMAT.render)(&Request::new(None, "".into(), &window)), naive_anthropic(&messages));
        }
    }
}
