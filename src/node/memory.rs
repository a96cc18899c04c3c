//! Sessions: each method starts one operation of the core.

#![expect(clippy::too_many_arguments, reason = "an options object costs a microsecond on every turn")]

use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::{Float64Array, Utf16String};
use napi_derive::napi;

use super::bridge::{Bridge, Clock, Shared};
use super::convert::{Reply, add_envelope, compact_envelope, context_envelope, envelope, text, unpack_messages};
use super::model::{AppModel, AppStore};
use super::stores::{MemoryStoreCore, SqliteStoreCore, exported_envelope, state_json};
use super::types::{CoreOptions, Started};
use crate::error::{Error, ErrorKind, Result};
use crate::facts::FactInput;
use crate::session::{ContextRequest, Memory, Operation};
use crate::state::{Slice, State};
use crate::store::{SnapshotStore, Store};
use crate::text::Text;

/// A memory of the core. Every method takes the operations from whose callbacks it is called, the time of the call,
/// and the app's clock when it has one.
#[napi]
pub struct MemoryCore {
    memory: Arc<Memory>,
    shared: Arc<Shared>,
}

impl MemoryCore {
    fn over(bridge: &Bridge, options: CoreOptions, store: Arc<dyn Store>) -> Self {
        let shared = Arc::clone(bridge.shared());
        let model = Arc::new(AppModel { shared: Arc::clone(&shared), has_clock: options.has_clock });
        Self { memory: Arc::new(Memory::new(options.into(), store, model)), shared }
    }

    fn start<F>(&self, env: Env, caller: Caller<'_>, run: impl FnOnce(Arc<Memory>, Arc<Operation>) -> F) -> Started
    where
        F: Future<Output = Result<Reply>> + Send + 'static,
    {
        let memory = Arc::clone(&self.memory);
        let Caller { ancestors, called_at, clock } = caller;
        self.shared.start(env, called_at, clock, ancestors, |operation| run(memory, operation))
    }
}

/// Who calls, when, and with which clock.
struct Caller<'a> {
    ancestors: Option<Float64Array>,
    called_at: f64,
    clock: Option<Clock<'a>>,
}

#[napi]
impl MemoryCore {
    /// A memory over sessions in this process.
    #[napi(factory, catch_unwind)]
    pub fn over_memory(bridge: &Bridge, options: CoreOptions, store: &MemoryStoreCore) -> Self {
        Self::over(bridge, options, store.store())
    }

    /// A memory over a SQLite file.
    #[napi(factory, catch_unwind)]
    pub fn over_sqlite(bridge: &Bridge, options: CoreOptions, store: &SqliteStoreCore) -> Self {
        Self::over(bridge, options, store.store())
    }

    /// A memory over a store of the app, which the bridge asks.
    #[napi(factory, catch_unwind)]
    pub fn over_snapshot(bridge: &Bridge, options: CoreOptions) -> Self {
        let store = AppStore { shared: Arc::clone(bridge.shared()) };
        Self::over(bridge, options, Arc::new(SnapshotStore::new(Box::new(store))))
    }

    /// `session.add`; see `unpack_messages` for the form of `packed`, which is empty for no messages.
    #[napi(catch_unwind)]
    pub fn add(
        &self,
        env: Env,
        id: Utf16String,
        packed: Utf16String,
        called_at: f64,
        clock: Option<Clock<'_>>,
        ancestors: Option<Float64Array>,
    ) -> Started {
        let id = text(&id);
        let incoming = if packed.is_empty() { Ok(Vec::new()) } else { unpack_messages(&packed) };
        self.start(env, Caller { ancestors, called_at, clock }, |memory, operation| async move {
            Ok(add_envelope(&memory.add(&operation, &id, incoming?).await?))
        })
    }

    /// `session.compact`.
    #[napi(catch_unwind)]
    pub fn compact(
        &self,
        env: Env,
        id: Utf16String,
        force: bool,
        called_at: f64,
        clock: Option<Clock<'_>>,
        ancestors: Option<Float64Array>,
    ) -> Started {
        let id = text(&id);
        self.start(env, Caller { ancestors, called_at, clock }, move |memory, operation| async move {
            Ok(compact_envelope(&memory.compact(&operation, &id, force).await?))
        })
    }

    /// `session.pin`; the facts as a JSON list of keys and values.
    #[napi(catch_unwind)]
    pub fn pin(
        &self,
        env: Env,
        id: Utf16String,
        facts: String,
        called_at: f64,
        clock: Option<Clock<'_>>,
        ancestors: Option<Float64Array>,
    ) -> Started {
        let id = text(&id);
        self.start(env, Caller { ancestors, called_at, clock }, |memory, operation| async move {
            let inputs: Vec<FactInput> = serde_json::from_str(&facts)
                .map_err(|error| Error::new(ErrorKind::InvalidArgument, "facts cannot be read").with_source(error))?;
            Ok(envelope(memory.pin(&operation, &id, &inputs).await?))
        })
    }

    /// `session.unpin`.
    #[napi(catch_unwind)]
    pub fn unpin(
        &self,
        env: Env,
        id: Utf16String,
        key: Utf16String,
        called_at: f64,
        clock: Option<Clock<'_>>,
        ancestors: Option<Float64Array>,
    ) -> Started {
        let (id, key) = (text(&id), text(&key));
        self.start(env, Caller { ancestors, called_at, clock }, |memory, operation| async move {
            Ok(envelope(memory.unpin(&operation, &id, &key).await?))
        })
    }

    /// `session.facts`.
    #[napi(catch_unwind)]
    pub fn facts(
        &self,
        env: Env,
        id: Utf16String,
        called_at: f64,
        clock: Option<Clock<'_>>,
        ancestors: Option<Float64Array>,
    ) -> Started {
        let id = text(&id);
        self.start(env, Caller { ancestors, called_at, clock }, |memory, operation| async move {
            Ok(envelope(&memory.session(&operation, &id).await?.facts))
        })
    }

    /// `session.messages`.
    #[napi(catch_unwind)]
    pub fn messages(
        &self,
        env: Env,
        id: Utf16String,
        called_at: f64,
        clock: Option<Clock<'_>>,
        ancestors: Option<Float64Array>,
    ) -> Started {
        let id = text(&id);
        self.start(env, Caller { ancestors, called_at, clock }, |memory, operation| async move {
            let session = memory.session(&operation, &id).await?;
            Ok(envelope(Slice(|| session.recent.iter().map(|stored| &**stored))))
        })
    }

    /// `session.state`.
    #[napi(catch_unwind)]
    pub fn state(
        &self,
        env: Env,
        id: Utf16String,
        called_at: f64,
        clock: Option<Clock<'_>>,
        ancestors: Option<Float64Array>,
    ) -> Started {
        let id = text(&id);
        self.start(env, Caller { ancestors, called_at, clock }, |memory, operation| async move {
            let (session, archive) = memory.state(&operation, &id).await?;
            Ok(envelope(State { session: &session, archive: &archive }))
        })
    }

    /// `session.context`.
    #[napi(catch_unwind)]
    pub fn context(
        &self,
        env: Env,
        id: Utf16String,
        query: Option<Utf16String>,
        skip_recall: bool,
        top_k: Option<f64>,
        min_score: Option<f64>,
        called_at: f64,
        clock: Option<Clock<'_>>,
        ancestors: Option<Float64Array>,
    ) -> Started {
        let id = text(&id);
        let query = query.as_ref().map(text);
        let request = ContextRequest { query, skip_recall, top_k, min_score };
        self.start(env, Caller { ancestors, called_at, clock }, |memory, operation| async move {
            Ok(context_envelope(&memory.context(&operation, &id, request).await?))
        })
    }

    /// `session.clear` and `memory.forget`.
    #[napi(catch_unwind)]
    pub fn forget(&self, env: Env, id: Utf16String, ancestors: Option<Float64Array>) -> Started {
        let id: Text = text(&id);
        let caller = Caller { ancestors, called_at: 0.0, clock: None };
        self.start(env, caller, |memory, operation| async move {
            memory.forget(&operation, &id).await?;
            Ok(envelope(()))
        })
    }

    /// `memory.export`.
    #[napi(catch_unwind)]
    pub fn export(&self, env: Env, id: Utf16String, ancestors: Option<Float64Array>) -> Started {
        let id: Text = text(&id);
        let caller = Caller { ancestors, called_at: 0.0, clock: None };
        self.start(env, caller, |memory, operation| async move {
            Ok(exported_envelope(memory.export(&operation, &id).await?.as_ref()))
        })
    }

    /// `memory.import`; the state as JSON.
    #[napi(catch_unwind)]
    pub fn import(&self, env: Env, id: Utf16String, state: String, ancestors: Option<Float64Array>) -> Started {
        let id: Text = text(&id);
        let caller = Caller { ancestors, called_at: 0.0, clock: None };
        self.start(env, caller, |memory, operation| async move {
            memory.import(&operation, &id, state_json(state)?).await?;
            Ok(envelope(()))
        })
    }
}
