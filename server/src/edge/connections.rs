//! The open connections, and which to close when there are too many.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;
use tokio::time::{Duration, Instant};

/// What is known of one connection from outside of its task.
#[derive(Debug)]
pub(super) struct ConnectionState {
    began: Instant,
    /// Milliseconds from `began` to the end of the last response.
    responded: AtomicU64,
    /// Milliseconds from `began` to the last bytes that came.
    received: AtomicU64,
    /// A request is in progress.
    busy: AtomicBool,
    /// A response is being sent.
    writing: AtomicBool,
    /// What is sent may be bytes of a body of any form.
    sends_bytes: AtomicBool,
    /// The last of them were handed over.
    bytes_ended: AtomicBool,
    closing: Notify,
}

impl ConnectionState {
    fn new() -> ConnectionState {
        ConnectionState {
            began: Instant::now(),
            responded: AtomicU64::new(0),
            received: AtomicU64::new(0),
            busy: AtomicBool::new(false),
            writing: AtomicBool::new(false),
            sends_bytes: AtomicBool::new(false),
            bytes_ended: AtomicBool::new(false),
            closing: Notify::new(),
        }
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn request(&self) {
        self.busy.store(true, Ordering::Release);
    }

    pub(super) fn responded(&self) {
        self.responded.store(self.elapsed(), Ordering::Relaxed);
        self.busy.store(false, Ordering::Release);
    }

    pub(super) fn received(&self) {
        self.received.store(self.elapsed(), Ordering::Relaxed);
    }

    pub(super) fn writing(&self, writing: bool) {
        self.writing.store(writing, Ordering::Relaxed);
    }

    /// A body of any form follows.
    pub(super) fn begin_bytes(&self) {
        self.bytes_ended.store(false, Ordering::Relaxed);
        self.sends_bytes.store(true, Ordering::Relaxed);
    }

    /// Its last bytes were handed over.
    pub(super) fn end_bytes(&self) {
        self.bytes_ended.store(true, Ordering::Relaxed);
    }

    /// All that was handed over is sent.
    pub(super) fn flushed(&self) {
        if self.bytes_ended.load(Ordering::Relaxed) {
            self.sends_bytes.store(false, Ordering::Relaxed);
        }
    }

    /// Whether what is sent may be bytes of such a body.
    pub(super) fn sends_bytes(&self) -> bool {
        self.sends_bytes.load(Ordering::Relaxed)
    }

    /// Whether nobody waits for anything here.
    pub(super) fn is_idle(&self) -> bool {
        !self.busy.load(Ordering::Acquire) && !self.writing.load(Ordering::Relaxed)
    }

    /// When it will have been silent for that long.
    pub(super) fn silent_at(&self, time: Duration) -> Instant {
        let heard = self.received.load(Ordering::Relaxed);
        let responded = self.responded.load(Ordering::Relaxed);
        self.began + Duration::from_millis(heard.max(responded)) + time
    }

    /// When its last complete request was responded to. Bytes that trickle in do not count.
    fn idle_since(&self) -> Instant {
        self.began + Duration::from_millis(self.responded.load(Ordering::Relaxed))
    }

    /// Waits to be asked to leave.
    pub(super) async fn closing(&self) {
        self.closing.notified().await;
    }
}

/// All connections of an edge.
#[derive(Debug, Default)]
pub(super) struct ConnectionRegistry {
    states: Mutex<ConnectionStates>,
}

#[derive(Debug, Default)]
struct ConnectionStates {
    next: u64,
    all: HashMap<u64, Arc<ConnectionState>>,
}

impl ConnectionRegistry {
    /// Someone comes in.
    pub(super) fn add(&self) -> (u64, Arc<ConnectionState>) {
        let state = Arc::new(ConnectionState::new());
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let id = states.next;
        states.next += 1;
        states.all.insert(id, state.clone());
        (id, state)
    }

    /// Someone has left.
    pub(super) fn remove(&self, id: u64) {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        states.all.remove(&id);
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        let states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        states.all.len()
    }

    /// Asks those who have been idle longest to leave.
    pub(super) fn make_room(&self, count: usize) {
        let states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let mut idle: Vec<&Arc<ConnectionState>> =
            states.all.values().filter(|g| g.is_idle()).collect();
        idle.sort_unstable_by_key(|state| state.idle_since());
        for state in idle.into_iter().take(count) {
            state.closing.notify_one();
        }
    }
}
