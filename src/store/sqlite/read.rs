//! From rows to sessions.

use std::collections::VecDeque;
use std::sync::Arc;

use rusqlite::types::FromSqlError;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::value::{Column, read_vector};
use crate::facts::Fact;
use crate::json::{Json, Loose, Members, Number};
use crate::message::{ArchivedMessage, Details, Message, StoredMessage};
use crate::state::{Archive, Session};
use crate::store::Revision;
use crate::text::Text;

/// The key of the row at `position` of a session.
pub(super) fn place(session: i64, position: i64) -> i64 {
    (session << 32) | position
}

/// The position within its session of the row with this key.
pub(super) fn position(place: i64) -> i64 {
    place & MAX_POSITION
}

/// The largest position and, by the layout of a place, one bit more than the largest session number.
pub(super) const MAX_POSITION: i64 = 0xFFFF_FFFF;

/// What the session's own row says, without its members.
pub(super) struct Head {
    pub(super) number: i64,
    pub(super) revision: Revision,
    pub(super) is_incomplete: bool,
    pub(super) archive_start: i64,
    pub(super) window_start: i64,
    pub(super) window_end: i64,
    pub(super) seq: u64,
    pub(super) compactions: u64,
}

/// The row of the session with this id.
pub(super) fn head(connection: &Connection, id: &Text) -> rusqlite::Result<Option<Head>> {
    let mut statement = connection.prepare_cached(
        "SELECT number, revision, incomplete IS NOT NULL, archive_start, window_start, window_end, seq, compactions
         FROM sessions WHERE id = ?1",
    )?;
    statement
        .query_row([Column(id)], |row| {
            Ok(Head {
                number: row.get(0)?,
                revision: Revision(row.get::<_, i64>(1)?.cast_unsigned()),
                is_incomplete: row.get(2)?,
                archive_start: row.get(3)?,
                window_start: row.get(4)?,
                window_end: row.get(5)?,
                seq: row.get::<_, i64>(6)?.cast_unsigned(),
                compactions: row.get::<_, i64>(7)?.cast_unsigned(),
            })
        })
        .optional()
}

/// The JSON of a session that is incomplete.
pub(super) fn incomplete(connection: &Connection, head: &Head) -> rusqlite::Result<Json> {
    let mut statement = connection.prepare_cached("SELECT incomplete FROM sessions WHERE number = ?1")?;
    statement.query_row([head.number], |row| Ok(row.get::<_, Column<Json>>(0)?.0))
}

/// The session that `head` is the row of.
pub(super) fn session(connection: &Connection, id: &Text, head: &Head) -> rusqlite::Result<Session> {
    let mut session = Session::new(id.clone(), 0.0);
    session.seq = head.seq;
    session.compactions = head.compactions;
    let mut statement =
        connection.prepare_cached("SELECT created_at, updated_at, other FROM sessions WHERE number = ?1")?;
    (session.created_at, session.updated_at, session.other) = statement.query_row([head.number], |row| {
        let (created, updated, other): (Column<Loose<Number>>, Column<Loose<Number>>, Column<Members>) =
            row.try_into()?;
        Ok((created.0, updated.0, other.0))
    })?;
    session.summary = summary(connection, head.number)?;
    let mut statement = connection.prepare_cached(
        "SELECT key, value, source, at, other FROM facts WHERE place BETWEEN ?1 AND ?2 ORDER BY place",
    )?;
    let mut rows = statement.query([place(head.number, 0), place(head.number, MAX_POSITION)])?;
    while let Some(row) = rows.next()? {
        session.facts.push(fact(row)?);
    }
    let mut statement = connection.prepare_cached(
        "SELECT id, role, content, at, tokens, name, tool_calls, tool_call_id, meta, other
         FROM messages WHERE place >= ?1 AND place < ?2 ORDER BY place",
    )?;
    let mut rows = statement.query(message_range(head, head.window_start, head.window_end))?;
    while let Some(row) = rows.next()? {
        session.push(Arc::new(message(row)?));
    }
    Ok(session)
}

/// The archive of the session that `head` is the row of.
pub(super) fn archive(connection: &Connection, head: &Head) -> rusqlite::Result<Archive> {
    let mut statement = connection.prepare_cached(
        "SELECT message_end, compaction FROM folds
         WHERE place BETWEEN ?1 AND ?2 AND message_end > ?3 ORDER BY place",
    )?;
    let folds = statement
        .query_map(params![place(head.number, 0), place(head.number, MAX_POSITION), head.archive_start], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?.cast_unsigned()))
        })?
        .collect::<rusqlite::Result<VecDeque<_>>>()?;
    let mut folds = folds.into_iter().peekable();
    let mut statement = connection.prepare_cached(
        "SELECT id, role, content, at, tokens, name, tool_calls, tool_call_id, meta, other,
                messages.place, vectors.format, vectors.numbers
         FROM messages LEFT JOIN vectors ON vectors.place = messages.place
         WHERE messages.place >= ?1 AND messages.place < ?2 ORDER BY messages.place",
    )?;
    let mut rows = statement.query(message_range(head, head.archive_start, head.window_start))?;
    let mut messages = VecDeque::new();
    while let Some(row) = rows.next()? {
        let position = position(row.get(10)?);
        while folds.next_if(|(end, _)| *end <= position).is_some() {}
        let compaction = folds.peek().map_or(0, |(_, compaction)| *compaction);
        let embedding = match row.get::<_, Option<Box<str>>>(11)? {
            Some(format) => {
                let vector = row.get_ref(12)?.as_blob().and_then(|bytes| read_vector(&format, bytes));
                Some(Arc::new(vector.map_err(|error| conversion(12, error))?))
            }
            None => None,
        };
        messages.push_back(ArchivedMessage { stored: Arc::new(message(row)?), compaction, embedding });
    }
    Ok(Archive { messages })
}

/// The ids of all sessions in the order in which they were made.
pub(super) fn ids(connection: &Connection) -> rusqlite::Result<Vec<Text>> {
    let mut statement = connection.prepare_cached("SELECT id FROM sessions ORDER BY number")?;
    statement.query_map([], |row| Ok(row.get::<_, Column<Text>>(0)?.0))?.collect()
}

/// Moves when another connection has written to the file.
pub(super) fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}

fn message_range(head: &Head, start: i64, end: i64) -> [i64; 2] {
    // Not a place when `end` is beyond the last position, but still the bound that is meant.
    [place(head.number, start), (head.number << 32) + end]
}

fn summary(connection: &Connection, session: i64) -> rusqlite::Result<Text> {
    let mut statement = connection
        .prepare_cached("SELECT summary FROM folds WHERE place BETWEEN ?1 AND ?2 ORDER BY place DESC LIMIT 1")?;
    let summary = statement.query_row([place(session, 0), place(session, MAX_POSITION)], |row| {
        Ok(row.get::<_, Option<Column<Text>>>(0)?.map(|summary| summary.0))
    });
    Ok(summary.optional()?.flatten().unwrap_or_default())
}

fn fact(row: &Row<'_>) -> rusqlite::Result<Fact> {
    Ok(Fact {
        key: row.get::<_, Column<Text>>(0)?.0,
        value: row.get::<_, Column<Text>>(1)?.0,
        source: row.get::<_, Column<_>>(2)?.0,
        at: row.get::<_, Column<Loose<Number>>>(3)?.0,
        other: row.get::<_, Column<Members>>(4)?.0,
    })
}

fn message(row: &Row<'_>) -> rusqlite::Result<StoredMessage> {
    let mut details = Details {
        name: row.get::<_, Option<Column<Text>>>(5)?.map(|name| Loose::Usual(name.0)),
        tool_calls: row.get::<_, Option<Column<_>>>(6)?.map(|calls| calls.0),
        tool_call_id: row.get::<_, Option<Column<_>>>(7)?.map(|id| id.0),
        meta: row.get::<_, Option<Column<_>>>(8)?.map(|meta| meta.0),
        ..Details::default()
    };
    for (key, value) in row.get::<_, Column<Members>>(9)?.0 {
        if key == UNUSUAL_NAME {
            details.name = Some(Loose::Other(value));
        } else if let Some(unknown) = details.set_member(key.as_str().unwrap_or_default(), value) {
            details.other.push((key, unknown));
        }
    }
    Ok(StoredMessage {
        message: Message {
            role: row.get::<_, Column<_>>(1)?.0,
            content: row.get::<_, Column<Text>>(2)?.0,
            at: row.get::<_, Option<Column<_>>>(3)?.map(|at| at.0),
            details: (details != Details::default()).then(|| Box::new(details)),
        },
        id: row.get::<_, i64>(0)?.cast_unsigned(),
        tokens: row.get::<_, Column<f64>>(4)?.0,
    })
}

/// A name that is no text is kept among the other members, where no member is ever called this.
pub(super) const UNUSUAL_NAME: &str = "name";

fn conversion(column: usize, error: FromSqlError) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Blob, Box::new(error))
}
