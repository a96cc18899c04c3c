//! The file: how it is recognised, what its tables are, and how an older one is brought up to date.

use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::{Durability, SqliteOptions};
use crate::error::{Error, ErrorKind, Result};

/// Marks a file as ours in `SQLite`'s header: `meml` in ASCII.
const APPLICATION_ID: i64 = 0x6D65_6D6C;

/// The steps from an empty file to the present schema; step `n` leads to version `n + 1`. A released step is never
/// edited: a change of the schema is one more step at the end.
const MIGRATIONS: [&str; 1] = [VERSION_1];

/// The first schema.
///
/// A row that belongs to a session has one integer key, its `place`: the session's number in the high half and the
/// row's position within the session in the low half. So everything of a session lies together in each table, is found
/// by a range of integers, and grows at one end. Positions count from 0 and say nothing about the ids that the
/// messages carry, which imported states choose freely.
///
/// A message's row is written once and never again. Whether it is in the window or in the archive follows from its
/// position: the session's row says where each of the two begins.
///
/// `folds` is the lineage of what was derived. Each row says which positions the fold took, the summary after it, and
/// the facts it changed with the values before. The summary before it is the one of the row before; the summary of the
/// last row is the session's. A session that was imported has one row per run of messages with the same fold number,
/// and only the last of them knows its summary.
///
/// Text is TEXT when it is well formed, which any SQL tool can read, and else a BLOB of WTF-8. Columns of type `ANY`
/// keep the type of what is put in.
const VERSION_1: &str = "
CREATE TABLE store (
  -- No session has ever had a higher revision when it was deleted; one that is made anew starts above.
  revision_floor INTEGER NOT NULL
) STRICT;
INSERT INTO store VALUES (0);

CREATE TABLE sessions (
  number INTEGER PRIMARY KEY,
  id ANY NOT NULL UNIQUE,
  revision INTEGER NOT NULL,
  -- Positions of messages: the archive is from the first to the second, the window from the second to the third.
  archive_start INTEGER NOT NULL,
  window_start INTEGER NOT NULL,
  window_end INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  compactions INTEGER NOT NULL,
  created_at ANY,
  updated_at ANY,
  other TEXT,
  -- JSON that is no complete state; then the session has no other rows.
  incomplete TEXT
) STRICT;

CREATE TABLE messages (
  place INTEGER PRIMARY KEY,
  session INTEGER AS (place >> 32) VIRTUAL,
  position INTEGER AS (place & 4294967295) VIRTUAL,
  id INTEGER NOT NULL,
  role TEXT NOT NULL,
  content ANY NOT NULL,
  at ANY,
  tokens ANY,
  name ANY,
  tool_calls TEXT,
  tool_call_id ANY,
  meta TEXT,
  other TEXT
) STRICT;

CREATE TABLE vectors (
  -- The place of the message.
  place INTEGER PRIMARY KEY,
  -- How the numbers are written: f32 or f64, little-endian, one after the other.
  format TEXT NOT NULL,
  numbers BLOB NOT NULL
) STRICT;

CREATE TABLE facts (
  place INTEGER PRIMARY KEY,
  session INTEGER AS (place >> 32) VIRTUAL,
  position INTEGER AS (place & 4294967295) VIRTUAL,
  key ANY NOT NULL,
  value ANY NOT NULL,
  source TEXT NOT NULL,
  at ANY,
  other TEXT
) STRICT;
CREATE INDEX facts_by_key ON facts (session, key);

CREATE TABLE folds (
  place INTEGER PRIMARY KEY,
  session INTEGER AS (place >> 32) VIRTUAL,
  position INTEGER AS (place & 4294967295) VIRTUAL,
  -- The positions of the messages it took: from the first up to, not including, the second.
  message_start INTEGER NOT NULL,
  message_end INTEGER NOT NULL,
  compaction INTEGER NOT NULL,
  at ANY,
  summary ANY,
  -- A JSON list of {key, before, after}, before and after being a fact or null.
  facts TEXT
) STRICT;
";

/// The name that `SQLite` gives a database without a file.
pub(super) const MEMORY: &str = ":memory:";

/// After how many pages the log is brought into the file when the writer has nothing else to do.
///
/// A checkpoint copies each changed page once, however often it changed since the last, so fewer and larger ones cost
/// less; but reading looks through the log, and a crash leaves all of it to be recovered.
pub(super) const IDLE_CHECKPOINT: i64 = 4_000;

/// The same when the writer never rests.
const BUSY_CHECKPOINT: i64 = 8_000;

/// What a connection is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Write,
    Read,
}

/// Opens the file for writing, making it or bringing it up to date where needed.
pub(super) fn open_writer(path: &str, options: SqliteOptions) -> Result<Connection> {
    // Processes that open a fresh file together can make SQLite say "busy" without asking its own timeout, where
    // waiting inside would be a deadlock. Starting over is what it asks for.
    const PAUSE_MS: u32 = 3;
    let mut waited = 0;
    loop {
        match try_open_writer(path, options) {
            Err(Refusal::Sqlite(error)) if is_busy(&error) && waited < options.busy_timeout_ms => {
                std::thread::sleep(Duration::from_millis(u64::from(PAUSE_MS)));
                waited += PAUSE_MS;
            }
            outcome => return outcome.map_err(|refusal| refusal.into_error(path)),
        }
    }
}

/// Opens a further connection to a file that [`open_writer`] has opened.
pub(super) fn open_reader(path: &str, options: SqliteOptions) -> Result<Connection> {
    connect(path, options, Purpose::Read).map_err(|error| Refusal::Sqlite(error).into_error(path))
}

/// Whether another connection was in the way.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

enum Refusal {
    Sqlite(rusqlite::Error),
    Unfit(String),
}

impl From<rusqlite::Error> for Refusal {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Refusal {
    fn into_error(self, path: &str) -> Error {
        let cause = match self {
            Self::Sqlite(error) => error.to_string(),
            Self::Unfit(reason) => reason,
        };
        Error::new(ErrorKind::Store, format!("cannot open `{path}`: {cause}"))
    }
}

fn try_open_writer(path: &str, options: SqliteOptions) -> Result<Connection, Refusal> {
    if path.is_empty() {
        return Err(Refusal::Unfit("the path is empty".to_owned()));
    }
    let mut connection = connect(path, options, Purpose::Write)?;
    // Before anything is changed: the file may be someone else's.
    let mut version = inspect(&connection.transaction()?)?;
    let journal: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if journal != "wal" && path != MEMORY {
        return Err(Refusal::Unfit(format!("its file system has no write-ahead log (journal mode is {journal})")));
    }
    if version < MIGRATIONS.len() {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have been faster.
        version = inspect(&transaction)?;
        for migration in &MIGRATIONS[version..] {
            transaction.execute_batch(migration)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.execute_batch(&format!("PRAGMA user_version = {}", MIGRATIONS.len()))?;
        transaction.commit()?;
    }
    Ok(connection)
}

/// The schema version of a file that is ours, 0 for an empty one.
fn inspect(transaction: &rusqlite::Transaction<'_>) -> Result<usize, Refusal> {
    let application: i64 = transaction.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let tables: i64 = transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if (application, version, tables) == (0, 0, 0) {
        return Ok(0);
    }
    if application != APPLICATION_ID {
        return Err(Refusal::Unfit(format!(
            "it is the database of another application (application id {application}, not {APPLICATION_ID})"
        )));
    }
    match usize::try_from(version) {
        Ok(version) if (1..=MIGRATIONS.len()).contains(&version) => Ok(version),
        _ => Err(Refusal::Unfit(format!(
            "its schema version is {version} and this release knows versions up to {}",
            MIGRATIONS.len()
        ))),
    }
}

fn connect(path: &str, options: SqliteOptions, purpose: Purpose) -> rusqlite::Result<Connection> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if purpose == Purpose::Write {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    // SQLite takes this prefix for a URI, with options in it; a path is only a path.
    let connection = if path.starts_with("file:") {
        Connection::open_with_flags(format!("./{path}"), flags)?
    } else {
        Connection::open_with_flags(path, flags)?
    };
    connection.busy_timeout(Duration::from_millis(u64::from(options.busy_timeout_ms)))?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    match purpose {
        Purpose::Read => connection.pragma_update(None, "query_only", true)?,
        Purpose::Write => {
            let synchronous = match options.durability {
                Durability::Normal => "NORMAL",
                Durability::Full => "FULL",
            };
            connection.pragma_update(None, "synchronous", synchronous)?;
            connection.pragma_update(None, "wal_autocheckpoint", BUSY_CHECKPOINT)?;
            // Concurrent sessions write to as many pages; those that are written again and again should be at hand.
            connection.pragma_update(None, "cache_size", -16_384)?;
            // What a burst leaves behind is cut off again.
            connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
        }
    }
    Ok(connection)
}
