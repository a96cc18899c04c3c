//! The window for Anthropic's Messages API.
//!
//! Its rules are the strictest: roles alternate and the person begins, all results of a turn are in the very next
//! message and before its text, no text is blank, and ids of calls are unique in the whole request.

use std::borrow::Cow;

use serde::Serialize;

use super::arguments::{ArgumentsObject, arguments_object};
use super::names::{safe_id, safe_tool_name, unique_ids};
use super::turns::{AssistantTurn, Turn, quote_result, turns};
use super::{paragraphs, push_paragraph, system_parts};
use crate::message::{Message, Role};
use crate::text::{Text, TextSlice};

/// The longest name of a tool.
const MAX_NAME: usize = 128;

/// What the person says where the API wants a message of theirs and the window has none.
pub const CONTINUING: &str = "(continuing the conversation)";

/// The parts of a request that come from the session. They print as JSON in the documented key order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AnthropicRequest<'a> {
    /// The system text, or an empty text.
    pub system: Text,
    /// The turns, oldest first.
    pub messages: Vec<AnthropicMessage<'a>>,
}

/// One message of a request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AnthropicMessage<'a> {
    /// The person or the assistant; no other role is used.
    pub role: Role,
    /// What is said.
    pub content: AnthropicContent<'a>,
}

/// The content of a message: text alone is a string, anything with calls or results a list of blocks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AnthropicContent<'a> {
    /// Text alone.
    Text(Cow<'a, Text>),
    /// Blocks.
    Blocks(Vec<AnthropicBlock<'a>>),
}

/// One block of a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AnthropicBlock<'a> {
    /// Text, never blank.
    Text {
        /// The text.
        text: Cow<'a, Text>,
    },
    /// A call of a tool.
    ToolUse {
        /// The id, unique in the request.
        id: Cow<'a, Text>,
        /// The name of the tool.
        name: Cow<'a, str>,
        /// The arguments.
        input: ArgumentsObject<'a>,
    },
    /// The result of a call.
    ToolResult {
        /// The id of the call.
        tool_use_id: Cow<'a, Text>,
        /// What the tool said.
        content: Cow<'a, Text>,
        /// Whether this only stands in for a result.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

/// The system text, which is the prompt, the memory block and every system message of the window, and the turns.
///
/// Messages that follow each other in one role are merged, and blank text is left out. When the assistant begins, or
/// nothing but blank text was said, [`CONTINUING`] stands in front. A window without turns has no messages.
pub fn to_anthropic<'a>(
    system_prompt: Option<TextSlice<'_>>,
    system_block: TextSlice<'_>,
    window: &[&'a Message],
) -> AnthropicRequest<'a> {
    let instructions = window.iter().filter(|it| it.role == Role::System).map(|it| it.content.as_slice());
    let system = paragraphs(system_parts(system_prompt, system_block).chain(instructions)).unwrap_or_default();

    let turns = turns(window);
    let calls = turns.iter().flat_map(|turn| match turn {
        Turn::Assistant(turn) => turn.calls.as_slice(),
        _ => &[],
    });
    let mut ids = unique_ids(calls.map(|it| safe_id(&it.call.id))).into_iter();
    let mut conversation = Conversation::default();
    for turn in &turns {
        match turn {
            Turn::System(_) => {}
            Turn::User(message) => conversation.push_user(Cow::Borrowed(&message.content)),
            Turn::UnaddressedResult(message) | Turn::StrayResult(message) => {
                conversation.push_user(Cow::Owned(quote_result(message)));
            }
            Turn::Assistant(turn) => conversation.push_assistant(turn, &mut ids),
        }
    }
    let mut messages = conversation.finish();
    if messages.is_empty() && !turns.iter().all(|turn| matches!(turn, Turn::System(_))) {
        messages.push(continuing());
    }
    AnthropicRequest { system, messages }
}

fn continuing<'a>() -> AnthropicMessage<'a> {
    AnthropicMessage { role: Role::User, content: AnthropicContent::Text(Cow::Owned(Text::from(CONTINUING))) }
}

/// The messages so far, and the results that the next message of the person begins with.
#[derive(Default)]
struct Conversation<'a> {
    messages: Vec<AnthropicMessage<'a>>,
    results: Vec<AnthropicBlock<'a>>,
}

impl<'a> Conversation<'a> {
    fn push_user(&mut self, text: Cow<'a, Text>) {
        self.push_results();
        self.push_text(Role::User, text);
    }

    fn push_assistant(&mut self, turn: &AssistantTurn<'a>, ids: &mut impl Iterator<Item = Cow<'a, Text>>) {
        let content = &turn.message.content;
        // Only more calls may stand behind a call, so a text between the two makes the second a turn of its own.
        if !turn.continues || !content.as_slice().is_blank() {
            self.push_results();
        }
        if turn.calls.is_empty() {
            self.push_text(Role::Assistant, Cow::Borrowed(content));
        } else if !content.as_slice().is_blank() {
            self.push_block(Role::Assistant, AnthropicBlock::Text { text: Cow::Borrowed(content) });
        }
        for (it, id) in turn.calls.iter().zip(ids) {
            let name = safe_tool_name(it.call.name.as_slice(), MAX_NAME);
            let input = arguments_object(&it.call.arguments);
            self.push_block(Role::Assistant, AnthropicBlock::ToolUse { id: id.clone(), name, input });
            let is_error = it.result.is_none();
            self.results.push(AnthropicBlock::ToolResult { tool_use_id: id, content: it.content(), is_error });
        }
    }

    /// Answers the calls of the last message.
    fn push_results(&mut self) {
        for result in std::mem::take(&mut self.results) {
            self.push_block(Role::User, result);
        }
    }

    fn push_text(&mut self, role: Role, text: Cow<'a, Text>) {
        if text.as_slice().is_blank() {
            return;
        }
        match self.last_content(role) {
            Some(AnthropicContent::Text(before)) => push_paragraph(before.to_mut(), text.as_slice()),
            Some(AnthropicContent::Blocks(blocks)) => blocks.push(AnthropicBlock::Text { text }),
            None => self.push_message(role, AnthropicContent::Text(text)),
        }
    }

    fn push_block(&mut self, role: Role, block: AnthropicBlock<'a>) {
        match self.last_content(role) {
            Some(AnthropicContent::Blocks(blocks)) => blocks.push(block),
            Some(content @ AnthropicContent::Text(_)) => {
                if let AnthropicContent::Text(text) = std::mem::replace(content, AnthropicContent::Blocks(Vec::new())) {
                    *content = AnthropicContent::Blocks(vec![AnthropicBlock::Text { text }, block]);
                }
            }
            None => self.push_message(role, AnthropicContent::Blocks(vec![block])),
        }
    }

    /// The content of the last message, when it is in this role.
    fn last_content(&mut self, role: Role) -> Option<&mut AnthropicContent<'a>> {
        self.messages.last_mut().filter(|message| message.role == role).map(|message| &mut message.content)
    }

    fn push_message(&mut self, role: Role, content: AnthropicContent<'a>) {
        if self.messages.is_empty() && role == Role::Assistant {
            self.messages.push(continuing());
        }
        self.messages.push(AnthropicMessage { role, content });
    }

    fn finish(mut self) -> Vec<AnthropicMessage<'a>> {
        self.push_results();
        // A request that ends with the assistant asks the model to go on from there, and not from white space.
        if let Some(AnthropicContent::Text(text)) = self.last_content(Role::Assistant) {
            let trimmed = text.as_slice().trim_end();
            if trimmed != text.as_slice() {
                *text = Cow::Owned(trimmed.to_text());
            }
        }
        self.messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::to_json;
    use crate::render::tests::{any_window, check_anthropic, naive_anthropic, well_formed_window};
    use proptest::prelude::*;

    #[track_caller]
    fn check(window: &str, expect: &[&str]) {
        let window: Vec<Message> = serde_json::from_str(window).unwrap();
        let window: Vec<_> = window.iter().collect();
        let request = to_anthropic(None, "".into(), &window);
        check_anthropic(&window, &request);
        assert_eq!(request.messages.iter().map(to_json).collect::<Vec<_>>(), expect);
    }

    /// A window in a few letters, as in the tests of `tools`; `c` words call with blank content.
    #[track_caller]
    fn check_script(script: &str, expect: &[&str]) {
        let mut messages = crate::tools::tests::messages(script);
        for message in &mut messages {
            if !message.live_calls().is_empty() {
                message.content = Text::new();
            }
        }
        let window: Vec<_> = messages.iter().collect();
        let request = to_anthropic(None, "".into(), &window);
        check_anthropic(&window, &request);
        assert_eq!(request.messages.iter().map(brief).collect::<Vec<_>>(), expect);
    }

    /// A message as its role's first letter and its blocks: `u:=1 text` is a result for call 1 and a text.
    fn brief(message: &AnthropicMessage<'_>) -> String {
        let block = |block: &AnthropicBlock<'_>| match block {
            AnthropicBlock::Text { text } => text.to_string(),
            AnthropicBlock::ToolUse { id, .. } => format!("!{id}"),
            AnthropicBlock::ToolResult { tool_use_id, is_error: false, .. } => format!("={tool_use_id}"),
            AnthropicBlock::ToolResult { tool_use_id, is_error: true, .. } => format!("-{tool_use_id}"),
        };
        let content = match &message.content {
            AnthropicContent::Text(text) => text.to_string(),
            AnthropicContent::Blocks(blocks) => blocks.iter().map(block).collect::<Vec<_>>().join(" "),
        };
        format!("{}:{content}", &message.role.as_str()[..1])
    }

    #[track_caller]
    fn check_system(prompt: Option<&str>, block: &str, window: &str, expect: &str) {
        let messages: Vec<Message> = serde_json::from_str(window).unwrap();
        let window: Vec<_> = messages.iter().collect();
        let request = to_anthropic(prompt.map(TextSlice::from), block.into(), &window);
        assert_eq!(request.system, expect);
        assert!(to_json(&request).starts_with(r#"{"system":""#));
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
        assert!(to_json(&to_anthropic(None, "".into(), &window)).contains(&format!(r#""input":{deep}}}"#)));
    }

    proptest! {
        #[test]
        fn every_window_is_accepted(messages in any_window()) {
            let window: Vec<_> = messages.iter().collect();
            check_anthropic(&window, &to_anthropic(None, "".into(), &window));
        }

        #[test]
        fn a_well_formed_window_is_mapped_one_to_one(messages in well_formed_window()) {
            let window: Vec<_> = messages.iter().collect();
            prop_assert_eq!(to_json(&to_anthropic(None, "".into(), &window)), naive_anthropic(&messages));
        }
    }
}
