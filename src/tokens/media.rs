//! What pictures, files and sound cost.
//!
//! A provider does not charge a picture by its bytes but by its pixels, a document by its pages and sound by its
//! seconds. The rules here are the ones that the providers publish, read in 2026:
//!
//! * OpenAI, "Images and vision": 85 tokens with `detail: 'low'`; else the picture is scaled into 2,048 × 2,048 pixels
//!   and its shorter side to at most 768, and each tile of 512 × 512 costs 170 on top of 85. "Audio": 10 tokens a
//!   second.
//! * Anthropic, "Vision": width × height / 750 once the longer side is at most 1,568 pixels, 1,600 at most. "PDF
//!   support": 1,500 to 3,000 tokens a page.
//! * Google, "Understand and count tokens": 258 tokens for a picture of at most 384 × 384 pixels, else 258 for each
//!   tile; a tile's side is the shorter side of the picture divided by 1.5. 258 tokens for a page, 32 for a second of
//!   sound.
//!
//! Where the pixels, pages or seconds cannot be told (a medium at an address is not fetched), a usual size is taken.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use memchr::memmem;

use super::estimate;
use crate::content::{self, Media, MediaKind, PartKind, Source};
use crate::message::Message;

/// The provider by whose rules media are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// OpenAI's.
    OpenAi,
    /// Anthropic's.
    Anthropic,
    /// Google's.
    Gemini,
}

/// What a medium costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Cost {
    /// By the rules of the provider that the message came from, else by those of OpenAI.
    #[default]
    OfMessage,
    /// By the rules of one provider.
    By(Rules),
    /// So many tokens, whatever it is.
    Fixed(f64),
}

/// What each kind of media costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MediaCosts {
    /// A picture.
    pub image: Cost,
    /// A file.
    pub file: Cost,
    /// Sound.
    pub audio: Cost,
}

/// A page of a document by Anthropic's rules: the middle of what is published.
const ANTHROPIC_PAGE: f64 = 2250.0;

/// A page for Google, and a tile of a picture.
const GEMINI_UNIT: f64 = 258.0;

/// A page for OpenAI, which publishes no figure: it sends the model the text of the page and a picture of it.
const OPENAI_PAGE: f64 = 1500.0;

/// A picture whose size is not known is taken for this many pixels on each side.
const USUAL_SIDE: f64 = 1024.0;

/// Sound whose length is not known is taken for this many seconds.
const USUAL_SECONDS: f64 = 60.0;

/// The bytes of a second of sound that is compressed in the usual way: 128 kilobits.
const COMPRESSED_SECOND: f64 = 16_000.0;

/// The bytes of a page of a PDF whose pages cannot be counted without reading it.
const USUAL_PAGE: f64 = 60_000.0;

impl Rules {
    /// The rules that go by the name of an API or a provider.
    pub fn from_name(name: &str) -> Option<Self> {
        match crate::render::blocks::maker(name) {
            "openai" => Some(Self::OpenAi),
            "anthropic" => Some(Self::Anthropic),
            "gemini" => Some(Self::Gemini),
            _ => None,
        }
    }
}

/// The tokens of all media in a message; 0 for a message of text.
pub fn media_tokens(message: &Message, costs: &MediaCosts) -> f64 {
    let own = message.details.as_ref().and_then(|details| details.provider.as_ref());
    content::parts(message).iter().fold(0.0, |sum, part| {
        let PartKind::Media(media) = &part.kind else { return sum };
        let cost = match media.kind {
            MediaKind::Image => costs.image,
            MediaKind::File => costs.file,
            MediaKind::Audio => costs.audio,
        };
        let of = part.provider.as_ref().or(own).and_then(|name| Rules::from_name(name.as_str()?));
        sum + match cost {
            Cost::Fixed(tokens) => tokens,
            Cost::By(rules) => tokens(media, rules),
            Cost::OfMessage => tokens(media, of.unwrap_or(Rules::OpenAi)),
        }
    })
}

fn tokens(media: &Media, rules: Rules) -> f64 {
    match media.kind {
        MediaKind::Image => image(media, rules),
        MediaKind::File => file(media, rules),
        MediaKind::Audio => audio(media, rules),
    }
}

fn image(media: &Media, rules: Rules) -> f64 {
    let (width, height) = media.pixels().unwrap_or((USUAL_SIDE, USUAL_SIDE));
    match rules {
        Rules::OpenAi if media.detail.as_ref().is_some_and(|detail| *detail == "low") => 85.0,
        Rules::OpenAi => {
            let scale = (2048.0 / width.max(height)).min(1.0);
            let (width, height) = (width * scale, height * scale);
            let scale = (768.0 / width.min(height)).min(1.0);
            85.0 + 170.0 * tiles(width * scale, 512.0) * tiles(height * scale, 512.0)
        }
        Rules::Anthropic => {
            let scale = (1568.0 / width.max(height)).min(1.0);
            ((width * scale) * (height * scale) / 750.0).ceil().min(1600.0)
        }
        Rules::Gemini if width <= 384.0 && height <= 384.0 => GEMINI_UNIT,
        Rules::Gemini => {
            let side = (width.min(height) / 1.5).floor().max(1.0);
            // A strip has no more tiles than the API makes of the widest picture that it takes whole.
            GEMINI_UNIT * (tiles(width, side) * tiles(height, side)).min(24.0)
        }
    }
}

/// How many tiles of one side cover a length. A hair over a whole number is that number.
fn tiles(length: f64, side: f64) -> f64 {
    (length / side - 1e-9).ceil().max(1.0)
}

fn file(media: &Media, rules: Rules) -> f64 {
    if let Some(text) = media.document_text() {
        return estimate(text.as_slice());
    }
    let page = match rules {
        Rules::OpenAi => OPENAI_PAGE,
        Rules::Anthropic => ANTHROPIC_PAGE,
        Rules::Gemini => GEMINI_UNIT,
    };
    let is_image = media.essence().is_some_and(|essence| essence.starts_with("image/"));
    if is_image { image(media, rules) } else { page * pages(media) }
}

/// How many pages a document has: as many as it marks, else as its size suggests.
fn pages(media: &Media) -> f64 {
    let Source::Data(data) = &media.source else { return 1.0 };
    let bytes = BASE64_STANDARD.decode(data.as_bytes()).unwrap_or_default();
    let marked = memmem::find_iter(&bytes, b"/Type").filter(|at| is_page(&bytes[at + 5..])).count();
    if marked > 0 {
        #[expect(clippy::cast_precision_loss, reason = "no document has 2^53 pages")]
        return marked as f64;
    }
    (length(media) / USUAL_PAGE).ceil().max(1.0)
}

/// Whether what follows `/Type` is `/Page`, and not `/Pages`.
fn is_page(rest: &[u8]) -> bool {
    let Some(name) = rest.trim_ascii_start().strip_prefix(b"/Page") else { return false };
    !name.first().is_some_and(u8::is_ascii_alphanumeric)
}

fn audio(media: &Media, rules: Rules) -> f64 {
    let per_second = match rules {
        Rules::OpenAi | Rules::Anthropic => 10.0,
        Rules::Gemini => 32.0,
    };
    (seconds(media) * per_second).ceil().max(1.0)
}

fn seconds(media: &Media) -> f64 {
    let Source::Data(data) = &media.source else { return USUAL_SECONDS };
    if let Some(rate) = raw_rate(media) {
        return length(media) / rate;
    }
    let head = &data.as_bytes()[..data.as_bytes().len().min(64) / 4 * 4];
    let head = BASE64_STANDARD.decode(head).unwrap_or_default();
    // A WAVE file says how many bytes a second has; what is compressed has about the same everywhere.
    let rate = head.get(28..32).filter(|_| head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WAVE"));
    let rate = rate.and_then(|rate| rate.try_into().ok()).map(u32::from_le_bytes).filter(|rate| *rate > 0);
    length(media) / rate.map_or(COMPRESSED_SECOND, f64::from)
}

/// The bytes of a second of sound that is not compressed: two for each of the samples that its media type names.
fn raw_rate(media: &Media) -> Option<f64> {
    if !matches!(&*media.essence()?, "audio/l16" | "audio/pcm") {
        return None;
    }
    let parameters = media.media_type.as_ref()?.as_str()?.split(';').skip(1);
    let rate = parameters.filter_map(|it| it.trim().strip_prefix("rate=")?.parse::<u32>().ok()).find(|rate| *rate > 0);
    Some(2.0 * f64::from(rate.unwrap_or(24_000)))
}

#[expect(clippy::cast_precision_loss, reason = "no medium has 2^53 bytes")]
fn length(media: &Media) -> f64 {
    media.byte_len().unwrap_or_default() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(part: &str, expect: [u32; 3]) {
        let json = format!(r#"{{"role":"user","content":"","parts":[{{"type":"text","text":"x"}},{part}]}}"#);
        let message: Message = serde_json::from_str(&json).unwrap();
        let of = |rules| {
            let cost = Cost::By(rules);
            media_tokens(&message, &MediaCosts { image: cost, file: cost, audio: cost })
        };
        let costs = [of(Rules::OpenAi), of(Rules::Anthropic), of(Rules::Gemini)];
        assert_eq!(costs.map(|cost| cost.to_string()), expect.map(|cost| cost.to_string()));
    }

    fn image(width: u32, height: u32, more: &str) -> String {
        format!(r#"{{"type":"image","url":"https://a.example/b","width":{width},"height":{height}{more}}}"#)
    }

    #[test]
    fn pictures_cost_what_their_providers_publish() {
        // The examples of OpenAI's page, of Anthropic's table and of Google's page.
        check(&image(1024, 1024, ""), [765, 1399, 1032]);
        check(&image(2048, 4096, ""), [1105, 1600, 2064]);
        check(&image(4096, 8192, r#","detail":"low""#), [85, 1600, 2064]);
        check(&image(200, 200, ""), [255, 54, 258]);
        check(&image(1000, 1000, ""), [765, 1334, 1032]);
        check(&image(1092, 1092, ""), [765, 1590, 1032]);
        check(&image(960, 540, ""), [765, 692, 1548]);
        check(r#"{"type":"image","url":"https://a.example/b"}"#, [765, 1399, 1032]);
    }

    #[test]
    fn a_megabyte_costs_no_more_than_its_pixels() {
        let data = format!("iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA10dzk{}", "A".repeat(1_400_000));
        check(&format!(r#"{{"type":"image","data":"{data}"}}"#), [425, 410, 1032]);
    }

    #[test]
    fn documents_cost_by_the_page_or_as_text() {
        let pdf = BASE64_STANDARD.encode("%PDF-1.4 /Type /Pages /Count 2 /Type /Page\n/Type/Page>>");
        check(&format!(r#"{{"type":"file","data":"{pdf}"}}"#), [3000, 4500, 516]);
        let pdf = BASE64_STANDARD.encode(format!("%PDF-1.7 {}", "x".repeat(150_000)));
        check(&format!(r#"{{"type":"file","data":"{pdf}"}}"#), [4500, 6750, 774]);
        check(r#"{"type":"file","fileId":"f"}"#, [1500, 2250, 258]);
        check(r#"{"type":"file","text":"12345678"}"#, [2, 2, 2]);
        check(r#"{"type":"file","data":"MTIzNDU2Nzg=","mediaType":"text/plain"}"#, [2, 2, 2]);
    }

    #[test]
    fn sound_costs_by_the_second() {
        let mut wave = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
        wave.extend(16_000_u32.to_le_bytes());
        wave.extend(32_000_u32.to_le_bytes());
        wave.resize(320_000, 0);
        let wave = BASE64_STANDARD.encode(wave);
        check(&format!(r#"{{"type":"audio","data":"{wave}"}}"#), [101, 101, 321]);
        check(r#"{"type":"audio","id":"a"}"#, [600, 600, 1920]);
        check(r#"{"type":"audio","data":"AAAA","mediaType":"audio/mpeg"}"#, [1, 1, 1]);
        let raw = BASE64_STANDARD.encode(vec![0; 480_000]);
        check(&format!(r#"{{"type":"audio","data":"{raw}","mediaType":"audio/L16;rate=24000"}}"#), [100, 100, 320]);
    }

    #[test]
    fn the_message_says_whose_rules_apply() {
        let cost = |provider: &str, costs: &MediaCosts| {
            let json = format!(
                r#"{{"role":"user","content":"","provider":"{provider}","parts":[{}]}}"#,
                image(1092, 1092, "")
            );
            media_tokens(&serde_json::from_str(&json).unwrap(), costs)
        };
        let default = MediaCosts::default();
        let costs = ["anthropic", "gemini", "openai-responses", "ai-sdk"].map(|name| cost(name, &default));
        assert_eq!(costs.map(|cost| cost.to_string()), ["1590", "1032", "765", "765"]);
        assert!((cost("anthropic", &MediaCosts { image: Cost::Fixed(7.0), ..default }) - 7.0).abs() < f64::EPSILON);
    }
}
