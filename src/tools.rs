//! Calls and their results: the units that no cut may split.
//!
//! Two questions are asked. [`group_at`] answers the documented one about the group that stands at an index.
//! [`Pairs`] answers what the fold planner and the renderers need: which result in a list belongs to which call,
//! however late, interleaved or doubled it is.

use std::collections::HashMap;

use crate::message::{Message, Role};
use crate::text::Text;

/// A call and the results that follow it directly: the range `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolGroup {
    /// The index of the assistant message that calls.
    pub start: usize,
    /// One past the last result.
    pub end: usize,
}

/// The group at `index`, or `None` when what stands there is no call and no result of one.
///
/// A group is an assistant message with calls and the tool messages directly behind it that answer one of them.
pub fn group_at(messages: &[&Message], index: usize) -> Option<ToolGroup> {
    let message = messages.get(index)?;
    let start = if let Some(id) = message.answers() {
        let start = (0..index).rev().find(|at| messages[*at].answers().is_none())?;
        messages[start].live_calls().iter().any(|call| call.id == *id).then_some(start)?
    } else {
        index
    };
    let calls = messages[start].live_calls();
    if calls.is_empty() {
        return None;
    }
    let is_result = |message: &&Message| message.answers().is_some_and(|id| calls.iter().any(|call| call.id == *id));
    let results = messages[start + 1..].iter().take_while(|message| is_result(message)).count();
    Some(ToolGroup { start, end: start + 1 + results })
}

/// Which call each result of a list belongs to.
#[derive(Debug)]
pub struct Pairs {
    /// For each message: the index of the message whose call it answers.
    call_of: Vec<Option<usize>>,
}

impl Pairs {
    /// Pairs every result with the nearest call before it that has its id.
    ///
    /// The nearest, since gateways number the calls of each reply from `call_0` again.
    pub fn new<'a>(messages: impl Iterator<Item = &'a Message>) -> Self {
        let mut latest: HashMap<&Text, usize> = HashMap::new();
        let mut call_of = Vec::new();
        for (idx, message) in messages.enumerate() {
            for call in message.live_calls() {
                latest.insert(&call.id, idx);
            }
            call_of.push(message.answers().and_then(|id| latest.get(id).copied()));
        }
        Self { call_of }
    }

    /// The index of the message whose call the message at `index` answers.
    pub fn call_of(&self, index: usize) -> Option<usize> {
        self.call_of.get(index).copied().flatten()
    }

    /// The ranges that no cut may split, in order and apart from each other. A cut at a range's start is no split.
    ///
    /// Each spans from a call to its last result, with everything between; ranges that overlap are one.
    pub fn spans(&self) -> Vec<ToolGroup> {
        let results = self.call_of.iter().enumerate();
        merge(results.filter_map(|(result, call)| Some(ToolGroup { start: (*call)?, end: result + 1 })).collect())
    }
}

/// Makes ranges that overlap one; they come in order and apart from each other.
pub fn merge(mut ranges: Vec<ToolGroup>) -> Vec<ToolGroup> {
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut spans: Vec<ToolGroup> = Vec::new();
    for range in ranges {
        match spans.last_mut() {
            Some(span) if range.start < span.end => span.end = span.end.max(range.end),
            _ => spans.push(range),
        }
    }
    spans
}

/// Where the call stands that is still waiting for results at the end of the list, if one is.
///
/// It waits when some of its calls have no result yet and nothing but tool messages followed.
pub fn waiting_call(messages: &[&Message]) -> Option<usize> {
    let call = messages.iter().rposition(|message| message.role != Role::Tool)?;
    let answered = |id: &Text| messages[call + 1..].iter().any(|message| message.answers() == Some(id));
    messages[call].live_calls().iter().any(|it| !answered(&it.id)).then_some(call)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::json::Json;
    use crate::message::{Arguments, Details, ToolCall, ToolCalls};

    /// Messages from one letter each: `u` user, `a` assistant, `s` system; `c12` calls ids 1 and 2; `r1` a result.
    pub(crate) fn messages(script: &str) -> Vec<Message> {
        script.split_whitespace().map(message).collect()
    }

    fn message(word: &str) -> Message {
        let (kind, ids) = word.split_at(1);
        let role = match kind {
            "u" => Role::User,
            "s" => Role::System,
            "r" | "t" => Role::Tool,
            _ => Role::Assistant,
        };
        let mut message = Message::new(role, word);
        let mut details = Details::default();
        if kind == "c" {
            let call = |id: char| ToolCall {
                id: Text::from(id.to_string()),
                name: "f".into(),
                arguments: Arguments::Text("{}".into()),
                origin: None,
            };
            let json = Json::new("[]".to_owned()).unwrap();
            details.tool_calls = Some(ToolCalls { calls: ids.chars().map(call).collect(), json });
            message.details = Some(Box::new(details));
        } else if kind == "r" {
            details.tool_call_id = Some(ids.into());
            message.details = Some(Box::new(details));
        }
        message
    }

    #[track_caller]
    fn check_group(script: &str, index: usize, expect: Option<(usize, usize)>) {
        let messages = messages(script);
        let messages: Vec<_> = messages.iter().collect();
        assert_eq!(group_at(&messages, index).map(|group| (group.start, group.end)), expect);
    }

    #[test]
    fn a_group_is_a_call_and_the_results_behind_it() {
        check_group("u c12 r1 r2 a", 1, Some((1, 4)));
        check_group("u c12 r1 r2 a", 3, Some((1, 4)));
        check_group("u c12 r1 r2 a", 0, None);
        check_group("u c12 r1 r2 a", 9, None);
        check_group("c1 u r1", 0, Some((0, 1)));
        check_group("c1 u r1", 2, None);
        check_group("c1 r9 r1", 0, Some((0, 1)));
        check_group("c1 r9 r1", 2, Some((0, 1)));
        check_group("r1", 0, None);
        check_group("c1 t r1", 2, None);
    }

    #[track_caller]
    fn check_spans(script: &str, expect: &[(usize, usize)]) {
        let messages = messages(script);
        let spans = Pairs::new(messages.iter()).spans();
        assert_eq!(spans.iter().map(|span| (span.start, span.end)).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn a_span_holds_every_result_of_its_calls() {
        check_spans("u c1 r1 a", &[(1, 3)]);
        check_spans("c1 r9 r1 u", &[(0, 3)]);
        check_spans("c12 r1 u r2", &[(0, 4)]);
        check_spans("c1 c2 r1 r2", &[(0, 4)]);
        check_spans("c1 r1 c1 r1 r1", &[(0, 2), (2, 5)]);
        check_spans("r1 c1 u", &[]);
    }

    #[track_caller]
    fn check_waiting(script: &str, expect: Option<usize>) {
        let messages = messages(script);
        assert_eq!(waiting_call(&messages.iter().collect::<Vec<_>>()), expect);
    }

    #[test]
    fn a_call_waits_until_something_else_is_said() {
        check_waiting("u c12 r1", Some(1));
        check_waiting("u c1", Some(1));
        check_waiting("u c12 r1 r2", None);
        check_waiting("u c1 u", None);
        check_waiting("", None);
    }
}
