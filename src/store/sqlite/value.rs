//! Values of this crate as columns.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, Value, ValueRef};
use serde::de::DeserializeOwned;

use crate::facts::Source;
use crate::json::{Json, Loose, Members, Number, to_json};
use crate::message::{Role, ToolCalls};
use crate::recall::{Numbers, Vector};
use crate::text::Text;

/// A value on its way into a column or out of one.
pub(super) struct Column<T>(pub(super) T);

fn json<T: DeserializeOwned>(value: ValueRef<'_>) -> FromSqlResult<T> {
    serde_json::from_str(value.as_str()?).map_err(FromSqlError::other)
}

impl ToSql for Column<&Text> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let bytes = self.0.as_bytes();
        let value = if self.0.as_str().is_some() { ValueRef::Text(bytes) } else { ValueRef::Blob(bytes) };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

impl FromSql for Column<Text> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let (ValueRef::Text(bytes) | ValueRef::Blob(bytes)) = value else { return Err(FromSqlError::InvalidType) };
        Text::from_wtf8(bytes.to_vec()).map(Self).ok_or_else(|| FromSqlError::other(NotText))
    }
}

/// Whole numbers are INTEGER, so that times and counts read as such in SQL.
fn number(number: f64) -> Value {
    if Number(number).is_safe_integer() {
        #[expect(clippy::cast_possible_truncation, reason = "a safe integer fits in 64 bits")]
        return Value::Integer(number as i64);
    }
    Value::Real(number)
}

impl ToSql for Column<f64> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Owned(number(self.0)))
    }
}

impl FromSql for Column<f64> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            #[expect(clippy::cast_precision_loss, reason = "written from an integer that f64 holds")]
            ValueRef::Integer(number) => Ok(Self(number as f64)),
            ValueRef::Real(number) => Ok(Self(number)),
            // SQLite keeps no NaN.
            ValueRef::Null => Ok(Self(f64::NAN)),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

impl ToSql for Column<&Loose<Number>> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self.0 {
            Loose::Usual(usual) => Ok(ToSqlOutput::Owned(number(usual.0))),
            Loose::Other(json) => Ok(ToSqlOutput::Borrowed(ValueRef::Text(json.as_str().as_bytes()))),
        }
    }
}

impl FromSql for Column<Loose<Number>> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Text(_) => json(value).map(Loose::Other).map(Self),
            number => Column::<f64>::column_result(number).map(|number| Self(Loose::Usual(Number(number.0)))),
        }
    }
}

impl ToSql for Column<&Json> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.0.as_str().as_bytes())))
    }
}

impl FromSql for Column<Json> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        json(value).map(Self)
    }
}

impl FromSql for Column<ToolCalls> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        json(value).map(Self)
    }
}

/// Members are a list of pairs: unlike an object's, its keys may be any text and keep their order in every reader.
impl ToSql for Column<&Members> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Owned(if self.0.is_empty() { Value::Null } else { Value::Text(to_json(self.0)) }))
    }
}

impl FromSql for Column<Members> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        if value == ValueRef::Null { Ok(Self(Members::new())) } else { json(value).map(Self) }
    }
}

impl FromSql for Column<Role> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Role::from_name(value.as_str()?).map(Self).ok_or(FromSqlError::InvalidType)
    }
}

impl ToSql for Column<Source> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(match self.0 {
            Source::Pinned => "pinned",
            Source::Extracted => "extracted",
        }))
    }
}

impl FromSql for Column<Source> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_str()? {
            "pinned" => Ok(Self(Source::Pinned)),
            "extracted" => Ok(Self(Source::Extracted)),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

/// The format's name and the bytes of a vector.
pub(super) fn vector_bytes(vector: &Vector) -> (&'static str, Vec<u8>) {
    match vector.numbers() {
        Numbers::Single(numbers) => ("f32", numbers.iter().flat_map(|number| number.to_le_bytes()).collect()),
        Numbers::Double(numbers) => ("f64", numbers.iter().flat_map(|number| number.to_le_bytes()).collect()),
    }
}

/// The vector that [`vector_bytes`] wrote.
pub(super) fn read_vector(format: &str, bytes: &[u8]) -> FromSqlResult<Vector> {
    let (singles, []) = bytes.as_chunks::<4>() else { return Err(FromSqlError::other(NotVector)) };
    match (format, bytes.as_chunks::<8>()) {
        ("f32", _) => Ok(Vector::from_f32(singles.iter().map(|number| f32::from_le_bytes(*number)).collect())),
        ("f64", (doubles, [])) => {
            let numbers: Vec<f64> = doubles.iter().map(|number| f64::from_le_bytes(*number)).collect();
            Ok(Vector::from_f64(&numbers))
        }
        _ => Err(FromSqlError::other(NotVector)),
    }
}

#[derive(Debug)]
struct NotText;

impl std::fmt::Display for NotText {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the bytes are neither UTF-8 nor WTF-8")
    }
}

impl std::error::Error for NotText {}

#[derive(Debug)]
struct NotVector;

impl std::fmt::Display for NotVector {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the vector has a format or a length that this release does not know")
    }
}

impl std::error::Error for NotVector {}
