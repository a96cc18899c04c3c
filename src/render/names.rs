//! Names and ids in the characters that providers accept.
//!
//! What is acceptable comes back as it is, without a copy: an id that a provider made goes back to it unchanged.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::text::{Text, TextSlice};

/// What a call is named whose own name is empty.
const UNNAMED_TOOL: &str = "tool";

/// What an id that is empty begins with.
const UNNAMED_ID: &str = "call";

/// `name` in letters, digits, `_` and `-`: any other character becomes `_`, and what is beyond `max` is cut off.
///
/// An empty name stays empty.
pub fn safe_name(name: TextSlice<'_>, max: usize) -> Cow<'_, str> {
    match name.as_str() {
        Some(name) if name.len() <= max && name.bytes().all(is_safe) => Cow::Borrowed(name),
        _ => Cow::Owned(name.code_points().take(max).map(safe_character).collect()),
    }
}

/// The name of a tool in letters, digits, `_` and `-`, never empty and no longer than `max`.
pub fn safe_tool_name(name: TextSlice<'_>, max: usize) -> Cow<'_, str> {
    let name = safe_name(name, max);
    if name.is_empty() { Cow::Borrowed(UNNAMED_TOOL) } else { name }
}

/// An id in letters, digits, `_` and `-`.
pub fn safe_id(id: &Text) -> Cow<'_, Text> {
    if id.as_bytes().iter().copied().all(is_safe) {
        return Cow::Borrowed(id);
    }
    Cow::Owned(Text::from(id.as_slice().code_points().map(safe_character).collect::<String>()))
}

/// The ids, made different from each other and not empty, in their order.
///
/// An id that need not change does not, wherever in the list it stands: a repeated or changed one gives way to it and
/// gets a number at its end.
pub fn unique_ids<'a>(ids: impl Iterator<Item = Cow<'a, Text>>) -> Vec<Cow<'a, Text>> {
    let ids: Vec<_> = ids.collect();
    let is_given = |id: &&Cow<'a, Text>| matches!(id, Cow::Borrowed(_)) && !id.is_empty();
    let mut taken: HashSet<Cow<'a, Text>> = ids.iter().filter(is_given).cloned().collect();
    let mut placed: HashSet<Cow<'a, Text>> = HashSet::with_capacity(taken.len());
    // Remembering the last number of each id keeps many calls with one id from being quadratic.
    let mut last_number: HashMap<Cow<'a, Text>, usize> = HashMap::new();
    ids.into_iter()
        .map(|id| {
            let keeps =
                if is_given(&&id) { placed.insert(id.clone()) } else { !id.is_empty() && taken.insert(id.clone()) };
            if keeps {
                return id;
            }
            let (base, first) = if id.is_empty() { (Cow::Owned(Text::from(UNNAMED_ID)), 1) } else { (id, 2) };
            let number = last_number.entry(base.clone()).or_insert(first - 1);
            loop {
                *number += 1;
                let mut numbered = base.clone().into_owned();
                numbered.push_str(&format!("_{number}"));
                if taken.insert(Cow::Owned(numbered.clone())) {
                    return Cow::Owned(numbered);
                }
            }
        })
        .collect()
}

fn is_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn safe_character(code: u32) -> char {
    u8::try_from(code).ok().filter(|byte| is_safe(*byte)).map_or('_', char::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_name(name: &str, max: usize, expect: &str) {
        assert_eq!(safe_name(name.into(), max), expect);
    }

    #[test]
    fn a_name_has_only_safe_characters() {
        check_name("find_slots-2", 64, "find_slots-2");
        check_name("Dana Scully", 64, "Dana_Scully");
        check_name("Jürgen \u{1F600}.", 64, "J_rgen___");
        check_name("abc", 2, "ab");
        check_name("", 64, "");
        assert_eq!(safe_tool_name("".into(), 64), "tool");
        assert_eq!(safe_tool_name("a.b".into(), 64), "a_b");
        assert_eq!(safe_name(Text::from_utf16(&[0x61, 0xD800]).as_slice(), 64), "a_");
    }

    #[track_caller]
    fn check_ids(ids: &[&str], expect: &[&str]) {
        let ids: Vec<Text> = ids.iter().map(|id| Text::from(*id)).collect();
        let unique = unique_ids(ids.iter().map(safe_id));
        assert_eq!(unique.iter().map(ToString::to_string).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn ids_differ_and_change_only_where_they_must() {
        check_ids(&["a", "b"], &["a", "b"]);
        check_ids(&["a", "a", "a"], &["a", "a_2", "a_3"]);
        check_ids(&["a", "a", "a_2", "a_2"], &["a", "a_3", "a_2", "a_2_2"]);
        check_ids(&["f:0", "f_0", "f.0"], &["f_0_2", "f_0", "f_0_3"]);
        check_ids(&["f:0", "f.0"], &["f_0", "f_0_2"]);
        check_ids(&["", "", "call_1"], &["call_2", "call_3", "call_1"]);
        check_ids(&["", "call", "call", ""], &["call_1", "call", "call_2", "call_3"]);
    }
}
