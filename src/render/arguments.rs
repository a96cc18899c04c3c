//! The arguments of a tool call as a JSON object, for providers that take nothing else.

use std::fmt::Write;

use serde::Serialize;
use serde::de::IgnoredAny;

use crate::json::Json;
use crate::message::Arguments;
use crate::text::{Text, TextSlice};

/// The arguments of a call as an object. It prints as that object.
///
/// The object stays text from end to end, so neither its depth nor its numbers nor the order of its keys matter.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ArgumentsObject<'a> {
    /// The object that the app gave.
    Given(&'a Json),
    /// The object that the app's string holds.
    Parsed(Json),
    /// The object of a call without arguments.
    Empty {},
    /// A string that holds no object, kept whole.
    Wrapped {
        /// The string.
        arguments: &'a Text,
    },
    /// A JSON value that is no object. Only state that another program wrote has one.
    WrappedValue {
        /// The value.
        arguments: &'a Json,
    },
}

/// The arguments as an object: the object itself, or the one that the string holds when `JSON.parse` reads it as one.
///
/// A blank string is an object without members, and any other string becomes the member `arguments` of an object, so
/// that nothing is lost.
pub fn arguments_object(arguments: &Arguments) -> ArgumentsObject<'_> {
    match arguments {
        Arguments::Object(json) if json.as_str().starts_with('{') => ArgumentsObject::Given(json),
        Arguments::Object(json) => ArgumentsObject::WrappedValue { arguments: json },
        Arguments::Text(text) if text.as_slice().is_blank() => ArgumentsObject::Empty {},
        Arguments::Text(text) => match parse_object(text.as_slice()) {
            Some(json) => ArgumentsObject::Parsed(json),
            None => ArgumentsObject::Wrapped { arguments: text },
        },
    }
}

fn parse_object(text: TextSlice<'_>) -> Option<Json> {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    if text.as_bytes().iter().find(|byte| !is_space(byte)) != Some(&b'{') {
        return None;
    }
    match text.as_str() {
        Some(text) => Json::new(text.to_owned()),
        None => Json::new(escape_surrogates(text)?),
    }
}

/// The JSON text with its lone surrogates as escapes. `None` when it is no JSON.
fn escape_surrogates(text: TextSlice<'_>) -> Option<String> {
    // Before escaping, not after: an escape put behind a backslash would make JSON out of what is none.
    serde_json::from_slice::<IgnoredAny>(text.as_bytes()).ok()?;
    let mut json = String::with_capacity(text.as_bytes().len() + 16);
    for code in text.code_points() {
        match char::from_u32(code) {
            Some(character) => json.push(character),
            None => write!(json, "\\u{code:04x}").ok()?,
        }
    }
    Some(json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::to_json;

    fn print(text: impl Into<Text>) -> String {
        to_json(&arguments_object(&Arguments::Text(text.into())))
    }

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(print(text), expect);
    }

    #[test]
    fn a_string_that_holds_an_object_is_that_object() {
        check(r#"{"b":1.50,"a":[],"2":null,"b":1e999}"#, r#"{"b":1.50,"a":[],"2":null,"b":1e999}"#);
        check("\n {\"a\": 1} \t", r#"{"a": 1}"#);
        check(r#"{"a":"\ud800"}"#, r#"{"a":"\ud800"}"#);
        check("{}", "{}");
    }

    #[test]
    fn a_blank_string_is_an_object_without_members() {
        check("", "{}");
        check(" \n\u{FEFF}\u{A0}", "{}");
    }

    #[test]
    fn any_other_string_is_kept_whole() {
        check("party of 6", r#"{"arguments":"party of 6"}"#);
        check("[1]", r#"{"arguments":"[1]"}"#);
        check("null", r#"{"arguments":"null"}"#);
        check("\"{}\"", r#"{"arguments":"\"{}\""}"#);
        check(r#"{"a":1"#, r#"{"arguments":"{\"a\":1"}"#);
        check("{} {}", r#"{"arguments":"{} {}"}"#);
        check("{'a':1}", r#"{"arguments":"{'a':1}"}"#);
        check("{\"a\":01}", r#"{"arguments":"{\"a\":01}"}"#);
        check("{\"a\":\"\n\"}", r#"{"arguments":"{\"a\":\"\n\"}"}"#);
        // White space to JavaScript's `trim`, but not to `JSON.parse`.
        check("\u{FEFF}{}", "{\"arguments\":\"\u{FEFF}{}\"}");
    }

    fn with_surrogate(before: &str, after: &str) -> Text {
        let mut units: Vec<u16> = before.encode_utf16().collect();
        units.push(0xD83D);
        units.extend(after.encode_utf16());
        Text::from_utf16(&units)
    }

    #[test]
    fn half_a_surrogate_pair_becomes_an_escape() {
        assert_eq!(print(with_surrogate("{\"é\":\"", "\"}")), r#"{"é":"\ud83d"}"#);
        assert_eq!(print(with_surrogate("{\"a\":\"", "\\ude00\"}")), r#"{"a":"\ud83d\ude00"}"#);
        assert_eq!(print(with_surrogate("{\"a\":\"\\", "\"}")), r#"{"arguments":"{\"a\":\"\\\ud83d\"}"}"#);
        assert_eq!(print(with_surrogate("{", "}")), r#"{"arguments":"{\ud83d}"}"#);
    }

    #[test]
    fn depth_does_not_matter() {
        let deep = |inner: &str| format!("{}{inner}{}", "{\"a\":[".repeat(10_000), "]}".repeat(10_000));
        assert_eq!(print(deep("1")), deep("1"));
        let surrogate =
            with_surrogate(&format!("{}\"", "{\"a\":[".repeat(10_000)), &format!("\"{}", "]}".repeat(10_000)));
        assert_eq!(print(surrogate), deep(r#""\ud83d""#));
        assert!(print(deep("1 1")).starts_with(r#"{"arguments":"#));
    }

    #[test]
    fn an_object_is_printed_as_it_was_given() {
        let object = |json: &str| to_json(&arguments_object(&Arguments::Object(Json::new(json.to_owned()).unwrap())));
        assert_eq!(object(r#"{"b":1.0,"a":2}"#), r#"{"b":1.0,"a":2}"#);
        assert_eq!(object("[1]"), r#"{"arguments":[1]}"#);
        assert_eq!(object("null"), r#"{"arguments":null}"#);
    }
}
