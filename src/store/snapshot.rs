//! Sessions in an object of the app's own, which loads and saves whole states.

use std::sync::Arc;

use super::{Commit, Exported, Imported, Loaded, Revision, Store, StoreFuture, read_state};
use crate::error::{Error, ErrorKind, Result};
use crate::json::Json;
use crate::session::Operation;
use crate::state::{Archive, Change, State};
use crate::text::Text;

/// A place of the app's own for whole states: a row in its database, a key in its cache, a file.
///
/// Every method is told which operation it is part of, so that it can say when it waits for the app.
pub trait Snapshot: Send + Sync {
    /// The state that was saved last. `None` or JSON's `null` when there is none.
    fn load<'a>(&'a self, operation: &'a Operation, id: &'a Text) -> StoreFuture<'a, Option<Json>>;

    /// Keeps the state in the place of the one before.
    fn save<'a>(&'a self, operation: &'a Operation, id: &'a Text, state: Json) -> StoreFuture<'a, ()>;

    /// Forgets the state.
    fn delete<'a>(&'a self, operation: &'a Operation, id: &'a Text) -> StoreFuture<'a, ()>;
}

/// The [`Store`] over a [`Snapshot`].
///
/// Every operation loads the whole state and every change saves it, which is what such an object expects: it may be
/// shared with other processes, expire, or be edited by hand. It has nothing to compare revisions with, so the last
/// writer wins and a commit never conflicts.
pub struct SnapshotStore {
    snapshot: Box<dyn Snapshot>,
}

impl SnapshotStore {
    /// A store over the app's object.
    pub fn new(snapshot: Box<dyn Snapshot>) -> Self {
        Self { snapshot }
    }

    async fn find(&self, operation: &Operation, id: &Text) -> Result<Option<Json>> {
        Ok(self.snapshot.load(operation, id).await?.filter(|json| !json.is_null()))
    }
}

/// There is no revision to tell states apart; this one says that there is a state.
const EXISTING: Revision = Revision(0);

impl Store for SnapshotStore {
    fn load<'a>(&'a self, operation: &'a Operation, id: &'a Text) -> StoreFuture<'a, Option<Loaded>> {
        Box::pin(async {
            let Some(json) = self.find(operation, id).await? else { return Ok(None) };
            let state = read_state(&json)?;
            Ok(Some(Loaded {
                session: Arc::new(state.session),
                archive: Some(Arc::new(state.archive)),
                revision: Some(EXISTING),
            }))
        })
    }

    fn archive<'a>(&'a self, _: &'a Operation, loaded: &'a Loaded) -> StoreFuture<'a, Arc<Archive>> {
        Box::pin(std::future::ready(Ok(loaded.archive.clone().unwrap_or_default())))
    }

    fn commit<'a>(&'a self, operation: &'a Operation, base: Loaded, change: Change) -> StoreFuture<'a, Commit> {
        Box::pin(async move {
            let mut session = Arc::unwrap_or_clone(base.session);
            let mut archive = Arc::unwrap_or_clone(base.archive.unwrap_or_default());
            session.apply(&change);
            archive.apply(&change);
            let json = print(State { session: &session, archive: &archive })?;
            self.snapshot.save(operation, &session.id, json).await.map(|()| Commit::Done)
        })
    }

    fn replace<'a>(&'a self, operation: &'a Operation, id: &'a Text, state: Imported) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let json = match state {
                Imported::State(state) => print(state.as_state())?,
                Imported::Incomplete(json) => json,
            };
            self.snapshot.save(operation, id, json).await
        })
    }

    fn export<'a>(&'a self, operation: &'a Operation, id: &'a Text) -> StoreFuture<'a, Option<Exported>> {
        Box::pin(async {
            let Some(json) = self.find(operation, id).await? else { return Ok(None) };
            Ok(Some(match read_state(&json) {
                Ok(state) => Exported::State(Arc::new(state.session), Arc::new(state.archive)),
                Err(_) => Exported::Incomplete(json),
            }))
        })
    }

    fn delete<'a>(&'a self, operation: &'a Operation, id: &'a Text) -> StoreFuture<'a, ()> {
        self.snapshot.delete(operation, id)
    }
}

impl std::fmt::Debug for SnapshotStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SnapshotStore").finish_non_exhaustive()
    }
}

/// The state as JSON, or an error: nothing else may be saved in its place.
fn print(state: State<'_>) -> Result<Json> {
    serde_json::to_string(&state)
        .map_err(|error| Error::new(ErrorKind::Internal, "cannot write the session state as JSON").with_source(error))
        .and_then(|text| {
            Json::new(text).ok_or_else(|| Error::new(ErrorKind::Internal, "the session state's JSON is not valid"))
        })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Mutex;

    use super::*;
    use crate::store::contract::{self, block_on};

    /// An app's object that keeps JSON in a map.
    #[derive(Default)]
    struct Map(Mutex<HashMap<Text, Json>>);

    impl Snapshot for Arc<Map> {
        fn load<'a>(&'a self, _: &'a Operation, id: &'a Text) -> StoreFuture<'a, Option<Json>> {
            Box::pin(async { Ok(self.0.lock().unwrap().get(id).cloned()) })
        }

        fn save<'a>(&'a self, _: &'a Operation, id: &'a Text, state: Json) -> StoreFuture<'a, ()> {
            Box::pin(async {
                self.0.lock().unwrap().insert(id.clone(), state);
                Ok(())
            })
        }

        fn delete<'a>(&'a self, _: &'a Operation, id: &'a Text) -> StoreFuture<'a, ()> {
            Box::pin(async {
                self.0.lock().unwrap().remove(id);
                Ok(())
            })
        }
    }

    #[test]
    fn keeps_the_contract() {
        contract::check_without_conflicts(
            &|| {
                let map = Arc::new(Map::default());
                let store = || Arc::new(SnapshotStore::new(Box::new(Arc::clone(&map)))) as Arc<dyn Store>;
                (store(), store())
            },
            "the app's object can load and save whole states and has nothing to compare",
        );
    }

    #[track_caller]
    fn check_saved(json: &str, expect: &str) {
        let map = Arc::new(Map::default());
        map.0.lock().unwrap().insert("a".into(), Json::new(json.to_owned()).unwrap());
        let store = SnapshotStore::new(Box::new(map));
        let outcome = match block_on(store.load(&Operation::detached(), &"a".into())) {
            Ok(None) => "nothing".to_owned(),
            Ok(Some(_)) => "a session".to_owned(),
            Err(error) => error.to_string(),
        };
        assert_eq!(outcome, expect);
    }

    #[test]
    fn what_was_saved_is_checked_when_it_is_used() {
        check_saved("null", "nothing");
        check_saved("5", "memoryline: session state must be an object");
        check_saved(r#"{"version":2}"#, "memoryline: unsupported session state version 2");
        check_saved(r#"{"version":1}"#, "memoryline: session state needs an id");
    }

    #[test]
    fn a_failing_object_fails_the_operation() {
        struct Broken;
        impl Snapshot for Broken {
            fn load<'a>(&'a self, _: &'a Operation, _: &'a Text) -> StoreFuture<'a, Option<Json>> {
                Box::pin(std::future::ready(Err(Error::new(ErrorKind::Callback(7), "load threw"))))
            }
            fn save<'a>(&'a self, _: &'a Operation, _: &'a Text, _: Json) -> StoreFuture<'a, ()> {
                Box::pin(std::future::ready(Err(Error::new(ErrorKind::Callback(8), "save threw"))))
            }
            fn delete<'a>(&'a self, _: &'a Operation, _: &'a Text) -> StoreFuture<'a, ()> {
                Box::pin(std::future::ready(Err(Error::new(ErrorKind::Callback(9), "delete threw"))))
            }
        }
        let (store, operation, id) = (SnapshotStore::new(Box::new(Broken)), Operation::detached(), Text::from("a"));
        assert_eq!(block_on(store.load(&operation, &id)).unwrap_err().kind(), ErrorKind::Callback(7));
        assert_eq!(block_on(store.export(&operation, &id)).unwrap_err().kind(), ErrorKind::Callback(7));
        let incomplete = Imported::Incomplete(Json::new("{}".to_owned()).unwrap());
        assert_eq!(block_on(store.replace(&operation, &id, incomplete)).unwrap_err().kind(), ErrorKind::Callback(8));
        assert_eq!(block_on(store.delete(&operation, &id)).unwrap_err().kind(), ErrorKind::Callback(9));
    }
}
