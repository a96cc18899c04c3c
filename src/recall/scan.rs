//! Exact cosine over an archive.

use std::cmp::Ordering;

use super::vector::{Numbers, Vector};
use crate::message::ArchivedMessage;
use crate::state::Archive;

/// How many rows are scored side by side. Each keeps its own sum in order, so that scores are those of a plain loop,
/// bit for bit, while the processor works on eight chains of additions at once instead of waiting for one.
const ROWS: usize = 8;

/// An archived message and how near it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Its place in the archive.
    pub index: usize,
    /// The cosine, higher is nearer.
    pub score: f64,
}

/// The `top_k` messages nearest to `query` whose score is at least `min_score`, best first; among equals the older.
///
/// Messages without a vector are passed over.
pub fn nearest(archive: &Archive, query: &Vector, top_k: usize, min_score: f64) -> Vec<Hit> {
    let query_numbers = query.to_f64();
    let mut hits = Vec::new();
    let mut single = Batch::new(query, &query_numbers);
    let mut double = Batch::new(query, &query_numbers);
    for (index, message) in archive.messages.iter().enumerate() {
        let Some(vector) = message.embedding.as_deref() else { continue };
        if vector.len() == query.len() {
            match vector.numbers() {
                Numbers::Single(numbers) => single.push(index, vector, numbers, &mut hits),
                Numbers::Double(numbers) => double.push(index, vector, numbers, &mut hits),
            }
        } else {
            hits.push(Hit { index, score: cosine(&query_numbers, &vector.to_f64()) });
        }
    }
    single.flush(&mut hits);
    double.flush(&mut hits);
    hits.retain(|hit| hit.score >= min_score);
    let id = |hit: &Hit| archive.messages[hit.index].stored.id;
    // Not `total_cmp`: 0 and -0 are the same score. NaN is no score and has just been left out.
    let order = |left: &Hit, right: &Hit| {
        let by_score = right.score.partial_cmp(&left.score).unwrap_or(Ordering::Equal);
        by_score.then_with(|| id(left).cmp(&id(right)))
    };
    if top_k < hits.len() {
        if top_k > 0 {
            hits.select_nth_unstable_by(top_k - 1, order);
        }
        hits.truncate(top_k);
    }
    hits.sort_by(order);
    hits
}

/// Takes hits in rank order while they fit into `max_tokens` together, passing over those that do not, and puts what
/// is taken into the order of the conversation.
pub fn fit<T>(hits: Vec<T>, max_tokens: f64, tokens: impl Fn(&T) -> f64, id: impl Fn(&T) -> f64) -> Vec<T> {
    let mut used = 0.0;
    let mut taken: Vec<T> = hits
        .into_iter()
        .filter(|hit| {
            let tokens = tokens(hit);
            let fits = used + tokens <= max_tokens;
            if fits {
                used += tokens;
            }
            fits
        })
        .collect();
    taken.sort_by(|left, right| id(left).total_cmp(&id(right)));
    taken
}

/// [`fit`] for hits of an archive.
pub fn fit_archived(
    archive: &Archive,
    hits: Vec<Hit>,
    max_tokens: f64,
    tokens: impl Fn(&ArchivedMessage) -> f64,
) -> Vec<(&ArchivedMessage, f64)> {
    let hits = hits.into_iter().map(|hit| (&archive.messages[hit.index], hit.score)).collect();
    #[expect(clippy::cast_precision_loss, reason = "ids are below 2^53")]
    fit(hits, max_tokens, |(message, _)| tokens(message), |(message, _)| message.stored.id as f64)
}

/// The cosine of two vectors over the length of the shorter one; 0 when either has no length there.
pub fn cosine(left: &[f64], right: &[f64]) -> f64 {
    let (mut dot, mut left_length, mut right_length) = (0.0, 0.0, 0.0);
    for (left, right) in left.iter().zip(right) {
        dot += left * right;
        left_length += left * left;
        right_length += right * right;
    }
    quotient(dot, left_length, right_length)
}

fn quotient(dot: f64, left_length: f64, right_length: f64) -> f64 {
    if left_length == 0.0 || right_length == 0.0 { 0.0 } else { dot / (left_length * right_length).sqrt() }
}

/// Rows of one number type that wait to be scored together. All are as long as the query.
struct Batch<'a, T> {
    query: &'a [f64],
    query_squared_length: f64,
    rows: [&'a [T]; ROWS],
    squared_lengths: [f64; ROWS],
    indexes: [usize; ROWS],
    filled: usize,
}

impl<'a, T: Copy + Into<f64>> Batch<'a, T> {
    fn new(query: &Vector, numbers: &'a [f64]) -> Self {
        Self {
            query: numbers,
            query_squared_length: query.squared_length(),
            rows: [&[]; ROWS],
            squared_lengths: [0.0; ROWS],
            indexes: [0; ROWS],
            filled: 0,
        }
    }

    fn push(&mut self, index: usize, vector: &Vector, numbers: &'a [T], hits: &mut Vec<Hit>) {
        self.rows[self.filled] = numbers;
        self.squared_lengths[self.filled] = vector.squared_length();
        self.indexes[self.filled] = index;
        self.filled += 1;
        if self.filled == ROWS {
            self.flush(hits);
        }
    }

    fn flush(&mut self, hits: &mut Vec<Hit>) {
        // Unused places repeat the first row: their sums are not read, and the loop stays one loop.
        let rows = std::array::from_fn(|row| self.rows[if row < self.filled { row } else { 0 }]);
        let dots = if self.filled == 0 { [0.0; ROWS] } else { dot_products(self.query, rows) };
        hits.extend((0..self.filled).map(|row| Hit {
            index: self.indexes[row],
            score: quotient(dots[row], self.query_squared_length, self.squared_lengths[row]),
        }));
        self.filled = 0;
    }
}

fn dot_products<T: Copy + Into<f64>>(query: &[f64], rows: [&[T]; ROWS]) -> [f64; ROWS] {
    let length = rows.iter().map(|row| row.len()).fold(query.len(), usize::min);
    let rows = rows.map(|row| &row[..length]);
    let mut sums = [0.0; ROWS];
    for (column, number) in query[..length].iter().enumerate() {
        for row in 0..ROWS {
            sums[row] += number * rows[row][column].into();
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Message, Role, StoredMessage};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn archive(vectors: &[Option<Vec<f64>>]) -> Archive {
        let archived = |(idx, vector): (usize, &Option<Vec<f64>>)| ArchivedMessage {
            stored: Arc::new(StoredMessage { message: Message::new(Role::User, "x"), id: idx as u64 + 1, tokens: 5.0 }),
            compaction: 1,
            embedding: vector.as_ref().map(|vector| Arc::new(Vector::from_f64(vector))),
        };
        Archive { messages: vectors.iter().enumerate().map(archived).collect() }
    }

    #[test]
    fn cosine_is_over_the_shorter_length() {
        assert_eq!(cosine(&[1.0, 0.0, 9.0], &[1.0]).to_bits(), 1.0_f64.to_bits());
        assert_eq!(cosine(&[0.0], &[1.0]).to_bits(), 0.0_f64.to_bits());
        assert_eq!(cosine(&[], &[]).to_bits(), 0.0_f64.to_bits());
        assert!(cosine(&[1e200], &[1e200]).is_nan());
    }

    #[test]
    fn what_does_not_fit_is_passed_over() {
        let fitted = fit(vec![(9.0, 3.0), (4.0, 2.0), (6.0, 5.0), (1.0, 1.0)], 10.0, |hit| hit.0, |hit| hit.1);
        assert_eq!(fitted, [(1.0, 1.0), (9.0, 3.0)]);
    }

    proptest! {
        #[test]
        fn agrees_with_a_plain_loop_to_the_bit(
            vectors in prop::collection::vec(prop::option::of(prop_oneof![
                prop::collection::vec((-4i8..4).prop_map(f64::from), 5),
                prop::collection::vec(-1.0..1.0f64, 5),
                prop::collection::vec(-1.0..1.0f64, 0..9),
            ]), 0..40),
            query in prop::collection::vec(prop_oneof![(-4i8..4).prop_map(f64::from), -1.0..1.0f64], 5),
            top_k in 0usize..12,
            min_score in -1.0..1.0f64,
        ) {
            let archive = archive(&vectors);
            let mut slow: Vec<Hit> = vectors
                .iter()
                .enumerate()
                .filter_map(|(index, vector)| Some(Hit { index, score: cosine(&query, vector.as_ref()?) }))
                .filter(|hit| hit.score >= min_score)
                .collect();
            slow.sort_by(|left, right| right.score.partial_cmp(&left.score).unwrap());
            slow.truncate(top_k);
            prop_assert_eq!(nearest(&archive, &Vector::from_f64(&query), top_k, min_score), slow);
        }
    }
}
