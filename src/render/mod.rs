//! What the model is sent: the memory block, and the window in the shape of each provider.
//!
//! Everything here is a pure function of its arguments, and none can fail: whatever a session accepted can be
//! rendered, and a provider accepts what comes out. A conversation that keeps to the providers' rules is mapped one to
//! one. Repairs are made only where a provider would refuse the request.
//!
//! * [`memory`] is the Markdown block of summary, facts and recalled messages.
//! * [`turns`] is the pass that all providers share: it puts each result behind its call and says which results have
//!   no call and which calls have no result.
//! * [`blocks`] gives each turn as blocks that the provider takes, and [`alternating`] brings them into the order that
//!   the strictest providers want.
//! * [`arguments`] and [`names`] bring tool arguments, names and ids into a form that providers accept; [`tree`] is
//!   JSON as it is put together.
//! * [`openai`], [`responses`], [`anthropic`], [`ai_sdk`] and [`gemini`] are mappings to a request, listed in
//!   [`FORMATS`]. Another provider is another such file and a line there.

pub mod ai_sdk;
pub mod alternating;
pub mod anthropic;
pub mod arguments;
pub mod blocks;
pub mod gemini;
pub mod memory;
pub mod names;
pub mod openai;
pub mod responses;
pub mod tree;
pub mod turns;

use crate::message::{Message, Role};
use crate::text::{Text, TextSlice};
use turns::Window;

pub use arguments::{ArgumentsObject, arguments_object};
pub use memory::{Headings, MemoryBlock, render_facts, render_memory, render_recalled};

/// An API that requests are rendered for.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Its name, as messages that came from it carry it.
    pub name: &'static str,
    /// Renders a request as JSON.
    pub render: fn(&Request<'_>) -> String,
}

/// Every API that requests are rendered for.
pub const FORMATS: [Format; 5] = [openai::FORMAT, responses::FORMAT, anthropic::FORMAT, ai_sdk::FORMAT, gemini::FORMAT];

/// What becomes of a call that was never answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenCalls {
    /// It is answered with [`turns::NOT_RUN`].
    #[default]
    Answer,
    /// It is left out.
    Omit,
}

/// What a request is rendered from.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The app's own instructions.
    pub prompt: Option<TextSlice<'a>>,
    /// The memory block; without what was recalled, when that is in `recalled`.
    pub block: TextSlice<'a>,
    /// What was recalled for this turn alone, under its heading. Empty when there is nothing, or `block` holds it.
    pub recalled: Text,
    /// Whether `recalled` stands just before the newest turn of the person instead of in the system text.
    pub recall_last: bool,
    /// The window.
    pub window: Window<'a>,
    /// What becomes of calls without a result.
    pub open_calls: OpenCalls,
    /// Whether to mark how far a cache reaches, where an API wants that marked.
    pub cache_control: bool,
    /// The maker whose reasoning may go back, where one API speaks to many.
    pub maker: Option<String>,
}

impl<'a> Request<'a> {
    /// A request with the defaults of every option.
    pub fn new(prompt: Option<TextSlice<'a>>, block: TextSlice<'a>, window: &[&'a Message]) -> Self {
        Self {
            prompt,
            block,
            recalled: Text::new(),
            recall_last: false,
            window: Window::new(window),
            open_calls: OpenCalls::Answer,
            cache_control: false,
            maker: None,
        }
    }

    /// What was recalled, when it stands beside the system text.
    fn recalled_beside(&self) -> Option<&Text> {
        let is_beside = self.recall_last && self.window.said().next().is_some();
        Some(&self.recalled).filter(|recalled| is_beside && !recalled.is_empty())
    }

    /// What was recalled, when it stands in the system text.
    fn recalled_in_system(&self) -> Option<&Text> {
        Some(&self.recalled).filter(|recalled| self.recalled_beside().is_none() && !recalled.is_empty())
    }

    /// The app's prompt and the memory block, each trimmed. What is blank is left out.
    fn stable_system_parts(&self) -> impl Iterator<Item = TextSlice<'_>> {
        self.prompt.into_iter().chain([self.block]).map(TextSlice::trim).filter(|part| !part.is_empty())
    }

    /// The same and what was recalled, unless that stands elsewhere.
    fn system_parts(&self) -> impl Iterator<Item = TextSlice<'_>> {
        self.stable_system_parts().chain(self.recalled_in_system().map(Text::as_slice))
    }

    /// The system messages of the window.
    fn instructions(&self) -> impl Iterator<Item = &Text> {
        let system = self.window.said().filter(|said| said.message.role == Role::System);
        system.map(|said| &said.message.content)
    }
}

/// JSON text without halves of surrogate pairs: each becomes U+FFFD.
///
/// A message may hold such a half, since a slice through an emoji makes one. `JSON.stringify` writes it as an escape,
/// and providers refuse a request with such an escape as no JSON.
pub fn well_formed(json: String) -> String {
    if !json.contains("\\ud") && !json.contains("\\uD") {
        return json;
    }
    let mut fixed = String::with_capacity(json.len());
    let mut rest = json.as_str();
    while let Some(at) = rest.find('\\') {
        fixed.push_str(&rest[..at]);
        rest = &rest[at..];
        let (taken, escape) = match (surrogate(rest), rest.get(6..).and_then(surrogate)) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => (12, &rest[..12]),
            (Some(_), _) => (6, "\\ufffd"),
            // An escape is two characters or `\uXXXX`, whose digits no one takes for an escape.
            (None, _) => (2, &rest[..2]),
        };
        fixed.push_str(escape);
        rest = &rest[taken..];
    }
    fixed.push_str(rest);
    fixed
}

/// The surrogate that a JSON text begins with, as an escape.
fn surrogate(json: &str) -> Option<u32> {
    let digits = json.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok().filter(|code| (0xD800..0xE000).contains(code))
}

/// Appends `part` as a paragraph of its own.
fn push_paragraph(text: &mut Text, part: TextSlice<'_>) {
    text.push_str("\n\n");
    text.push_slice(part);
}

/// The parts as paragraphs; `None` when there is no part at all.
fn paragraphs<'a>(mut parts: impl Iterator<Item = TextSlice<'a>>) -> Option<Text> {
    let mut text = parts.next()?.to_text();
    parts.for_each(|part| push_paragraph(&mut text, part));
    Some(text)
}

#[cfg(test)]
mod tests;
