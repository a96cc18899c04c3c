//! Sessions that were read or written lately, as values.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::state::{Archive, Change, Session};
use crate::store::{Loaded, Revision};
use crate::text::Text;

/// When an entry was last found to be what the file holds: `SQLite`'s `data_version`, which every connection counts for
/// itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) connection: usize,
    pub(super) version: i64,
}

/// The sessions that were used last. An entry is never trusted by itself: it says of which revision it is, and the
/// reader compares that with the file.
pub(super) struct Cache {
    entries: HashMap<Text, Entry>,
    /// The ids by the time of their last use, oldest first.
    order: BTreeMap<u64, Text>,
    uses: u64,
    capacity: usize,
}

struct Entry {
    used: u64,
    revision: Revision,
    session: Arc<Session>,
    archive: Option<Arc<Archive>>,
    seen: Option<Seen>,
}

impl Entry {
    fn to_loaded(&self) -> Loaded {
        Loaded { session: Arc::clone(&self.session), archive: self.archive.clone(), revision: Some(self.revision) }
    }
}

impl Cache {
    /// An empty cache for at most `capacity` sessions.
    pub(super) fn new(capacity: usize) -> Self {
        Self { entries: HashMap::new(), order: BTreeMap::new(), uses: 0, capacity }
    }

    /// The session, when nothing was written to the file since it was last compared.
    pub(super) fn unchanged(&mut self, id: &Text, seen: Seen) -> Option<Loaded> {
        let entry = self.entries.get(id).filter(|entry| entry.seen == Some(seen))?;
        let loaded = entry.to_loaded();
        self.touch(id);
        Some(loaded)
    }

    /// The session, when it is at this revision; remembers that it was compared.
    pub(super) fn at_revision(&mut self, id: &Text, revision: Revision, seen: Seen) -> Option<Loaded> {
        let entry = self.entries.get_mut(id).filter(|entry| entry.revision == revision)?;
        entry.seen = Some(seen);
        let loaded = entry.to_loaded();
        self.touch(id);
        Some(loaded)
    }

    /// Takes in what was read or written, unless something newer is here already.
    pub(super) fn insert(&mut self, id: &Text, loaded: &Loaded, seen: Option<Seen>) {
        let Some(revision) = loaded.revision else { return };
        if self.entries.get(id).is_some_and(|entry| entry.revision.0 > revision.0) {
            return;
        }
        let (session, archive) = (Arc::clone(&loaded.session), loaded.archive.clone());
        self.remove(id);
        while self.entries.len() >= self.capacity.max(1) {
            let Some((_, oldest)) = self.order.pop_first() else { break };
            self.entries.remove(&oldest);
        }
        self.uses += 1;
        self.order.insert(self.uses, id.clone());
        self.entries.insert(id.clone(), Entry { used: self.uses, revision, session, archive, seen });
    }

    /// Adds the archive to a session that is at this revision.
    pub(super) fn attach(&mut self, id: &Text, revision: Revision, archive: &Arc<Archive>) {
        if let Some(entry) = self.entries.get_mut(id).filter(|entry| entry.revision == revision) {
            entry.archive = Some(Arc::clone(archive));
        }
    }

    /// Brings the session to `next`, which is `base` with `change` applied: in place, without reading it again.
    pub(super) fn advance(&mut self, base: Loaded, change: &Change, next: Revision) {
        let Loaded { session, archive, revision } = base;
        match self.entries.get_mut(&session.id) {
            Some(entry) if Some(entry.revision) == revision => {
                // The caller's hold on the values has to go first: then they are changed in place and not copied.
                drop((session, archive));
                entry.revision = next;
                Arc::make_mut(&mut entry.session).apply(change);
                if let Some(archive) = entry.archive.as_mut().filter(|_| change.fold.is_some()) {
                    Arc::make_mut(archive).apply(change);
                }
            }
            _ => {
                let id = session.id.clone();
                let mut session = session;
                Arc::make_mut(&mut session).apply(change);
                // A session that is new has an archive, and it is empty.
                let archive = if revision.is_none() { Some(Arc::default()) } else { archive };
                let archive = archive.map(|mut archive| {
                    Arc::make_mut(&mut archive).apply(change);
                    archive
                });
                self.insert(&id, &Loaded { session, archive, revision: Some(next) }, None);
            }
        }
    }

    /// Forgets the session.
    pub(super) fn remove(&mut self, id: &Text) {
        if let Some(entry) = self.entries.remove(id) {
            self.order.remove(&entry.used);
        }
    }

    fn touch(&mut self, id: &Text) {
        let Some(entry) = self.entries.get_mut(id) else { return };
        self.uses += 1;
        if let Some(id) = self.order.remove(&entry.used) {
            self.order.insert(self.uses, id);
        }
        entry.used = self.uses;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(id: &str, revision: u64) -> Loaded {
        Loaded { session: Arc::new(Session::new(id.into(), 0.0)), archive: None, revision: Some(Revision(revision)) }
    }

    const SEEN: Seen = Seen { connection: 0, version: 1 };

    #[test]
    fn the_session_used_longest_ago_goes_first() {
        let mut cache = Cache::new(2);
        for id in ["a", "b"] {
            cache.insert(&id.into(), &loaded(id, 1), Some(SEEN));
        }
        assert!(cache.unchanged(&"a".into(), SEEN).is_some());
        cache.insert(&"c".into(), &loaded("c", 1), Some(SEEN));
        let kept = ["a", "b", "c"].map(|id| cache.unchanged(&id.into(), SEEN).is_some());
        assert_eq!(kept, [true, false, true]);
        assert_eq!((cache.entries.len(), cache.order.len()), (2, 2));
    }

    #[test]
    fn a_slow_reader_does_not_undo_a_writer() {
        let mut cache = Cache::new(2);
        cache.insert(&"a".into(), &loaded("a", 2), None);
        cache.insert(&"a".into(), &loaded("a", 1), None);
        assert!(cache.at_revision(&"a".into(), Revision(2), SEEN).is_some());
    }

    #[test]
    fn a_commit_changes_the_entry_in_place() {
        let mut cache = Cache::new(2);
        cache.insert(&"a".into(), &loaded("a", 1), Some(SEEN));
        let base = cache.unchanged(&"a".into(), SEEN).unwrap();
        let before = Arc::as_ptr(&base.session);
        let change = Change { appended: Vec::new(), fold: None, facts: Vec::new(), at: 7.0, archive_max: 0 };
        cache.advance(base, &change, Revision(2));
        let after = cache.at_revision(&"a".into(), Revision(2), SEEN).unwrap();
        assert_eq!(Arc::as_ptr(&after.session), before);
        assert_eq!(crate::json::to_json(&after.session.updated_at), "7");
    }
}
