//! The order of operations: one at a time per session, in the order in which they were called.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::Operation;
use super::operation::Caller;
use crate::error::{Error, ErrorKind, Result};
use crate::text::Text;

/// The lanes of all sessions that have an operation under way.
#[derive(Debug, Default)]
pub(super) struct Queue {
    // A plain mutex: it is held for a few map operations and never across a wait.
    lanes: Mutex<HashMap<Text, Lane>>,
}

#[derive(Debug)]
struct Lane {
    holder: u64,
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    caller: Caller,
    turn: oneshot::Sender<Turn>,
}

/// The right to work on a session. Dropping it lets the next operation go on.
#[derive(Debug)]
pub(super) struct Turn {
    // `None` for a turn that nobody took.
    queue: Option<Arc<Queue>>,
    id: Text,
}

impl Queue {
    /// Waits until all operations on the session that were called before are done; `operation` then has the session.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Reentrant`], at once, when the operation would wait for one that waits for it: it was called from
    /// a callback of an operation that has the session, directly or around several sessions.
    pub(super) async fn turn(self: &Arc<Self>, id: &Text, operation: &Operation) -> Result<()> {
        // An operation that is used for a second call must not wait for its own first one.
        operation.hold(None);
        let caller = operation.caller();
        let receiver = {
            let mut lanes = self.lock();
            let Some(lane) = lanes.get_mut(id) else {
                lanes.insert(id.clone(), Lane { holder: caller.id, waiting: VecDeque::new() });
                operation.hold(Some(self.make_turn(id)));
                return Ok(());
            };
            let holder = lane.holder;
            if waits_for_ancestor(&lanes, holder, &caller.ancestors, &mut Vec::new()) {
                return Err(Error::new(
                    ErrorKind::Reentrant,
                    format!("session `{id}` was called from inside a callback of its own and would wait for itself"),
                ));
            }
            let (sender, receiver) = oneshot::channel();
            if let Some(lane) = lanes.get_mut(id) {
                lane.waiting.push_back(Waiting { caller: caller.clone(), turn: sender });
            }
            receiver
        };
        caller.pause();
        let turn = receiver.await.map_err(|_| Error::new(ErrorKind::Internal, "the queue of a session went away"))?;
        operation.hold(Some(turn));
        Ok(())
    }

    fn make_turn(self: &Arc<Self>, id: &Text) -> Turn {
        Turn { queue: Some(Arc::clone(self)), id: id.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Text, Lane>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether `holder` is one of `ancestors`, or waits (through operations called from its callbacks) for one of them.
fn waits_for_ancestor(lanes: &HashMap<Text, Lane>, holder: u64, ancestors: &[u64], seen: &mut Vec<u64>) -> bool {
    if ancestors.is_empty() || seen.contains(&holder) {
        return false;
    }
    if ancestors.contains(&holder) {
        return true;
    }
    seen.push(holder);
    let has_waiting_child = |lane: &Lane| lane.waiting.iter().any(|it| it.caller.ancestors.contains(&holder));
    let holders: Vec<u64> = lanes.values().filter(|lane| has_waiting_child(lane)).map(|lane| lane.holder).collect();
    holders.into_iter().any(|next| waits_for_ancestor(lanes, next, ancestors, seen))
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some(queue) = self.queue.take() else { return };
        let mut lanes = queue.lock();
        loop {
            let Some(lane) = lanes.get_mut(&self.id) else { return };
            let Some(next) = lane.waiting.pop_front() else {
                lanes.remove(&self.id);
                return;
            };
            lane.holder = next.caller.id;
            // Before this operation says that it is done: work is never seen to stop while some is left.
            next.caller.resume();
            let Err(mut unwanted) = next.turn.send(queue.make_turn(&self.id)) else { return };
            // Nobody waits for it any more, so it must not pass on what it never had.
            unwanted.queue = None;
            next.caller.pause();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn operation(id: u64, ancestors: &[u64]) -> Operation {
        Operation::new(id, 0.0, Arc::from(ancestors), None)
    }

    fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    fn ready<F: Future>(future: F) -> F::Output {
        match poll(pin!(future)) {
            Poll::Ready(output) => output,
            Poll::Pending => panic!("has to wait"),
        }
    }

    #[test]
    fn turns_come_in_the_order_of_the_calls() {
        let queue = Arc::new(Queue::default());
        let id = Text::from("a");
        let (first, second, third) = (operation(1, &[]), operation(2, &[]), operation(3, &[]));
        ready(queue.turn(&id, &first)).unwrap();
        let mut waits = Box::pin(queue.turn(&id, &second));
        let mut waits_longer = Box::pin(queue.turn(&id, &third));
        assert!(poll(waits.as_mut()).is_pending());
        assert!(poll(waits_longer.as_mut()).is_pending());
        drop(first);
        assert!(poll(waits_longer.as_mut()).is_pending());
        assert!(poll(waits.as_mut()).is_ready(), "it is the second's turn");
        drop(waits);
        drop(second);
        assert!(poll(waits_longer.as_mut()).is_ready());
        drop(waits_longer);
        drop(third);
        assert!(queue.lock().is_empty());
    }

    #[test]
    fn who_gave_up_is_passed_over() {
        let queue = Arc::new(Queue::default());
        let id = Text::from("a");
        let (first, second, third) = (operation(1, &[]), operation(2, &[]), operation(3, &[]));
        ready(queue.turn(&id, &first)).unwrap();
        let mut gone = Box::pin(queue.turn(&id, &second));
        assert!(poll(gone.as_mut()).is_pending());
        let mut third = Box::pin(queue.turn(&id, &third));
        assert!(poll(third.as_mut()).is_pending());
        drop(gone);
        drop(first);
        assert!(poll(third.as_mut()).is_ready());
    }

    #[test]
    fn a_session_cannot_wait_for_itself() {
        let queue = Arc::new(Queue::default());
        let (a, b) = (Text::from("a"), Text::from("b"));
        let (first, second) = (operation(1, &[]), operation(2, &[1]));
        ready(queue.turn(&a, &first)).unwrap();
        ready(queue.turn(&b, &second)).unwrap();
        for ancestors in [&[1][..], &[1, 2]] {
            let error = ready(queue.turn(&a, &operation(3, ancestors))).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Reentrant);
        }
        let stranger = operation(4, &[9]);
        assert!(poll(pin!(queue.turn(&a, &stranger))).is_pending(), "a call from elsewhere waits its turn");
    }

    #[test]
    fn an_operation_can_be_used_again() {
        let queue = Arc::new(Queue::default());
        let operation = operation(1, &[]);
        ready(queue.turn(&"a".into(), &operation)).unwrap();
        ready(queue.turn(&"a".into(), &operation)).unwrap();
        drop(operation);
        assert!(queue.lock().is_empty());
    }

    #[test]
    fn two_sessions_cannot_wait_for_each_other() {
        let queue = Arc::new(Queue::default());
        let (a, b) = (Text::from("a"), Text::from("b"));
        let (first, second) = (operation(1, &[]), operation(2, &[]));
        ready(queue.turn(&a, &first)).unwrap();
        ready(queue.turn(&b, &second)).unwrap();
        let from_a = operation(3, &[1]);
        let mut waits = Box::pin(queue.turn(&b, &from_a));
        assert!(poll(waits.as_mut()).is_pending());
        let error = ready(queue.turn(&a, &operation(4, &[2]))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Reentrant);
    }
}
