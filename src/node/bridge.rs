//! The one place where the addon and JavaScript wait for each other.
//!
//! An operation that cannot be answered at once runs on tokio. Two kinds of news go from there to JavaScript: that it
//! needs a function of the app, and that it is done. Both go through one weak `ThreadsafeFunction`, the doorbell, to one
//! dispatcher in the facade. What the app's function gives comes back by an ordinary call ([`Bridge::settle_text`] and
//! its siblings), so no promise and no thrown object ever crosses: the facade keeps those under a number.
//!
//! The doorbell keeps the process alive exactly while an operation works. One that waits for a function of the app, or
//! for its turn, does not count: the app's own sockets and timers decide then, as if the library were plain JavaScript.

use std::any::Any;
use std::cell::Cell;
use std::collections::HashMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use napi::bindgen_prelude::{
    Either, Either3, Either4, Float32Array, Float64Array, FnArgs, Function, Uint32Array, Utf16String,
};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Status};
use napi_derive::napi;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::convert;
use super::convert::Reply;
use super::types::{ClockFailure, Failure, Payload, Started};
use crate::error::{Error, ErrorKind, Result};
use crate::recall::Vector;
use crate::session::{Activity, Operation};
use crate::state::Archive;
use crate::text::Text;

/// What the dispatcher is called with: the operation, the number of the call or 0 when the operation is done, the
/// option whose function is called, and its input or the operation's answer.
type DispatcherArguments = FnArgs<(f64, f64, &'static str, Payload)>;

/// `dispatch(operation: number, call: number, option: string, payload: string | WithVectors | Failure): void`
type Doorbell = ThreadsafeFunction<News, (), DispatcherArguments, Status, false, true>;

/// `clock(): number | ClockFailure`
pub(super) type Clock<'a> = Function<'a, (), Either<f64, ClockFailure>>;

/// News for the facade.
struct News {
    operation: u64,
    call: u64,
    option: &'static str,
    payload: Payload,
    // The operation that is done: it has its session until the news is delivered.
    done: Option<Arc<Operation>>,
}

/// What a function of the app gave.
#[derive(Debug)]
pub(super) enum Answer {
    Nothing,
    Number(f64),
    Text(Text),
    Json(String),
    Vectors(Vec<Option<Arc<Vector>>>),
}

/// A call of the app that is not answered yet.
struct Call {
    answer: oneshot::Sender<Result<Answer>>,
    // Kept for a retriever that reads its archive.
    archive: Option<Arc<Archive>>,
}

/// What the JavaScript thread and the operations share.
pub(super) struct Shared {
    doorbell: Mutex<Option<Doorbell>>,
    calls: Mutex<HashMap<u64, Call>>,
    last_call: AtomicU64,
    // Operations at work and news on their way. Signed: an operation that resumes may be counted before it paused.
    busy: AtomicIsize,
    referenced: AtomicBool,
}

static LAST_OPERATION: AtomicU64 = AtomicU64::new(0);

thread_local! {
    // Set while an operation is first polled on the JavaScript thread, where the app's clock can be called directly.
    static CLOCK: Cell<Option<&'static Clock<'static>>> = const { Cell::new(None) };
}

/// The threads on which operations go on. Made when the first one has to wait.
fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        // Operations only compute between waits, so two threads serve any number of them; the stores have their own.
        let built = tokio::runtime::Builder::new_multi_thread().worker_threads(2).thread_name("memoryline").build();
        #[expect(clippy::expect_used, reason = "without threads nothing can go on, and the caller is guarded")]
        built.expect("memoryline: the system gives no threads")
    })
}

/// Connects one copy of the facade with the operations that it starts.
#[napi]
pub struct Bridge {
    shared: Arc<Shared>,
}

#[napi]
impl Bridge {
    /// A bridge that rings `dispatch`.
    #[napi(constructor, catch_unwind)]
    pub fn new(dispatch: Function<'_, DispatcherArguments, ()>) -> napi::Result<Self> {
        let shared = Arc::new(Shared {
            doorbell: Mutex::new(None),
            calls: Mutex::new(HashMap::new()),
            last_call: AtomicU64::new(0),
            busy: AtomicIsize::new(0),
            referenced: AtomicBool::new(false),
        });
        let weak: Weak<Shared> = Arc::downgrade(&shared);
        let doorbell =
            dispatch.build_threadsafe_function::<News>().callee_handled::<false>().weak::<true>().build_callback(
                move |context| {
                    let News { operation, call, option, payload, done } = context.value;
                    // First the turn goes to the next operation, which is counted with that, and then this one leaves: the
                    // count never falls to nothing in between. Its own news can only come after this.
                    drop(done);
                    if let Some(shared) = weak.upgrade() {
                        shared.leave();
                        shared.keep_alive_while_busy(context.env);
                    }
                    Ok(FnArgs::from((as_number(operation), as_number(call), option, payload)))
                },
            )?;
        *shared.lock_doorbell() = Some(doorbell);
        Ok(Self { shared })
    }

    /// A call gave nothing that matters.
    #[napi(catch_unwind)]
    pub fn settle_nothing(&self, env: Env, call: f64) {
        self.shared.settle(env, call, Ok(Answer::Nothing));
    }

    /// A call gave a number.
    #[napi(catch_unwind)]
    pub fn settle_number(&self, env: Env, call: f64, number: f64) {
        self.shared.settle(env, call, Ok(Answer::Number(number)));
    }

    /// A call gave a string.
    #[napi(catch_unwind)]
    pub fn settle_text(&self, env: Env, call: f64, text: Utf16String) {
        self.shared.settle(env, call, Ok(Answer::Text(convert::text(&text))));
    }

    /// A call gave a value that crosses as JSON.
    #[napi(catch_unwind)]
    pub fn settle_json(&self, env: Env, call: f64, json: String) {
        self.shared.settle(env, call, Ok(Answer::Json(json)));
    }

    /// A call gave vectors, one after the other in `numbers`; `widths` has the length of each, 0 for none.
    #[napi(catch_unwind)]
    pub fn settle_vectors(
        &self,
        env: Env,
        call: f64,
        widths: Uint32Array,
        numbers: Either<Float32Array, Float64Array>,
    ) {
        let mut start = 0;
        let rows = widths.iter().map(|width| {
            let range = start..start + *width as usize;
            start = range.end;
            let vector = match &numbers {
                Either::A(numbers) => numbers.get(range).map(|row| Vector::from_f32(row.into())),
                Either::B(numbers) => numbers.get(range).map(Vector::from_f64),
            };
            vector.filter(|vector| !vector.is_empty()).map(Arc::new)
        });
        let rows = rows.collect();
        self.shared.settle(env, call, Ok(Answer::Vectors(rows)));
    }

    /// A call failed; the facade keeps what was thrown under `thrown`.
    #[napi(catch_unwind)]
    pub fn settle_failed(&self, env: Env, call: f64, thrown: f64) {
        self.shared.settle(env, call, Err(thrown_error(thrown)));
    }

    /// The archive that a retriever's input was made for. Only while the call is not settled.
    #[napi(catch_unwind)]
    pub fn archive_of(&self, call: f64) -> ArchiveHandle {
        let archive = self.shared.lock_calls().get(&as_id(call)).and_then(|call| call.archive.clone());
        ArchiveHandle { archive: archive.unwrap_or_default() }
    }
}

/// The archive of a session as it was when a retriever was asked.
#[napi]
pub struct ArchiveHandle {
    archive: Arc<Archive>,
}

#[napi]
impl ArchiveHandle {
    /// The messages as a JSON list.
    #[napi(catch_unwind)]
    pub fn json(&self) -> String {
        crate::json::to_json(&self.archive.messages)
    }
}

/// Runs when the environment ends, with calls that nobody will answer any more: their operations end with an error.
impl Drop for Bridge {
    fn drop(&mut self) {
        self.shared.lock_doorbell().take();
        self.shared.lock_calls().clear();
    }
}

impl Shared {
    /// Runs an operation as far as it goes on this thread, and the rest of it on tokio.
    pub(super) fn start<F>(
        self: &Arc<Self>,
        env: Env,
        called_at: f64,
        clock: Option<Clock<'_>>,
        ancestors: Option<Float64Array>,
        run: impl FnOnce(Arc<Operation>) -> F,
    ) -> Started
    where
        F: Future<Output = Result<Reply>> + Send + 'static,
    {
        let id = LAST_OPERATION.fetch_add(1, Ordering::Relaxed) + 1;
        let ancestors = ancestors.map(|ids| ids.iter().map(|id| as_id(*id)).collect()).unwrap_or_default();
        let activity: Arc<dyn Activity> = Arc::<Self>::clone(self);
        let operation = Arc::new(Operation::new(id, called_at, ancestors, Some(activity)));
        let mut future = Box::pin(run(Arc::clone(&operation)));
        self.enter();
        let first = {
            let _clock = ClockScope::new(clock.as_ref());
            poll_guarded(future.as_mut(), &mut Context::from_waker(Waker::noop()))
        };
        let started = match first {
            Poll::Ready(answer) => {
                // The turn goes on before this operation leaves, as when the answer goes through the doorbell.
                drop((future, operation));
                self.leave();
                match answer {
                    Ok(reply) => match Payload::from(reply) {
                        Either3::A(json) => Either4::A(json),
                        Either3::B(with_vectors) => Either4::C(with_vectors),
                        Either3::C(failure) => Either4::D(failure),
                    },
                    Err(error) => Either4::D(Failure::from(&error)),
                }
            }
            Poll::Pending => {
                let shared = Arc::clone(self);
                runtime().spawn(async move {
                    let answer = std::future::poll_fn(|context| poll_guarded(future.as_mut(), context)).await;
                    let payload = match answer {
                        Ok(reply) => Payload::from(reply),
                        Err(error) => Either3::C(Failure::from(&error)),
                    };
                    // Nobody is left to hear it when the environment has ended.
                    let _ = shared.ring(News { operation: id, call: 0, option: "", payload, done: Some(operation) });
                });
                Either4::B(as_number(id))
            }
        };
        self.keep_alive_while_busy(env);
        started
    }

    /// Calls a function of the app and waits for what it gives.
    pub(super) async fn call(
        &self,
        operation: &Operation,
        option: &'static str,
        payload: impl Into<Reply>,
        archive: Option<Arc<Archive>>,
    ) -> Result<Answer> {
        let gone = || Error::new(ErrorKind::Internal, format!("the environment ended before {option} was answered"));
        let (answer, receiver) = oneshot::channel();
        let call = self.last_call.fetch_add(1, Ordering::Relaxed) + 1;
        self.lock_calls().insert(call, Call { answer, archive });
        let payload = Payload::from(payload.into());
        if !self.ring(News { operation: operation.id(), call, option, payload, done: None }) {
            self.lock_calls().remove(&call);
            return Err(gone());
        }
        receiver.await.map_err(|_| gone())?
    }

    /// Sends news. The operation's own count goes with it: it is work until it is delivered.
    fn ring(&self, news: News) -> bool {
        let doorbell = self.lock_doorbell();
        doorbell.as_ref().is_some_and(|it| it.call(news, ThreadsafeFunctionCallMode::NonBlocking) == Status::Ok)
    }

    fn settle(&self, env: Env, call: f64, answer: Result<Answer>) {
        let waiting = self.lock_calls().remove(&as_id(call));
        if let Some(waiting) = waiting {
            self.enter();
            if waiting.answer.send(answer).is_err() {
                self.leave();
            }
        }
        self.keep_alive_while_busy(env);
    }

    fn enter(&self) {
        self.busy.fetch_add(1, Ordering::SeqCst);
    }

    fn leave(&self) {
        self.busy.fetch_sub(1, Ordering::SeqCst);
    }

    /// References the doorbell or not. Only on the JavaScript thread, where alone the count matters: the event loop
    /// asks whether to go on after a turn of that thread.
    fn keep_alive_while_busy(&self, env: Env) {
        let busy = self.busy.load(Ordering::SeqCst) > 0;
        if busy == self.referenced.load(Ordering::Relaxed) {
            return;
        }
        if let Some(doorbell) = self.lock_doorbell().as_mut() {
            #[expect(deprecated, reason = "a clone would reference it for good; here it is on and off with the work")]
            let changed = if busy { doorbell.refer(&env) } else { doorbell.unref(&env) };
            if changed.is_ok() {
                self.referenced.store(busy, Ordering::Relaxed);
            }
        }
    }

    fn lock_doorbell(&self) -> MutexGuard<'_, Option<Doorbell>> {
        self.doorbell.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_calls(&self) -> MutexGuard<'_, HashMap<u64, Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Activity for Shared {
    fn pause(&self) {
        self.leave();
    }

    fn resume(&self) {
        self.enter();
    }
}

impl Bridge {
    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

/// Makes the app's clock callable while it lives; then the one from before, if the clock itself called the library.
struct ClockScope(Option<&'static Clock<'static>>);

impl ClockScope {
    fn new(clock: Option<&Clock<'_>>) -> Self {
        // SAFETY: the reference is taken back when this scope ends, before the borrow does, and is only ever seen by
        // this thread.
        #[expect(unsafe_code, reason = "a thread-local cannot carry a lifetime")]
        let clock = clock.map(|clock| unsafe { std::mem::transmute::<&Clock<'_>, &'static Clock<'static>>(clock) });
        Self(CLOCK.replace(clock))
    }
}

impl Drop for ClockScope {
    fn drop(&mut self) {
        CLOCK.set(self.0);
    }
}

/// Reads the app's clock when this is the JavaScript thread inside a call of the app.
pub(super) fn read_clock_here() -> Option<Result<f64>> {
    let clock = CLOCK.get()?;
    Some(match clock.call(()) {
        Ok(Either::A(time)) => Ok(time),
        Ok(Either::B(ClockFailure { thrown })) => Err(thrown_error(thrown)),
        Err(error) => Err(Error::new(ErrorKind::Internal, "the clock cannot be read").with_source(error.to_string())),
    })
}

/// The error for something that the facade keeps.
pub(super) fn thrown_error(thrown: f64) -> Error {
    Error::new(ErrorKind::Callback(as_id(thrown)), "a function of the app failed")
}

/// Polls; a panic becomes an error.
fn poll_guarded<F: Future<Output = Result<Reply>>>(
    future: Pin<&mut F>,
    context: &mut Context<'_>,
) -> Poll<Result<Reply>> {
    match catch_unwind(AssertUnwindSafe(|| future.poll(context))) {
        Ok(poll) => poll,
        Err(panic) => Poll::Ready(Err(panic_error(&*panic))),
    }
}

/// The error that a panic becomes.
pub(super) fn panic_error(panic: &(dyn Any + Send)) -> Error {
    let said = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Error::new(ErrorKind::Internal, format!("a bug in the library: {}", said.unwrap_or("a panic without a message")))
}

#[expect(clippy::cast_precision_loss, reason = "counters do not reach 2^53")]
fn as_number(id: u64) -> f64 {
    id as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "made by `as_number`")]
fn as_id(number: f64) -> u64 {
    number as u64
}
