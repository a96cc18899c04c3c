//! Cutting text into the pieces that are tokenized each for itself.
//!
//! The encodings say how by a regular expression. These functions give exactly its matches, one after the other, without
//! a regular expression engine: each looks at the characters of a piece a constant number of times, so that no text
//! takes more than linear time.

use std::sync::OnceLock;

use unicode_general_category::{GeneralCategory, get_general_category};

/// What the patterns distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Class {
    /// Lower-case letters.
    Lower,
    /// Upper-case and title-case letters.
    Upper,
    /// Letters without case, and modifiers.
    Caseless,
    /// Marks, which combine with the character in front.
    Mark,
    /// Numbers.
    Number,
    /// White space but line ends.
    Space,
    /// `\r` and `\n`.
    LineEnd,
    /// Everything else.
    Other,
}

use Class::{Caseless, LineEnd, Lower, Mark, Number, Other, Space, Upper};

impl Class {
    fn of(character: char) -> Self {
        match character {
            '\r' | '\n' => LineEnd,
            _ if character.is_whitespace() => Space,
            _ => match get_general_category(character) {
                GeneralCategory::LowercaseLetter => Lower,
                GeneralCategory::UppercaseLetter | GeneralCategory::TitlecaseLetter => Upper,
                GeneralCategory::ModifierLetter | GeneralCategory::OtherLetter => Caseless,
                GeneralCategory::NonspacingMark | GeneralCategory::SpacingMark | GeneralCategory::EnclosingMark => Mark,
                GeneralCategory::DecimalNumber | GeneralCategory::LetterNumber | GeneralCategory::OtherNumber => Number,
                _ => Other,
            },
        }
    }

    const fn is_letter(self) -> bool {
        matches!(self, Lower | Upper | Caseless)
    }

    /// Whether a piece may have it in front of its letters.
    const fn is_prefix(self) -> bool {
        matches!(self, Mark | Space | Other)
    }

    /// Whether the first run of letters of a piece may hold it.
    const fn is_upper_like(self) -> bool {
        matches!(self, Upper | Caseless | Mark)
    }

    /// Whether the second run may.
    const fn is_lower_like(self) -> bool {
        matches!(self, Lower | Caseless | Mark)
    }

    const fn is_white(self) -> bool {
        matches!(self, Space | LineEnd)
    }

    /// Neither white space nor letter nor number.
    const fn is_symbol(self) -> bool {
        matches!(self, Mark | Other)
    }
}

/// The class of each character of the basic plane, which nearly all text consists of.
fn table() -> &'static [Class] {
    static TABLE: OnceLock<Vec<Class>> = OnceLock::new();
    TABLE.get_or_init(|| (0..0x1_0000).map(|code| char::from_u32(code).map_or(Other, Class::of)).collect())
}

/// A text and the class of each of its characters.
struct Scanner<'a> {
    text: &'a str,
    table: &'static [Class],
}

impl Scanner<'_> {
    /// The character at a byte offset: its class and where it ends. None at the end of the text.
    #[inline]
    fn at(&self, at: usize) -> Option<(Class, usize)> {
        let bytes = self.text.as_bytes();
        let first = *bytes.get(at)?;
        if first < 0x80 {
            return Some((self.table[usize::from(first)], at + 1));
        }
        let character = self.text[at..].chars().next()?;
        let code = character as usize;
        let class = self.table.get(code).copied().unwrap_or_else(|| Class::of(character));
        Some((class, at + character.len_utf8()))
    }

    /// Where the run of characters of some classes ends that begins at `at`.
    #[inline]
    fn run(&self, mut at: usize, is: impl Fn(Class) -> bool) -> usize {
        while let Some((class, next)) = self.at(at) {
            if !is(class) {
                break;
            }
            at = next;
        }
        at
    }

    /// Where the contraction ends that begins at `at`: `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d` in any case.
    fn contraction(&self, at: usize) -> Option<usize> {
        let rest = &self.text.as_bytes()[at..];
        if *rest.first()? != b'\'' {
            return None;
        }
        let lower = |index: usize| rest.get(index).map(u8::to_ascii_lowercase);
        match (lower(1)?, lower(2)) {
            (b's' | b't' | b'm' | b'd', _) => Some(at + 2),
            (b'r' | b'v', Some(b'e')) | (b'l', Some(b'l')) => Some(at + 3),
            // The long s is an s without regard to case.
            _ if self.text[at + 1..].starts_with('\u{17F}') => Some(at + 3),
            _ => None,
        }
    }

    /// Up to three numbers.
    fn numbers(&self, at: usize) -> usize {
        let mut end = at;
        for _ in 0..3 {
            match self.at(end) {
                Some((Number, next)) => end = next,
                _ => break,
            }
        }
        end
    }

    /// A space, symbols, and what the encoding lets follow them. None when there are no symbols.
    fn symbols(&self, at: usize, may_follow: impl Fn(u8) -> bool) -> Option<usize> {
        let start = if self.text.as_bytes()[at] == b' ' { at + 1 } else { at };
        let end = self.run(start, Class::is_symbol);
        if end == start {
            return None;
        }
        let follows = self.text.as_bytes()[end..].iter().take_while(|byte| may_follow(**byte)).count();
        Some(end + follows)
    }

    /// White space: to its last line end, else all but the last character when something follows, else all.
    fn white(&self, at: usize) -> usize {
        let (mut end, mut last, mut line_end) = (at, at, None);
        while let Some((class, next)) = self.at(end) {
            if !class.is_white() {
                break;
            }
            if class == LineEnd {
                line_end = Some(next);
            }
            last = end;
            end = next;
        }
        match line_end {
            Some(line_end) => line_end,
            None if end < self.text.len() && last > at => last,
            None => end,
        }
    }
}

/// How an encoding cuts text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// That of `cl100k_base`.
    Cl100k,
    /// That of `o200k_base`.
    O200k,
}

/// Calls `piece` with every piece of `text`, in order.
pub(super) fn split<'a>(pattern: Pattern, text: &'a str, mut piece: impl FnMut(&'a [u8])) {
    let scanner = Scanner { text, table: table() };
    let mut at = 0;
    while at < text.len() {
        let end = match pattern {
            Pattern::Cl100k => cl100k(&scanner, at),
            Pattern::O200k => o200k(&scanner, at),
        };
        piece(&text.as_bytes()[at..end]);
        at = end;
    }
}

fn cl100k(scanner: &Scanner<'_>, at: usize) -> usize {
    if let Some(end) = scanner.contraction(at) {
        return end;
    }
    let Some((class, next)) = scanner.at(at) else { return scanner.text.len() };
    if class.is_letter() {
        return scanner.run(next, Class::is_letter);
    }
    if class.is_prefix() {
        let end = scanner.run(next, Class::is_letter);
        if end > next {
            return end;
        }
    }
    if class == Number {
        return scanner.numbers(at);
    }
    if let Some(end) = scanner.symbols(at, |byte| matches!(byte, b'\r' | b'\n')) {
        return end;
    }
    scanner.white(at)
}

fn o200k(scanner: &Scanner<'_>, at: usize) -> usize {
    let Some((class, next)) = scanner.at(at) else { return scanner.text.len() };
    if class.is_letter() || class.is_prefix() {
        let prefixed = class.is_prefix().then(|| words(scanner, next));
        let plain = || words(scanner, at);
        // In the order of the pattern: words that end in small letters, with a prefix and without, then the others.
        let end = match prefixed {
            Some(Some((end, true))) => Some(end),
            Some(prefixed) => match (plain(), prefixed) {
                (Some((end, true)), _) | (_, Some((end, _))) | (Some((end, _)), None) => Some(end),
                (None, None) => None,
            },
            None => plain().map(|(end, _)| end),
        };
        if let Some(end) = end {
            return scanner.contraction(end).unwrap_or(end);
        }
    }
    if class == Number {
        return scanner.numbers(at);
    }
    if let Some(end) = scanner.symbols(at, |byte| matches!(byte, b'\r' | b'\n' | b'/')) {
        return end;
    }
    scanner.white(at)
}

/// Letters from `at` on: a run that may hold capitals and then one that may not. Where they end, and whether the second
/// run has a letter; None when there is no letter at all.
fn words(scanner: &Scanner<'_>, at: usize) -> Option<(usize, bool)> {
    let (mut end, mut lower_like) = (at, None);
    while let Some((class, next)) = scanner.at(end) {
        if !class.is_upper_like() {
            break;
        }
        end = next;
        // A letter of both kinds can begin the second run when nothing else does.
        if class.is_lower_like() {
            lower_like = Some(next);
        }
    }
    let lower = scanner.run(end, Class::is_lower_like);
    if lower > end {
        return Some((lower, true));
    }
    match lower_like {
        Some(lower_like) => Some((lower_like, true)),
        None if end > at => Some((end, false)),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: Pattern, text: &str, expect: &[&str]) {
        let mut pieces = Vec::new();
        split(pattern, text, |piece| pieces.push(std::str::from_utf8(piece).unwrap()));
        assert_eq!(pieces, expect);
    }

    #[test]
    fn words_numbers_symbols_and_space() {
        for pattern in [Pattern::Cl100k, Pattern::O200k] {
            check(pattern, "", &[]);
            check(pattern, "Hello world 12345!\n", &["Hello", " world", " ", "123", "45", "!\n"]);
            check(pattern, "a  b \n\n  c  ", &["a", " ", " b", " \n\n", " ", " c", "  "]);
            check(pattern, "x = {};\r\n\ty", &["x", " =", " {};\r\n", "\ty"]);
        }
    }

    #[test]
    fn contractions_stand_alone_or_with_their_word() {
        check(Pattern::Cl100k, "I'm DON'T 's", &["I", "'m", " DON", "'T", " '", "s"]);
        check(Pattern::O200k, "I'm DON'T we'll", &["I'm", " DON'T", " we'll"]);
        check(Pattern::O200k, "it'\u{17F}x", &["it'\u{17F}", "x"]);
    }

    #[test]
    fn capitals_begin_a_word() {
        check(Pattern::O200k, "camelCase HTTPServer ABC", &["camel", "Case", " HTTPServer", " ABC"]);
        check(Pattern::O200k, "AあB", &["Aあ", "B"]);
        check(Pattern::O200k, "\u{301}1 !\u{301}", &["\u{301}", "1", " !\u{301}"]);
        check(Pattern::O200k, "a//\n/b", &["a", "//\n/", "b"]);
    }
}
