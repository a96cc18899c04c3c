//! Sessions in one `SQLite` file.
//!
//! Whatever touches the file runs on threads of the store's own: one that writes, with everything that waits for it
//! in one transaction, and a few that read. The caller gets a future and never waits for a disk. Sessions in use are
//! kept as values and compared with the file's revision, so that other processes may write to it at any time.

mod cache;
mod read;
mod schema;
mod value;
mod worker;
mod write;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use tokio::sync::oneshot;

use self::cache::Cache;
use self::worker::{Answer, Job, Queue, Request, Shared, Worker, Write};
use super::{Commit, Exported, Imported, Loaded, Store, StoreFuture, read_state};
use crate::error::{Error, ErrorKind, Result};
use crate::session::Operation;
use crate::state::{Archive, Change};
use crate::text::Text;

/// How many sessions are kept as values.
const CACHED_SESSIONS: usize = 1_000;

/// How many writes share a transaction at most, so that the first of them does not wait too long for the last.
const GROUP: usize = 1_024;

/// What an acknowledged write survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A crash of the process. When the machine itself stops, the last writes may be missing; the file is sound.
    #[default]
    Normal,
    /// A crash of the machine too: the disk has confirmed the write before it is acknowledged.
    Full,
}

/// How a [`SqliteStore`] behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqliteOptions {
    /// What an acknowledged write survives.
    pub durability: Durability,
    /// How long to wait, in milliseconds, while another process or another store writes to the file.
    pub busy_timeout_ms: u32,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { durability: Durability::default(), busy_timeout_ms: 5_000 }
    }
}

/// The embedded store: a `SQLite` file with one row per message, fact and fold.
///
/// Any number of stores and processes may use one file at a time.
///
/// ```
/// use memoryline::store::{SqliteOptions, SqliteStore};
///
/// let store = SqliteStore::open(":memory:", SqliteOptions::default())?;
/// store.close();
/// # Ok::<(), memoryline::Error>(())
/// ```
pub struct SqliteStore {
    shared: Arc<Shared>,
    reads: Arc<Queue>,
    writes: Arc<Queue>,
    threads: Mutex<Threads>,
    is_closed: AtomicBool,
}

#[derive(Default)]
struct Threads {
    readers: Vec<JoinHandle<()>>,
    writer: Option<JoinHandle<()>>,
}

impl SqliteStore {
    /// Opens the file, making it when there is none. `:memory:` is a database without a file, for this store alone.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Store`] when the file cannot be opened, is not a database of this library, or has a schema that
    /// only a newer release knows.
    pub fn open(path: &str, options: SqliteOptions) -> Result<Self> {
        let connection = schema::open_writer(path, options)?;
        let shared = Arc::new(Shared { path: path.to_owned(), cache: Mutex::new(Cache::new(CACHED_SESSIONS)) });
        let writes = Arc::new(Queue::default());
        // A database in memory belongs to one connection, whose thread then does everything.
        let is_memory = path == schema::MEMORY;
        let reads = if is_memory { Arc::clone(&writes) } else { Arc::default() };
        let store = Self { shared, reads, writes, threads: Mutex::default(), is_closed: AtomicBool::new(false) };
        store.lock().writer = Some(store.start("memoryline-write", connection, 0, &store.writes, GROUP)?);
        if !is_memory {
            let readers = thread::available_parallelism().map_or(2, usize::from).clamp(2, 4);
            for number in 1..=readers {
                let connection = schema::open_reader(path, options)?;
                let reader = store.start("memoryline-read", connection, number, &store.reads, 1)?;
                store.lock().readers.push(reader);
            }
        }
        Ok(store)
    }

    /// Finishes what was accepted and lets go of the file. Every later call fails with [`ErrorKind::Closed`].
    ///
    /// It waits for the disk. Calling it again does nothing.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        let mut threads = self.lock();
        // The writer goes last and alone: the connection that is closed last brings the log into the file and removes
        // it, and of two that are closed at the same moment neither is the last.
        self.reads.close();
        threads.readers.drain(..).for_each(join);
        self.writes.close();
        threads.writer.take().into_iter().for_each(join);
    }

    /// The ids of all sessions, in the order in which they were made.
    pub fn ids(&self) -> StoreFuture<'_, Vec<Text>> {
        Box::pin(self.ask(&self.reads, |answer| Job::Ids { answer }))
    }

    fn start(
        &self,
        name: &str,
        connection: rusqlite::Connection,
        number: usize,
        queue: &Arc<Queue>,
        limit: usize,
    ) -> Result<JoinHandle<()>> {
        let has_log = number == 0 && self.shared.path != schema::MEMORY;
        let worker = Worker { connection, number, has_log, shared: Arc::clone(&self.shared) };
        let queue = Arc::clone(queue);
        thread::Builder::new().name(name.to_owned()).spawn(move || worker.run(&queue, limit)).map_err(|error| {
            Error::new(ErrorKind::Store, format!("cannot start a thread for `{}`: {error}", self.shared.path))
        })
    }

    /// Hands a job to the threads when first polled, and waits for its answer.
    async fn ask<T>(&self, queue: &Queue, job: impl FnOnce(Answer<T>) -> Job) -> Result<T> {
        let (answer, outcome) = oneshot::channel();
        if !queue.push(job(answer)) {
            return Err(self.gone());
        }
        outcome.await.unwrap_or_else(|_| Err(self.gone()))
    }

    async fn write(&self, write: Write) -> Result<Commit> {
        self.ask(&self.writes, |answer| Job::Write(Request { write, answer })).await
    }

    fn gone(&self) -> Error {
        if self.is_closed.load(Ordering::Acquire) {
            return Error::new(ErrorKind::Closed, format!("the store `{}` is closed", self.shared.path));
        }
        Error::new(ErrorKind::Internal, format!("a thread of the store `{}` has failed", self.shared.path))
    }

    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for SqliteStore {
    fn load<'a>(&'a self, _: &'a Operation, id: &'a Text) -> StoreFuture<'a, Option<Loaded>> {
        Box::pin(self.ask(&self.reads, |answer| Job::Load { id: id.clone(), answer }))
    }

    fn archive<'a>(&'a self, _: &'a Operation, loaded: &'a Loaded) -> StoreFuture<'a, Arc<Archive>> {
        Box::pin(async {
            let (None, Some(revision)) = (&loaded.archive, loaded.revision) else {
                return Ok(loaded.archive.clone().unwrap_or_default());
            };
            self.ask(&self.reads, |answer| Job::Archive { id: loaded.session.id.clone(), revision, answer }).await
        })
    }

    fn commit<'a>(&'a self, _: &'a Operation, base: Loaded, change: Change) -> StoreFuture<'a, Commit> {
        Box::pin(self.write(Write::Commit { base, change }))
    }

    fn replace<'a>(&'a self, _: &'a Operation, id: &'a Text, state: Imported) -> StoreFuture<'a, ()> {
        Box::pin(async {
            // A state that is whole after all would otherwise be kept where no operation can use it.
            let state = match state {
                Imported::Incomplete(json) => match read_state(&json) {
                    Ok(state) => Imported::State(Box::new(state)),
                    Err(_) => Imported::Incomplete(json),
                },
                state @ Imported::State(_) => state,
            };
            self.write(Write::Replace { id: id.clone(), state }).await.map(drop)
        })
    }

    fn export<'a>(&'a self, _: &'a Operation, id: &'a Text) -> StoreFuture<'a, Option<Exported>> {
        Box::pin(self.ask(&self.reads, |answer| Job::Export { id: id.clone(), answer }))
    }

    fn delete<'a>(&'a self, _: &'a Operation, id: &'a Text) -> StoreFuture<'a, ()> {
        Box::pin(async { self.write(Write::Delete { id: id.clone() }).await.map(drop) })
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.close();
    }
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SqliteStore").field("path", &self.shared.path).finish_non_exhaustive()
    }
}

fn join(thread: JoinHandle<()>) {
    // A waker that drops the last handle of a store may run on one of its threads, which cannot wait for itself.
    if thread.thread().id() != thread::current().id() {
        // A thread that panicked has left its error with those who waited for it.
        let _ = thread.join();
    }
}

#[cfg(test)]
mod tests;
