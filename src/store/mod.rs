//! Where sessions live.
//!
//! [`Store`] is the contract; `contract` is the suite that every implementation runs. [`MemoryStore`] keeps
//! sessions as values in this process, [`SqliteStore`] in a file, and [`SnapshotStore`] hands whole states to an
//! object of the app's own.

#[cfg(test)]
pub(crate) mod contract;
mod memory;
mod snapshot;
mod sqlite;

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

pub use memory::MemoryStore;
pub use snapshot::{Snapshot, SnapshotStore};
pub use sqlite::{Durability, SqliteOptions, SqliteStore};

use crate::error::{Error, ErrorKind, Result};
use crate::json::{Json, Loose, reason};
use crate::session::Operation;
use crate::state::{Archive, Change, OwnedState, STATE_PARTS, STATE_VERSION, Session};
use crate::text::Text;

/// What a store method gives: a future that may be ready at once.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// Which state of a session this is. Two different states of one session in one store never have the same revision,
/// not even when the session was deleted in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Revision(pub u64);

/// A session as a store gives it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The part that every turn reads. Shared with the store's own cache: cheap to take, never changed in place
    /// while someone else holds it.
    pub session: Arc<Session>,
    /// The archive, when the store had it at hand; otherwise [`Store::archive`] fetches it.
    pub archive: Option<Arc<Archive>>,
    /// The state's revision. `None` means that the store does not hold the session yet: a commit creates it.
    pub revision: Option<Revision>,
}

/// What became of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// The change is in the store, as durable as the store was asked to be.
    Done,
    /// The session is not at the revision that was named; nothing was changed.
    Conflict,
}

/// Whole content of a session, for exports.
#[derive(Clone, Debug)]
pub enum Exported {
    /// A state of this library.
    State(Arc<Session>, Arc<Archive>),
    /// JSON that was imported or saved and is no complete state.
    Incomplete(Json),
}

/// A place that keeps sessions.
///
/// **Order.** The window and the archive come back in the order in which changes were committed, never by a time.
///
/// **Atomicity.** A [`Change`] is in the store as a whole or not at all, for readers and after a crash.
///
/// **Durability.** When [`Store::commit`], [`Store::replace`] or [`Store::delete`] is done, the change survives what
/// the store promises to survive: nothing for memory, the process for a file.
///
/// **Revision.** A commit names the revision it was planned on. A store that can compare refuses it with
/// [`Commit::Conflict`] when another writer was faster, also when the session was deleted or created meanwhile. A
/// store that cannot compare (the app's own snapshot object) takes every commit: the last writer wins.
///
/// **Incomplete state.** State that is not a complete session can be imported and exported; every other operation on
/// it fails with [`ErrorKind::InvalidState`] and names what is missing.
///
/// **Ready at once.** A store that needs no I/O gives futures that are ready when they are first polled.
pub trait Store: Send + Sync {
    /// The session, or `None` when the store does not hold it.
    fn load<'a>(&'a self, operation: &'a Operation, id: &'a Text) -> StoreFuture<'a, Option<Loaded>>;

    /// The archive that belongs to `loaded`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Conflict`] when the session has changed since: load it again.
    fn archive<'a>(&'a self, operation: &'a Operation, loaded: &'a Loaded) -> StoreFuture<'a, Arc<Archive>>;

    /// Applies `change` to the state that `base` is, creating the session when `base` has no revision.
    fn commit<'a>(&'a self, operation: &'a Operation, base: Loaded, change: Change) -> StoreFuture<'a, Commit>;

    /// Puts `state` in the place of the session that has its id, whatever is there.
    fn replace<'a>(&'a self, operation: &'a Operation, id: &'a Text, state: Imported) -> StoreFuture<'a, ()>;

    /// Everything the store holds of the session.
    fn export<'a>(&'a self, operation: &'a Operation, id: &'a Text) -> StoreFuture<'a, Option<Exported>>;

    /// Removes the session with everything that belongs to it.
    fn delete<'a>(&'a self, operation: &'a Operation, id: &'a Text) -> StoreFuture<'a, ()>;
}

/// A state on its way into a store.
#[derive(Clone, Debug)]
pub enum Imported {
    /// A complete state.
    State(Box<OwnedState>),
    /// Anything else that has a version and an id.
    Incomplete(Json),
}

impl Imported {
    /// Reads a state; what is not a complete one is kept as it is.
    pub fn from_json(json: Json) -> Self {
        match serde_json::from_str(json.as_str()) {
            Ok(state) => Self::State(Box::new(state)),
            Err(_) => Self::Incomplete(json),
        }
    }
}

/// Reads a state that an operation needs complete.
///
/// # Errors
///
/// [`ErrorKind::InvalidState`], with the documented words for a wrong version or id, else naming what is missing.
pub fn read_state(json: &Json) -> Result<OwnedState> {
    check_state(json)?;
    let members: HashMap<Text, Json> = serde_json::from_str(json.as_str()).unwrap_or_default();
    let is_missing = |part: &&&str| !members.contains_key(part.as_bytes());
    let missing: Vec<String> = STATE_PARTS.iter().filter(is_missing).map(|part| format!("`{part}`")).collect();
    let what_is_wrong = |error| {
        let message = "the stored session state cannot be read";
        if missing.is_empty() {
            return Error::new(ErrorKind::InvalidState, format!("{message}: {}", reason(&error)));
        }
        Error::new(ErrorKind::InvalidState, format!("{message}: it has no {}", missing.join(", ")))
    };
    serde_json::from_str(json.as_str()).map_err(what_is_wrong)
}

/// Checks that a state has a version of ours and an id, and gives the id. Nothing deeper is looked at.
///
/// # Errors
///
/// [`ErrorKind::InvalidState`] in the documented words.
pub fn check_state(json: &Json) -> Result<Text> {
    #[derive(serde::Deserialize)]
    struct Head {
        version: Option<Json>,
        id: Option<Loose<Text>>,
    }
    let invalid = |message: String| Error::new(ErrorKind::InvalidState, message);
    let head: Head =
        serde_json::from_str(json.as_str()).map_err(|_| invalid("session state must be an object".to_owned()))?;
    let version = head.version.as_ref().map_or("undefined", Json::as_str);
    if version != STATE_VERSION.to_string() {
        return Err(invalid(format!("unsupported session state version {version}")));
    }
    match head.id {
        Some(Loose::Usual(id)) if !id.is_empty() => Ok(id),
        _ => Err(invalid("session state needs an id".to_owned())),
    }
}
