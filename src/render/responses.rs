//! The window for OpenAI's Responses API, whose input is a list of items.

use std::borrow::Cow;
use std::collections::HashSet;

use super::alternating::joined_text;
use super::blocks::{Block, Dialect, Place, Step, calls, quoted, steps};
use super::names::{safe_id, safe_tool_name, unique_ids};
use super::tree::{Node, Object};
use super::turns::{AnsweredCall, NOT_RUN, Said};
use super::{Format, Request, paragraphs};
use crate::content::{Media, MediaKind, Part, Reasoning, Source};
use crate::json::to_json;
use crate::text::Text;

/// The longest name of a tool.
const MAX_NAME: usize = 64;

/// The longest id of a call.
const MAX_ID: usize = 64;

const DIALECT: Dialect = Dialect {
    name: "openai-responses",
    maker: "openai",
    takes,
    // Without the id of its item the service does not know the thought again.
    takes_reasoning: |_, part| part.item_id.is_some(),
};

/// OpenAI's Responses API.
pub const FORMAT: Format = Format { name: DIALECT.name, render: |request| to_json(&to_responses(request)) };

fn takes(media: &Media, place: Place) -> bool {
    if place == Place::Assistant {
        return false;
    }
    let essence = media.essence();
    match (media.kind, &media.source) {
        (MediaKind::Image, Source::Data(_)) => {
            essence.is_none_or(|it| matches!(&*it, "image/jpeg" | "image/png" | "image/gif" | "image/webp"))
        }
        (MediaKind::Image | MediaKind::File, Source::Url(_) | Source::Id(_)) => true,
        (MediaKind::File, Source::Data(_)) => essence.is_some_and(|it| is_document(&it)),
        _ => false,
    }
}

/// The types of documents that the API reads.
fn is_document(essence: &str) -> bool {
    let kind = essence.strip_prefix("application/").unwrap_or_default();
    matches!(kind, "pdf" | "msword" | "rtf" | "vnd.ms-excel" | "vnd.ms-powerpoint" | "vnd.oasis.opendocument.text")
        || kind.starts_with("vnd.openxmlformats-officedocument.")
}

/// The parts of a request that come from the session: `{ instructions, input }`.
///
/// `instructions` are the prompt and the memory block; they are left out when there are none. System messages of the
/// window stay where they are. An item that came from this API goes back with its id, but no id goes back twice, and
/// none whose reasoning does not go with it.
pub fn to_responses<'a>(request: &'a Request<'_>) -> Object<'a> {
    let steps = steps(request, &DIALECT);
    let ids = unique_ids(calls(&steps).map(|call| short_id(&call.call.id)));
    let mut input = Input { items: Vec::new(), ids: ids.into_iter(), seen: HashSet::new(), results: Vec::new() };
    for step in steps {
        if !matches!(step, Step::Assistant { .. }) {
            input.push_results();
        }
        match step {
            Step::System(said) => input.items.push(message("system", &said.message.content).into()),
            Step::UnaddressedResult(said) => input.push_user(Some(said), quoted(&DIALECT, said)),
            Step::User { said, blocks } => input.push_user(said, blocks),
            Step::Assistant { said, blocks, continues } => input.push_assistant(said, blocks, continues),
        }
    }
    input.push_results();
    let instructions = paragraphs(request.system_parts());
    Object::new().with_some("instructions", instructions).with("input", input.items)
}

/// An id in the characters and the length that the API takes.
fn short_id(id: &Text) -> Cow<'_, Text> {
    let id = safe_id(id);
    // With room for a number that makes it unique.
    if id.as_bytes().len() <= MAX_ID { id } else { Cow::Owned(id.as_slice().utf16_prefix(MAX_ID - 8)) }
}

fn message<'a>(role: &'static str, content: impl Into<Node<'a>>) -> Object<'a> {
    Object::of_type("message").with("role", role).with("content", content)
}

struct Input<'a, I> {
    items: Vec<Node<'a>>,
    /// The ids of the calls to come.
    ids: I,
    /// The ids of items that are in the list already.
    seen: HashSet<&'a Text>,
    /// The results of the calls since anything else was said.
    results: Vec<Node<'a>>,
}

impl<'a, I: Iterator<Item = Cow<'a, Text>>> Input<'a, I> {
    fn push_results(&mut self) {
        self.items.append(&mut self.results);
    }

    fn push_user(&mut self, said: Option<Said<'a>>, blocks: Vec<Block<'a>>) {
        self.items.push(message("user", content(said, blocks)).into());
    }

    fn push_assistant(&mut self, said: Said<'a>, blocks: Vec<Block<'a>>, continues: bool) {
        if !continues {
            self.push_results();
        }
        // What stands in front of an item and could not go back takes the item's own id with it.
        let dropped = dropped_reasoning(said, &blocks);
        let mut blocks = blocks.into_iter().peekable();
        while let Some(block) = blocks.next() {
            match block {
                Block::Text { text, part, refusal } => {
                    if text.as_slice().is_blank() {
                        continue;
                    }
                    self.push_results();
                    let Some(id) = part.filter(|_| !dropped).and_then(|part| self.fresh_id(said, part)) else {
                        self.items.push(message("assistant", text).into());
                        continue;
                    };
                    let mut content = vec![output(said, text, part, refusal)];
                    // Pieces of one item go back as one item.
                    while let Some(Block::Text { part: Some(next), .. }) = blocks.peek()
                        && next.item_id == part.and_then(|part| part.item_id.clone())
                    {
                        if let Some(Block::Text { text, part, refusal }) = blocks.next() {
                            content.push(output(said, text, part, refusal));
                        }
                    }
                    self.items.push(said_item(said, id, part, content).into());
                }
                Block::Reasoning(reasoning, part) => {
                    if let Some(id) = self.fresh_id(said, part) {
                        self.push_results();
                        let extra = DIALECT.extra(said, Some(part));
                        self.items.push(thought(reasoning, id).with_members(extra).into());
                    }
                }
                Block::Call(call) => self.push_call(said, &call, dropped),
                Block::Custom(json, part) => {
                    // An item that is in the list already is not sent again.
                    if part.item_id.is_none() || self.fresh_id(said, part).is_some() {
                        self.push_results();
                        self.items.push(json.into());
                    }
                }
                Block::Media(..) => {}
            }
        }
    }

    fn push_call(&mut self, said: Said<'a>, answered: &AnsweredCall<'a>, dropped: bool) {
        let Some(call_id) = self.ids.next() else { return };
        let call = answered.call;
        let item_id = call.origin.as_ref().and_then(|origin| origin.item_id.as_ref());
        let item_id = item_id.filter(|_| !dropped && DIALECT.made_message(said)).filter(|id| self.seen.insert(id));
        let (kind, answer, input) = if call.is_custom() {
            ("custom_tool_call", "custom_tool_call_output", "input")
        } else {
            ("function_call", "function_call_output", "arguments")
        };
        let object = Object::of_type(kind).with_some("id", item_id).with("call_id", call_id.clone());
        let object = object.with("name", safe_tool_name(call.name.as_slice(), MAX_NAME));
        let object = object.with(input, call.arguments.as_slice());
        self.items.push(object.with_members(DIALECT.call_extra(said, call)).into());
        let result = Object::of_type(answer).with("call_id", call_id);
        self.results.push(match answered.result {
            Some(said) => {
                let blocks = DIALECT.blocks(said, Place::ToolResult);
                result.with("output", output_content(said, blocks)).with_members(DIALECT.message_extra(said)).into()
            }
            None => result.with("output", Text::from(NOT_RUN)).into(),
        });
    }

    /// The item's own id, when it came from this API and is not in the list yet.
    fn fresh_id(&mut self, said: Said<'_>, part: &'a Part) -> Option<&'a Text> {
        let id = part.item_id.as_ref()?;
        let is_own = DIALECT.made(said, part) || DIALECT.is_maker(said, part) == Some(true);
        (is_own && self.seen.insert(id)).then_some(id)
    }
}

/// Whether the message has reasoning of this API that is not among the blocks.
fn dropped_reasoning(said: Said<'_>, blocks: &[Block<'_>]) -> bool {
    let is_reasoning = |part: &&Part| matches!(part.kind, crate::content::PartKind::Reasoning(_));
    let had = said.parts.iter().filter(is_reasoning).filter(|part| DIALECT.made(said, part)).count();
    had > blocks.iter().filter(|block| matches!(block, Block::Reasoning(..))).count()
}

fn thought<'a>(reasoning: &'a Reasoning, id: &'a Text) -> Object<'a> {
    let texts = |kind: &'static str, texts: &mut dyn Iterator<Item = &'a Text>| {
        Node::from(texts.map(|text| Object::of_type(kind).with("text", text)).collect::<Vec<_>>())
    };
    let summary = texts("summary_text", &mut reasoning.summary.iter());
    let object = Object::of_type("reasoning").with("id", id).with("summary", summary);
    let content = reasoning.text.as_ref().map(|text| texts("reasoning_text", &mut std::iter::once(text)));
    object.with_some("content", content).with_some("encrypted_content", reasoning.encrypted.as_ref())
}

/// A text of the model as the item that it was.
fn said_item<'a>(said: Said<'a>, id: &'a Text, part: Option<&'a Part>, content: Vec<Object<'a>>) -> Object<'a> {
    let object = Object::of_type("message").with("id", id).with("role", "assistant");
    let item_extra = part.filter(|part| DIALECT.made(said, part)).and_then(|part| part.item_extra.as_ref());
    let object = object.with("content", content).with_members(item_extra);
    object.with_default("status", "completed")
}

fn output<'a>(said: Said<'a>, text: Cow<'a, Text>, part: Option<&'a Part>, refusal: bool) -> Object<'a> {
    let extra = DIALECT.extra(said, part);
    if refusal {
        return Object::of_type("refusal").with("refusal", text).with_members(extra);
    }
    let object = Object::of_type("output_text").with("text", text).with_members(extra);
    object.with_default("annotations", Vec::<Node<'_>>::new())
}

fn content<'a>(said: Option<Said<'a>>, blocks: Vec<Block<'a>>) -> Node<'a> {
    let Some(said) = said.filter(|_| blocks.iter().any(|block| !matches!(block, Block::Text { part: None, .. })))
    else {
        return joined_text(&blocks).into();
    };
    let list = input_content(said, blocks);
    if list.is_empty() { Node::from(&said.message.content) } else { list.into() }
}

fn output_content<'a>(said: Said<'a>, blocks: Vec<Block<'a>>) -> Node<'a> {
    if said.parts.is_empty() {
        return joined_text(&blocks).into();
    }
    content(Some(said), blocks)
}

fn input_content<'a>(said: Said<'a>, blocks: Vec<Block<'a>>) -> Vec<Node<'a>> {
    let blocks = blocks.into_iter().filter(|block| !block.is_blank());
    let nodes = blocks.filter_map(|block| match block {
        Block::Text { text, part, .. } => {
            let object = Object::of_type("input_text").with("text", text);
            Some(object.with_members(DIALECT.extra(said, part)).into())
        }
        Block::Media(media, part) => Some(input_media(media).with_members(DIALECT.extra(said, Some(part))).into()),
        Block::Custom(json, _) => Some(Node::from(json)),
        Block::Reasoning(..) | Block::Call(_) => None,
    });
    nodes.collect()
}

fn input_media(media: &Media) -> Object<'_> {
    if media.kind == MediaKind::Image {
        let object = Object::of_type("input_image");
        let object = match &media.source {
            Source::Id(id) => object.with("file_id", id),
            Source::Data(data) => object.with("image_url", media.data_url(data.as_slice(), "image/png")),
            Source::Url(url) | Source::Text(url) => object.with("image_url", url),
        };
        return match &media.detail {
            Some(detail) => object.with("detail", detail),
            None => object.with("detail", "auto"),
        };
    }
    let object = Object::of_type("input_file");
    match &media.source {
        Source::Id(id) => object.with("file_id", id),
        Source::Data(data) => {
            let name = media.name.clone().unwrap_or_else(|| Text::from("file.pdf"));
            object.with("filename", name).with("file_data", media.data_url(data.as_slice(), "application/pdf"))
        }
        Source::Url(url) | Source::Text(url) => object.with("file_url", url),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::tests::rendered;

    #[track_caller]
    fn check(window: &str, expect: &[&str]) {
        assert_eq!(rendered(&FORMAT, window), format!(r#"{{"input":[{}]}}"#, expect.join(",")));
    }

    #[test]
    fn items_go_back_as_they_came() {
        check(
            r#"[{"role":"user","content":"u"},
                {"role":"assistant","content":"a","provider":"openai-responses",
                 "toolCalls":[{"id":"c","name":"f","arguments":"{}","itemId":"fc_1"}],
                 "parts":[{"type":"reasoning","summary":["s"],"encrypted":"e","itemId":"rs_1"},
                    {"type":"text","text":"a","itemId":"msg_1"},{"type":"toolCall","id":"c"}]},
                {"role":"tool","content":"r","toolCallId":"c"}]"#,
            &[
                r#"{"type":"message","role":"user","content":"u"}"#,
                concat!(
                    r#"{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"s"}],"#,
                    r#""encrypted_content":"e"}"#
                ),
                concat!(
                    r#"{"type":"message","id":"msg_1","role":"assistant","#,
                    r#""content":[{"type":"output_text","text":"a","annotations":[]}],"status":"completed"}"#
                ),
                r#"{"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"{}"}"#,
                r#"{"type":"function_call_output","call_id":"c","output":"r"}"#,
            ],
        );
    }

    #[test]
    fn an_item_whose_reasoning_cannot_go_back_loses_its_id() {
        check(
            r#"[{"role":"assistant","content":"a","provider":"openai-responses",
                 "parts":[{"type":"reasoning","text":"t"},{"type":"text","text":"a","itemId":"msg_1"}]}]"#,
            &[r#"{"type":"message","role":"assistant","content":"a"}"#],
        );
    }

    #[test]
    fn ids_of_calls_are_short_and_unique() {
        let long = "x".repeat(80);
        let call = format!(r#"[{{"id":"{long}","name":"f","arguments":""}}]"#);
        let message = format!(r#"{{"role":"assistant","content":"","toolCalls":{call}}}"#);
        let json = rendered(&FORMAT, &format!("[{message},{message}]"));
        for id in [&long[..MAX_ID - 8], &format!("{}_2", &long[..MAX_ID - 8])] {
            assert_eq!(json.matches(&format!(r#""call_id":"{id}""#)).count(), 2, "a call and its result: {json}");
        }
    }
}
