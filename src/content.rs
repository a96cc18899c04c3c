//! What a message holds beside text: pictures, files, sound, reasoning, and blocks that only a provider reads.
//!
//! A message's `content` is always text. When it was more than that, the message also has `parts`: a list of
//! everything in the order in which it was said, kept as the JSON that the app or a provider gave. This module reads
//! that list when a request is rendered or a message is counted. What it cannot read it passes over as
//! [`PartKind::Custom`], so that a message whose parts another program wrote is rendered by its text.

use std::borrow::Cow;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;

use crate::json::Json;
use crate::message::{Message, Role};
use crate::text::{Text, TextSlice};

/// One part of a message's content.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// Which API it came from, when that is another than the message's.
    pub provider: Option<Text>,
    /// The id of the item that held it, where items have ids of their own.
    pub item_id: Option<Text>,
    /// Members of the provider's block that only this provider knows: a JSON object.
    pub extra: Option<Json>,
    /// Members of the item around the block.
    pub item_extra: Option<Json>,
}

/// The kinds of parts.
#[derive(Clone, Debug, PartialEq)]
pub enum PartKind {
    /// Text.
    Text {
        /// What is said.
        text: Text,
        /// Whether the model says why it does not answer.
        refusal: bool,
    },
    /// A picture, a file or sound.
    Media(Media),
    /// What the model thought.
    Reasoning(Reasoning),
    /// The place of the message's next tool call.
    ToolCall,
    /// A block that is kept and not read; with the value that its provider takes, when there is one.
    Custom(Option<Json>),
}

/// A picture, a file or sound.
#[derive(Clone, Debug, PartialEq)]
pub struct Media {
    /// Which of the three.
    pub kind: MediaKind,
    /// Where its bytes are.
    pub source: Source,
    /// Its media type, such as `image/png`, as given, or as the first bytes or the end of the address say.
    pub media_type: Option<Text>,
    /// The name of the file.
    pub name: Option<Text>,
    /// How closely the model is to look at it: `low`, `high` or `auto`.
    pub detail: Option<Text>,
    /// What is said in the sound.
    pub transcript: Option<Text>,
    /// Width and height in pixels, when the app gave them.
    pub size: Option<(f64, f64)>,
}

/// The kinds of media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaKind {
    /// A picture.
    Image,
    /// A document.
    File,
    /// Sound.
    Audio,
}

/// Where the bytes of a medium are.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// At an address.
    Url(Text),
    /// Here, as base64.
    Data(Text),
    /// With the provider, under this id.
    Id(Text),
    /// Here, as plain text.
    Text(Text),
}

/// What the model thought before it spoke or called.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reasoning {
    /// The thought itself.
    pub text: Option<Text>,
    /// Summaries of it.
    pub summary: Vec<Text>,
    /// What proves to its maker that nothing was changed.
    pub signature: Option<Text>,
    /// The thought in a form that only its maker reads.
    pub encrypted: Option<Text>,
}

/// One half of a call of the provider's own tools, which stand in blocks that are not read: the call or its result.
///
/// Providers refuse either alone, so the two are kept, cut and sent together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Half {
    /// The id that both halves have.
    pub id: Text,
    /// Whether this is the result.
    pub is_result: bool,
}

impl Part {
    /// The half of a call that this is. None when it is neither a result nor a call that waits for one: most tools of
    /// providers have both in one block.
    pub fn half(&self) -> Option<Half> {
        #[derive(Deserialize)]
        struct Block {
            r#type: Text,
            id: Option<Text>,
            call_id: Option<Text>,
            tool_use_id: Option<Text>,
        }

        let PartKind::Custom(Some(value)) = &self.kind else { return None };
        let block: Block = serde_json::from_str(value.as_str()).ok()?;
        let kind = block.r#type.as_str()?;
        let (id, is_result) = match (block.tool_use_id, block.call_id) {
            (Some(id), _) => (Some(id), true),
            (None, Some(id)) => (Some(id), kind.ends_with("_output")),
            (None, None) => (block.id.filter(|_| kind.ends_with("_tool_use")), false),
        };
        Some(Half { id: id?, is_result })
    }
}

/// The halves of calls in a message.
pub fn halves(message: &Message) -> Vec<Half> {
    let json = message.details.as_ref().and_then(|details| details.parts.as_ref());
    // A look at the text spares reading the media of messages that cannot have any.
    if !json.is_some_and(|json| json.as_str().contains("\"custom\"")) {
        return Vec::new();
    }
    parts(message).iter().filter_map(Part::half).collect()
}

/// Every member that a part has in any of its kinds.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields {
    r#type: Text,
    text: Option<Text>,
    #[serde(default)]
    refusal: bool,
    url: Option<Text>,
    data: Option<Text>,
    file_id: Option<Text>,
    id: Option<Text>,
    media_type: Option<Text>,
    name: Option<Text>,
    detail: Option<Text>,
    transcript: Option<Text>,
    width: Option<f64>,
    height: Option<f64>,
    summary: Option<Vec<Text>>,
    signature: Option<Text>,
    encrypted: Option<Text>,
    value: Option<Json>,
    provider: Option<Text>,
    item_id: Option<Text>,
    provider_metadata: Option<Json>,
    item_metadata: Option<Json>,
}

/// The parts of a message. None when its content is text alone.
pub fn parts(message: &Message) -> Vec<Part> {
    let json = message.details.as_ref().and_then(|details| details.parts.as_ref());
    let list: Vec<Json> = json.and_then(|json| serde_json::from_str(json.as_str()).ok()).unwrap_or_default();
    list.iter().map(|json| part(json.as_str())).collect()
}

/// Whether a message is reasoning and nothing else: what it led to is in the message behind it.
pub fn is_reasoning_alone(message: &Message) -> bool {
    message.role == Role::Assistant
        && message.content.as_slice().is_blank()
        && message.tool_calls().is_empty()
        && parts(message).iter().any(|part| matches!(part.kind, PartKind::Reasoning(_)))
}

fn part(json: &str) -> Part {
    let unread = Part { kind: PartKind::Custom(None), provider: None, item_id: None, extra: None, item_extra: None };
    let Ok(fields) = serde_json::from_str::<Fields>(json) else { return unread };
    let object = |json: Option<Json>| json.filter(|json| json.as_str().starts_with('{'));
    let (provider, item_id) = (fields.provider.clone(), fields.item_id.clone());
    let (extra, item_extra) = (object(fields.provider_metadata.clone()), object(fields.item_metadata.clone()));
    fields.kind().map_or(unread, |kind| Part { kind, provider, item_id, extra, item_extra })
}

impl Fields {
    fn kind(self) -> Option<PartKind> {
        Some(match self.r#type.as_str()? {
            "text" => PartKind::Text { text: self.text?, refusal: self.refusal },
            "image" => PartKind::Media(self.media(MediaKind::Image)?),
            "file" => PartKind::Media(self.media(MediaKind::File)?),
            "audio" => PartKind::Media(self.media(MediaKind::Audio)?),
            "reasoning" => PartKind::Reasoning(Reasoning {
                text: self.text,
                summary: self.summary.unwrap_or_default(),
                signature: self.signature,
                encrypted: self.encrypted,
            }),
            "toolCall" => PartKind::ToolCall,
            "custom" => PartKind::Custom(self.value),
            _ => return None,
        })
    }

    fn media(self, kind: MediaKind) -> Option<Media> {
        let mut media_type = self.media_type;
        let source = match (self.data, self.url) {
            (Some(data), _) => Source::Data(data),
            (None, Some(url)) => match data_url(&url) {
                Some((of_url, data)) => {
                    media_type = media_type.or(of_url);
                    Source::Data(data)
                }
                None => Source::Url(url),
            },
            (None, None) => match self.file_id.or(self.id) {
                Some(id) => Source::Id(id),
                None => Source::Text(self.text?),
            },
        };
        // A picture is what its bytes say: providers compare the two.
        let is_called_image = media_type.as_ref().is_some_and(|it| it.as_bytes().starts_with(b"image/"));
        if (kind == MediaKind::Image || is_called_image)
            && let Source::Data(data) = &source
            && let Some(sniffed) = sniff(data).filter(|sniffed| sniffed.starts_with("image/"))
        {
            media_type = Some(Text::from(sniffed));
        }
        if media_type.is_none() {
            media_type = match &source {
                Source::Data(data) => sniff(data).map(Text::from),
                Source::Url(url) => type_of_address(url).map(Text::from),
                Source::Id(_) | Source::Text(_) => None,
            };
        }
        Some(Media {
            kind,
            source,
            media_type,
            name: self.name,
            detail: self.detail,
            transcript: self.transcript,
            size: self.width.zip(self.height).filter(|(width, height)| *width >= 1.0 && *height >= 1.0),
        })
    }
}

/// The media type and the base64 data of a `data:` address.
fn data_url(url: &Text) -> Option<(Option<Text>, Text)> {
    let bytes = url.as_bytes();
    if !bytes.get(..5)?.eq_ignore_ascii_case(b"data:") {
        return None;
    }
    let (head, data) = url.as_slice().after_byte(5).split_once(b',')?;
    let head = head.as_str()?.strip_suffix(";base64")?;
    let media_type = head.split(';').next().filter(|media_type| !media_type.is_empty());
    Some((media_type.map(Text::from), data.to_text()))
}

/// How much base64 says what a medium is and, for a picture, how large: the size of a JPEG can stand behind its
/// embedded preview.
const HEAD: usize = 256 * 1024;

/// The first bytes of a medium.
fn head(data: &Text) -> Vec<u8> {
    let data = data.as_bytes();
    let whole = data.len().min(HEAD) / 4 * 4;
    BASE64_STANDARD.decode(&data[..whole]).unwrap_or_default()
}

/// The media type that the end of an address says.
fn type_of_address(url: &Text) -> Option<&'static str> {
    let path = url.as_str()?.split(['?', '#']).next()?;
    mime_guess::from_path(path).first_raw()
}

/// The media type that the first bytes of some base64 say.
fn sniff(data: &Text) -> Option<&'static str> {
    let bytes = data.as_bytes();
    let start = BASE64_STANDARD.decode(&bytes[..bytes.len().min(64) / 4 * 4]).ok()?;
    if start.starts_with(b"%PDF-") {
        return Some("application/pdf");
    }
    if start.starts_with(b"RIFF") && start.get(8..12) == Some(b"WAVE") {
        return Some("audio/wav");
    }
    if start.starts_with(b"ID3") {
        return Some("audio/mpeg");
    }
    match imagesize::image_type(&start).ok()? {
        imagesize::ImageType::Png => Some("image/png"),
        imagesize::ImageType::Jpeg => Some("image/jpeg"),
        imagesize::ImageType::Gif => Some("image/gif"),
        imagesize::ImageType::Webp => Some("image/webp"),
        imagesize::ImageType::Bmp => Some("image/bmp"),
        imagesize::ImageType::Tiff => Some("image/tiff"),
        _ => None,
    }
}

impl Media {
    /// What stands in the text for it: `[image]`, `[file NAME]`, `[audio]`, or what is said in the sound.
    pub fn marker(&self) -> Text {
        match (self.kind, &self.name, &self.transcript) {
            (MediaKind::Audio, _, Some(transcript)) => transcript.clone(),
            (MediaKind::Audio, ..) => Text::from("[audio]"),
            (MediaKind::Image, ..) => Text::from("[image]"),
            (MediaKind::File, None, _) => Text::from("[file]"),
            (MediaKind::File, Some(name), _) => {
                let mut marker = Text::from("[file ");
                marker.push_slice(name.as_slice());
                marker.push(']');
                marker
            }
        }
    }

    /// The media type in lower case without its parameters, when it is known.
    pub fn essence(&self) -> Option<Cow<'_, str>> {
        let media_type = self.media_type.as_ref()?.as_str()?;
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        if essence.is_empty() {
            return None;
        }
        if essence.eq_ignore_ascii_case("image/jpg") {
            return Some(Cow::Borrowed("image/jpeg"));
        }
        let is_lower = !essence.bytes().any(|byte| byte.is_ascii_uppercase());
        Some(if is_lower { Cow::Borrowed(essence) } else { Cow::Owned(essence.to_ascii_lowercase()) })
    }

    /// Width and height in pixels: as the app gave them, or as the picture's own bytes say.
    pub fn pixels(&self) -> Option<(f64, f64)> {
        if self.size.is_some() {
            return self.size;
        }
        let Source::Data(data) = &self.source else { return None };
        let size = imagesize::blob_size(&head(data)).ok()?;
        #[expect(clippy::cast_precision_loss, reason = "no picture is 2^53 pixels wide")]
        let pixels = (size.width as f64, size.height as f64);
        (pixels.0 >= 1.0 && pixels.1 >= 1.0).then_some(pixels)
    }

    /// The text of a document that is text, whether it came as such or as bytes.
    pub fn document_text(&self) -> Option<Text> {
        match &self.source {
            Source::Text(text) => Some(text.clone()),
            Source::Data(data) if self.is_text() => {
                String::from_utf8(BASE64_STANDARD.decode(data.as_bytes()).ok()?).ok().map(Text::from)
            }
            _ => None,
        }
    }

    /// Whether the media type is one of text that a model reads as it is.
    pub fn is_text(&self) -> bool {
        self.essence().is_some_and(|essence| {
            essence.starts_with("text/") || matches!(&*essence, "application/json" | "application/xml")
        })
    }

    /// Whether a provider can get at the bytes: they are here, or at an address of the web or of a provider's own store.
    pub fn is_reachable(&self) -> bool {
        match &self.source {
            Source::Data(data) => !data.is_empty(),
            Source::Url(url) => {
                let scheme = url.as_slice().split_once(b':').and_then(|(scheme, _)| scheme.as_str());
                scheme.is_some_and(|scheme| matches!(&*scheme.to_ascii_lowercase(), "http" | "https" | "gs"))
            }
            Source::Id(_) | Source::Text(_) => true,
        }
    }

    /// Whether the bytes are at an address that begins with `scheme` and a colon.
    pub fn is_at(&self, scheme: &str) -> bool {
        matches!(&self.source, Source::Url(url) if url.as_slice().split_once(b':').is_some_and(|(own, _)| {
            own.as_str().is_some_and(|own| own.eq_ignore_ascii_case(scheme))
        }))
    }

    /// How many bytes there are, when they are here.
    pub fn byte_len(&self) -> Option<usize> {
        match &self.source {
            Source::Data(data) => Some(data.as_bytes().len() / 4 * 3),
            Source::Text(text) => Some(text.as_bytes().len()),
            Source::Url(_) | Source::Id(_) => None,
        }
    }

    /// The bytes as a `data:` address.
    pub fn data_url(&self, data: TextSlice<'_>, default_type: &str) -> Text {
        let mut url = Text::with_capacity(data.as_bytes().len() + 40);
        url.push_str("data:");
        url.push_str(&self.essence().unwrap_or(Cow::Borrowed(default_type)));
        url.push_str(";base64,");
        url.push_slice(data);
        url
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Vec<Part> {
        let message = format!(r#"{{"role":"user","content":"","parts":{json}}}"#);
        parts(&serde_json::from_str::<Message>(&message).unwrap())
    }

    fn media(json: &str) -> Media {
        match read(&format!("[{json}]")).remove(0).kind {
            PartKind::Media(media) => media,
            other => panic!("{other:?}"),
        }
    }

    /// The head of a PNG of 640 by 480 pixels.
    const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA10dzkAAAA";

    #[test]
    fn a_message_of_text_has_no_parts() {
        assert!(parts(&Message::new(Role::User, "x")).is_empty());
        assert!(read("[]").is_empty());
        assert!(read("5").is_empty(), "state of another program");
    }

    #[test]
    fn what_cannot_be_read_is_passed_over() {
        for json in [r#"{"type":"hologram"}"#, r#"{"type":"text"}"#, r#"{"type":"image"}"#, "5", r#"{"text":"x"}"#] {
            assert_eq!(read(&format!("[{json}]"))[0].kind, PartKind::Custom(None), "{json}");
        }
    }

    #[test]
    fn an_address_with_data_is_data() {
        let image = media(r#"{"type":"image","url":"data:image/PNG;charset=x;base64,AAAA"}"#);
        assert_eq!(image.source, Source::Data("AAAA".into()));
        assert_eq!(image.essence().unwrap(), "image/png");
        let image = media(r#"{"type":"image","url":"https://a.example/b.png"}"#);
        assert_eq!(image.source, Source::Url("https://a.example/b.png".into()));
        let text = media(r#"{"type":"file","url":"data:text/plain,x"}"#);
        assert_eq!(text.source, Source::Url("data:text/plain,x".into()));
    }

    #[test]
    fn the_first_bytes_say_what_it_is() {
        let image = media(&format!(r#"{{"type":"image","data":"{PNG}"}}"#));
        assert_eq!(image.essence().unwrap(), "image/png");
        assert_eq!(image.pixels(), Some((640.0, 480.0)));
        let image = media(&format!(r#"{{"type":"image","data":"{PNG}","width":10,"height":20}}"#));
        assert_eq!(image.pixels(), Some((10.0, 20.0)));
        assert_eq!(media(r#"{"type":"file","data":"JVBERi0xLjQK"}"#).essence().unwrap(), "application/pdf");
        let address =
            |url: &str| media(&format!(r#"{{"type":"file","url":"{url}"}}"#)).media_type.map(|it| it.to_string());
        assert_eq!(address("https://a.example/b.PDF?c=d.png#e").as_deref(), Some("application/pdf"));
        assert_eq!(address("https://a.example/b"), None);
        let nothing = media(r#"{"type":"image","data":"!!!!"}"#);
        assert_eq!((nothing.essence(), nothing.pixels()), (None, None));
    }

    #[test]
    fn media_leave_a_marker() {
        let marker = |json: &str| media(json).marker().to_string();
        assert_eq!(marker(r#"{"type":"image","fileId":"f"}"#), "[image]");
        assert_eq!(marker(r#"{"type":"file","text":"x"}"#), "[file]");
        assert_eq!(marker(r#"{"type":"file","text":"x","name":"report.pdf"}"#), "[file report.pdf]");
        assert_eq!(marker(r#"{"type":"audio","id":"a"}"#), "[audio]");
        assert_eq!(marker(r#"{"type":"audio","id":"a","transcript":"hello"}"#), "hello");
    }

    #[test]
    fn a_providers_own_calls_and_results_are_halves_of_one() {
        let half = |value: &str| {
            let part = read(&format!(r#"[{{"type":"custom","value":{value}}}]"#)).remove(0);
            part.half().map(|half| (half.id.to_string(), half.is_result))
        };
        let of = |id: &str, is_result| Some((id.to_owned(), is_result));
        assert_eq!(half(r#"{"type":"server_tool_use","id":"s","name":"f"}"#), of("s", false));
        assert_eq!(half(r#"{"type":"web_search_tool_result","tool_use_id":"s"}"#), of("s", true));
        assert_eq!(half(r#"{"type":"shell_call","id":"sh","call_id":"c"}"#), of("c", false));
        assert_eq!(half(r#"{"type":"shell_call_output","call_id":"c"}"#), of("c", true));
        for whole in [r#"{"type":"web_search_call","id":"w"}"#, r#"{"type":"x"}"#, r#"{"call_id":"c"}"#, "5", "null"] {
            assert_eq!(half(whole), None, "{whole}");
        }
    }

    #[test]
    fn a_document_of_text_is_text() {
        let text = |json: &str| media(json).document_text().map(|text| text.to_string());
        assert_eq!(text(r#"{"type":"file","text":"x"}"#).as_deref(), Some("x"));
        assert_eq!(text(r#"{"type":"file","data":"aGk=","mediaType":"text/csv; a=b"}"#).as_deref(), Some("hi"));
        assert_eq!(text(r#"{"type":"file","data":"aGk=","mediaType":"application/zip"}"#), None);
        assert_eq!(text(r#"{"type":"file","data":"/w==","mediaType":"text/plain"}"#), None, "no UTF-8");
    }
}
