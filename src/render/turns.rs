//! The pass over the window that the renderers of all providers share.
//!
//! Providers want each call answered right behind it and each result to answer a call. A real window need not be so:
//! a fold may have taken the call, a result may come late, twice or never, and gateways give the same id to calls of
//! different turns. [`turns`] sorts that out once, so that a provider's file only has to map [`Turn`]s to its shapes.
//!
//! A result belongs to the nearest call before it that has its id, as [`Pairs`] finds it: the fold planner cuts by the
//! same rule, so what is rendered together is also kept together.

use std::collections::{HashMap, VecDeque};

use crate::content::{self, Part};
use crate::message::{Message, Role, ToolCall};
use crate::text::{Text, TextSlice};
use crate::tools::Pairs;

/// What stands in for the result of a call that has none.
pub const NOT_RUN: &str = "[not run: no result was recorded for this call]";

/// The messages that are rendered, with their parts read.
#[derive(Clone, Debug, PartialEq)]
pub struct Window<'a> {
    messages: Vec<&'a Message>,
    parts: Vec<Vec<Part>>,
}

/// One message and its parts; none when its content is text alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Said<'a> {
    /// The message.
    pub message: &'a Message,
    /// The parts of its content.
    pub parts: &'a [Part],
}

impl<'a> Window<'a> {
    /// Reads the parts of some messages.
    pub fn new(messages: &[&'a Message]) -> Self {
        Self { messages: messages.to_vec(), parts: messages.iter().map(|message| content::parts(message)).collect() }
    }

    /// The messages in their order.
    pub fn said(&self) -> impl Iterator<Item = Said<'_>> {
        self.messages.iter().zip(&self.parts).map(|(message, parts)| Said { message, parts })
    }
}

/// One step of the conversation, in the order in which the model is to see it.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn<'a> {
    /// Instructions inside the window.
    System(Said<'a>),
    /// What the person says.
    User(Said<'a>),
    /// What the model says and calls, with the results of the calls.
    Assistant(AssistantTurn<'a>),
    /// A tool message that does not say which call it answers.
    UnaddressedResult(Said<'a>),
    /// A result without a call of its own: the call is gone, or has its result already. Providers refuse it as a
    /// result; [`quote_result`] makes it text.
    StrayResult(Said<'a>),
}

/// An assistant message, its calls and their results.
#[derive(Clone, Debug, PartialEq)]
pub struct AssistantTurn<'a> {
    /// The message.
    pub said: Said<'a>,
    /// Its calls in order.
    pub calls: Vec<AnsweredCall<'a>>,
    /// Whether the message before was the assistant's too, system messages not counted.
    ///
    /// Calls in two such messages were made in parallel: a provider whose roles alternate may take them as one turn.
    pub continues: bool,
}

/// A call and its result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnsweredCall<'a> {
    /// The call.
    pub call: &'a ToolCall,
    /// The tool message that answers it, wherever in the window that stood.
    pub result: Option<Said<'a>>,
}

/// The turns of a window.
///
/// Every message is in exactly one turn. All turns but results stay in the order of the window, and so do the results
/// that have no call; each other result is with its call.
pub fn turns<'a>(window: &'a Window<'_>) -> Vec<Turn<'a>> {
    let mut results = Results::new(window);
    let mut after_assistant = false;
    let mut turns = Vec::with_capacity(window.messages.len());
    for (idx, said) in window.said().enumerate() {
        let message = said.message;
        let continues = after_assistant;
        after_assistant = match message.role {
            Role::System => after_assistant,
            role => role == Role::Assistant,
        };
        turns.push(match message.role {
            Role::System => Turn::System(said),
            Role::User => Turn::User(said),
            Role::Assistant => {
                let calls = message.live_calls().iter().enumerate();
                let calls = calls.map(|(call_idx, call)| AnsweredCall { call, result: results.of_call(idx, call_idx) });
                Turn::Assistant(AssistantTurn { said, calls: calls.collect(), continues })
            }
            Role::Tool if message.answers().is_none() => Turn::UnaddressedResult(said),
            Role::Tool if results.is_stray(idx) => Turn::StrayResult(said),
            Role::Tool => continue,
        });
    }
    turns
}

/// What stands in front of a result that is quoted: `[NAME] `, or `[tool] ` when it has no name.
pub fn result_label(result: &Message) -> Text {
    let mut text = Text::from("[");
    text.push_slice(result.name().unwrap_or(TextSlice::from("tool")));
    text.push_str("] ");
    text
}

/// A result as text: `[NAME] content`, or `[tool] content` when it has no name.
pub fn quote_result(result: &Message) -> Text {
    let mut text = result_label(result);
    text.push_slice(result.content.as_slice());
    text
}

/// Which result answers which call.
struct Results<'a> {
    /// The result of a call, by the indexes of the calling message and of the call in it.
    of_call: HashMap<(usize, usize), Said<'a>>,
    /// For each message whether it is a result without a call.
    stray: Vec<bool>,
}

impl<'a> Results<'a> {
    fn new(window: &'a Window<'_>) -> Self {
        let pairs = Pairs::new(window.messages.iter().copied());
        // A message may call twice with one id; its results then answer in order.
        let mut open: HashMap<(usize, &Text), VecDeque<usize>> = HashMap::new();
        for (idx, message) in window.messages.iter().enumerate() {
            for (call_idx, call) in message.live_calls().iter().enumerate() {
                open.entry((idx, &call.id)).or_default().push_back(call_idx);
            }
        }
        let mut results = Self { of_call: HashMap::new(), stray: vec![false; window.messages.len()] };
        for (idx, said) in window.said().enumerate() {
            let Some(id) = said.message.answers() else { continue };
            let call = pairs.call_of(idx).and_then(|call| Some((call, open.get_mut(&(call, id))?.pop_front()?)));
            match call {
                Some(call) => {
                    results.of_call.insert(call, said);
                }
                None => results.stray[idx] = true,
            }
        }
        results
    }

    fn of_call(&mut self, message: usize, call: usize) -> Option<Said<'a>> {
        self.of_call.remove(&(message, call))
    }

    fn is_stray(&self, message: usize) -> bool {
        self.stray[message]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::tests::messages;

    /// A turn as the words of the script: `c12(r1 -)` is a call with one result, `+` in front says that it continues,
    /// `?r1` is a stray result.
    fn print(turn: &Turn<'_>) -> String {
        match turn {
            Turn::System(said) | Turn::User(said) | Turn::UnaddressedResult(said) => said.message.content.to_string(),
            Turn::StrayResult(said) => format!("?{}", said.message.content),
            Turn::Assistant(turn) => {
                let results =
                    turn.calls.iter().map(|it| it.result.map_or("-".to_owned(), |it| it.message.content.to_string()));
                let results: Vec<_> = results.collect();
                let plus = if turn.continues { "+" } else { "" };
                let results = if results.is_empty() { String::new() } else { format!("({})", results.join(" ")) };
                format!("{plus}{}{results}", turn.said.message.content)
            }
        }
    }

    #[track_caller]
    fn check(script: &str, expect: &str) {
        let messages = messages(script);
        let window = Window::new(&messages.iter().collect::<Vec<_>>());
        assert_eq!(turns(&window).iter().map(print).collect::<Vec<_>>().join(" "), expect);
    }

    #[test]
    fn results_stand_behind_their_calls() {
        check("", "");
        check("s u a t", "s u a t");
        check("u c12 r1 r2 a", "u c12(r1 r2) a");
        check("u c12 r2 r1 a", "u c12(r1 r2) a");
        check("c1 s r1", "c1(r1) s");
        check("c1 u a r1 u", "c1(r1) u a u");
        check("c1 t r1", "c1(r1) t");
        check("c1 r1 c2 r2", "c1(r1) c2(r2)");
    }

    #[test]
    fn a_result_without_a_call_is_a_stray() {
        check("r1 u", "?r1 u");
        check("c1 r9 r1", "c1(r1) ?r9");
        check("c1 r1 u r1", "c1(r1) u ?r1");
        check("r1 c1", "?r1 c1(-)");
    }

    #[test]
    fn a_call_without_a_result_says_so() {
        check("c12 r2 u", "c12(- r2) u");
        check("u c1", "u c1(-)");
    }

    #[test]
    fn ids_that_come_again_are_paired_with_the_nearest_call() {
        check("c1 r1 c1 r1", "c1(r1) c1(r1)");
        check("c1 c1 r1 r1", "c1(-) +c1(r1) ?r1");
        check("c11 r1 r1 r1", "c11(r1 r1) ?r1");
        check("c1 u c1 r1", "c1(-) u c1(r1)");
    }

    #[test]
    fn an_assistant_continues_when_only_instructions_came_between() {
        check("a a s a u a", "a +a s +a u a");
        check("c1 c2 r1 r2 a", "c1(r1) +c2(r2) a");
        check("a r9 a t a", "a ?r9 a t a");
    }

    #[test]
    fn a_quoted_result_names_its_tool() {
        let quote = |json: &str| quote_result(&serde_json::from_str::<Message>(json).unwrap()).to_string();
        assert_eq!(quote(r#"{"role":"tool","content":"x","name":"f"}"#), "[f] x");
        assert_eq!(quote(r#"{"role":"tool","content":"x"}"#), "[tool] x");
        assert_eq!(quote(r#"{"role":"tool","content":"","name":null}"#), "[tool] ");
        assert_eq!(quote(r#"{"role":"tool","content":"x","name":""}"#), "[] x");
    }
}
