//! What every provider's file maps: the turns of a request as blocks that the provider takes.
//!
//! A [`Dialect`] says what a provider takes, as data. [`steps`] goes through the turns once and decides for every
//! provider alike what the rules of all of them have in common:
//!
//! * A medium that the provider does not take where it stands becomes its text: the text of a document, else a marker.
//! * Reasoning goes back to its maker only, and only together with what it led to. When the text or call behind it is
//!   not there (or is left out), it is left out as well.
//! * A block that only another provider reads is left out.
//! * Recall that is asked for near the end stands just before the newest turn of the person.

use std::borrow::Cow;
use std::collections::HashSet;

use super::turns::{AnsweredCall, AssistantTurn, Said, Turn, result_label, turns};
use super::{OpenCalls, Request};
use crate::content::{Media, Part, PartKind, Reasoning, Source};
use crate::json::Json;
use crate::message::ToolCall;
use crate::text::Text;

/// What a provider takes.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The name of the API, as messages that came from it carry it.
    pub name: &'static str,
    /// The name of the maker, whose APIs share files and reasoning.
    pub maker: &'static str,
    /// Whether a medium can stand at a place. Only media are asked for whose files the maker can reach.
    pub takes: fn(&Media, Place) -> bool,
    /// Whether reasoning of this maker can be sent back.
    pub takes_reasoning: fn(&Reasoning, &Part) -> bool,
}

/// Where a block stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a message of the person.
    User,
    /// In a message of the model.
    Assistant,
    /// In the result of a tool call.
    ToolResult,
}

/// One piece of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Block<'a> {
    /// Text, possibly blank.
    Text {
        /// What is said.
        text: Cow<'a, Text>,
        /// Whether the model says why it does not answer.
        refusal: bool,
        /// The part that it comes from. None for plain content and for what stands in for something else.
        part: Option<&'a Part>,
    },
    /// A picture, a file or sound that the provider takes.
    Media(&'a Media, &'a Part),
    /// Reasoning of the provider's own.
    Reasoning(&'a Reasoning, &'a Part),
    /// A call with its result.
    Call(AnsweredCall<'a>),
    /// A block of the provider's own, verbatim.
    Custom(&'a Json, &'a Part),
}

/// One step of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Step<'a> {
    /// Instructions inside the window.
    System(Said<'a>),
    /// What the person says, or what is said in the person's place.
    User {
        /// The message; none for recalled text.
        said: Option<Said<'a>>,
        /// What is in it. Never empty.
        blocks: Vec<Block<'a>>,
    },
    /// What the model says and calls.
    Assistant {
        /// The message.
        said: Said<'a>,
        /// What is in it. Never empty.
        blocks: Vec<Block<'a>>,
        /// Whether the step before is the assistant's, too, system messages not counted.
        continues: bool,
    },
    /// A tool message that does not say which call it answers.
    UnaddressedResult(Said<'a>),
}

impl<'a> Block<'a> {
    /// Text that comes from no part.
    pub const fn text(text: Cow<'a, Text>) -> Self {
        Self::Text { text, refusal: false, part: None }
    }

    /// Whether this is text without anything but white space.
    pub fn is_blank(&self) -> bool {
        matches!(self, Self::Text { text, .. } if text.as_slice().is_blank())
    }
}

impl Dialect {
    /// Whether blocks of `part` in `said` are this API's own, so that its members can go back.
    pub fn made(&self, said: Said<'_>, part: &Part) -> bool {
        let details = said.message.details.as_ref();
        let of_message = details.and_then(|details| details.provider.as_ref());
        // An SDK that speaks to many makers names the maker in the part, and the members are still its own.
        let api = if of_message.is_some_and(|name| *name == "ai-sdk") {
            of_message
        } else {
            part.provider.as_ref().or(of_message)
        };
        api.is_some_and(|name| *name == self.name)
    }

    /// Whether `part` comes from this maker. None when nothing says where it comes from.
    pub fn is_maker(&self, said: Said<'_>, part: &Part) -> Option<bool> {
        let details = said.message.details.as_ref();
        let name = part.provider.as_ref().or_else(|| details.and_then(|details| details.provider.as_ref()))?;
        Some(maker(name.as_str().unwrap_or_default()) == self.maker)
    }

    /// The members that go back with a block of this API's own.
    pub fn extra<'a>(&self, said: Said<'a>, part: Option<&'a Part>) -> Option<&'a Json> {
        let part = part.filter(|part| self.made(said, part))?;
        part.extra.as_ref()
    }

    /// Whether a block that is not read goes back to this API: only when it says so itself.
    fn is_own_block(&self, part: &Part) -> bool {
        part.provider.as_ref().is_some_and(|name| *name == self.name)
    }

    /// Whether a message came from this API, so that its members can go back.
    pub fn made_message(&self, said: Said<'_>) -> bool {
        let details = said.message.details.as_ref();
        details.and_then(|details| details.provider.as_ref()).is_some_and(|name| *name == self.name)
    }

    /// The members of a message that go back with it.
    pub fn message_extra<'a>(&self, said: Said<'a>) -> Option<&'a Json> {
        said.message.details.as_ref().filter(|_| self.made_message(said))?.extra.as_ref()
    }

    /// The members of a call that go back with it.
    pub fn call_extra<'a>(&self, said: Said<'_>, call: &'a ToolCall) -> Option<&'a Json> {
        call.origin.as_ref().filter(|_| self.made_message(said))?.extra.as_ref()
    }

    /// The blocks of what the person says or a tool returns.
    pub fn blocks<'a>(&self, said: Said<'a>, place: Place) -> Vec<Block<'a>> {
        if said.parts.is_empty() {
            return vec![Block::text(Cow::Borrowed(&said.message.content))];
        }
        let blocks = said.parts.iter().filter_map(|part| match &part.kind {
            PartKind::Text { text, refusal } => {
                Some(Block::Text { text: Cow::Borrowed(text), refusal: *refusal, part: Some(part) })
            }
            PartKind::Media(media) => Some(self.media(said, media, part, place)),
            PartKind::Custom(Some(value)) if self.is_own_block(part) => Some(Block::Custom(value, part)),
            PartKind::Custom(_) | PartKind::Reasoning(_) | PartKind::ToolCall => None,
        });
        let blocks: Vec<_> = blocks.collect();
        // Nothing that this provider reads: then what it says in words.
        if blocks.is_empty() { vec![Block::text(Cow::Borrowed(&said.message.content))] } else { blocks }
    }

    /// A medium, or what stands in for it where the provider does not take it.
    pub fn media<'a>(&self, said: Said<'a>, media: &'a Media, part: &'a Part, place: Place) -> Block<'a> {
        let reachable = match media.source {
            Source::Id(_) => self.is_maker(said, part) != Some(false),
            _ => media.is_reachable(),
        };
        if reachable && (self.takes)(media, place) {
            return Block::Media(media, part);
        }
        let mut text = media.marker();
        if let Some(document) = media.document_text() {
            text.push('\n');
            text.push_slice(document.as_slice());
        }
        Block::text(Cow::Owned(text))
    }
}

/// The maker behind the name of an API or of a provider.
pub fn maker(name: &str) -> &str {
    match name {
        "openai-responses" | "openai-chat" | "azure" => "openai",
        "google" | "vertex" | "google-vertex" => "gemini",
        _ => name,
    }
}

/// Goes through the turns of a request and gives what the provider takes of them.
pub fn steps<'a>(request: &'a Request<'_>, dialect: &Dialect) -> Vec<Step<'a>> {
    let turns = turns(&request.window);
    let newest = turns.iter().rposition(|turn| matches!(turn, Turn::User(_)));
    let pairs = OwnPairs::new(request, dialect);
    let mut pass = Pass { request, dialect, pairs, held: Vec::new(), steps: Vec::with_capacity(turns.len() + 1) };
    // In the middle of a long run of tools the newest question may be folded already: then recall opens the window.
    let recall_at = newest.unwrap_or(0);
    for (idx, turn) in turns.into_iter().enumerate() {
        if idx == recall_at
            && let Some(recalled) = request.recalled_beside()
        {
            pass.push_user(None, vec![Block::text(Cow::Borrowed(recalled))]);
        }
        match turn {
            Turn::System(said) => pass.steps.push(Step::System(said)),
            Turn::User(said) => pass.push_user(Some(said), dialect.blocks(said, Place::User)),
            Turn::UnaddressedResult(said) => {
                pass.held.clear();
                pass.steps.push(Step::UnaddressedResult(said));
            }
            Turn::StrayResult(said) => {
                let blocks = quoted(dialect, said);
                pass.push_user(Some(said), blocks);
            }
            Turn::Assistant(turn) => pass.push_assistant(&turn),
        }
    }
    pass.steps
}

/// Every call in some steps, in order.
pub fn calls<'s, 'a>(steps: &'s [Step<'a>]) -> impl Iterator<Item = &'s AnsweredCall<'a>> {
    let blocks = steps.iter().flat_map(|step| match step {
        Step::Assistant { blocks, .. } => blocks.as_slice(),
        _ => &[],
    });
    blocks.filter_map(|block| match block {
        Block::Call(call) => Some(call),
        _ => None,
    })
}

/// The blocks of a result that is quoted as what the person says.
pub fn quoted<'a>(dialect: &Dialect, said: Said<'a>) -> Vec<Block<'a>> {
    let mut blocks = dialect.blocks(said, Place::User);
    let mut label = result_label(said.message);
    if let Some(Block::Text { text, .. }) = blocks.first() {
        label.push_slice(text.as_slice());
        blocks[0] = Block::text(Cow::Owned(label));
    } else {
        blocks.insert(0, Block::text(Cow::Owned(label.as_slice().trim().to_text())));
    }
    blocks
}

/// The label of a result with a word behind it.
pub fn quoted_text(said: Said<'_>, word: &str) -> Text {
    let mut text = result_label(said.message);
    text.push_str(word);
    text
}

/// The halves of the provider's own calls that a request has, of which a fold or an export may have taken the other.
#[derive(Default)]
struct OwnPairs {
    calls: HashSet<Text>,
    results: HashSet<Text>,
}

impl OwnPairs {
    fn new(request: &Request<'_>, dialect: &Dialect) -> Self {
        let mut pairs = Self::default();
        let parts = request.window.said().flat_map(|said| said.parts);
        for half in parts.filter(|part| dialect.is_own_block(part)).filter_map(Part::half) {
            let ids = if half.is_result { &mut pairs.results } else { &mut pairs.calls };
            ids.insert(half.id);
        }
        pairs
    }

    /// Whether a block is no half of a call, or both halves are there.
    fn is_whole(&self, part: &Part) -> bool {
        part.half().is_none_or(|half| self.calls.contains(&half.id) && self.results.contains(&half.id))
    }
}

struct Pass<'a, 'd> {
    request: &'a Request<'a>,
    dialect: &'d Dialect,
    pairs: OwnPairs,
    /// Reasoning that waits for what it led to.
    held: Vec<Block<'a>>,
    steps: Vec<Step<'a>>,
}

impl<'a> Pass<'a, '_> {
    fn push_user(&mut self, said: Option<Said<'a>>, blocks: Vec<Block<'a>>) {
        self.held.clear();
        self.steps.push(Step::User { said, blocks });
    }

    fn push_assistant(&mut self, turn: &AssistantTurn<'a>) {
        let said = turn.said;
        if !turn.continues {
            self.held.clear();
        }
        let mut blocks = Vec::new();
        let mut calls = turn.calls.iter();
        if said.parts.is_empty() {
            // A plain message keeps its content even when that is blank; some APIs want it beside the calls.
            self.settle(&mut blocks, Block::text(Cow::Borrowed(&said.message.content)));
        }
        for part in said.parts {
            match &part.kind {
                PartKind::Text { text, refusal } => {
                    self.settle(
                        &mut blocks,
                        Block::Text { text: Cow::Borrowed(text), refusal: *refusal, part: Some(part) },
                    );
                }
                PartKind::Media(media) => {
                    let block = self.dialect.media(said, media, part, Place::Assistant);
                    self.settle(&mut blocks, block);
                }
                PartKind::Reasoning(reasoning) => {
                    if self.sends_back(said, reasoning, part) {
                        self.held.push(Block::Reasoning(reasoning, part));
                    }
                }
                PartKind::ToolCall => {
                    if let Some(call) = calls.next() {
                        self.settle_call(&mut blocks, *call);
                    }
                }
                PartKind::Custom(Some(value)) if self.dialect.is_own_block(part) => {
                    // What the provider has paused in the middle of goes on from where it is.
                    let is_last =
                        self.request.window.said().last().is_some_and(|last| std::ptr::eq(last.message, said.message));
                    if !is_last && !self.pairs.is_whole(part) {
                        // As with a call that is left out: what led to it goes with it.
                        self.held.clear();
                        continue;
                    }
                    self.settle(&mut blocks, Block::Custom(value, part));
                }
                PartKind::Custom(_) => {}
            }
        }
        for call in calls {
            self.settle_call(&mut blocks, *call);
        }
        // Calls alone, some left out: what is left is the text, if there is any.
        let is_empty = blocks.iter().all(Block::is_blank);
        let lost = !said.parts.is_empty() || !turn.calls.is_empty();
        if blocks.is_empty() || (is_empty && lost && self.request.open_calls == OpenCalls::Omit) {
            return;
        }
        self.steps.push(Step::Assistant { said, blocks, continues: turn.continues });
    }

    fn sends_back(&self, said: Said<'a>, reasoning: &Reasoning, part: &Part) -> bool {
        let is_own = match &self.request.maker {
            Some(name) => {
                let details = said.message.details.as_ref();
                let from = part.provider.as_ref().or_else(|| details.and_then(|details| details.provider.as_ref()));
                from.is_some_and(|from| maker(from.as_str().unwrap_or_default()) == maker(name))
            }
            None => self.dialect.made(said, part) || self.dialect.is_maker(said, part) == Some(true),
        };
        is_own && (self.dialect.takes_reasoning)(reasoning, part)
    }

    /// Adds a block, behind the reasoning that led to it. Blank text is nothing that reasoning leads to.
    fn settle(&mut self, blocks: &mut Vec<Block<'a>>, block: Block<'a>) {
        if !block.is_blank() {
            blocks.append(&mut self.held);
        }
        blocks.push(block);
    }

    fn settle_call(&mut self, blocks: &mut Vec<Block<'a>>, call: AnsweredCall<'a>) {
        if call.result.is_none() && self.request.open_calls == OpenCalls::Omit {
            self.held.clear();
            return;
        }
        self.settle(blocks, Block::Call(call));
    }
}
