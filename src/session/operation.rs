//! One call of the app on its way through the flow.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::queue::Turn;

/// Told when an operation stops doing work of its own, and when it goes on.
///
/// The addon keeps the process alive while the library works, and not while it waits for the app.
pub trait Activity: Send + Sync {
    /// The operation waits for another operation or for a function of the app.
    fn pause(&self);
    /// It goes on.
    fn resume(&self);
}

/// One call of the app: who called, when, and whether it is at work.
///
/// The operation has its session until it is dropped. Whoever runs it can thus hand its result on before the next
/// operation on the session goes on, and results arrive in the order of the calls.
pub struct Operation {
    caller: Caller,
    called_at: f64,
    started: Instant,
    turn: Mutex<Option<Turn>>,
}

/// What is known of an operation while it waits.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) id: u64,
    pub(super) ancestors: Arc<[u64]>,
    activity: Option<Arc<dyn Activity>>,
}

impl Operation {
    /// An operation with a number of its own, called at `called_at` (milliseconds since 1970).
    ///
    /// `ancestors` are the operations from whose callbacks it was called, outermost first.
    pub fn new(id: u64, called_at: f64, ancestors: Arc<[u64]>, activity: Option<Arc<dyn Activity>>) -> Self {
        #[expect(clippy::disallowed_methods, reason = "how long an operation waited is no reading of the clock")]
        let started = Instant::now();
        Self { caller: Caller { id, ancestors, activity }, called_at, started, turn: Mutex::new(None) }
    }

    /// An operation for code that calls a store directly.
    pub fn detached() -> Self {
        Self::new(0, 0.0, Arc::from([]), None)
    }

    /// The operation's number.
    pub fn id(&self) -> u64 {
        self.caller.id
    }

    pub(super) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Takes over the right to work on a session, giving back the one from before.
    pub(super) fn hold(&self, turn: Option<Turn>) {
        let mut held = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *held, turn);
        drop(held);
        drop(before);
    }

    /// The time of the call plus the time since then, in milliseconds since 1970: the default clock.
    pub fn now(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of one call")]
        let elapsed = self.started.elapsed().as_millis() as f64;
        self.called_at + elapsed
    }
}

impl Caller {
    /// Says that the operation waits.
    pub(super) fn pause(&self) {
        if let Some(activity) = &self.activity {
            activity.pause();
        }
    }

    /// Says that the operation goes on.
    pub(super) fn resume(&self) {
        if let Some(activity) = &self.activity {
            activity.resume();
        }
    }
}

impl std::fmt::Debug for Operation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Operation").field(&self.caller).finish()
    }
}

impl std::fmt::Debug for Caller {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Caller")
            .field("id", &self.id)
            .field("ancestors", &self.ancestors)
            .finish_non_exhaustive()
    }
}
