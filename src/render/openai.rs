//! The window for the Chat Completions API, which many services speak.

use std::borrow::Cow;

use serde::Serialize;

use super::names::{safe_name, safe_tool_name, unique_ids};
use super::turns::{AssistantTurn, Turn, quote_result, turns};
use super::{paragraphs, system_parts};
use crate::json::Loose;
use crate::message::{Message, Role};
use crate::text::{Text, TextSlice};

/// The longest name of a speaker or a function.
const MAX_NAME: usize = 64;

/// The `messages` of a request. They print as JSON in the documented key order.
pub type OpenAiMessages<'a> = Vec<OpenAiMessage<'a>>;

/// One message of a request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenAiMessage<'a> {
    /// Who speaks.
    pub role: Role,
    /// What is said, as it was stored, even when that is blank.
    pub content: Cow<'a, Text>,
    /// The speaker, in the characters that the API accepts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Cow<'a, str>>,
    /// The calls of an assistant message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<OpenAiToolCall<'a>>,
    /// The call that a tool message answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<Cow<'a, Text>>,
}

/// One call of a function.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenAiToolCall<'a> {
    /// The id, different from those of the other calls in the message.
    pub id: Cow<'a, Text>,
    /// Always `function`.
    pub r#type: &'static str,
    /// What is called.
    pub function: OpenAiFunction<'a>,
}

/// A function and what it is called with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenAiFunction<'a> {
    /// The name, in the characters that the API accepts.
    pub name: Cow<'a, str>,
    /// The arguments as text, as they were stored.
    pub arguments: TextSlice<'a>,
}

/// One system message of the prompt and the memory block, when either has text, and then the window.
///
/// System messages of the window stay where they are. Ids stay as they are as well, since services make them carry
/// meaning; only an id that comes twice in one message gets a number at its end.
pub fn to_openai<'a>(
    system_prompt: Option<TextSlice<'_>>,
    system_block: TextSlice<'_>,
    window: &[&'a Message],
) -> OpenAiMessages<'a> {
    let mut messages = Vec::with_capacity(window.len() + 1);
    if let Some(system) = paragraphs(system_parts(system_prompt, system_block)) {
        messages.push(unnamed(Role::System, Cow::Owned(system)));
    }
    for turn in turns(window) {
        match turn {
            Turn::System(message) | Turn::User(message) | Turn::UnaddressedResult(message) => {
                messages.push(plain(message));
            }
            Turn::StrayResult(message) => messages.push(unnamed(Role::User, Cow::Owned(quote_result(message)))),
            Turn::Assistant(turn) => push_assistant(&mut messages, &turn),
        }
    }
    messages
}

fn push_assistant<'a>(messages: &mut OpenAiMessages<'a>, turn: &AssistantTurn<'a>) {
    let ids = unique_ids(turn.calls.iter().map(|it| Cow::Borrowed(&it.call.id)));
    let tool_calls = turn.calls.iter().zip(&ids).map(|(it, id)| OpenAiToolCall {
        id: id.clone(),
        r#type: "function",
        function: OpenAiFunction {
            name: safe_tool_name(it.call.name.as_slice(), MAX_NAME),
            arguments: it.call.arguments.as_slice(),
        },
    });
    messages.push(OpenAiMessage { tool_calls: tool_calls.collect(), ..plain(turn.message) });
    for (it, id) in turn.calls.iter().zip(ids) {
        let result = it.result.map_or_else(|| unnamed(Role::Tool, it.content()), plain);
        messages.push(OpenAiMessage { tool_call_id: Some(id), ..result });
    }
}

fn plain(message: &Message) -> OpenAiMessage<'_> {
    OpenAiMessage { name: speaker(message), ..unnamed(message.role, Cow::Borrowed(&message.content)) }
}

fn unnamed(role: Role, content: Cow<'_, Text>) -> OpenAiMessage<'_> {
    OpenAiMessage { role, content, name: None, tool_calls: Vec::new(), tool_call_id: None }
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
    use crate::json::to_json;
    use crate::render::tests::{any_window, check_openai, naive_openai, well_formed_window};
    use proptest::prelude::*;

    #[track_caller]
    fn check(window: &str, expect: &[&str]) {
        let window: Vec<Message> = serde_json::from_str(window).unwrap();
        let window: Vec<_> = window.iter().collect();
        let messages = to_openai(None, "".into(), &window);
        check_openai(&window, &messages);
        assert_eq!(messages.iter().map(to_json).collect::<Vec<_>>(), expect);
    }

    #[track_caller]
    fn check_system(prompt: Option<&str>, block: &str, expect: &str) {
        assert_eq!(to_json(&to_openai(prompt.map(TextSlice::from), block.into(), &[])), expect);
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
            check_openai(&window, &to_openai(None, "".into(), &window));
        }

        #[test]
        fn a_well_formed_window_is_mapped_one_to_one(messages in well_formed_window()) {
            let window: Vec<_> = messages.iter().collect();
            prop_assert_eq!(to_json(&to_openai(None, "".into(), &window)), naive_openai(&messages));
        }
    }
}
