//! What the tests of the provider files share: conversations, the providers' rules as checkers, and the documented
//! mapping written a second time in the plainest way.

use std::collections::HashSet;
use std::fmt::Write;

use proptest::prelude::*;
use serde::de::IgnoredAny;

use super::anthropic::{AnthropicBlock, AnthropicContent, AnthropicRequest, CONTINUING};
use super::openai::OpenAiMessages;
use super::turns::{NOT_RUN, quote_result};
use crate::json::{Json, Loose, to_json};
use crate::message::{Arguments, Details, Message, Role, ToolCall, ToolCalls};
use crate::text::Text;

/// Ids that collide with each other, also once they have been cleaned and numbered.
const IDS: [&str; 8] = ["1", "a.b", "a_b", "a:b", "a_b_2", "1_2", "", "call_1"];

fn texts(idx: usize) -> impl Strategy<Value = Text> {
    let lone = Text::from_utf16(&[0x61, 0xD83D, 0x20, 0xDE00]);
    prop_oneof![
        2 => Just(Text::new()),
        2 => prop::sample::select(vec![" ", "\n\t", "\u{FEFF}"]).prop_map(Text::from),
        4 => Just(Text::from(format!("<{idx}>"))),
        2 => Just(Text::from(format!(" <{idx}> \n"))),
        1 => Just(lone),
    ]
}

fn names() -> impl Strategy<Value = Option<Loose<Text>>> {
    let json = |text: &str| Some(Loose::Other(Json::new(text.to_owned()).unwrap()));
    prop_oneof![
        4 => Just(None),
        1 => Just(json("null")),
        1 => Just(json("12.5")),
        1 => Just(json("false")),
        1 => Just(Some(Loose::Usual(Text::new()))),
        2 => Just(Some(Loose::Usual(Text::from("find_slots")))),
        1 => Just(Some(Loose::Usual(Text::from("Jürgen K.")))),
        1 => Just(Some(Loose::Usual(Text::from("x".repeat(150))))),
        1 => Just(Some(Loose::Usual(Text::from_utf16(&[0xDC00])))),
    ]
}

fn arguments() -> impl Strategy<Value = Arguments> {
    let text = |text: Text| Arguments::Text(text);
    prop_oneof![
        Just(text(Text::new())),
        Just(text(Text::from(" {\"a\": 1.50} "))),
        Just(text(Text::from("{\"a\":"))),
        Just(text(Text::from_utf16(&[0x7B, 0x22, 0xD800, 0x22, 0x3A, 0x31, 0x7D]))),
        Just(text(Text::from_utf16(&[0xD800]))),
        Just(Arguments::Object(Json::new("{\"b\":1,\"a\":[{}]}".to_owned()).unwrap())),
        Just(Arguments::Object(Json::new("[1]".to_owned()).unwrap())),
    ]
}

fn calls() -> impl Strategy<Value = Vec<ToolCall>> {
    let name = prop::sample::select(vec!["f", "find.slots", "", "日本"]);
    let call = (prop::sample::select(IDS.to_vec()), name, arguments());
    let call = call.prop_map(|(id, name, arguments)| ToolCall { id: id.into(), name: name.into(), arguments });
    prop::collection::vec(call, 0..4)
}

fn message(
    role: Role,
    content: Text,
    name: Option<Loose<Text>>,
    calls: Vec<ToolCall>,
    answers: Option<Text>,
) -> Message {
    let mut message = Message::new(role, content);
    // The list as the app gave it is for storing; no renderer reads it.
    let json = Json::new("[]".to_owned()).unwrap();
    let tool_calls = (!calls.is_empty()).then_some(ToolCalls { calls, json });
    message.details = Some(Box::new(Details { name, tool_calls, tool_call_id: answers, ..Details::default() }));
    message
}

fn any_message(idx: usize) -> impl Strategy<Value = Message> {
    let role = prop_oneof![
        3 => Just(Role::User), 4 => Just(Role::Assistant), 1 => Just(Role::System), 6 => Just(Role::Tool),
    ];
    let answers = prop::option::weighted(0.9, prop::sample::select(IDS.to_vec()).prop_map(Text::from));
    (role, texts(idx), names(), calls(), answers).prop_map(|(role, content, name, calls, answers)| {
        // Calls of a person and a tool's id on another role are stored too, and mean nothing.
        message(role, content, name, calls, answers)
    })
}

/// Anything that a session accepts, in any order.
pub(super) fn any_window() -> impl Strategy<Value = Vec<Message>> {
    (0usize..14).prop_flat_map(|length| (0..length).map(any_message).collect::<Vec<_>>())
}

/// Conversations that keep to the rules: roles alternate, calls are answered at once and in order, ids are unique.
pub(super) fn well_formed_window() -> impl Strategy<Value = Vec<Message>> {
    let text = || "[a-z é\"\\\\\n]{0,6}[a-z]".prop_map(Text::from);
    let name = || prop::option::of("[a-zA-Z0-9_-]{1,64}".prop_map(|name| Loose::Usual(Text::from(name))));
    let round = (prop_oneof![Just(Text::new()), text()], prop::collection::vec((text(), name(), name()), 1..4));
    let exchange = (prop::option::of(text()), text(), name(), prop::collection::vec(round, 0..3), text(), name());
    prop::collection::vec(exchange, 0..4).prop_map(|exchanges| {
        let mut window = Vec::new();
        let mut next_id = 0;
        for (system, question, user_name, rounds, reply, assistant_name) in exchanges {
            window.extend(system.map(|text| message(Role::System, text, None, Vec::new(), None)));
            window.push(message(Role::User, question, user_name, Vec::new(), None));
            for (content, results) in rounds {
                let first = next_id;
                next_id += results.len();
                let id = |number: usize| Text::from(format!("call_{}", first + number));
                let call = |number: usize| ToolCall {
                    id: id(number),
                    name: "find_slots".into(),
                    arguments: Arguments::Object(Json::new(format!("{{\"n\":{number}}}")).unwrap()),
                };
                let calls = (0..results.len()).map(call).collect();
                window.push(message(Role::Assistant, content, None, calls, None));
                for (number, (result, name, _)) in results.into_iter().enumerate() {
                    window.push(message(Role::Tool, result, name, Vec::new(), Some(id(number))));
                }
            }
            window.push(message(Role::Assistant, reply, assistant_name, Vec::new(), None));
        }
        window
    })
}

/// For each call of the window, in order, the index of its result; and the indexes of the results that have no call.
///
/// Found by looking back from each result, without any memory of calls.
fn answers(window: &[&Message]) -> (Vec<(ToolCall, Option<usize>)>, HashSet<usize>) {
    let mut slots: Vec<(usize, ToolCall, Option<usize>)> = Vec::new();
    let mut strays = HashSet::new();
    for (idx, message) in window.iter().enumerate() {
        slots.extend(message.live_calls().iter().map(|call| (idx, call.clone(), None)));
        let Some(id) = message.answers() else { continue };
        let nearest = slots.iter().rev().find(|(_, call, _)| call.id == *id).map(|(caller, ..)| *caller);
        let mut same = slots.iter_mut().filter(|(caller, call, _)| Some(*caller) == nearest && call.id == *id);
        match same.find(|(.., result)| result.is_none()) {
            Some((.., result)) => *result = Some(idx),
            None => {
                strays.insert(idx);
            }
        }
    }
    (slots.into_iter().map(|(_, call, result)| (call, result)).collect(), strays)
}

fn expected_result(window: &[&Message], result: Option<usize>) -> Text {
    result.map_or_else(|| Text::from(NOT_RUN), |idx| window[idx].content.clone())
}

fn is_safe(text: &str, max: usize) -> bool {
    (1..=max).contains(&text.len()) && text.chars().all(|it| it.is_ascii_alphanumeric() || it == '_' || it == '-')
}

/// Fails unless the API would take the messages and they say all that the window says.
#[track_caller]
pub(super) fn check_openai(window: &[&Message], messages: &OpenAiMessages<'_>) {
    assert!(serde_json::from_str::<IgnoredAny>(&to_json(messages)).is_ok());
    let (calls, strays) = answers(window);
    let mut calls = calls.iter();
    let mut said = Vec::new();
    let mut rest = messages.iter();
    while let Some(message) = rest.next() {
        assert!(message.name.as_ref().is_none_or(|name| is_safe(name, 64)), "{message:?}");
        assert_eq!(message.tool_call_id, None, "no call is open here");
        assert!(message.role == Role::Assistant || message.tool_calls.is_empty(), "{message:?}");
        said.push((message.role, message.content.clone().into_owned()));
        let ids: HashSet<_> = message.tool_calls.iter().map(|call| call.id.clone()).collect();
        assert_eq!(ids.len(), message.tool_calls.len(), "an id comes twice in {message:?}");
        for call in &message.tool_calls {
            let (given, result) = calls.next().expect("no call comes from nowhere");
            assert!(!call.id.is_empty());
            assert!(is_safe(&call.function.name, 64), "{call:?}");
            assert_eq!(call.r#type, "function");
            assert_eq!(call.function.arguments, given.arguments.as_slice());
            let answer = rest.next().expect("every call is answered");
            assert_eq!((answer.role, answer.tool_call_id.as_ref()), (Role::Tool, Some(&call.id)));
            assert_eq!(*answer.content, expected_result(window, *result));
            assert!(answer.tool_calls.is_empty());
            assert!(answer.name.as_ref().is_none_or(|name| is_safe(name, 64)), "{answer:?}");
        }
    }
    assert_eq!(calls.next(), None, "no call is lost");
    let expect = window.iter().enumerate().filter_map(|(idx, message)| match message.role {
        Role::Tool if strays.contains(&idx) => Some((Role::User, quote_result(message))),
        Role::Tool if message.answers().is_some() => None,
        role => Some((role, message.content.clone())),
    });
    assert_eq!(said, expect.collect::<Vec<_>>());
}

/// Fails unless the API would take the request and it says all that the window says.
#[track_caller]
pub(super) fn check_anthropic(window: &[&Message], request: &AnthropicRequest<'_>) {
    assert!(serde_json::from_str::<IgnoredAny>(&to_json(request)).is_ok());
    let messages = &request.messages;
    assert_eq!(messages.is_empty(), window.iter().all(|message| message.role == Role::System));
    for (idx, message) in messages.iter().enumerate() {
        let expect = if idx % 2 == 0 { Role::User } else { Role::Assistant };
        assert_eq!(message.role, expect, "roles alternate and the person begins");
    }

    let (calls, strays) = answers(window);
    let mut calls = calls.iter();
    let mut seen = HashSet::new();
    let mut open: Vec<(&Text, Text, bool)> = Vec::new();
    let mut texts: [Vec<&Text>; 2] = [Vec::new(), Vec::new()];
    for (idx, message) in messages.iter().enumerate() {
        let texts = &mut texts[idx % 2];
        let blocks = match &message.content {
            AnthropicContent::Text(text) => {
                assert!(!text.as_slice().is_blank());
                assert!(open.is_empty(), "calls are answered in the next message");
                texts.push(text);
                continue;
            }
            AnthropicContent::Blocks(blocks) => blocks,
        };
        assert!(!blocks.is_empty());
        let mut due = std::mem::take(&mut open).into_iter();
        for block in blocks {
            match block {
                AnthropicBlock::Text { text } => {
                    assert!(!text.as_slice().is_blank());
                    assert!(open.is_empty(), "no text follows a call");
                    assert_eq!(due.next(), None, "results come before text");
                    texts.push(text);
                }
                AnthropicBlock::ToolUse { id, name, input } => {
                    assert_eq!(message.role, Role::Assistant);
                    let (given, result) = calls.next().expect("no call comes from nowhere");
                    assert!(is_safe(name, 128), "{name}");
                    assert!(id.as_str().is_some_and(|id| is_safe(id, usize::MAX)), "{id}");
                    assert!(seen.insert(id), "{id} comes twice");
                    let input = to_json(input);
                    assert!(input.starts_with('{'), "{input}");
                    if let Arguments::Object(json) = &given.arguments {
                        assert!(input.contains(json.as_str()));
                    }
                    open.push((id, expected_result(window, *result), result.is_none()));
                }
                AnthropicBlock::ToolResult { tool_use_id, content, is_error } => {
                    let (id, expect, missing) = due.next().expect("no result comes from nowhere");
                    assert_eq!(**tool_use_id, *id, "results are in call order");
                    assert_eq!(**content, expect);
                    assert_eq!(*is_error, missing);
                }
            }
        }
        assert_eq!(due.next(), None, "every call is answered");
    }
    assert!(open.is_empty(), "every call is answered");
    assert_eq!(calls.next(), None, "no call is lost");

    let strays = &strays;
    let spoken = |role: Role| {
        let said = window.iter().enumerate().filter_map(move |(idx, message)| match (message.role, role) {
            (Role::Tool, Role::User) if message.answers().is_none() || strays.contains(&idx) => {
                Some(quote_result(message))
            }
            (own, role) if own == role => Some(message.content.clone()),
            _ => None,
        });
        said.filter(|text| !text.as_slice().is_blank()).collect::<Vec<_>>()
    };
    let [mut user, assistant] = texts;
    let mut expect = [spoken(Role::User), spoken(Role::Assistant)];
    if user.first().is_some_and(|text| **text == CONTINUING) {
        user.remove(0);
    }
    if messages.len().is_multiple_of(2)
        && let Some(last) = expect[1].last_mut()
    {
        *last = last.as_slice().trim_end().to_text();
    }
    assert_eq!([join(user), join(assistant)], expect.each_ref().map(join), "nothing is lost or moved");
}

fn join<'a>(texts: impl IntoIterator<Item = &'a Text>) -> Text {
    let mut joined = Text::new();
    for text in texts {
        joined.push_slice(text.as_slice());
        joined.push_str("\n\n");
    }
    joined
}

/// The documented mapping of a conversation that needs no repair.
pub(super) fn naive_openai(messages: &[Message]) -> String {
    let message = |message: &Message| {
        let mut json = format!(r#"{{"role":"{}","content":{}"#, message.role.as_str(), to_json(&message.content));
        if let Some(name) = message.name() {
            write!(json, r#","name":{}"#, to_json(&name)).unwrap();
        }
        if !message.live_calls().is_empty() {
            let calls = message.live_calls().iter().map(|call| {
                format!(
                    r#"{{"id":{},"type":"function","function":{{"name":{},"arguments":{}}}}}"#,
                    to_json(&call.id),
                    to_json(&call.name),
                    to_json(&call.arguments.as_slice()),
                )
            });
            write!(json, r#","tool_calls":[{}]"#, calls.collect::<Vec<_>>().join(",")).unwrap();
        }
        if let Some(id) = message.answers() {
            write!(json, r#","tool_call_id":{}"#, to_json(id)).unwrap();
        }
        json + "}"
    };
    format!("[{}]", messages.iter().map(message).collect::<Vec<_>>().join(","))
}

/// The documented mapping of a conversation that needs no repair.
pub(super) fn naive_anthropic(messages: &[Message]) -> String {
    let of_role = |role: Role| messages.iter().filter(move |message| message.role == role);
    let system = of_role(Role::System).map(|message| message.content.to_string()).collect::<Vec<_>>().join("\n\n");
    let mut turns = Vec::new();
    let mut results: Vec<String> = Vec::new();
    for message in messages.iter().filter(|message| message.role != Role::System) {
        if let Some(id) = message.answers() {
            let (id, content) = (to_json(id), to_json(&message.content));
            results.push(format!(r#"{{"type":"tool_result","tool_use_id":{id},"content":{content}}}"#));
            continue;
        }
        if !results.is_empty() {
            turns.push(format!(r#"{{"role":"user","content":[{}]}}"#, results.join(",")));
            results.clear();
        }
        let mut content = to_json(&message.content);
        if !message.live_calls().is_empty() {
            let mut blocks = Vec::new();
            if !message.content.is_empty() {
                blocks.push(format!(r#"{{"type":"text","text":{content}}}"#));
            }
            blocks.extend(message.live_calls().iter().map(|call| {
                let (id, name) = (to_json(&call.id), to_json(&call.name));
                format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{}}}"#, call.arguments.as_slice())
            }));
            content = format!("[{}]", blocks.join(","));
        }
        turns.push(format!(r#"{{"role":"{}","content":{content}}}"#, message.role.as_str()));
    }
    format!(r#"{{"system":{},"messages":[{}]}}"#, to_json(&Text::from(system)), turns.join(","))
}
