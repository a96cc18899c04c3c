//! Where to cut: which messages leave the window. No I/O, no clock, no model.

use std::collections::HashMap;

use crate::content;
use crate::message::{Message, Role, StoredMessage};
use crate::text::Text;
use crate::tools::{Pairs, ToolGroup, merge, waiting_call};

/// When to fold and how far. Token figures may be fractions, as the app gave them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// A fold starts when the window exceeds this many tokens.
    pub max_tokens: f64,
    /// A fold goes on until the window is at this many tokens or fewer.
    pub target_tokens: f64,
    /// So many messages at the end of the window stay.
    pub keep_recent: f64,
    /// Whether a fold goes on to the next user turn.
    pub align_to_user: bool,
}

impl Policy {
    /// Whether a window of `tokens` has to be folded.
    pub fn is_over(&self, tokens: f64) -> bool {
        tokens > self.max_tokens
    }

    /// How many messages to take from the front of `window`, which has `tokens` tokens. 0 means no fold.
    ///
    /// With `force`, everything goes that `keep_recent` allows. A call and its results always stay together: when the
    /// cut falls between them, it moves behind the last result, or before the call when too few messages would remain.
    pub fn plan(&self, window: &[&StoredMessage], tokens: f64, force: bool) -> usize {
        #[expect(clippy::cast_precision_loss, reason = "a window has fewer than 2^53 messages")]
        let remaining = |cut: usize| (window.len() - cut) as f64;
        let mut cut = 0;
        let mut left = tokens;
        while cut < window.len() && remaining(cut) > self.keep_recent && (force || left > self.target_tokens) {
            left -= window[cut].tokens;
            cut += 1;
        }
        let is_user = |cut: usize| window[cut].message.role == Role::User;
        if self.align_to_user {
            while cut > 0 && cut < window.len() && !is_user(cut) && remaining(cut) > self.keep_recent {
                cut += 1;
            }
        }
        match group_around(window, cut) {
            None => cut,
            Some(group) if group.end <= window.len() && remaining(group.end) >= self.keep_recent => group.end,
            Some(group) => group.start,
        }
    }
}

/// The range that a cut at `cut` would split. Its end is beyond the window while a call still waits for results.
fn group_around(window: &[&StoredMessage], cut: usize) -> Option<ToolGroup> {
    if cut == 0 {
        return None;
    }
    let messages: Vec<_> = window.iter().map(|stored| &stored.message).collect();
    let beyond = messages.len() + 1;
    let mut ranges = Pairs::new(messages.iter().copied()).spans();
    ranges.extend(waiting_call(&messages).map(|start| ToolGroup { start, end: beyond }));
    // Reasoning and what it led to are one: alone it means nothing, and providers refuse it.
    let leads_on = |at: &usize| {
        content::is_reasoning_alone(messages[*at])
            && messages.get(at + 1).is_some_and(|next| next.role == Role::Assistant)
    };
    ranges.extend((0..messages.len()).filter(leads_on).map(|start| ToolGroup { start, end: start + 2 }));
    ranges.extend(own_calls(&messages, beyond));
    merge(ranges).into_iter().find(|span| span.start < cut && cut < span.end)
}

/// The ranges from the calls of providers' own tools to their results. One in the last message still waits.
fn own_calls(messages: &[&Message], beyond: usize) -> Vec<ToolGroup> {
    let mut waiting: HashMap<Text, usize> = HashMap::new();
    let mut ranges = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        for half in content::halves(message) {
            if !half.is_result {
                waiting.insert(half.id, at);
            } else if let Some(start) = waiting.remove(&half.id) {
                ranges.push(ToolGroup { start, end: at + 1 });
            }
        }
    }
    let last = messages.len().saturating_sub(1);
    ranges.extend(waiting.into_values().filter(|start| *start == last).map(|start| ToolGroup { start, end: beyond }));
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::tests::messages;
    use proptest::prelude::*;

    fn stored(script: &str) -> Vec<StoredMessage> {
        let messages = messages(script).into_iter();
        messages.zip(1..).map(|(message, id)| StoredMessage { message, id, tokens: 1.0 }).collect()
    }

    fn plan(policy: Policy, window: &[StoredMessage], force: bool) -> usize {
        let tokens = window.iter().map(|it| it.tokens).sum();
        policy.plan(&window.iter().collect::<Vec<_>>(), tokens, force)
    }

    #[track_caller]
    fn check(script: &str, target_tokens: f64, keep_recent: f64, expect: usize) {
        let policy = Policy { max_tokens: target_tokens, target_tokens, keep_recent, align_to_user: true };
        assert_eq!(plan(policy, &stored(script), false), expect, "{script}");
    }

    #[test]
    fn a_fold_stops_at_the_target_and_goes_on_to_a_user_turn() {
        check("u a u a u a", 6.0, 0.0, 0);
        check("u a u a u a", 4.0, 0.0, 2);
        check("u a u a u a", 3.0, 0.0, 4);
        check("u a u a u a", 0.0, 4.0, 2);
        check("u a a a u a", 5.0, 3.0, 3);
        check("u", 0.0, 0.0, 1);
        check("a a", 1.0, 0.0, 2);
    }

    #[test]
    fn a_cut_inside_a_group_takes_it_whole_or_leaves_it_whole() {
        check("u c12 r1 r2 a", 3.0, 1.0, 4);
        check("u c12 r1 r2 a", 2.0, 3.0, 1);
        check("c12 r1 r2 a a", 3.0, 3.0, 0);
        check("c1 r9 r1 u", 3.0, 0.0, 3);
        check("c12 r1 u r2 u", 3.0, 0.0, 4);
        check("c12 r1 u r2 u", 3.0, 2.0, 0);
    }

    #[test]
    fn a_call_that_waits_stays() {
        check("u c1", 0.0, 0.0, 1);
        check("u c1 c2 r1", 0.0, 0.0, 1);
        check("u c12 r1", 0.0, 0.0, 1);
        check("u c1 u", 0.0, 0.0, 3);
    }

    #[test]
    fn reasoning_stays_with_what_it_led_to() {
        let mut window = stored("u a c1 r1 u");
        let thought = r#"{"role":"assistant","content":"","parts":[{"type":"reasoning","text":"hm"}]}"#;
        window[1].message = serde_json::from_str(thought).unwrap();
        let policy = |keep_recent| Policy { max_tokens: 0.0, target_tokens: 3.0, keep_recent, align_to_user: false };
        assert_eq!(plan(policy(1.0), &window, false), 4);
        assert_eq!(plan(policy(2.0), &window, false), 1);
        window[1].message.role = Role::User;
        assert_eq!(plan(policy(2.0), &window, false), 2);
    }

    #[test]
    fn a_providers_own_call_stays_with_its_result() {
        let own = |value: &str| {
            let part = format!(r#"{{"type":"custom","provider":"openai-responses","value":{value}}}"#);
            serde_json::from_str(&format!(r#"{{"role":"assistant","content":"","parts":[{part}]}}"#)).unwrap()
        };
        let mut window = stored("u a u a u");
        window[1].message = own(r#"{"type":"shell_call","call_id":"c"}"#);
        window[3].message = own(r#"{"type":"shell_call_output","call_id":"c"}"#);
        let policy = |keep_recent| Policy { max_tokens: 0.0, target_tokens: 3.0, keep_recent, align_to_user: false };
        assert_eq!(plan(policy(1.0), &window, false), 4);
        assert_eq!(plan(policy(2.0), &window, false), 1);
        window.truncate(2);
        assert_eq!(plan(Policy { target_tokens: 0.0, ..policy(0.0) }, &window, false), 1, "it still waits");
    }

    #[test]
    fn force_takes_all_but_the_recent() {
        let policy = Policy { max_tokens: 100.0, target_tokens: 50.0, keep_recent: 1.0, align_to_user: true };
        assert_eq!(plan(policy, &stored("u a u a"), true), 3);
        assert_eq!(plan(policy, &stored("u a u a"), false), 0);
    }

    fn script() -> impl Strategy<Value = String> {
        let word = prop_oneof![
            Just("u"),
            Just("a"),
            Just("s"),
            Just("t"),
            Just("c1"),
            Just("c12"),
            Just("c3"),
            Just("r1"),
            Just("r2"),
            Just("r3"),
            Just("r9")
        ];
        prop::collection::vec(word, 0..16).prop_map(|words| words.join(" "))
    }

    proptest! {
        #[test]
        fn no_cut_splits_a_call_from_a_result(
            script in script(), target in 0u8..16, keep in 0u8..6, align_to_user: bool, force: bool
        ) {
            let window = stored(&script);
            let target_tokens = f64::from(target);
            let policy = Policy { max_tokens: target_tokens, target_tokens, keep_recent: f64::from(keep), align_to_user };
            let cut = plan(policy, &window, force);
            prop_assert!(cut == 0 || window.len() - cut >= usize::from(keep));
            for result in cut..window.len() {
                // The nearest call with the result's id, found the slow way.
                let Some(id) = window[result].message.answers() else { continue };
                let calls = |at: &usize| window[*at].message.live_calls().iter().any(|call| call.id == *id);
                prop_assert!((0..result).rev().find(calls).is_none_or(|call| call >= cut), "{script} at {cut}");
            }
        }
    }
}
