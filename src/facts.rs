//! Durable facts: keys, which value wins, and reading a model's answer.

use serde::{Deserialize, Serialize};

use crate::json::{Json, Loose, Members, Number, keep_member, to_json};
use crate::text::{Text, TextSlice, is_white_space};

/// Where a fact comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The app said so. Extraction never changes it.
    Pinned,
    /// A model found it in the conversation.
    Extracted,
}

/// One fact of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// The key in its normal form.
    pub key: Text,
    /// The value, trimmed.
    pub value: Text,
    /// Where it comes from.
    pub source: Source,
    /// When it was set, in milliseconds since 1970.
    pub at: Loose<Number>,
    /// Members of imported state that this version does not know.
    pub other: Members,
}

/// A fact as the app or a model states it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FactInput {
    /// The key in any spelling.
    pub key: Text,
    /// The value.
    pub value: Text,
}

/// One change of a session's facts.
#[derive(Clone, Debug, PartialEq)]
pub enum FactChange {
    /// Sets the fact: in its place when the key is there, else at the end.
    Set(Fact),
    /// Removes the fact with this key.
    Remove(Text),
}

impl FactChange {
    /// Applies the change.
    pub fn apply(&self, facts: &mut Vec<Fact>) {
        match self {
            Self::Set(fact) => match facts.iter_mut().find(|it| it.key == fact.key) {
                Some(place) => *place = fact.clone(),
                None => facts.push(fact.clone()),
            },
            Self::Remove(key) => facts.retain(|fact| fact.key != *key),
        }
    }
}

/// The changes that bring `inputs` into `facts`.
///
/// Inputs whose key or value is empty in its normal form are passed over. A pinned input wins over everything; an
/// extracted one leaves pinned facts alone.
pub fn merge(facts: &[Fact], inputs: &[FactInput], source: Source, at: f64) -> Vec<FactChange> {
    let is_pinned = |key: &Text| facts.iter().any(|fact| fact.key == *key && fact.source == Source::Pinned);
    inputs
        .iter()
        .filter_map(|input| {
            let key = normalize_key(input.key.as_slice());
            let value = input.value.as_slice().trim();
            let skip = key.is_empty() || value.is_empty() || (source == Source::Extracted && is_pinned(&key));
            let at = Loose::Usual(Number(at));
            (!skip).then(|| Fact { key, value: value.to_text(), source, at, other: Members::new() })
        })
        .map(FactChange::Set)
        .collect()
}

/// The normal form of a key: lower-case ASCII letters, digits and single underscores.
///
/// Runs of white space, `-`, `.` and `/` become one underscore; what is left outside `a-z0-9_` is dropped, and so are
/// underscores at both ends. Lower-casing is Unicode's, so that the Kelvin sign is a `k`.
pub fn normalize_key(key: TextSlice<'_>) -> Text {
    let mut normal = String::new();
    let mut in_separator = false;
    for code in key.trim().code_points() {
        let separator = is_white_space(code) || char::from_u32(code).is_some_and(|it| matches!(it, '-' | '.' | '/'));
        if separator {
            if !in_separator {
                normal.push('_');
            }
        } else if let Some(character) = char::from_u32(code) {
            normal.extend(character.to_lowercase().filter(|it| matches!(it, 'a'..='z' | '0'..='9' | '_')));
        }
        in_separator = separator;
    }
    Text::from(normal.trim_matches('_'))
}

/// Reads what a model answered to the facts prompt: `key: value` lines, a JSON list or a JSON object.
///
/// Keys come back as they were written; [`merge`] brings them to their normal form.
pub fn parse(text: TextSlice<'_>) -> Vec<FactInput> {
    let body = strip_fences(text);
    let lower = body.to_string().to_lowercase();
    if body.is_empty() || lower == "none" || lower == "none." {
        return Vec::new();
    }
    if matches!(body.as_bytes().first(), Some(b'[' | b'{'))
        && let Some(facts) = parse_json(body)
    {
        return facts;
    }
    body.lines().filter_map(parse_line).collect()
}

/// Without the fences of a code block: at the start three backticks and a lower-case language tag, at the end three.
fn strip_fences(text: TextSlice<'_>) -> TextSlice<'_> {
    const FENCE: &[u8] = b"```";
    let mut body = text.trim();
    if body.as_bytes().starts_with(FENCE) {
        let tag = body.as_bytes()[FENCE.len()..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        body = body.after_byte(FENCE.len() + tag).trim_start();
    }
    if body.as_bytes().ends_with(FENCE) {
        body = body.before_byte(body.as_bytes().len() - FENCE.len());
    }
    body.trim()
}

/// `None` when it is not JSON.
fn parse_json(body: TextSlice<'_>) -> Option<Vec<FactInput>> {
    #[derive(Deserialize)]
    struct Item {
        key: Option<Json>,
        value: Option<Json>,
    }
    let json: Json = serde_json::from_slice(body.as_bytes()).ok()?;
    if json.as_str().starts_with('{') {
        let entries: Entries = serde_json::from_str(json.as_str()).ok()?;
        return Some(
            entries.0.into_iter().map(|(key, value)| FactInput { key, value: coerce(Some(&value)) }).collect(),
        );
    }
    let items: Vec<Json> = serde_json::from_str(json.as_str()).ok()?;
    let facts = items.iter().filter_map(|item| {
        let item: Item = serde_json::from_str(item.as_str()).ok()?;
        Some(FactInput { key: coerce_key(item.key?.as_str()), value: coerce(item.value.as_ref()) })
    });
    Some(facts.collect())
}

/// The members of an object in JavaScript's order: integer keys ascending, then the others as written.
struct Entries(Vec<(Text, Json)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor;

        impl<'de> serde::de::Visitor<'de> for EntriesVisitor {
            type Value = Entries;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries: Vec<(Text, Json)> = Vec::new();
                while let Some((key, value)) = map.next_entry::<Text, Json>()? {
                    match entries.iter_mut().find(|(it, _)| *it == key) {
                        Some(entry) => entry.1 = value,
                        None => entries.push((key, value)),
                    }
                }
                entries.sort_by_key(|(key, _)| array_index(key).map_or((1, 0), |index| (0, index)));
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(EntriesVisitor)
    }
}

fn array_index(key: &Text) -> Option<u32> {
    let index: u32 = key.as_str()?.parse().ok()?;
    (index < u32::MAX && *key == index.to_string().as_str()).then_some(index)
}

fn coerce_key(json: &str) -> Text {
    Json::new(json.to_owned())
        .map_or_else(Text::new, |json| if json.is_null() { Text::from("null") } else { coerce(Some(&json)) })
}

/// What JavaScript's `String(value ?? '')` gives for a JSON value.
fn coerce(value: Option<&Json>) -> Text {
    let Some(json) = value.filter(|json| !json.is_null()) else { return Text::new() };
    let text = json.as_str();
    match text.as_bytes().first() {
        Some(b'"') => serde_json::from_str(text).unwrap_or_default(),
        Some(b'{') => Text::from("[object Object]"),
        Some(b'[') => {
            let items: Vec<Json> = serde_json::from_str(text).unwrap_or_default();
            let mut joined = Text::new();
            for (idx, item) in items.iter().enumerate() {
                if idx > 0 {
                    joined.push(',');
                }
                joined.push_slice(coerce(Some(item)).as_slice());
            }
            joined
        }
        Some(b't' | b'f') => Text::from(text),
        _ => match serde_json::from_str::<Number>(text) {
            Ok(number) => Text::from(javascript_number(number)),
            Err(_) => Text::from(text),
        },
    }
}

/// The number as `String(number)` prints it.
fn javascript_number(number: Number) -> String {
    let magnitude = number.0.abs();
    if number.is_safe_integer() {
        return to_json(&number);
    }
    if (1e-6..1e21).contains(&magnitude) {
        return format!("{}", number.0);
    }
    // Rust prints the same shortest digits, only with the exponent's plus sign left out.
    let scientific = format!("{:e}", number.0);
    if magnitude >= 1.0 { scientific.replacen('e', "e+", 1) } else { scientific }
}

/// One `key: value` line with an optional bullet. `None` for anything else.
fn parse_line(line: TextSlice<'_>) -> Option<FactInput> {
    let mut line = line.trim();
    if let Some(bullet) = line.code_points().next()
        && matches!(char::from_u32(bullet), Some('-' | '*' | '•'))
    {
        line = line.after_byte(char::from_u32(bullet).map_or(1, char::len_utf8)).trim_start();
    }
    let (key, value) = line.split_once(b':')?;
    let key_text = key.as_str()?;
    let starts_well = key_text.starts_with(|first: char| first.is_ascii_alphanumeric());
    let only_known = key_text.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, ' ' | '_' | '.' | '-' | '/'));
    let value = value.trim();
    (starts_well && only_known && !value.is_empty())
        .then(|| FactInput { key: key.trim().to_text(), value: value.to_text() })
}

impl Serialize for Fact {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("key", &self.key)?;
        map.serialize_entry("value", &self.value)?;
        map.serialize_entry("source", &self.source)?;
        map.serialize_entry("at", &self.at)?;
        for (key, value) in &self.other {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Fact {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        fn read<'a, T: Deserialize<'a>, E: Error>(json: &'a Json, field: &str) -> Result<Option<T>, E> {
            serde_json::from_str(json.as_str())
                .map(Some)
                .map_err(|error| E::custom(format_args!("a fact's `{field}`: {error}")))
        }
        let Entries(entries) = Entries::deserialize(deserializer)?;
        let (mut key, mut value, mut source, mut at) = (None, None, None, None);
        let mut other = Members::new();
        for (name, json) in entries {
            match name.as_str().unwrap_or_default() {
                "key" => key = read(&json, "key")?,
                "value" => value = read(&json, "value")?,
                "source" => source = read(&json, "source")?,
                "at" => at = read(&json, "at")?,
                _ => keep_member(&mut other, name, json)?,
            }
        }
        Ok(Self {
            key: key.ok_or_else(|| D::Error::missing_field("key"))?,
            value: value.ok_or_else(|| D::Error::missing_field("value"))?,
            // Facts made by hand for a prompt or a heading rarely say where they come from.
            source: source.unwrap_or(Source::Pinned),
            at: at.unwrap_or(Loose::Usual(Number(0.0))),
            other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_key(key: &str, expect: &str) {
        assert_eq!(normalize_key(TextSlice::from(key)), expect);
    }

    #[test]
    fn keys_have_a_normal_form() {
        check_key("9 Lives!", "9_lives");
        check_key("Party  Size", "party_size");
        check_key("party-size", "party_size");
        check_key("Straße", "strae");
        check_key("\u{212A}", "k");
        check_key("İSTANBUL", "istanbul");
        check_key("a\u{A0}b\u{FEFF}", "a_b");
        check_key("a\u{85}b", "ab");
        check_key("_ -a- _", "a");
        check_key("日本", "");
    }

    #[track_caller]
    fn check_parse(text: &str, expect: &[(&str, &str)]) {
        let facts = parse(TextSlice::from(text));
        let facts: Vec<_> = facts.iter().map(|fact| (fact.key.to_string(), fact.value.to_string())).collect();
        let facts: Vec<_> = facts.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(facts, expect);
    }

    #[test]
    fn answers_are_read_in_every_documented_form() {
        check_parse("", &[]);
        check_parse(" None. ", &[]);
        check_parse(
            "- name: Dana\n* Party Size: 6\n• day: Friday: evening\nno colon\nempty:  ",
            &[("name", "Dana"), ("Party Size", "6"), ("day", "Friday: evening")],
        );
        check_parse(
            "```json\n[{\"key\":\"a\",\"value\":1.50},{\"key\":\"b\"},\"c\",{\"value\":2}]\n```",
            &[("a", "1.5"), ("b", "")],
        );
        check_parse(r#"{"b":true,"2":null,"1":[1,null,"x"]}"#, &[("1", "1,,x"), ("2", ""), ("b", "true")]);
        check_parse("[\"a\", \"b\"]", &[]);
        check_parse("{broken: yes", &[]);
        check_parse("http://x", &[("http", "//x")]);
        check_parse("名前: x", &[]);
    }

    #[test]
    fn pinned_facts_stand() {
        let input = |key: &str, value: &str| FactInput { key: key.into(), value: value.into() };
        let mut facts = Vec::new();
        let mut apply = |inputs: &[FactInput], source| {
            for change in merge(&facts, inputs, source, 1.0) {
                change.apply(&mut facts);
            }
            facts.iter().map(|fact| format!("{}={}", fact.key, fact.value)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(apply(&[input("a", "1"), input("b", "2")], Source::Extracted), "a=1 b=2");
        assert_eq!(apply(&[input("A", " 3 ")], Source::Pinned), "a=3 b=2");
        assert_eq!(
            apply(&[input("a", "4"), input("b", "5"), input("b", "6"), input("", "7")], Source::Extracted),
            "a=3 b=6"
        );
    }
}
