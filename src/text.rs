//! Text as JavaScript means it: a sequence of UTF-16 code units that need not be well formed.
//!
//! A JavaScript string may hold half of a surrogate pair (a slice through an emoji makes one), and an app's message
//! has to come back exactly as it was given. Rust's `String` cannot hold such a half, so [`Text`] keeps WTF-8:
//! UTF-8 for everything that is Unicode, and the same three-byte pattern for a lone surrogate. Text that is well
//! formed, which is nearly all of it, is therefore plain UTF-8 and is used as `&str` without a copy.
//!
//! Lengths and slices count UTF-16 units, and white space is JavaScript's `\s`: it includes U+FEFF and U+00A0 and
//! excludes U+0085, where Rust's own notion differs.

use std::borrow::Borrow;
use std::fmt::{self, Write};

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

/// An owned JavaScript string, kept as WTF-8.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text(Vec<u8>);

/// A borrowed part of a [`Text`], cut at code point boundaries.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextSlice<'a>(&'a [u8]);

impl Text {
    /// An empty text.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// An empty text with room for `bytes` bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    /// Takes over UTF-16 code units; a surrogate without its partner is kept.
    pub fn from_utf16(units: &[u16]) -> Self {
        let mut text = Self::with_capacity(units.len());
        let ascii = units.iter().take_while(|unit| **unit < 0x80).count();
        // Nearly all chat text is ASCII for long stretches; this loop vectorises.
        #[expect(clippy::cast_possible_truncation, reason = "each unit of this run is below 0x80")]
        text.0.extend(units[..ascii].iter().map(|unit| *unit as u8));
        for decoded in char::decode_utf16(units[ascii..].iter().copied()) {
            match decoded {
                Ok(character) => text.push(character),
                Err(lone) => text.push_surrogate(lone.unpaired_surrogate()),
            }
        }
        text
    }

    /// Takes over WTF-8 bytes, as [`Text::as_bytes`] gave them. `None` when they are not WTF-8.
    pub fn from_wtf8(bytes: Vec<u8>) -> Option<Self> {
        is_wtf8(&bytes).then_some(Self(bytes))
    }

    /// The WTF-8 bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text as `&str`, or `None` when it holds a lone surrogate.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// The whole text as a slice.
    pub fn as_slice(&self) -> TextSlice<'_> {
        TextSlice(&self.0)
    }

    /// Whether there is no code unit at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The UTF-16 code units.
    pub fn to_utf16(&self) -> Vec<u16> {
        self.as_slice().to_utf16()
    }

    /// Appends one character.
    pub fn push(&mut self, character: char) {
        let mut buffer = [0; 4];
        self.0.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
    }

    /// Appends well-formed text.
    pub fn push_str(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    /// Appends a slice. Halves of a surrogate pair that meet at the seam become the character, as in JavaScript.
    pub fn push_slice(&mut self, slice: TextSlice<'_>) {
        if let (Some(high), Some(low)) = (lone_high_at_end(&self.0), lone_low_at_start(slice.0)) {
            self.0.truncate(self.0.len() - 3);
            let code = 0x1_0000 + ((u32::from(high) - 0xD800) << 10) + (u32::from(low) - 0xDC00);
            if let Some(character) = char::from_u32(code) {
                self.push(character);
            }
            self.0.extend_from_slice(&slice.0[3..]);
        } else {
            self.0.extend_from_slice(slice.0);
        }
    }

    /// Appends one UTF-16 surrogate that has no partner.
    fn push_surrogate(&mut self, unit: u16) {
        self.0.extend_from_slice(&encode_surrogate(unit));
    }
}

impl<'a> TextSlice<'a> {
    /// The WTF-8 bytes.
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// The slice as `&str`, or `None` when it holds a lone surrogate.
    pub fn as_str(self) -> Option<&'a str> {
        std::str::from_utf8(self.0).ok()
    }

    /// An owned copy.
    pub fn to_text(self) -> Text {
        Text(self.0.to_vec())
    }

    /// Whether there is no code unit at all.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Whether there is nothing but JavaScript white space.
    pub fn is_blank(self) -> bool {
        self.trim_start().is_empty()
    }

    /// The code points in order; a lone surrogate is one code point in 0xD800..=0xDFFF.
    pub fn code_points(self) -> CodePoints<'a> {
        CodePoints { bytes: self.0, at: 0 }
    }

    /// The UTF-16 code units.
    pub fn to_utf16(self) -> Vec<u16> {
        let mut units = Vec::with_capacity(self.0.len());
        for code in self.code_points() {
            if code < 0x1_0000 {
                #[expect(clippy::cast_possible_truncation, reason = "the branch says it fits")]
                units.push(code as u16);
            } else {
                let offset = code - 0x1_0000;
                #[expect(clippy::cast_possible_truncation, reason = "halves of a 20-bit number")]
                units.extend([0xD800 + (offset >> 10) as u16, 0xDC00 + (offset & 0x3FF) as u16]);
            }
        }
        units
    }

    /// How many UTF-16 code units there are: JavaScript's `length`.
    pub fn utf16_len(self) -> usize {
        // Every code point has one byte that is no continuation byte, and a four-byte one is two units.
        self.0.iter().filter(|byte| (**byte & 0xC0) != 0x80).count()
            + self.0.iter().filter(|byte| **byte >= 0xF0).count()
    }

    /// The first `units` UTF-16 code units, even when that cuts a surrogate pair in half.
    pub fn utf16_prefix(self, units: usize) -> Text {
        let mut taken = 0;
        let mut end = 0;
        let mut rest = self.code_points();
        while let Some(code) = rest.next() {
            let width = if code < 0x1_0000 { 1 } else { 2 };
            if taken + width > units {
                let mut text = Text(self.0[..end].to_vec());
                if taken < units {
                    #[expect(clippy::cast_possible_truncation, reason = "the high half of a pair is 10 bits")]
                    text.push_surrogate(0xD800 + ((code - 0x1_0000) >> 10) as u16);
                }
                return text;
            }
            taken += width;
            end = rest.at;
        }
        self.to_text()
    }

    /// Without JavaScript white space at both ends.
    #[must_use]
    pub fn trim(self) -> Self {
        self.trim_start().trim_end()
    }

    /// Without JavaScript white space at the start.
    #[must_use]
    pub fn trim_start(self) -> Self {
        let mut rest = self.code_points();
        let mut start = 0;
        while let Some(code) = rest.next() {
            if !is_white_space(code) {
                break;
            }
            start = rest.at;
        }
        Self(&self.0[start..])
    }

    /// Without JavaScript white space at the end.
    #[must_use]
    pub fn trim_end(self) -> Self {
        let mut end = self.0.len();
        while end > 0 {
            let mut start = end - 1;
            while start > 0 && (self.0[start] & 0xC0) == 0x80 {
                start -= 1;
            }
            let code = CodePoints { bytes: &self.0[..end], at: start }.next();
            if !code.is_some_and(is_white_space) {
                break;
            }
            end = start;
        }
        Self(&self.0[..end])
    }

    /// The parts between line feeds.
    pub fn lines(self) -> impl DoubleEndedIterator<Item = TextSlice<'a>> {
        self.split(b'\n')
    }

    /// The parts between `separator`, an ASCII byte.
    pub fn split(self, separator: u8) -> impl DoubleEndedIterator<Item = TextSlice<'a>> {
        self.0.split(move |byte| *byte == separator).map(TextSlice)
    }

    /// The part before and the part after the first `separator`, an ASCII byte.
    pub fn split_once(self, separator: u8) -> Option<(Self, Self)> {
        let at = self.0.iter().position(|byte| *byte == separator)?;
        Some((Self(&self.0[..at]), Self(&self.0[at + 1..])))
    }

    /// From the byte `start` on, which has to be a code point boundary.
    pub(crate) fn after_byte(self, start: usize) -> Self {
        Self(&self.0[start..])
    }

    /// Up to the byte `end`, which has to be a code point boundary.
    pub(crate) fn before_byte(self, end: usize) -> Self {
        Self(&self.0[..end])
    }
}

/// `text` on one line: white space runs become one space, both ends are trimmed.
///
/// With `max`, what is longer than `max` UTF-16 units is cut to `max - 3` of them, loses its trailing white space and
/// ends in `...`. A `max` below 3 cuts from the end, as a negative index of JavaScript's `slice` does.
pub fn one_line(text: TextSlice<'_>, max: Option<f64>) -> Text {
    let mut line = Text::with_capacity(text.0.len());
    let mut rest = text.trim().code_points();
    let mut in_space = false;
    let mut start = 0;
    // Copies whole words, so that a surrogate pair is never taken apart and joined again.
    loop {
        let at = rest.offset();
        let code = rest.next();
        let space = code.is_some_and(is_white_space);
        if space != in_space || code.is_none() {
            if in_space {
                line.push(' ');
            } else {
                line.push_slice(TextSlice(&rest.bytes[start..at]));
            }
            start = at;
            in_space = space;
        }
        if code.is_none() {
            break;
        }
    }
    let Some(max) = max else { return line };
    #[expect(clippy::cast_precision_loss, reason = "no text has 2^53 units")]
    let length = line.as_slice().utf16_len() as f64;
    if length > max {
        let kept = (max - 3.0).trunc();
        let kept = if kept < 0.0 { (length + kept).max(0.0) } else { kept };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the length")]
        let mut cut = line.as_slice().utf16_prefix(kept as usize).as_slice().trim_end().to_text();
        cut.push_str("...");
        return cut;
    }
    line
}

/// Iterator over the code points of a [`TextSlice`].
#[derive(Clone, Debug)]
pub struct CodePoints<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl CodePoints<'_> {
    /// The byte offset of the next code point.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }
}

impl Iterator for CodePoints<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let first = *self.bytes.get(self.at)?;
        let (width, lead) = match first {
            0x00..=0x7F => {
                self.at += 1;
                return Some(u32::from(first));
            }
            0xC0..=0xDF => (2, u32::from(first & 0x1F)),
            0xE0..=0xEF => (3, u32::from(first & 0x0F)),
            _ => (4, u32::from(first & 0x07)),
        };
        let tail = self.bytes.get(self.at + 1..self.at + width)?;
        self.at += width;
        Some(tail.iter().fold(lead, |code, byte| (code << 6) | u32::from(byte & 0x3F)))
    }
}

/// Whether JavaScript's `\s` and `trim` take `code` for white space.
pub fn is_white_space(code: u32) -> bool {
    matches!(
        code,
        0x09..=0x0D | 0x20 | 0xA0 | 0x1680 | 0x2000..=0x200A | 0x2028 | 0x2029 | 0x202F | 0x205F | 0x3000 | 0xFEFF
    )
}

fn encode_surrogate(unit: u16) -> [u8; 3] {
    let (middle, last) = (((unit >> 6) & 0x3F) as u8, (unit & 0x3F) as u8);
    [0xED, 0x80 | middle, 0x80 | last]
}

fn surrogate(bytes: &[u8]) -> Option<u16> {
    match bytes {
        [0xED, middle @ 0xA0..=0xBF, last] => Some(0xD000 | (u16::from(middle & 0x3F) << 6) | u16::from(last & 0x3F)),
        _ => None,
    }
}

fn lone_high_at_end(bytes: &[u8]) -> Option<u16> {
    let start = bytes.len().checked_sub(3)?;
    surrogate(&bytes[start..]).filter(|unit| *unit < 0xDC00)
}

fn lone_low_at_start(bytes: &[u8]) -> Option<u16> {
    surrogate(bytes.get(..3)?).filter(|unit| *unit >= 0xDC00)
}

fn is_wtf8(mut bytes: &[u8]) -> bool {
    // Each round takes the longest UTF-8 run and then one surrogate; two halves that make a pair are not WTF-8.
    let mut high_before = false;
    loop {
        match std::str::from_utf8(bytes) {
            Ok(_) => return true,
            Err(error) => {
                let valid = error.valid_up_to();
                let Some(unit) = bytes.get(valid..valid + 3).and_then(surrogate) else { return false };
                if high_before && valid == 0 && unit >= 0xDC00 {
                    return false;
                }
                high_before = unit < 0xDC00;
                bytes = &bytes[valid + 3..];
            }
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(text.into_bytes())
    }
}

impl From<TextSlice<'_>> for Text {
    fn from(slice: TextSlice<'_>) -> Self {
        slice.to_text()
    }
}

impl<'a> From<&'a str> for TextSlice<'a> {
    fn from(text: &'a str) -> Self {
        Self(text.as_bytes())
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl Borrow<[u8]> for Text {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

/// Lone surrogates show as U+FFFD: this is for messages to people, never for data.
impl fmt::Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(formatter)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(formatter)
    }
}

impl fmt::Display for TextSlice<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_str() {
            Some(text) => formatter.write_str(text),
            None => {
                self.code_points().try_for_each(|code| formatter.write_char(char::from_u32(code).unwrap_or('\u{FFFD}')))
            }
        }
    }
}

impl fmt::Debug for TextSlice<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), formatter)
    }
}

/// A JSON string. Lone surrogates become `\udXXX` escapes, as `JSON.stringify` writes them.
impl Serialize for TextSlice<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(text) = self.as_str() {
            return serializer.serialize_str(text);
        }
        let mut json = String::with_capacity(self.0.len() + 16);
        json.push('"');
        let mut start = 0;
        let mut rest = self.code_points();
        let flush = |json: &mut String, from: usize, to: usize| {
            if let Some(text) = TextSlice(&self.0[from..to]).as_str()
                && let Ok(quoted) = serde_json::to_string(text)
            {
                json.push_str(&quoted[1..quoted.len() - 1]);
            }
        };
        loop {
            let at = rest.offset();
            match rest.next() {
                Some(code @ 0xD800..=0xDFFF) => {
                    flush(&mut json, start, at);
                    let _ = write!(json, "\\u{code:04x}");
                    start = rest.offset();
                }
                Some(_) => {}
                None => break,
            }
        }
        flush(&mut json, start, self.0.len());
        json.push('"');
        RawValue::from_string(json).map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_slice().serialize(serializer)
    }
}

/// Reads a JSON string through the byte route, which keeps `\udXXX` escapes that have no partner.
impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl Visitor<'_> for TextVisitor {
            type Value = Text;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text, E> {
                Ok(Text::from(text))
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Text, E> {
                Text::from_wtf8(bytes.to_vec()).ok_or_else(|| E::custom("a string holds bytes that are not text"))
            }
        }

        deserializer.deserialize_bytes(TextVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn units() -> impl Strategy<Value = Vec<u16>> {
        // Surrogates are a thirtieth of all units; draw them often enough that halves and pairs meet.
        prop::collection::vec(
            prop_oneof![0u16..128, any::<u16>(), 0xD800u16..0xE000, Just(0xFEFF), Just(0x85), Just(0x20)],
            0..24,
        )
    }

    #[track_caller]
    fn check_trim(input: &str, expect: &str) {
        assert_eq!(TextSlice::from(input).trim(), TextSlice::from(expect));
    }

    #[test]
    fn white_space_is_javascripts() {
        check_trim("\u{FEFF}\u{A0} a\t\r\n", "a");
        check_trim("\u{85}a\u{85}", "\u{85}a\u{85}");
        check_trim("\u{3000}\u{2003}", "");
        check_trim("", "");
    }

    #[track_caller]
    fn check_line(input: &str, max: Option<f64>, expect: &str) {
        assert_eq!(one_line(TextSlice::from(input), max), expect);
    }

    #[test]
    fn one_line_cuts_in_units() {
        check_line(" a \n\t b\u{A0}c ", None, "a b c");
        check_line("abcdef", Some(6.0), "abcdef");
        check_line("abcdefg", Some(6.0), "abc...");
        check_line("ab  defg", Some(6.0), "ab...");
        check_line("abc", Some(2.0), "ab...");
        check_line("abc", Some(0.0), "...");
        check_line("", Some(0.0), "");
        let cut = one_line(TextSlice::from("ab\u{1F600}cdef"), Some(6.0));
        assert_eq!(cut.to_utf16(), [0x61, 0x62, 0xD83D, 0x2E, 0x2E, 0x2E]);
    }

    proptest! {
        #[test]
        fn utf16_round_trips(units in units()) {
            let text = Text::from_utf16(&units);
            prop_assert_eq!(text.to_utf16(), units.clone());
            prop_assert_eq!(text.as_slice().utf16_len(), units.len());
            prop_assert!(Text::from_wtf8(text.as_bytes().to_vec()).is_some());
        }

        #[test]
        fn a_prefix_is_a_slice_of_units(units in units(), length in 0usize..30) {
            let prefix = Text::from_utf16(&units).as_slice().utf16_prefix(length);
            prop_assert_eq!(prefix.to_utf16(), units[..length.min(units.len())].to_vec());
        }

        #[test]
        fn joining_is_joining_of_units(left in units(), right in units()) {
            let mut text = Text::from_utf16(&left);
            text.push_slice(Text::from_utf16(&right).as_slice());
            prop_assert_eq!(text, Text::from_utf16(&[left, right].concat()));
        }

        #[test]
        fn json_round_trips(units in units()) {
            let text = Text::from_utf16(&units);
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(serde_json::from_str::<Text>(&json).unwrap(), text);
        }

        #[test]
        fn trimming_agrees_with_units(units in units()) {
            let blank = |unit: &u16| is_white_space(u32::from(*unit));
            let start = units.iter().position(|unit| !blank(unit)).unwrap_or(units.len());
            let end = units.iter().rposition(|unit| !blank(unit)).map_or(start, |at| at + 1);
            let text = Text::from_utf16(&units);
            prop_assert_eq!(text.as_slice().trim().to_utf16(), units[start..end].to_vec());
        }
    }
}
