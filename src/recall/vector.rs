//! One embedding, kept exactly as the app gave it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::json::Number;
use crate::text::Text;

/// A vector of finite numbers with its squared length.
///
/// Embedders compute in `f32`, and most clients hand those numbers on unchanged: then four bytes hold each exactly.
/// Numbers that `f32` would change (decimals out of JSON) stay `f64`, so that what goes in comes out and scores are
/// the ones that a plain loop over the app's own numbers gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    numbers: Numbers,
    squared_length: f64,
}

/// The numbers of a [`Vector`].
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// Every number is an `f32`.
    Single(Box<[f32]>),
    /// At least one number is not.
    Double(Box<[f64]>),
}

impl Vector {
    /// Takes over numbers, as `f32` when that changes none.
    pub fn from_f64(numbers: &[f64]) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "whether it is exact is what is asked")]
        let is_single = |number: &f64| f64::from(*number as f32).to_bits() == number.to_bits();
        if numbers.iter().all(is_single) {
            #[expect(clippy::cast_possible_truncation, reason = "just found exact")]
            return Self::from_f32(numbers.iter().map(|number| *number as f32).collect());
        }
        let squared_length = numbers.iter().fold(0.0, |sum, number| sum + number * number);
        Self { numbers: Numbers::Double(numbers.into()), squared_length }
    }

    /// Takes over `f32` numbers.
    pub fn from_f32(numbers: Box<[f32]>) -> Self {
        let squared_length = numbers.iter().fold(0.0, |sum, number| sum + f64::from(*number) * f64::from(*number));
        Self { numbers: Numbers::Single(numbers), squared_length }
    }

    /// The numbers.
    pub fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        match &self.numbers {
            Numbers::Single(numbers) => numbers.len(),
            Numbers::Double(numbers) => numbers.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sum of the squares, added in order.
    pub fn squared_length(&self) -> f64 {
        self.squared_length
    }

    /// The numbers as `f64`.
    pub fn to_f64(&self) -> Vec<f64> {
        match &self.numbers {
            Numbers::Single(numbers) => numbers.iter().map(|number| f64::from(*number)).collect(),
            Numbers::Double(numbers) => numbers.to_vec(),
        }
    }
}

impl Serialize for Vector {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.numbers {
            Numbers::Single(numbers) => serializer.collect_seq(numbers.iter().map(|number| Number(f64::from(*number)))),
            Numbers::Double(numbers) => serializer.collect_seq(numbers.iter().map(|number| Number(*number))),
        }
    }
}

/// Reads a list of numbers, or the object with index keys that `JSON.stringify` makes of a typed array.
impl<'de> Deserialize<'de> for Vector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct VectorVisitor;

        impl<'de> Visitor<'de> for VectorVisitor {
            type Value = Vector;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an embedding: a list of numbers")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vector, A::Error> {
                let mut numbers = Vec::with_capacity(seq.size_hint().unwrap_or(0));
                while let Some(number) = seq.next_element()? {
                    numbers.push(number);
                }
                Ok(Vector::from_f64(&numbers))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vector, A::Error> {
                let mut numbers = Vec::new();
                while let Some((_, number)) = map.next_entry::<Text, f64>()? {
                    numbers.push(number);
                }
                Ok(Vector::from_f64(&numbers))
            }
        }

        deserializer.deserialize_any(VectorVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::to_json;
    use proptest::prelude::*;

    #[test]
    fn an_object_with_index_keys_is_a_vector() {
        let vector: Vector = serde_json::from_str(r#"{"0":0.5,"1":-1}"#).unwrap();
        assert_eq!(to_json(&vector), "[0.5,-1]");
    }

    #[test]
    fn decimals_that_f32_would_change_are_kept() {
        assert!(matches!(Vector::from_f64(&[0.1]).numbers(), Numbers::Double(_)));
        assert!(matches!(Vector::from_f64(&[f64::from(0.1_f32)]).numbers(), Numbers::Single(_)));
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(numbers in prop::collection::vec(prop_oneof![
            any::<f32>().prop_map(f64::from), any::<f64>()
        ].prop_filter("finite", |number| number.is_finite()), 0..20)) {
            let vector = Vector::from_f64(&numbers);
            prop_assert_eq!(vector.to_f64(), numbers.clone());
            let read: Vec<f64> = serde_json::from_str(&to_json(&vector)).unwrap();
            prop_assert_eq!(read, numbers);
        }
    }
}
