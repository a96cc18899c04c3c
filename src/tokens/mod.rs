//! Counting tokens.

mod exact;
mod media;

pub use exact::Encoding;
pub use media::{Cost, MediaCosts, Rules, media_tokens};

use crate::text::TextSlice;

/// The figures that the default estimate adds up. Two texts joined have the sum of their tallies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    ascii: u64,
    other: u64,
}

impl Tally {
    /// Counts a text.
    pub fn of(text: TextSlice<'_>) -> Self {
        let bytes = text.as_bytes();
        // Every code point beyond ASCII has exactly one lead byte, and those are the bytes from 0xC0 up.
        let ascii = bytes.iter().filter(|byte| **byte < 0x80).count() as u64;
        let other = bytes.iter().filter(|byte| **byte >= 0xC0).count() as u64;
        Self { ascii, other }
    }

    /// The tally of two texts, one after the other.
    #[must_use]
    pub fn plus(self, next: Self) -> Self {
        Self { ascii: self.ascii + next.ascii, other: self.other + next.other }
    }

    /// About how many tokens that is: one for four ASCII characters, begun ones included, and one for each other.
    pub fn tokens(self) -> u64 {
        self.ascii.div_ceil(4) + self.other
    }
}

/// How tokens are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tokenizer {
    /// By the estimate: one for four ASCII characters and one for each other.
    #[default]
    Estimate,
    /// Exactly, by a published encoding.
    Exact(Encoding),
}

impl Tokenizer {
    /// The tokens of one text, as a JavaScript number like every token count.
    pub fn count(self, text: TextSlice<'_>) -> f64 {
        match self {
            Self::Estimate => estimate(text),
            Self::Exact(encoding) => exact(encoding, text),
        }
    }
}

fn exact(encoding: Encoding, text: TextSlice<'_>) -> f64 {
    let count = match text.as_str() {
        Some(text) => encoding.count(text),
        // What is sent has U+FFFD in the place of half a surrogate pair.
        None => encoding.count(&text.to_string()),
    };
    #[expect(clippy::cast_precision_loss, reason = "no text has 2^53 tokens")]
    let count = count as f64;
    count
}

/// The estimate for one text, as a JavaScript number like every token count.
pub fn estimate(text: TextSlice<'_>) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "no text has 2^53 tokens")]
    let tokens = Tally::of(text).tokens() as f64;
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Text;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expect: u64) {
        assert_eq!(Tally::of(TextSlice::from(text)).tokens(), expect);
    }

    #[test]
    fn four_ascii_characters_or_one_other_are_a_token() {
        check("", 0);
        check("a", 1);
        check("abcd", 1);
        check("abcde", 2);
        check("日本語", 3);
        check("\u{1F600}", 1);
        check("aé", 2);
        assert_eq!(Tally::of(Text::from_utf16(&[0xD83D]).as_slice()).tokens(), 1);
    }

    proptest! {
        #[test]
        fn tallies_add_up(left in ".*", right in ".*") {
            let sum = Tally::of(TextSlice::from(left.as_str())).plus(Tally::of(TextSlice::from(right.as_str())));
            prop_assert_eq!(sum, Tally::of(TextSlice::from(format!("{left}{right}").as_str())));
        }
    }
}
