//! The stores in the box, as the facade's `MemoryStore` and `SqliteStore` use them.

use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::{Either, Utf16String};
use napi_derive::napi;

use super::bridge::Bridge;
use super::convert::{Reply, envelope, text};
use super::types::{Answered, Failure, SqliteCoreOptions, Started};
use crate::error::{Error, ErrorKind};
use crate::json::{Json, to_json};
use crate::state::State;
use crate::store::{Durability, Exported, Imported, MemoryStore, SqliteOptions, SqliteStore, Store, check_state};

/// The whole content of a session as JSON text.
pub(super) fn exported_json(exported: &Exported) -> String {
    match exported {
        Exported::State(session, archive) => to_json(&State { session, archive }),
        Exported::Incomplete(json) => json.as_str().to_owned(),
    }
}

/// A state that the facade has printed.
pub(super) fn state_json(json: String) -> crate::Result<Json> {
    Json::new(json).ok_or_else(|| Error::new(ErrorKind::Internal, "the facade gave a state that is not JSON"))
}

/// Sessions as values in this process.
#[napi]
pub struct MemoryStoreCore {
    store: Arc<MemoryStore>,
}

#[napi]
impl MemoryStoreCore {
    /// An empty store.
    #[napi(constructor, catch_unwind)]
    pub fn new() -> Self {
        Self { store: Arc::new(MemoryStore::new()) }
    }

    /// The state as JSON, or nothing.
    #[napi(catch_unwind)]
    pub fn load(&self, id: Utf16String) -> Option<String> {
        self.store.get(&text(&id)).as_ref().map(exported_json)
    }

    /// Puts a state, given as JSON, in the place of what is there.
    #[napi(catch_unwind)]
    pub fn save(&self, id: Utf16String, state: String) -> Option<Failure> {
        match state_json(state) {
            Ok(json) => {
                self.store.put(&text(&id), Imported::from_json(json));
                None
            }
            Err(error) => Some(Failure::from(&error)),
        }
    }

    /// Removes a session.
    #[napi(catch_unwind)]
    pub fn delete(&self, id: Utf16String) {
        self.store.remove(&text(&id));
    }

    /// All ids as a JSON list, in the order of making.
    #[napi(catch_unwind)]
    pub fn ids(&self) -> String {
        to_json(&self.store.ids())
    }
}

impl MemoryStoreCore {
    pub(super) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as Arc<dyn Store>
    }
}

/// Sessions in a SQLite file.
#[napi]
pub struct SqliteStoreCore {
    store: Arc<SqliteStore>,
}

#[napi]
impl SqliteStoreCore {
    /// Opens a file, making it when it is not there.
    #[napi(catch_unwind)]
    pub fn open(path: String, options: SqliteCoreOptions) -> Either<SqliteStoreCore, Failure> {
        let durability = if options.full_durability { Durability::Full } else { Durability::Normal };
        let options = SqliteOptions { durability, busy_timeout_ms: options.busy_timeout_ms };
        match SqliteStore::open(&path, options) {
            Ok(store) => Either::A(Self { store: Arc::new(store) }),
            Err(error) => Either::B(Failure::from(&error)),
        }
    }

    /// The state as JSON, or null.
    #[napi(catch_unwind)]
    pub fn load(&self, env: Env, bridge: &Bridge, id: Utf16String) -> Started {
        let (store, id) = (Arc::clone(&self.store), text(&id));
        bridge.shared().start(env, 0.0, None, None, |operation| async move {
            let exported = store.export(&operation, &id).await?;
            Ok(exported_envelope(exported.as_ref()))
        })
    }

    /// Puts a state, given as JSON, in the place of what is there.
    #[napi(catch_unwind)]
    pub fn save(&self, env: Env, bridge: &Bridge, state: String) -> Started {
        let store = Arc::clone(&self.store);
        bridge.shared().start(env, 0.0, None, None, |operation| async move {
            let json = state_json(state)?;
            let id = check_state(&json)?;
            store.replace(&operation, &id, Imported::from_json(json)).await?;
            Ok(envelope(()))
        })
    }

    /// Removes a session.
    #[napi(catch_unwind)]
    pub fn delete(&self, env: Env, bridge: &Bridge, id: Utf16String) -> Started {
        let (store, id) = (Arc::clone(&self.store), text(&id));
        bridge.shared().start(env, 0.0, None, None, |operation| async move {
            store.delete(&operation, &id).await?;
            Ok(envelope(()))
        })
    }

    /// All ids, in the order of making.
    #[napi(catch_unwind)]
    pub fn ids(&self, env: Env, bridge: &Bridge) -> Started {
        let store = Arc::clone(&self.store);
        bridge.shared().start(env, 0.0, None, None, |_| async move { Ok(envelope(store.ids().await?)) })
    }

    /// Writes what was accepted and closes the file.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.store.close();
    }
}

/// The envelope of an exported state, or of null.
pub(super) fn exported_envelope(exported: Option<&Exported>) -> Reply {
    let state = exported.map_or_else(|| "null".to_owned(), exported_json);
    format!(r#"{{"value":{state}}}"#).into()
}

impl SqliteStoreCore {
    pub(super) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as Arc<dyn Store>
    }
}

/// Keeps the answers of pure functions in one form.
pub(super) fn answered(answer: crate::Result<String>) -> Answered {
    match answer {
        Ok(json) => Either::A(json),
        Err(error) => Either::B(Failure::from(&error)),
    }
}
