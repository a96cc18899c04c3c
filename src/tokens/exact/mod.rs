//! Exact token counts: byte pair encoding with the vocabularies of OpenAI's models.
//!
//! Text is cut into pieces (`split.rs`), and in each piece the two neighbouring tokens with the lowest id for both
//! together are merged, over and over. A vocabulary is nothing but the list of these merges: the ids of single bytes and,
//! for each further token, the two that it is made of (see `scripts/vocabulary.mjs`).
//!
//! The vocabularies are those that OpenAI publishes with its `tiktoken` package under the MIT license.

mod split;

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::hash::Hasher;
use std::sync::OnceLock;

use rustc_hash::{FxBuildHasher, FxHasher};

use split::{Pattern, split};

/// The encodings that can be counted exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Of GPT-4o, GPT-4.1, GPT-5 and the o models.
    O200kBase,
    /// Of GPT-4, GPT-3.5 and the embedding models of 2022 to 2024.
    Cl100kBase,
}

impl Encoding {
    /// All encodings.
    pub const ALL: [Self; 2] = [Self::O200kBase, Self::Cl100kBase];

    /// Its published name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
        }
    }

    /// The encoding of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|encoding| encoding.name() == name)
    }

    /// Its tables, read when they are first asked for and shared by all threads.
    fn vocabulary(self) -> &'static Vocabulary {
        static TABLES: [OnceLock<Vocabulary>; 2] = [OnceLock::new(), OnceLock::new()];
        TABLES[self as usize].get_or_init(|| {
            Vocabulary::read(match self {
                Self::O200kBase => include_bytes!("../vocabulary/o200k_base.bin"),
                Self::Cl100kBase => include_bytes!("../vocabulary/cl100k_base.bin"),
            })
        })
    }

    const fn pattern(self) -> Pattern {
        match self {
            Self::O200kBase => Pattern::O200k,
            Self::Cl100kBase => Pattern::Cl100k,
        }
    }

    /// How many tokens `text` has. Text that reads like a special token is ordinary text.
    pub fn count(self, text: &str) -> usize {
        CACHES.with_borrow_mut(|caches| {
            let cache = caches[self as usize].get_or_insert_with(Cache::default);
            let vocabulary = self.vocabulary();
            let mut count = 0;
            split(self.pattern(), text, |piece| count += cache.count(vocabulary, piece));
            count
        })
    }

    /// The ids of the tokens of `text`. Text that reads like a special token is ordinary text.
    pub fn encode(self, text: &str) -> Vec<u32> {
        let vocabulary = self.vocabulary();
        let mut tokens = Vec::with_capacity(text.len() / 4);
        split(self.pattern(), text, |piece| vocabulary.merge(piece, |token| tokens.push(token)));
        tokens
    }

    /// The bytes of some tokens. None when there is no such token.
    pub fn decode(self, tokens: &[u32]) -> Option<Vec<u8>> {
        let vocabulary = self.vocabulary();
        let mut bytes = Vec::with_capacity(tokens.len() * 4);
        for token in tokens {
            vocabulary.push_bytes(*token, &mut bytes)?;
        }
        Some(bytes)
    }
}

/// The merges of an encoding.
struct Vocabulary {
    /// The token of each byte.
    bytes: [u32; 256],
    /// The byte of each of the first 256 tokens.
    singles: [u8; 256],
    /// The token that two tokens make.
    merges: HashMap<u64, u32, FxBuildHasher>,
    /// The two tokens that each further token is made of.
    pairs: Vec<(u32, u32)>,
}

fn key(first: u32, second: u32) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

impl Vocabulary {
    fn read(file: &[u8]) -> Self {
        let (singles, pairs) = file.split_at(256);
        let (mut bytes, mut single_bytes) = ([0; 256], [0; 256]);
        for (token, byte) in (0..).zip(singles) {
            bytes[usize::from(*byte)] = token;
            single_bytes[token as usize] = *byte;
        }
        let pairs = pairs.chunks_exact(5).map(|pair| {
            let packed = pair.iter().rev().fold(0, |packed: u64, byte| packed << 8 | u64::from(*byte));
            #[expect(clippy::cast_possible_truncation, reason = "20 bits each")]
            let ids = ((packed >> 20) as u32, (packed & 0xF_FFFF) as u32);
            ids
        });
        let pairs: Vec<_> = pairs.collect();
        let merges = pairs.iter().zip(256..).map(|((first, second), token)| (key(*first, *second), token));
        Self { bytes, singles: single_bytes, merges: merges.collect(), pairs }
    }

    fn merged(&self, first: u32, second: u32) -> Option<u32> {
        self.merges.get(&key(first, second)).copied()
    }

    /// Gives the tokens of one piece.
    fn merge(&self, piece: &[u8], mut give: impl FnMut(u32)) {
        if let [byte] = piece {
            return give(self.bytes[usize::from(*byte)]);
        }
        if piece.len() <= SHORT {
            let mut tokens = [0; SHORT];
            let tokens = &mut tokens[..piece.len()];
            for (token, byte) in tokens.iter_mut().zip(piece) {
                *token = self.bytes[usize::from(*byte)];
            }
            let left = self.merge_short(tokens);
            tokens[..left].iter().copied().for_each(give);
        } else {
            self.merge_long(piece).for_each(give);
        }
    }

    /// Merges within a few tokens and gives how many are left. Looks through all of them for each merge: for few tokens
    /// nothing is faster.
    fn merge_short(&self, tokens: &mut [u32]) -> usize {
        let mut left = tokens.len();
        let mut merged = [u32::MAX; SHORT];
        for at in 0..left - 1 {
            merged[at] = self.merged(tokens[at], tokens[at + 1]).unwrap_or(u32::MAX);
        }
        while left > 1 {
            let mut best = (u32::MAX, 0);
            for (at, merge) in merged[..left - 1].iter().enumerate() {
                if *merge < best.0 {
                    best = (*merge, at);
                }
            }
            let (token, at) = best;
            if token == u32::MAX {
                break;
            }
            tokens[at] = token;
            tokens.copy_within(at + 2..left, at + 1);
            merged.copy_within(at + 1..left - 1, at);
            left -= 1;
            if at > 0 {
                merged[at - 1] = self.merged(tokens[at - 1], token).unwrap_or(u32::MAX);
            }
            merged[at] = tokens[..left].get(at + 1).and_then(|next| self.merged(token, *next)).unwrap_or(u32::MAX);
        }
        left
    }

    /// Merges within many tokens, in time that is linear but for a logarithm.
    fn merge_long(&self, piece: &[u8]) -> impl Iterator<Item = u32> {
        const NONE: u32 = u32::MAX;
        let mut tokens: Vec<u32> = piece.iter().map(|byte| self.bytes[usize::from(*byte)]).collect();
        let length = tokens.len();
        let mut next: Vec<usize> = (1..=length).collect();
        let mut before: Vec<usize> = (0..length).map(|at| at.wrapping_sub(1)).collect();
        // The lowest token first, and of several places the first.
        let mut heap: BinaryHeap<Reverse<(u32, usize, u32, u32)>> = BinaryHeap::with_capacity(length);
        let candidate = |tokens: &[u32], at: usize, next: usize| {
            let (first, second) = (tokens[at], *tokens.get(next)?);
            Some(Reverse((self.merged(first, second)?, at, first, second)))
        };
        heap.extend((0..length).filter_map(|at| candidate(&tokens, at, at + 1)));
        while let Some(Reverse((token, at, first, second))) = heap.pop() {
            let follower = next[at];
            // Merges since then may have taken one of the two.
            if tokens[at] != first || tokens.get(follower) != Some(&second) {
                continue;
            }
            tokens[at] = token;
            tokens[follower] = NONE;
            next[at] = next[follower];
            if let Some(before) = before.get_mut(next[at]) {
                *before = at;
            }
            heap.extend(candidate(&tokens, at, next[at]));
            if let Some(previous) = Some(before[at]).filter(|previous| *previous < length) {
                heap.extend(candidate(&tokens, previous, at));
            }
        }
        tokens.into_iter().filter(|token| *token != NONE)
    }

    fn push_bytes(&self, token: u32, bytes: &mut Vec<u8>) -> Option<()> {
        let Some(pair) = token.checked_sub(256) else {
            bytes.push(self.singles[token as usize]);
            return Some(());
        };
        let (first, second) = *self.pairs.get(pair as usize)?;
        self.push_bytes(first, bytes)?;
        self.push_bytes(second, bytes)
    }
}

/// Up to this many bytes a piece is merged by looking through it for each merge.
const SHORT: usize = 48;

/// How many pieces are remembered.
const REMEMBERED: usize = 1 << 14;

/// The longest piece that is remembered, in bytes.
const MEMORABLE: usize = 15;

thread_local! {
    /// What was counted lately, by encoding. Words come again and again, and most pieces are words.
    static CACHES: RefCell<[Option<Cache>; 2]> = const { RefCell::new([None, None]) };
}

/// The counts of short pieces. Each piece has one place, which the last piece for it takes.
struct Cache {
    places: Box<[Remembered]>,
}

/// A piece, its length in the last byte, and its count.
#[derive(Clone, Copy, Default)]
struct Remembered {
    piece: [u64; 2],
    count: u32,
}

impl Default for Cache {
    fn default() -> Self {
        Self { places: vec![Remembered::default(); REMEMBERED].into_boxed_slice() }
    }
}

impl Cache {
    fn count(&mut self, vocabulary: &Vocabulary, piece: &[u8]) -> usize {
        if piece.len() > MEMORABLE {
            return count(vocabulary, piece);
        }
        if piece.len() == 1 {
            return 1;
        }
        let mut padded = [0; 16];
        padded[..piece.len()].copy_from_slice(piece);
        #[expect(clippy::cast_possible_truncation, reason = "at most 15")]
        let length = piece.len() as u8;
        padded[MEMORABLE] = length;
        let (halves, _) = padded.as_chunks::<8>();
        let piece_key = [u64::from_le_bytes(halves[0]), u64::from_le_bytes(halves[1])];
        let mut hasher: FxHasher = FxHasher::default();
        hasher.write_u64(piece_key[0]);
        hasher.write_u64(piece_key[1]);
        #[expect(clippy::cast_possible_truncation, reason = "the remainder is below the number of places")]
        let place = &mut self.places[(hasher.finish() % REMEMBERED as u64) as usize];
        if place.piece != piece_key {
            #[expect(clippy::cast_possible_truncation, reason = "at most 15")]
            let counted = count(vocabulary, piece) as u32;
            *place = Remembered { piece: piece_key, count: counted };
        }
        place.count as usize
    }
}

fn count(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    let mut count = 0;
    vocabulary.merge(piece, |_| count += 1);
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_published_examples_have_their_tokens() {
        assert_eq!(Encoding::Cl100kBase.encode("tiktoken is great!"), [83, 1609, 5963, 374, 2294, 0]);
        assert_eq!(Encoding::O200kBase.encode("hello world"), [24912, 2375]);
        assert_eq!(Encoding::Cl100kBase.encode("hello world"), [15339, 1917]);
    }

    #[test]
    fn special_tokens_are_ordinary_text() {
        for encoding in Encoding::ALL {
            assert!(encoding.count("<|endoftext|>") > 1);
        }
    }

    #[test]
    fn tokens_that_do_not_exist_have_no_bytes() {
        assert_eq!(Encoding::Cl100kBase.decode(&[100_256]), None);
        assert_eq!(Encoding::O200kBase.decode(&[199_997, 200_018]), None);
    }

    /// The definition, as plainly as it can be written.
    fn plain(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<u32> {
        let mut tokens: Vec<u32> = piece.iter().map(|byte| vocabulary.bytes[usize::from(*byte)]).collect();
        loop {
            let merges = tokens.windows(2).enumerate();
            let merges = merges.filter_map(|(at, pair)| Some((vocabulary.merged(pair[0], pair[1])?, at)));
            let Some((token, at)) = merges.min() else { return tokens };
            tokens.splice(at..at + 2, [token]);
        }
    }

    proptest! {
        #[test]
        fn merging_is_what_the_definition_says(piece in "[a-eA-E ^=_あ\u{1F600}]{1,120}") {
            for encoding in Encoding::ALL {
                let vocabulary = encoding.vocabulary();
                let expect = plain(vocabulary, piece.as_bytes());
                let mut tokens = Vec::new();
                vocabulary.merge(piece.as_bytes(), |token| tokens.push(token));
                prop_assert_eq!(&tokens, &expect);
                prop_assert_eq!(vocabulary.merge_long(piece.as_bytes()).collect::<Vec<_>>(), expect);
            }
        }

        #[test]
        fn encoding_counting_and_decoding_agree(text in any::<String>(), words in "([a-z]{1,8}[ .,\n]){0,40}") {
            for encoding in Encoding::ALL {
                for text in [&text, &words] {
                    let tokens = encoding.encode(text);
                    prop_assert_eq!(encoding.count(text), tokens.len());
                    prop_assert!(tokens.len() <= text.len());
                    prop_assert_eq!(encoding.decode(&tokens), Some(text.clone().into_bytes()));
                }
            }
        }
    }
}
