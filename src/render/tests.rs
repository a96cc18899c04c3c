//! What the tests of the provider files share: conversations, the providers' rules as checkers, and the documented
//! mapping written a second time in the plainest way.

use std::collections::HashSet;
use std::fmt::Write;

use proptest::prelude::*;
use serde_json::Value;

use super::alternating::CONTINUING;
use super::turns::{NOT_RUN, quote_result};
use super::{Format, Request, well_formed};
use crate::json::{Json, Loose, to_json};
use crate::message::{Arguments, Details, Message, Role, ToolCall, ToolCalls};
use crate::text::{Text, TextSlice};

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
    let call =
        call.prop_map(|(id, name, arguments)| ToolCall { id: id.into(), name: name.into(), arguments, origin: None });
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
                    origin: None,
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

fn expected_result(window: &[&Message], result: Option<usize>) -> String {
    result.map_or_else(|| NOT_RUN.to_owned(), |idx| window[idx].content.to_string())
}

fn is_safe(text: &str, max: usize) -> bool {
    (1..=max).contains(&text.len()) && text.chars().all(|it| it.is_ascii_alphanumeric() || it == '_' || it == '-')
}

/// The request as the API reads it.
fn parse(json: &str) -> Value {
    serde_json::from_str(&well_formed(json.to_owned())).expect("a request is JSON")
}

fn string(value: &Value) -> &str {
    value.as_str().expect("a string")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A window in its JSON form as a request of an API.
pub(super) fn rendered(format: &Format, window: &str) -> String {
    let window: Vec<Message> = serde_json::from_str(window).unwrap();
    (format.render)(&Request::new(None, "".into(), &window.iter().collect::<Vec<_>>()))
}

/// Fails unless the API would take the messages and they say all that the window says.
#[track_caller]
pub(super) fn check_openai(window: &[&Message], json: &str) {
    let messages = parse(json);
    let (calls, strays) = answers(window);
    let mut calls = calls.iter();
    let mut said = Vec::new();
    let mut rest = list(&messages).iter();
    let is_named = |message: &Value| message.get("name").is_none_or(|name| is_safe(string(name), 64));
    while let Some(message) = rest.next() {
        assert!(is_named(message), "{message:?}");
        assert_eq!(message.get("tool_call_id"), None, "no call is open here");
        let tool_calls = list(&message["tool_calls"]);
        assert!(message["role"] == "assistant" || tool_calls.is_empty(), "{message:?}");
        said.push((string(&message["role"]).to_owned(), string(&message["content"]).to_owned()));
        let ids: HashSet<_> = tool_calls.iter().map(|call| string(&call["id"])).collect();
        assert_eq!(ids.len(), tool_calls.len(), "an id comes twice in {message:?}");
        for call in tool_calls {
            let (given, result) = calls.next().expect("no call comes from nowhere");
            assert_ne!(call["id"], "");
            assert!(is_safe(string(&call["function"]["name"]), 64), "{call:?}");
            assert_eq!(call["type"], "function");
            assert_eq!(string(&call["function"]["arguments"]), given.arguments.as_slice().to_string());
            let answer = rest.next().expect("every call is answered");
            assert_eq!((string(&answer["role"]), &answer["tool_call_id"]), ("tool", &call["id"]));
            assert_eq!(string(&answer["content"]), expected_result(window, *result));
            assert!(is_named(answer), "{answer:?}");
        }
    }
    assert_eq!(calls.next(), None, "no call is lost");
    let expect = window.iter().enumerate().filter_map(|(idx, message)| match message.role {
        Role::Tool if strays.contains(&idx) => Some(("user".to_owned(), quote_result(message).to_string())),
        Role::Tool if message.answers().is_some() => None,
        role => Some((role.as_str().to_owned(), message.content.to_string())),
    });
    assert_eq!(said, expect.collect::<Vec<_>>());
}

/// Fails unless the API would take the request and it says all that the window says.
#[track_caller]
pub(super) fn check_anthropic(window: &[&Message], json: &str) {
    let request = parse(json);
    let messages = list(&request["messages"]);
    assert_eq!(messages.is_empty(), window.iter().all(|message| message.role == Role::System));
    for (idx, message) in messages.iter().enumerate() {
        let expect = if idx % 2 == 0 { "user" } else { "assistant" };
        assert_eq!(message["role"], expect, "roles alternate and the person begins");
    }

    let (calls, strays) = answers(window);
    let mut calls = calls.iter();
    let mut seen = HashSet::new();
    let mut open: Vec<(&str, String, bool)> = Vec::new();
    let mut texts: [Vec<&str>; 2] = [Vec::new(), Vec::new()];
    let is_blank = |text: &str| TextSlice::from(text).is_blank();
    for (idx, message) in messages.iter().enumerate() {
        let texts = &mut texts[idx % 2];
        if let Some(text) = message["content"].as_str() {
            assert!(!is_blank(text));
            assert!(open.is_empty(), "calls are answered in the next message");
            texts.push(text);
            continue;
        }
        let blocks = list(&message["content"]);
        assert!(!blocks.is_empty());
        let mut due = std::mem::take(&mut open).into_iter();
        for block in blocks {
            match string(&block["type"]) {
                "text" => {
                    let text = string(&block["text"]);
                    assert!(!is_blank(text));
                    assert!(open.is_empty(), "no text follows a call");
                    assert_eq!(due.next(), None, "results come before text");
                    texts.push(text);
                }
                "tool_use" => {
                    assert_eq!(message["role"], "assistant");
                    let (given, result) = calls.next().expect("no call comes from nowhere");
                    let id = string(&block["id"]);
                    assert!(is_safe(string(&block["name"]), 128), "{block:?}");
                    assert!(is_safe(id, usize::MAX), "{id}");
                    assert!(seen.insert(id), "{id} comes twice");
                    assert!(block["input"].is_object(), "{block:?}");
                    if let Arguments::Object(object) = &given.arguments {
                        let object: Value = serde_json::from_str(object.as_str()).unwrap();
                        assert!(block["input"] == object || block["input"]["arguments"] == object);
                    }
                    open.push((id, expected_result(window, *result), result.is_none()));
                }
                "tool_result" => {
                    let (id, expect, missing) = due.next().expect("no result comes from nowhere");
                    assert_eq!(block["tool_use_id"], id, "results are in call order");
                    assert_eq!(block["content"], expect);
                    assert_eq!(block.get("is_error").is_some(), missing);
                }
                other => panic!("no block is a {other}"),
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
        said.filter(|text| !text.as_slice().is_blank()).map(|text| text.to_string()).collect::<Vec<_>>()
    };
    let [mut user, assistant] = texts;
    let mut expect = [spoken(Role::User), spoken(Role::Assistant)];
    if user.first().is_some_and(|text| *text == CONTINUING) {
        user.remove(0);
    }
    if messages.len().is_multiple_of(2)
        && let Some(last) = expect[1].last_mut()
    {
        *last = TextSlice::from(last.as_str()).trim_end().to_string();
    }
    assert_eq!([user.join("\n\n"), assistant.join("\n\n")], expect.each_ref().map(|it| it.join("\n\n")));
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

#[test]
fn halves_of_pairs_are_replaced() {
    #[track_caller]
    fn check(json: &str, expect: &str) {
        assert_eq!(well_formed(json.to_owned()), expect);
    }
    check(r#"["a\n"]"#, r#"["a\n"]"#);
    check(r#"["\ud83d"]"#, r#"["\ufffd"]"#);
    check(r#"["\ud83d\ude00 \uDE00\uD83D"]"#, r#"["\ud83d\ude00 \ufffd\ufffd"]"#);
    check(r#"["\\ud83d \\\ud83d"]"#, r#"["\\ud83d \\\ufffd"]"#);
    check(r#"["\u00e9\ud800é"]"#, r#"["\u00e9\ufffdé"]"#);
}
