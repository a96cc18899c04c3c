//! The running summary: what a model is asked, and what stands in when the app has no model.

use crate::facts::Fact;
use crate::json::{Number, to_json};
use crate::message::{Message, Role};
use crate::text::{Text, TextSlice, one_line};
use crate::tokens::Tally;

/// How much of one message the extractive summary shows, in UTF-16 units.
const LINE_UNITS: f64 = 160.0;

/// What a summarizer is given.
#[derive(Clone, Debug, PartialEq)]
pub struct SummarizeInput<M> {
    /// The summary that the new one replaces; empty for the first fold.
    pub previous_summary: Text,
    /// The messages that leave the window, oldest first.
    pub messages: Vec<M>,
    /// The facts as they stand.
    pub facts: Vec<Fact>,
    /// How many tokens the new summary should have at most. A wish, not a limit.
    pub max_tokens: f64,
}

/// The lines of the extractive summary before any is dropped: those of the previous summary, then one per message
/// that is not from the system.
pub fn extractive_lines<'a>(previous_summary: TextSlice<'_>, messages: impl Iterator<Item = &'a Message>) -> Vec<Text> {
    let previous = previous_summary.lines().map(TextSlice::trim).filter(|line| !line.is_empty()).map(Text::from);
    let said = messages.filter(|message| message.role != Role::System).map(|message| {
        let mut line = Text::from("- ");
        line.push_slice(message.speaker());
        line.push_str(": ");
        line.push_slice(one_line(message.text().as_slice(), Some(LINE_UNITS)).as_slice());
        line
    });
    previous.chain(said).collect()
}

/// The summary for apps without a model: a clipped line per message, the oldest dropped until `max_tokens` are kept.
///
/// At least one line stays. The time is linear in the text, whatever is dropped.
pub fn extractive<'a>(
    previous_summary: TextSlice<'_>,
    messages: impl Iterator<Item = &'a Message>,
    max_tokens: f64,
) -> Text {
    let lines = extractive_lines(previous_summary, messages);
    let line_feed = Tally::of(TextSlice::from("\n"));
    let mut kept = Tally::default();
    let mut first = lines.len();
    for (idx, line) in lines.iter().enumerate().rev() {
        let tally = Tally::of(line.as_slice());
        let longer = if first == lines.len() { tally } else { tally.plus(line_feed).plus(kept) };
        #[expect(clippy::cast_precision_loss, reason = "no text has 2^53 tokens")]
        if first < lines.len() && longer.tokens() as f64 > max_tokens {
            break;
        }
        kept = longer;
        first = idx;
    }
    join_lines(lines[first..].iter().map(Text::as_slice))
}

/// One line per message: who speaks, and the trimmed text.
pub fn transcript<'a>(messages: impl Iterator<Item = &'a Message>) -> Text {
    let lines: Vec<Text> = messages
        .map(|message| {
            let mut line = message.speaker().to_text();
            line.push_str(": ");
            line.push_slice(message.text().as_slice().trim());
            line
        })
        .collect();
    join_lines(lines.iter().map(Text::as_slice))
}

/// The prompt that asks a model for the new summary.
pub fn summary_prompt<'a>(
    previous_summary: TextSlice<'_>,
    messages: impl Iterator<Item = &'a Message>,
    facts: &[Fact],
    max_tokens: f64,
) -> Text {
    let mut prompt = Text::from(
        "You keep the running summary of a conversation. Its older messages leave the model's context, and your \
         summary is all that stays of them.\n\
         Bring the previous summary and the new messages together into one summary. Keep names, numbers, dates, \
         decisions, preferences, promises and open questions. Where the new messages correct something, keep the \
         correction alone. Add nothing that was not said.\n",
    );
    prompt.push_str(&format!(
        "Write plain prose of about {} tokens, in the language of the conversation, and nothing besides the summary.",
        to_json(&Number(max_tokens))
    ));
    push_block(&mut prompt, "Previous summary:", previous_summary.trim());
    push_block(&mut prompt, "Known facts:", crate::render::render_facts(facts).as_slice());
    push_block(&mut prompt, "New messages:", transcript(messages).as_slice());
    prompt.push_str("\n\nUpdated summary:");
    prompt
}

/// The prompt that asks a model for the facts in the folded messages.
pub fn facts_prompt<'a>(messages: impl Iterator<Item = &'a Message>, facts: &[Fact]) -> Text {
    let mut prompt = Text::from(
        "Find the durable facts in these messages: names, preferences, quantities, dates, decisions and whatever \
         else will matter in a later conversation. Leave out small talk and what holds only for the moment.\n\
         Answer with one `key: value` line per fact and nothing else. Write keys in snake_case, and use the key of a \
         known fact to change its value. Answer `none` when there is no such fact.",
    );
    push_block(&mut prompt, "Known facts:", crate::render::render_facts(facts).as_slice());
    push_block(&mut prompt, "Messages:", transcript(messages).as_slice());
    prompt
}

fn push_block(prompt: &mut Text, label: &str, body: TextSlice<'_>) {
    prompt.push_str("\n\n");
    prompt.push_str(label);
    prompt.push('\n');
    prompt.push_slice(if body.is_empty() { TextSlice::from("(none)") } else { body });
}

/// Joins with line feeds.
pub(crate) fn join_lines<'a>(lines: impl Iterator<Item = TextSlice<'a>>) -> Text {
    let mut joined = Text::new();
    for (idx, line) in lines.enumerate() {
        if idx > 0 {
            joined.push('\n');
        }
        joined.push_slice(line);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::estimate;
    use proptest::prelude::*;

    fn messages(lines: &[&str]) -> Vec<Message> {
        lines.iter().map(|line| Message::new(Role::User, *line)).collect()
    }

    #[track_caller]
    fn check(previous: &str, said: &[&str], max_tokens: f64, expect: &str) {
        assert_eq!(extractive(TextSlice::from(previous), messages(said).iter(), max_tokens), expect);
    }

    #[test]
    fn the_oldest_lines_go_first_and_one_stays() {
        check(" old \n\n older", &["a\nb"], 100.0, "old\nolder\n- user: a b");
        check("old", &["aaaa", "bbbb"], 7.0, "- user: aaaa\n- user: bbbb");
        check("old", &["aaaa"], 0.0, "- user: aaaa");
        check("", &[], 5.0, "");
    }

    #[test]
    fn system_messages_are_left_out() {
        let said = [Message::new(Role::System, "be kind"), Message::new(Role::Assistant, "hi")];
        assert_eq!(extractive(TextSlice::from(""), said.iter(), 9.0), "- assistant: hi");
    }

    #[test]
    fn prompts_end_where_the_answer_begins() {
        let prompt = summary_prompt(TextSlice::from(" "), [].into_iter(), &[], 500.0).to_string();
        assert!(prompt.contains("about 500 tokens"));
        let blocks = "Previous summary:\n(none)\n\nKnown facts:\n(none)\n\nNew messages:\n(none)\n\nUpdated summary:";
        assert!(prompt.ends_with(blocks), "{prompt}");
        let prompt = facts_prompt(messages(&["hi"]).iter(), &[]).to_string();
        assert!(prompt.ends_with("Known facts:\n(none)\n\nMessages:\nuser: hi"), "{prompt}");
    }

    proptest! {
        #[test]
        fn dropping_lines_one_by_one_gives_the_same(
            lines in prop::collection::vec("[a-zé ]{0,12}", 0..8), max_tokens in 0u8..30
        ) {
            let said: Vec<&str> = lines.iter().map(String::as_str).collect();
            let said = messages(&said);
            let mut slow = extractive_lines(TextSlice::from(""), said.iter());
            let joined = |lines: &[Text]| join_lines(lines.iter().map(Text::as_slice));
            while slow.len() > 1 && estimate(joined(&slow).as_slice()) > f64::from(max_tokens) {
                slow.remove(0);
            }
            prop_assert_eq!(extractive(TextSlice::from(""), said.iter(), f64::from(max_tokens)), joined(&slow));
        }
    }
}
