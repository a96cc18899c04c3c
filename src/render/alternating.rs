//! The conversation for APIs in which the person and the model take turns.
//!
//! Their rules are the strictest, and a request that keeps them is taken everywhere: the person begins, roles
//! alternate, all results of a turn open the very next message, no text is blank, and nothing follows a call but
//! another call. Such an API only has to map [`Exchange`]s.

use std::borrow::Cow;

use super::Request;
use super::blocks::{Block, Dialect, Place, Step, calls, quoted, steps};
use super::names::unique_ids;
use super::turns::{AnsweredCall, Said};
use crate::message::Role;
use crate::text::Text;

/// What the person says where an API wants a message of theirs and the window has none.
pub const CONTINUING: &str = "(continuing the conversation)";

/// Everything that is said in one role without an interruption.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange<'a> {
    /// The person or the assistant.
    pub role: Role,
    /// What is in it. Never empty.
    pub items: Vec<Item<'a>>,
}

/// One piece of an exchange.
#[derive(Clone, Debug, PartialEq)]
pub enum Item<'a> {
    /// Text, never blank.
    Text {
        /// The message; none for text that the library says.
        said: Option<Said<'a>>,
        /// The block, which is text.
        text: Cow<'a, Text>,
        /// The part that the text comes from, when it is one.
        part: Option<&'a crate::content::Part>,
    },
    /// Any other block but a call.
    Block(Said<'a>, Block<'a>),
    /// A call, under an id that is unique in the request.
    Call(Said<'a>, AnsweredCall<'a>, Cow<'a, Text>),
    /// The result of a call of a message, under the same id.
    Result(Said<'a>, AnsweredCall<'a>, Cow<'a, Text>),
}

/// The exchanges of a request, and how much of them the next turn will repeat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exchanges<'a> {
    /// In their order; they alternate, and the person begins.
    pub list: Vec<Exchange<'a>>,
    /// Where the newest turn of the person begins, recall included: the index of the exchange and of the item in it.
    pub newest: Option<(usize, usize)>,
}

/// Brings a request into turns. `id` makes an id one that the API takes; they are then made different.
///
/// When the assistant begins, or nothing but blank text was said, [`CONTINUING`] stands in front. A window without
/// turns has no exchanges.
pub fn exchanges<'a>(
    request: &'a Request<'_>,
    dialect: &Dialect,
    id: impl Fn(&'a Text) -> Cow<'a, Text>,
) -> Exchanges<'a> {
    let steps = steps(request, dialect);
    let mut ids = unique_ids(calls(&steps).map(|call| id(&call.call.id))).into_iter();
    let said_anything = request.window.said().any(|said| said.message.role != Role::System);
    let is_person =
        |step: &Step<'_>| matches!(step, Step::User { said: Some(said), .. } if said.message.role == Role::User);
    let newest = steps.iter().rposition(is_person);
    let is_recall = |idx: usize| matches!(steps.get(idx), Some(Step::User { said: None, .. }));
    let newest = newest.map(|idx| if idx > 0 && is_recall(idx - 1) { idx - 1 } else { idx });
    let mut conversation = Conversation::default();
    for (idx, step) in steps.into_iter().enumerate() {
        if newest == Some(idx) {
            // The results of the turn before belong to what came before, even where they share a message with this.
            conversation.push_results();
            conversation.exchanges.newest = Some(conversation.end());
        }
        match step {
            Step::System(_) => {}
            Step::User { said, blocks } => conversation.push_user(said, blocks),
            Step::UnaddressedResult(said) => conversation.push_user(Some(said), quoted(dialect, said)),
            Step::Assistant { said, blocks, continues } => {
                conversation.push_assistant(said, blocks, continues, &mut ids);
            }
        }
    }
    conversation.push_results();
    let mut exchanges = conversation.exchanges;
    if exchanges.list.is_empty() && said_anything {
        exchanges.list.push(continuing());
    }
    exchanges
}

fn continuing<'a>() -> Exchange<'a> {
    let text = Cow::Owned(Text::from(CONTINUING));
    Exchange { role: Role::User, items: vec![Item::Text { said: None, text, part: None }] }
}

/// The exchanges so far, and the results that the next message of the person begins with.
#[derive(Default)]
struct Conversation<'a> {
    exchanges: Exchanges<'a>,
    results: Vec<Item<'a>>,
}

impl<'a> Conversation<'a> {
    fn push_user(&mut self, said: Option<Said<'a>>, blocks: Vec<Block<'a>>) {
        self.push_results();
        for block in blocks {
            self.push_block(Role::User, said, block);
        }
    }

    fn push_assistant(
        &mut self,
        said: Said<'a>,
        blocks: Vec<Block<'a>>,
        continues: bool,
        ids: &mut impl Iterator<Item = Cow<'a, Text>>,
    ) {
        if !continues {
            self.push_results();
        }
        for block in blocks {
            if block.is_blank() {
                continue;
            }
            if let Block::Call(call) = block
                && let Some(id) = ids.next()
            {
                self.push(Role::Assistant, Item::Call(said, call, id.clone()));
                self.results.push(Item::Result(said, call, id));
            } else {
                // Only more calls may stand behind a call, so anything between two makes the second a turn of its own.
                self.push_results();
                self.push_block(Role::Assistant, Some(said), block);
            }
        }
    }

    /// Answers the calls of the last message.
    fn push_results(&mut self) {
        for result in std::mem::take(&mut self.results) {
            self.push(Role::User, result);
        }
    }

    fn push_block(&mut self, role: Role, said: Option<Said<'a>>, block: Block<'a>) {
        match (block, said) {
            (Block::Text { text, .. }, _) if text.as_slice().is_blank() => {}
            (Block::Text { text, part, .. }, said) => self.push(role, Item::Text { said, text, part }),
            (block, Some(said)) => self.push(role, Item::Block(said, block)),
            (_, None) => {}
        }
    }

    fn push(&mut self, role: Role, item: Item<'a>) {
        let list = &mut self.exchanges.list;
        if list.is_empty() && role == Role::Assistant {
            list.push(continuing());
        }
        match list.last_mut() {
            Some(open) if open.role == role => open.items.push(item),
            _ => list.push(Exchange { role, items: vec![item] }),
        }
    }

    /// Where the next item of the person will be.
    fn end(&self) -> (usize, usize) {
        match self.exchanges.list.last() {
            Some(last) if last.role == Role::User => (self.exchanges.list.len() - 1, last.items.len()),
            _ => (self.exchanges.list.len(), 0),
        }
    }
}

/// The blocks of a result, and whether the tool failed or never ran.
pub fn result<'a>(dialect: &Dialect, call: &AnsweredCall<'a>) -> (Vec<Block<'a>>, bool) {
    match call.result {
        Some(said) => {
            let failed = said.message.details.as_ref().is_some_and(|details| details.is_error);
            (dialect.blocks(said, Place::ToolResult), failed)
        }
        None => (vec![Block::text(Cow::Owned(Text::from(super::turns::NOT_RUN)))], true),
    }
}

/// The text of blocks that are text, each on a line of its own.
pub fn joined_text<'a>(blocks: &[Block<'a>]) -> Cow<'a, Text> {
    let mut texts = blocks.iter().filter_map(|block| match block {
        Block::Text { text, .. } => Some(text),
        _ => None,
    });
    let Some(first) = texts.next() else { return Cow::Owned(Text::new()) };
    let mut joined = first.clone();
    for text in texts {
        let joined = joined.to_mut();
        joined.push('\n');
        joined.push_slice(text.as_slice());
    }
    joined
}
