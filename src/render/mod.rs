//! What the model is sent: the memory block, and the window in the shape of each provider.
//!
//! Everything here is a pure function of its arguments, and none can fail: whatever a session accepted can be
//! rendered, and a provider accepts what comes out. A conversation that keeps to the providers' rules is mapped one to
//! one. Repairs are made only where a provider would refuse the request.
//!
//! * [`memory`] is the Markdown block of summary, facts and recalled messages.
//! * [`turns`] is the pass that all providers share: it puts each result behind its call and says which results have
//!   no call and which calls have no result.
//! * [`arguments`] and [`names`] bring tool arguments, names and ids into a form that providers accept.
//! * [`openai`] and [`anthropic`] are mappings from turns to a request. Another provider is another such file.

pub mod anthropic;
pub mod arguments;
pub mod memory;
pub mod names;
pub mod openai;
pub mod turns;

use crate::text::{Text, TextSlice};

pub use anthropic::{AnthropicRequest, to_anthropic};
pub use arguments::{ArgumentsObject, arguments_object};
pub use memory::{Headings, MemoryBlock, render_facts, render_memory, render_recalled};
pub use openai::{OpenAiMessage, OpenAiMessages, to_openai};

/// Appends `part` as a paragraph of its own.
fn push_paragraph(text: &mut Text, part: TextSlice<'_>) {
    text.push_str("\n\n");
    text.push_slice(part);
}

/// The app's prompt and the memory block, each trimmed, as paragraphs. What is blank is left out.
fn system_parts<'a>(prompt: Option<TextSlice<'a>>, block: TextSlice<'a>) -> impl Iterator<Item = TextSlice<'a>> {
    prompt.into_iter().chain([block]).map(TextSlice::trim).filter(|part| !part.is_empty())
}

/// The parts as paragraphs; `None` when there is no part at all.
fn paragraphs<'a>(mut parts: impl Iterator<Item = TextSlice<'a>>) -> Option<Text> {
    let mut text = parts.next()?.to_text();
    parts.for_each(|part| push_paragraph(&mut text, part));
    Some(text)
}

#[cfg(test)]
mod tests;
