//! The threads that touch the file, and the queues that feed them.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::cache::{Cache, Seen};
use super::{read, schema, write};
use crate::error::{Error, ErrorKind, Result};
use crate::state::{Archive, Change};
use crate::store::{Commit, Exported, Imported, Loaded, Revision, read_state};
use crate::text::Text;

/// Where the answer of a job goes. Nobody may be waiting for it any more, which is no failure.
pub(super) type Answer<T> = oneshot::Sender<Result<T>>;

/// Something to read or to write.
pub(super) enum Job {
    Load { id: Text, answer: Answer<Option<Loaded>> },
    Archive { id: Text, revision: Revision, answer: Answer<Arc<Archive>> },
    Export { id: Text, answer: Answer<Option<Exported>> },
    Ids { answer: Answer<Vec<Text>> },
    Write(Request),
}

/// One write and where its answer goes.
pub(super) struct Request {
    pub(super) write: Write,
    pub(super) answer: Answer<Commit>,
}

/// A write.
pub(super) enum Write {
    Commit { base: Loaded, change: Change },
    Replace { id: Text, state: Imported },
    Delete { id: Text },
}

/// Jobs that wait for a thread. Once closed it takes no more, and its threads end when it is empty.
#[derive(Default)]
pub(super) struct Queue {
    inner: Mutex<Waiting>,
    arrived: Condvar,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    is_closed: bool,
}

impl Queue {
    /// Adds a job; `false` when the queue is closed.
    #[must_use]
    pub(super) fn push(&self, job: Job) -> bool {
        let mut waiting = self.lock();
        if waiting.is_closed {
            return false;
        }
        waiting.jobs.push_back(job);
        drop(waiting);
        self.arrived.notify_one();
        true
    }

    /// Takes no more jobs; what was accepted is still done.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.arrived.notify_all();
    }

    fn is_empty(&self) -> bool {
        self.lock().jobs.is_empty()
    }

    /// Waits for jobs and takes up to `limit`. `None` when there will be none.
    fn take(&self, limit: usize) -> Option<VecDeque<Job>> {
        let mut waiting = self.lock();
        while waiting.jobs.is_empty() && !waiting.is_closed {
            waiting = self.arrived.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        if waiting.jobs.len() <= limit {
            let jobs = std::mem::take(&mut waiting.jobs);
            return (!jobs.is_empty()).then_some(jobs);
        }
        Some(waiting.jobs.drain(..limit).collect())
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Nothing can panic between the parts of a change here.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes and empties the queue when its thread ends, so that after a panic nobody waits for an answer for ever.
struct LastOut<'a>(&'a Queue);

impl Drop for LastOut<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.close();
            self.0.lock().jobs.clear();
        }
    }
}

/// What the threads of one store share.
pub(super) struct Shared {
    pub(super) path: String,
    pub(super) cache: Mutex<Cache>,
}

impl Shared {
    pub(super) fn cache(&self) -> MutexGuard<'_, Cache> {
        // The cache is only ever a copy that is compared with the file, so an interrupted change is harmless.
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&self, verb: &str, cause: &rusqlite::Error) -> Error {
        Error::new(ErrorKind::Store, format!("cannot {verb} `{}`: {cause}", self.path))
    }
}

/// A thread's own side: its connection and the number that tells it from the others.
pub(super) struct Worker {
    pub(super) connection: Connection,
    pub(super) number: usize,
    /// Whether this is the connection that writes to a file.
    pub(super) has_log: bool,
    pub(super) shared: Arc<Shared>,
}

impl Worker {
    /// Does jobs until the queue is closed and empty, up to `limit` at a time.
    ///
    /// All writes among the jobs taken at once share one transaction and so one wait for the disk. Whatever arrives
    /// meanwhile is the next group: the slower the disk, the larger the groups.
    pub(super) fn run(mut self, queue: &Queue, limit: usize) {
        let _last_out = LastOut(queue);
        let mut requests = Vec::new();
        while let Some(jobs) = queue.take(limit) {
            for job in jobs {
                if let Job::Write(request) = job {
                    requests.push(request);
                } else {
                    // A store in memory has one thread for everything; a read comes after the writes before it.
                    self.write(std::mem::take(&mut requests));
                    self.read(job);
                }
            }
            self.write(std::mem::take(&mut requests));
            if self.has_log && queue.is_empty() {
                self.tidy_log();
            }
        }
    }

    /// Brings the log into the file while nobody waits. `SQLite` does it by itself only when there is never such a
    /// moment, and then within a commit, whose callers wait for it.
    fn tidy_log(&self) {
        let pages = self
            .connection
            .prepare_cached("PRAGMA wal_checkpoint(NOOP)")
            .and_then(|mut statement| statement.query_row([], |row| Ok(row.get::<_, i64>(1)? - row.get::<_, i64>(2)?)));
        if pages.is_ok_and(|pages| pages >= schema::IDLE_CHECKPOINT) {
            // A reader in the way leaves the rest for the next time.
            let _ = self.connection.execute_batch("PRAGMA wal_checkpoint(PASSIVE)");
        }
    }

    fn read(&mut self, job: Job) {
        match job {
            Job::Load { id, answer } => {
                let loaded = self.load(&id);
                let _ = answer.send(self.readable(loaded));
            }
            Job::Archive { id, revision, answer } => {
                let archive = self.archive(&id, revision);
                let _ = answer.send(self.readable(archive));
            }
            Job::Export { id, answer } => {
                let exported = self.export(&id);
                let _ = answer.send(self.readable(exported));
            }
            Job::Ids { answer } => {
                let ids = read::ids(&self.connection).map(Ok);
                let _ = answer.send(self.readable(ids));
            }
            Job::Write(request) => self.write(vec![request]),
        }
    }

    fn readable<T>(&self, outcome: rusqlite::Result<Result<T>>) -> Result<T> {
        outcome.unwrap_or_else(|error| Err(self.shared.error("read", &error)))
    }

    fn load(&mut self, id: &Text) -> rusqlite::Result<Result<Option<Loaded>>> {
        // Read before the rows: a write in between makes the entry look older than it is, never newer.
        let seen = self.seen()?;
        if let Some(loaded) = self.shared.cache().unchanged(id, seen) {
            return Ok(Ok(Some(loaded)));
        }
        if let Some(head) = read::head(&self.connection, id)?
            && let Some(loaded) = self.shared.cache().at_revision(id, head.revision, seen)
        {
            return Ok(Ok(Some(loaded)));
        }
        // Several statements have to see one state of the file.
        let transaction = self.connection.transaction()?;
        let Some(head) = read::head(&transaction, id)? else {
            self.shared.cache().remove(id);
            return Ok(Ok(None));
        };
        if head.is_incomplete {
            return Ok(Err(missing(&read::incomplete(&transaction, &head)?)));
        }
        let loaded = Loaded {
            session: Arc::new(read::session(&transaction, id, &head)?),
            archive: (head.archive_start == head.window_start).then(Arc::default),
            revision: Some(head.revision),
        };
        self.shared.cache().insert(id, &loaded, Some(seen));
        Ok(Ok(Some(loaded)))
    }

    fn archive(&mut self, id: &Text, revision: Revision) -> rusqlite::Result<Result<Arc<Archive>>> {
        let transaction = self.connection.transaction()?;
        let Some(head) = read::head(&transaction, id)?.filter(|head| head.revision == revision) else {
            return Ok(Err(Error::new(ErrorKind::Conflict, format!("the session `{id}` has changed meanwhile"))));
        };
        let archive = Arc::new(read::archive(&transaction, &head)?);
        self.shared.cache().attach(id, revision, &archive);
        Ok(Ok(archive))
    }

    fn export(&mut self, id: &Text) -> rusqlite::Result<Result<Option<Exported>>> {
        let seen = self.seen()?;
        let transaction = self.connection.transaction()?;
        let Some(head) = read::head(&transaction, id)? else { return Ok(Ok(None)) };
        if head.is_incomplete {
            return read::incomplete(&transaction, &head).map(|json| Ok(Some(Exported::Incomplete(json))));
        }
        let cached = self.shared.cache().at_revision(id, head.revision, seen);
        // Exporting every session of a file should not push out the ones that are in use: what is read is not kept.
        let (session, archive) = match cached {
            Some(loaded) => (loaded.session, loaded.archive),
            None => (Arc::new(read::session(&transaction, id, &head)?), None),
        };
        let archive = match archive {
            Some(archive) => archive,
            None => Arc::new(read::archive(&transaction, &head)?),
        };
        Ok(Ok(Some(Exported::State(session, archive))))
    }

    fn seen(&self) -> rusqlite::Result<Seen> {
        Ok(Seen { connection: self.number, version: read::data_version(&self.connection)? })
    }

    /// Writes the requests in one transaction and answers them once it is in the file.
    ///
    /// A write that fails must not take the others with it. Since hardly any ever does, the first attempt is made
    /// without savepoints, which copy every page that two writes share.
    fn write(&mut self, requests: Vec<Request>) {
        if requests.is_empty() {
            return;
        }
        let outcomes = match self.transact(&requests, false) {
            Err(Broken::Within(_)) if requests.len() > 1 => self.transact(&requests, true),
            outcomes => outcomes,
        };
        match outcomes {
            Ok(outcomes) => self.settle(requests, outcomes),
            // What breaks even a transaction with savepoints may still be the fault of one request.
            Err(Broken::Within(_)) if requests.len() > 1 => {
                for request in requests {
                    self.write(vec![request]);
                }
            }
            Err(Broken::Before(error) | Broken::Within(error)) => {
                for request in requests {
                    let _ = request.answer.send(Err(self.shared.error("write", &error)));
                }
            }
        }
    }

    fn transact(&self, requests: &[Request], with_savepoints: bool) -> Result<Vec<Outcome>, Broken> {
        self.begin().map_err(Broken::Before)?;
        let transaction = Transaction(&self.connection);
        let mut outcomes = Vec::with_capacity(requests.len());
        for request in requests {
            let write = || request.write.execute(&self.connection);
            let outcome = if with_savepoints { transaction.isolated(write) } else { write().map(Ok) };
            outcomes.push(outcome.map_err(Broken::Within)?);
        }
        transaction.commit().map_err(Broken::Within)?;
        Ok(outcomes)
    }

    fn begin(&self) -> rusqlite::Result<()> {
        // SQLite waits for other writers by itself, but not when they changed what it had begun to look at.
        const ATTEMPTS: usize = 100;
        let mut attempt = 1;
        loop {
            match run(&self.connection, "BEGIN IMMEDIATE") {
                Err(error) if attempt < ATTEMPTS && is_overtaken(&error) => attempt += 1,
                outcome => return outcome,
            }
        }
    }

    /// Brings the cache up to date and answers: in this order, since whoever hears of a write reads next.
    fn settle(&self, requests: Vec<Request>, outcomes: Vec<Outcome>) {
        let mut answers = Vec::with_capacity(requests.len());
        for (Request { write, answer }, outcome) in requests.into_iter().zip(outcomes) {
            answers.push((
                answer,
                match outcome {
                    Ok(Written::Done(revision)) => {
                        self.remember(write, revision);
                        Ok(Commit::Done)
                    }
                    Ok(Written::Conflict) => Ok(Commit::Conflict),
                    Err(error) => Err(self.shared.error("write", &error)),
                },
            ));
        }
        for (answer, outcome) in answers {
            let _ = answer.send(outcome);
        }
    }

    fn remember(&self, write: Write, revision: Option<Revision>) {
        let mut cache = self.shared.cache();
        match (write, revision) {
            (Write::Commit { base, change }, Some(next)) => cache.advance(base, &change, next),
            (Write::Replace { id, state: Imported::State(state) }, Some(_)) => {
                let (session, archive) = (Arc::new(state.session), Some(Arc::new(state.archive)));
                cache.insert(&id, &Loaded { session, archive, revision }, None);
            }
            (Write::Commit { base: Loaded { session, .. }, .. }, None) => cache.remove(&session.id),
            (Write::Replace { id, .. } | Write::Delete { id }, _) => cache.remove(&id),
        }
    }
}

impl Write {
    fn execute(&self, connection: &Connection) -> rusqlite::Result<Written> {
        match self {
            Self::Commit { base, change } => Ok(match write::commit(connection, base, change)? {
                Some(revision) => Written::Done(Some(revision)),
                None => Written::Conflict,
            }),
            Self::Replace { id, state } => write::replace(connection, id, state).map(Some).map(Written::Done),
            Self::Delete { id } => write::delete(connection, id).map(|()| Written::Done(None)),
        }
    }
}

/// What became of one write within a transaction, and the revision that the session has now.
enum Written {
    Done(Option<Revision>),
    Conflict,
}

type Outcome = rusqlite::Result<Written>;

/// Why no write of a transaction is in the file.
enum Broken {
    /// It could not begin: trying the writes one by one would only wait again.
    Before(rusqlite::Error),
    /// It was rolled back.
    Within(rusqlite::Error),
}

/// A transaction that has begun; rolled back unless it is committed.
struct Transaction<'a>(&'a Connection);

impl Transaction<'_> {
    /// Runs one write so that its failure leaves what the others wrote. The outer error means that `SQLite` has given up
    /// the transaction with everything in it.
    fn isolated<T>(&self, write: impl FnOnce() -> rusqlite::Result<T>) -> rusqlite::Result<rusqlite::Result<T>> {
        run(self.0, "SAVEPOINT request")?;
        let outcome = write();
        if outcome.is_err() {
            if self.0.is_autocommit() {
                return outcome.map(Ok);
            }
            run(self.0, "ROLLBACK TO request")?;
        }
        run(self.0, "RELEASE request")?;
        Ok(outcome)
    }

    fn commit(self) -> rusqlite::Result<()> {
        run(self.0, "COMMIT")
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.0.is_autocommit() {
            // When even this fails, the next BEGIN does too, and says why.
            let _ = run(self.0, "ROLLBACK");
        }
    }
}

fn run(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

fn is_overtaken(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    schema::is_busy(error)
        && matches!(code, Some(rusqlite::ffi::SQLITE_BUSY_SNAPSHOT | rusqlite::ffi::SQLITE_BUSY_RECOVERY))
}

/// The error that says what an incomplete state lacks.
fn missing(json: &crate::json::Json) -> Error {
    read_state(json).err().unwrap_or_else(|| {
        Error::new(ErrorKind::InvalidState, "the session state was stored as an incomplete one: import it again")
    })
}
