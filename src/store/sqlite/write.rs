//! From changes to rows. Everything here runs inside a transaction that the caller has begun.

use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;

use super::read::{self, Head, MAX_POSITION, UNUSUAL_NAME, place, position};
use super::value::{Column, vector_bytes};
use crate::facts::{Fact, FactChange};
use crate::json::{Json, Loose, to_json};
use crate::message::{ArchivedMessage, StoredMessage};
use crate::recall::Vector;
use crate::state::{Archive, Change, Folded, Session};
use crate::store::{Imported, Loaded, Revision};
use crate::text::Text;

/// Applies `change` to the state that `base` is. `None` when the session is not at that revision.
pub(super) fn commit(connection: &Connection, base: &Loaded, change: &Change) -> rusqlite::Result<Option<Revision>> {
    let id = &base.session.id;
    let found = read::head(connection, id)?;
    if found.as_ref().map(|head| head.revision) != base.revision {
        return Ok(None);
    }
    let mut head = match found {
        Some(head) if head.is_incomplete => return Ok(None),
        Some(head) => head,
        None => insert(connection, id, &base.session, &Archive::default())?,
    };
    append(connection, &mut head, change)?;
    if let Some(fold) = &change.fold {
        fold_out(connection, &mut head, change, fold, &base.session.facts)?;
        trim(connection, &mut head, change.archive_max)?;
    }
    for fact in &change.facts {
        change_fact(connection, head.number, fact)?;
    }
    let revision = if base.revision.is_some() { Revision(head.revision.0 + 1) } else { head.revision };
    connection
        .prepare_cached(
            "UPDATE sessions SET revision = ?2, archive_start = ?3, window_start = ?4, window_end = ?5, seq = ?6,
                    compactions = ?7, updated_at = ?8 WHERE number = ?1",
        )?
        .execute(params![
            head.number,
            revision.0.cast_signed(),
            head.archive_start,
            head.window_start,
            head.window_end,
            head.seq.cast_signed(),
            head.compactions.cast_signed(),
            Column(change.at),
        ])?;
    Ok(Some(revision))
}

/// Puts `state` in the place of the session `id`, which keeps its number and so its turn among the ids.
pub(super) fn replace(connection: &Connection, id: &Text, state: &Imported) -> rusqlite::Result<Revision> {
    let start = match read::head(connection, id)? {
        Some(head) => {
            delete_rows(connection, head.number)?;
            connection.prepare_cached("DELETE FROM sessions WHERE number = ?1")?.execute([head.number])?;
            Start { number: Some(head.number), revision: Revision(head.revision.0 + 1) }
        }
        None => Start::fresh(connection)?,
    };
    match state {
        Imported::State(state) => insert_at(connection, id, &state.session, &state.archive, &start)?,
        Imported::Incomplete(json) => {
            let empty = Session::new(id.clone(), 0.0);
            insert_session(connection, id, &empty, 0, Some(json), &start)?
        }
    };
    Ok(start.revision)
}

/// Removes the session `id` with every row of it.
pub(super) fn delete(connection: &Connection, id: &Text) -> rusqlite::Result<()> {
    let Some(head) = read::head(connection, id)? else { return Ok(()) };
    delete_rows(connection, head.number)?;
    connection.prepare_cached("DELETE FROM sessions WHERE number = ?1")?.execute([head.number])?;
    connection
        .prepare_cached("UPDATE store SET revision_floor = max(revision_floor, ?1)")?
        .execute([head.revision.0.cast_signed()])?;
    Ok(())
}

/// Where a session's rows begin: its number, when it has one, and its first revision.
struct Start {
    number: Option<i64>,
    revision: Revision,
}

impl Start {
    fn fresh(connection: &Connection) -> rusqlite::Result<Self> {
        let mut statement = connection.prepare_cached("SELECT revision_floor FROM store")?;
        let floor: i64 = statement.query_row([], |row| row.get(0))?;
        Ok(Self { number: None, revision: Revision(floor.cast_unsigned() + 1) })
    }
}

fn insert(connection: &Connection, id: &Text, session: &Session, archive: &Archive) -> rusqlite::Result<Head> {
    insert_at(connection, id, session, archive, &Start::fresh(connection)?)
}

fn insert_at(
    connection: &Connection,
    id: &Text,
    session: &Session,
    archive: &Archive,
    start: &Start,
) -> rusqlite::Result<Head> {
    let head = insert_session(connection, id, session, count(archive.messages.len())?, None, start)?;
    let archived = archive.messages.iter().map(|archived| &*archived.stored);
    let all = archived.chain(session.recent.iter().map(|stored| &**stored));
    for (stored, position) in all.zip(0..) {
        insert_message(connection, place(head.number, position), stored)?;
    }
    for (archived, position) in archive.messages.iter().zip(0..) {
        if let Some(vector) = &archived.embedding {
            insert_vector(connection, place(head.number, position), vector)?;
        }
    }
    let runs = runs(&archive.messages);
    let mut end = 0;
    for (idx, (compaction, length)) in runs.iter().enumerate() {
        let summary = (idx + 1 == runs.len()).then_some(&session.summary);
        let start = end;
        end += length;
        let fold = FoldRow { start, end, compaction: *compaction, summary, facts: None, at: None };
        insert_fold(connection, head.number, &fold)?;
    }
    if runs.is_empty() && !session.summary.is_empty() {
        let (summary, compaction) = (Some(&session.summary), session.compactions);
        insert_fold(
            connection,
            head.number,
            &FoldRow { start: 0, end: 0, compaction, summary, facts: None, at: None },
        )?;
    }
    for (fact, position) in session.facts.iter().zip(0..) {
        insert_fact(connection, place(head.number, position), fact)?;
    }
    Ok(head)
}

/// Inserts the session's own row, with `archived` messages to come before the window.
fn insert_session(
    connection: &Connection,
    id: &Text,
    session: &Session,
    archived: i64,
    incomplete: Option<&Json>,
    start: &Start,
) -> rusqlite::Result<Head> {
    let window_end = archived + count(session.recent.len())?;
    connection
        .prepare_cached(
            "INSERT INTO sessions (number, id, revision, archive_start, window_start, window_end, seq, compactions,
                                   created_at, updated_at, other, incomplete)
             VALUES (?1, ?2, ?3, 0, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?
        .execute(params![
            start.number,
            Column(id),
            start.revision.0.cast_signed(),
            archived,
            window_end,
            session.seq.cast_signed(),
            session.compactions.cast_signed(),
            Column(&session.created_at),
            Column(&session.updated_at),
            Column(&session.other),
            incomplete.map(Column),
        ])?;
    let number = connection.last_insert_rowid();
    if number > MAX_POSITION >> 1 {
        return Err(full("the file has no number left for another session"));
    }
    Ok(Head {
        number,
        revision: start.revision,
        is_incomplete: incomplete.is_some(),
        archive_start: 0,
        window_start: archived,
        window_end,
        seq: session.seq,
        compactions: session.compactions,
    })
}

fn append(connection: &Connection, head: &mut Head, change: &Change) -> rusqlite::Result<()> {
    for stored in &change.appended {
        if head.window_end > MAX_POSITION {
            return Err(full("the session has no position left for another message"));
        }
        insert_message(connection, place(head.number, head.window_end), stored)?;
        head.window_end += 1;
        head.seq = head.seq.max(stored.id);
    }
    Ok(())
}

/// Moves the window's start and writes the fold's row and vectors. The messages themselves are there already.
fn fold_out(
    connection: &Connection,
    head: &mut Head,
    change: &Change,
    fold: &Folded,
    facts_before: &[Fact],
) -> rusqlite::Result<()> {
    let start = head.window_start;
    let folded = count(fold.messages.len())?.min(head.window_end - start);
    head.window_start = start + folded;
    head.compactions += 1;
    // What the limit drops at once needs no vector.
    let kept_from = head.window_start.saturating_sub(i64::try_from(change.archive_max).unwrap_or(i64::MAX));
    for (archived, position) in fold.messages.iter().zip(start..head.window_start) {
        if let Some(vector) = archived.embedding.as_ref().filter(|_| position >= kept_from) {
            insert_vector(connection, place(head.number, position), vector)?;
        }
    }
    let changes = (!change.facts.is_empty()).then(|| fact_lineage(facts_before, &change.facts));
    let mut runs = runs(&fold.messages);
    if runs.is_empty() {
        runs.push((head.compactions, 0));
    }
    let mut end = start;
    for (idx, (compaction, length)) in runs.iter().enumerate() {
        let is_last = idx + 1 == runs.len();
        let start = end;
        end += length;
        insert_fold(
            connection,
            head.number,
            &FoldRow {
                start,
                end,
                compaction: *compaction,
                summary: is_last.then_some(&fold.summary),
                facts: changes.as_deref().filter(|_| is_last),
                at: Some(change.at),
            },
        )?;
    }
    Ok(())
}

/// Removes the oldest archived messages beyond `archive_max`.
fn trim(connection: &Connection, head: &mut Head, archive_max: usize) -> rusqlite::Result<()> {
    let kept_from = head.window_start.saturating_sub(i64::try_from(archive_max).unwrap_or(i64::MAX));
    if kept_from <= head.archive_start {
        return Ok(());
    }
    let range = [place(head.number, head.archive_start), place(head.number, kept_from - 1)];
    connection.prepare_cached("DELETE FROM messages WHERE place BETWEEN ?1 AND ?2")?.execute(range)?;
    connection.prepare_cached("DELETE FROM vectors WHERE place BETWEEN ?1 AND ?2")?.execute(range)?;
    head.archive_start = kept_from;
    // A fold without messages cannot be undone and its summary is outlived; only the last of those is needed, as the
    // summary that the first kept fold started from.
    let mut statement = connection.prepare_cached(
        "SELECT place FROM folds WHERE place BETWEEN ?1 AND ?2 AND message_end > ?3 ORDER BY place LIMIT 1",
    )?;
    let (first, last) = (place(head.number, 0), place(head.number, MAX_POSITION));
    let kept: Option<i64> = statement.query_row([first, last, kept_from], |row| row.get(0)).optional()?;
    connection
        .prepare_cached(
            "DELETE FROM folds WHERE place >= ?1 AND place <
             (SELECT max(place) FROM folds WHERE place >= ?1 AND place < ?2)",
        )?
        .execute([first, kept.unwrap_or(last)])?;
    Ok(())
}

fn change_fact(connection: &Connection, session: i64, change: &FactChange) -> rusqlite::Result<()> {
    match change {
        FactChange::Set(fact) => {
            let place = find_fact(connection, session, &fact.key)?;
            if let Some(place) = place {
                connection
                    .prepare_cached("UPDATE facts SET value = ?2, source = ?3, at = ?4, other = ?5 WHERE place = ?1")?
                    .execute(params![
                        place,
                        Column(&fact.value),
                        Column(fact.source),
                        Column(&fact.at),
                        Column(&fact.other)
                    ])?;
                return Ok(());
            }
            let next = next_place(connection, "SELECT max(place) FROM facts WHERE place BETWEEN ?1 AND ?2", session)?;
            insert_fact(connection, next, fact)
        }
        FactChange::Remove(key) => {
            connection
                .prepare_cached("DELETE FROM facts WHERE session = ?1 AND key = ?2")?
                .execute(params![session, Column(key)])?;
            Ok(())
        }
    }
}

fn find_fact(connection: &Connection, session: i64, key: &Text) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT place FROM facts WHERE session = ?1 AND key = ?2 ORDER BY place LIMIT 1")?
        .query_row(params![session, Column(key)], |row| row.get(0))
        .optional()
}

/// The place behind the last row, which `sql` finds.
fn next_place(connection: &Connection, sql: &str, session: i64) -> rusqlite::Result<i64> {
    let range = [place(session, 0), place(session, MAX_POSITION)];
    let last: Option<i64> = connection.prepare_cached(sql)?.query_row(range, |row| row.get(0))?;
    match last {
        Some(last) if position(last) == MAX_POSITION => Err(full("the session has no position left for another row")),
        Some(last) => Ok(last + 1),
        None => Ok(range[0]),
    }
}

fn insert_message(connection: &Connection, place: i64, stored: &StoredMessage) -> rusqlite::Result<()> {
    let message = &stored.message;
    let mut statement = connection.prepare_cached(
        "INSERT INTO messages (place, id, role, content, at, tokens, name, tool_calls, tool_call_id, meta, other)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    let id = stored.id.cast_signed();
    let role = message.role.as_str();
    let (content, at, tokens) = (Column(&message.content), message.at.as_ref().map(Column), Column(stored.tokens));
    let Some(details) = &message.details else {
        let none = rusqlite::types::Null;
        statement.execute(params![place, id, role, content, at, tokens, none, none, none, none, none])?;
        return Ok(());
    };
    let (name, unusual) = match &details.name {
        Some(Loose::Usual(name)) => (Some(Column(name)), None),
        Some(Loose::Other(json)) => (None, Some((Text::from(UNUSUAL_NAME), json.clone()))),
        None => (None, None),
    };
    // What few messages have needs no column: it is read with the message and never searched.
    let mut other = details.other.clone();
    other.extend(details.provider_members().map(|(name, json)| (Text::from(name), json.into_owned())));
    other.extend(unusual);
    let calls = details.tool_calls.as_ref().map(|calls| Column(&calls.json));
    let call_id = details.tool_call_id.as_ref().map(Column);
    let meta = details.meta.as_ref().map(Column);
    statement.execute(params![place, id, role, content, at, tokens, name, calls, call_id, meta, Column(&other)])?;
    Ok(())
}

fn insert_vector(connection: &Connection, place: i64, vector: &Vector) -> rusqlite::Result<()> {
    let (format, bytes) = vector_bytes(vector);
    connection
        .prepare_cached("INSERT INTO vectors (place, format, numbers) VALUES (?1, ?2, ?3)")?
        .execute(params![place, format, bytes])?;
    Ok(())
}

fn insert_fact(connection: &Connection, place: i64, fact: &Fact) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT INTO facts (place, key, value, source, at, other) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
        .execute(params![
            place,
            Column(&fact.key),
            Column(&fact.value),
            Column(fact.source),
            Column(&fact.at),
            Column(&fact.other)
        ])?;
    Ok(())
}

struct FoldRow<'a> {
    start: i64,
    end: i64,
    compaction: u64,
    summary: Option<&'a Text>,
    facts: Option<&'a str>,
    at: Option<f64>,
}

fn insert_fold(connection: &Connection, session: i64, fold: &FoldRow<'_>) -> rusqlite::Result<()> {
    let place = next_place(connection, "SELECT max(place) FROM folds WHERE place BETWEEN ?1 AND ?2", session)?;
    connection
        .prepare_cached(
            "INSERT INTO folds (place, message_start, message_end, compaction, at, summary, facts)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            place,
            fold.start,
            fold.end,
            fold.compaction.cast_signed(),
            fold.at.map(Column),
            fold.summary.map(Column),
            fold.facts,
        ])?;
    Ok(())
}

/// Removes everything of a session but its own row.
fn delete_rows(connection: &Connection, session: i64) -> rusqlite::Result<()> {
    let range = [place(session, 0), place(session, MAX_POSITION)];
    for sql in [
        "DELETE FROM messages WHERE place BETWEEN ?1 AND ?2",
        "DELETE FROM vectors WHERE place BETWEEN ?1 AND ?2",
        "DELETE FROM facts WHERE place BETWEEN ?1 AND ?2",
        "DELETE FROM folds WHERE place BETWEEN ?1 AND ?2",
    ] {
        connection.prepare_cached(sql)?.execute(range)?;
    }
    Ok(())
}

/// What a fold did to the facts, as JSON: one entry per key with the fact before and after.
fn fact_lineage(before: &[Fact], changes: &[FactChange]) -> String {
    #[derive(Serialize)]
    struct Entry<'a> {
        key: &'a Text,
        before: Option<&'a Fact>,
        after: Option<&'a Fact>,
    }
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for change in changes {
        let (key, after) = match change {
            FactChange::Set(fact) => (&fact.key, Some(fact)),
            FactChange::Remove(key) => (key, None),
        };
        match entries.iter_mut().find(|entry| entry.key == key) {
            Some(entry) => entry.after = after,
            None => entries.push(Entry { key, before: before.iter().find(|fact| fact.key == *key), after }),
        }
    }
    to_json(&entries)
}

/// Fold number and length of each run of messages that the same fold took.
fn runs<'a>(messages: impl IntoIterator<Item = &'a ArchivedMessage>) -> Vec<(u64, i64)> {
    let mut runs: Vec<(u64, i64)> = Vec::new();
    for archived in messages {
        match runs.last_mut() {
            Some((compaction, length)) if *compaction == archived.compaction => *length += 1,
            _ => runs.push((archived.compaction, 1)),
        }
    }
    runs
}

/// How many rows there are, when a session has that many positions.
fn count(rows: usize) -> rusqlite::Result<i64> {
    i64::try_from(rows)
        .ok()
        .filter(|rows| *rows <= MAX_POSITION)
        .ok_or_else(|| full("the session has more messages than it has positions"))
}

fn full(reason: &'static str) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(reason.into())
}
