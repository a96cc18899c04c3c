//! The app's own JSON, carried through unread, and numbers as JavaScript writes them.
//!
//! `meta` and tool arguments belong to the app. Parsing them into a tree and printing them again would reorder keys,
//! round numbers and refuse lone surrogates, so they stay the text that `JSON.stringify` made.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::text::Text;

/// One JSON value as text, checked for syntax once.
#[derive(Clone, Debug)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Takes `text` when it is one JSON value.
    pub fn new(text: String) -> Option<Self> {
        RawValue::from_string(text).ok().map(Self)
    }

    /// The JSON text, without surrounding white space.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Whether the value is `null`.
    pub fn is_null(&self) -> bool {
        self.as_str() == "null"
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self)
    }
}

/// A value that is nearly always of type `T`, and otherwise whatever JSON the app put there.
#[derive(Clone, Debug, PartialEq)]
pub enum Loose<T> {
    /// The usual type.
    Usual(T),
    /// Anything else, as it came.
    Other(Json),
}

impl<T> Loose<T> {
    /// The value, when it is of the usual type.
    pub fn usual(self) -> Option<T> {
        match self {
            Self::Usual(value) => Some(value),
            Self::Other(_) => None,
        }
    }
}

impl<T: Serialize> Serialize for Loose<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Usual(value) => value.serialize(serializer),
            Self::Other(json) => json.serialize(serializer),
        }
    }
}

impl<'de, T: serde::de::DeserializeOwned> Deserialize<'de> for Loose<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        Ok(serde_json::from_str(json.as_str()).map_or(Self::Other(json), Self::Usual))
    }
}

/// A JavaScript number. Whole numbers print without a fraction; what is not finite prints as `null`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Number(pub f64);

impl Number {
    /// Whether the value is an integer that `f64` holds exactly.
    pub fn is_safe_integer(self) -> bool {
        self.0.fract() == 0.0 && self.0.abs() <= 9_007_199_254_740_991.0
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self(value)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_safe_integer() {
            #[expect(clippy::cast_possible_truncation, reason = "a safe integer fits in 64 bits")]
            return serializer.serialize_i64(self.0 as i64);
        }
        serializer.serialize_f64(self.0)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Self)
    }
}

/// Members of an object that the library does not know and keeps.
pub type Members = Vec<(Text, Json)>;

/// Keeps a member whose name the library does not know.
///
/// # Errors
///
/// When the name holds half a surrogate pair: no JSON printer takes that for a name, so the whole object has to stay
/// the text that it is.
pub(crate) fn keep_member<E: serde::de::Error>(members: &mut Members, name: Text, value: Json) -> Result<(), E> {
    if name.as_str().is_none() {
        return Err(E::custom(format_args!("the member `{name}` has half a character in its name")));
    }
    members.push((name, value));
    Ok(())
}

/// The next value of an object; what is wrong with it is said with the member's name.
pub(crate) fn member<'de, A, T>(map: &mut A, name: &str) -> Result<T, A::Error>
where
    A: serde::de::MapAccess<'de>,
    T: Deserialize<'de>,
{
    map.next_value().map_err(|error| serde::de::Error::custom(format_args!("`{name}`: {error}")))
}

/// What is wrong with some JSON, without the lines and columns of a text that the app never saw.
pub fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let mut parts = text.split(" at line ");
    let mut reason = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // `12 column 7` and what follows it.
        let digits = |it: &str| it.chars().take_while(char::is_ascii_digit).count();
        let after_line = &part[digits(part)..];
        let after_column = after_line.strip_prefix(" column ").unwrap_or(after_line);
        reason.push_str(&after_column[digits(after_column)..]);
    }
    reason
}

/// JSON text of a value of this crate.
pub fn to_json(value: &impl Serialize) -> String {
    // Writing into memory cannot fail, and no type here refuses: maps have text keys and numbers print as null.
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: f64, expect: &str) {
        assert_eq!(to_json(&Number(value)), expect);
    }

    #[test]
    fn numbers_print_as_in_javascript() {
        check(4.0, "4");
        check(-0.0, "0");
        check(0.1, "0.1");
        check(f64::NAN, "null");
        check(f64::INFINITY, "null");
        check(9_007_199_254_740_992.0, "9007199254740992.0");
    }

    #[test]
    fn a_reason_has_no_places() {
        let error = serde_json::from_str::<Vec<Number>>("[1, null]").unwrap_err();
        assert!(error.to_string().contains(" at line 1 column "));
        assert_eq!(reason(&error), "invalid type: null, expected f64");
    }

    #[test]
    fn other_json_keeps_its_text() {
        let value: Loose<Number> = serde_json::from_str(r#"{"b":1.50,"a":"\ud800"}"#).unwrap();
        assert_eq!(to_json(&value), r#"{"b":1.50,"a":"\ud800"}"#);
    }
}
