//! Sessions as values in this process.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Commit, Exported, Imported, Loaded, Revision, Store, StoreFuture, read_state};
use crate::error::Result;
use crate::json::Json;
use crate::session::Operation;
use crate::state::{Archive, Change, Session};
use crate::text::Text;

/// The default store: nothing is serialized, nothing survives the process.
#[derive(Debug, Default)]
pub struct MemoryStore {
    // A plain mutex: it is held for a few map operations and never across a wait.
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    entries: HashMap<Text, Entry>,
    // Ids in the order of their first commit, since a hash map has none.
    order: BTreeMap<u64, Text>,
    // Counts over all sessions, so that a session made anew never meets a revision it had before.
    last_revision: u64,
}

#[derive(Debug)]
struct Entry {
    place: u64,
    revision: Revision,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Complete { session: Arc<Session>, archive: Arc<Archive> },
    Incomplete(Json),
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// The ids of all sessions, in the order in which they were made.
    pub fn ids(&self) -> Vec<Text> {
        self.lock().order.values().cloned().collect()
    }

    /// [`Store::export`] at once.
    pub fn get(&self, id: &Text) -> Option<Exported> {
        self.lock().entries.get(id).map(|entry| match &entry.content {
            Content::Complete { session, archive } => Exported::State(Arc::clone(session), Arc::clone(archive)),
            Content::Incomplete(json) => Exported::Incomplete(json.clone()),
        })
    }

    /// [`Store::replace`] at once.
    pub fn put(&self, id: &Text, state: Imported) {
        let content = match state {
            Imported::State(state) => {
                Content::Complete { session: Arc::new(state.session), archive: Arc::new(state.archive) }
            }
            Imported::Incomplete(json) => Content::Incomplete(json),
        };
        self.lock().put(id, content);
    }

    /// [`Store::delete`] at once.
    pub fn remove(&self, id: &Text) {
        let mut inner = self.lock();
        if let Some(entry) = inner.entries.remove(id) {
            inner.order.remove(&entry.place);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Every change of the map is complete before anything can panic, so a poisoned lock guards sound data.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn load_now(&self, id: &Text) -> Result<Option<Loaded>> {
        let inner = self.lock();
        let Some(entry) = inner.entries.get(id) else { return Ok(None) };
        match &entry.content {
            Content::Complete { session, archive } => Ok(Some(Loaded {
                session: Arc::clone(session),
                archive: Some(Arc::clone(archive)),
                revision: Some(entry.revision),
            })),
            // Reading it again gives the error that says what is missing.
            Content::Incomplete(json) => read_state(json).map(|state| {
                Some(Loaded {
                    session: Arc::new(state.session),
                    archive: Some(Arc::new(state.archive)),
                    revision: Some(entry.revision),
                })
            }),
        }
    }

    fn commit_now(&self, base: Loaded, change: &Change) -> Commit {
        let mut inner = self.lock();
        let Loaded { session: base_session, archive: base_archive, revision } = base;
        if inner.entries.get(&base_session.id).map(|entry| entry.revision) != revision {
            return Commit::Conflict;
        }
        let Some(revision) = revision else {
            let mut session = Arc::unwrap_or_clone(base_session);
            let mut archive = Archive::default();
            session.apply(change);
            archive.apply(change);
            let id = session.id.clone();
            inner.put(&id, Content::Complete { session: Arc::new(session), archive: Arc::new(archive) });
            return Commit::Done;
        };
        inner.last_revision += 1;
        let next = Revision(inner.last_revision);
        if let Some(entry) = inner.entries.get_mut(&base_session.id) {
            debug_assert_eq!(entry.revision, revision);
            entry.revision = next;
            // The caller's hold on the values has to go first: then they are changed in place and not copied.
            drop((base_session, base_archive));
            if let Content::Complete { session, archive } = &mut entry.content {
                Arc::make_mut(session).apply(change);
                if change.fold.is_some() {
                    Arc::make_mut(archive).apply(change);
                }
            }
        }
        Commit::Done
    }
}

impl Inner {
    fn put(&mut self, id: &Text, content: Content) {
        self.last_revision += 1;
        let revision = Revision(self.last_revision);
        if let Some(entry) = self.entries.get_mut(id) {
            entry.revision = revision;
            entry.content = content;
            return;
        }
        // The revision just taken is larger than every place before it.
        self.order.insert(revision.0, id.clone());
        self.entries.insert(id.clone(), Entry { place: revision.0, revision, content });
    }
}

impl Store for MemoryStore {
    fn load<'a>(&'a self, _: &'a Operation, id: &'a Text) -> StoreFuture<'a, Option<Loaded>> {
        Box::pin(std::future::ready(self.load_now(id)))
    }

    fn archive<'a>(&'a self, _: &'a Operation, loaded: &'a Loaded) -> StoreFuture<'a, Arc<Archive>> {
        Box::pin(std::future::ready(Ok(loaded.archive.clone().unwrap_or_default())))
    }

    fn commit<'a>(&'a self, _: &'a Operation, base: Loaded, change: Change) -> StoreFuture<'a, Commit> {
        Box::pin(std::future::ready(Ok(self.commit_now(base, &change))))
    }

    fn replace<'a>(&'a self, _: &'a Operation, id: &'a Text, state: Imported) -> StoreFuture<'a, ()> {
        self.put(id, state);
        Box::pin(std::future::ready(Ok(())))
    }

    fn export<'a>(&'a self, _: &'a Operation, id: &'a Text) -> StoreFuture<'a, Option<Exported>> {
        Box::pin(std::future::ready(Ok(self.get(id))))
    }

    fn delete<'a>(&'a self, _: &'a Operation, id: &'a Text) -> StoreFuture<'a, ()> {
        self.remove(id);
        Box::pin(std::future::ready(Ok(())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::contract;

    #[test]
    fn keeps_the_contract() {
        contract::check(&|| {
            let store = Arc::new(MemoryStore::new());
            (Arc::clone(&store) as Arc<dyn Store>, store)
        });
    }

    #[test]
    fn ids_come_in_the_order_of_making() {
        let store = MemoryStore::new();
        let state = |id: &str| Imported::Incomplete(Json::new(format!(r#"{{"version":1,"id":"{id}"}}"#)).unwrap());
        for id in ["b", "__proto__", "a", "b"] {
            store.put(&id.into(), state(id));
        }
        store.remove(&"__proto__".into());
        store.put(&"__proto__".into(), state("__proto__"));
        assert_eq!(store.ids(), ["b", "a", "__proto__"]);
    }
}
