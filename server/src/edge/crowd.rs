//! Who is connected, and who has to leave when too many are.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;
use tokio::time::{Duration, Instant};

/// What is known of one connection from outside of its task.
#[derive(Debug)]
pub(super) struct Guest {
    began: Instant,
    /// Milliseconds from `began` to the end of the last answer.
    answered: AtomicU64,
    /// Milliseconds from `began` to the last bytes that came.
    heard: AtomicU64,
    /// A request is being answered.
    busy: AtomicBool,
    /// An answer is on its way.
    writing: AtomicBool,
    leave: Notify,
}

impl Guest {
    fn new() -> Guest {
        Guest {
            began: Instant::now(),
            answered: AtomicU64::new(0),
            heard: AtomicU64::new(0),
            busy: AtomicBool::new(false),
            writing: AtomicBool::new(false),
            leave: Notify::new(),
        }
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn request(&self) {
        self.busy.store(true, Ordering::Release);
    }

    pub(super) fn answered(&self) {
        self.answered.store(self.elapsed(), Ordering::Relaxed);
        self.busy.store(false, Ordering::Release);
    }

    pub(super) fn heard(&self) {
        self.heard.store(self.elapsed(), Ordering::Relaxed);
    }

    pub(super) fn writing(&self, writing: bool) {
        self.writing.store(writing, Ordering::Relaxed);
    }

    /// Whether nobody waits for anything here.
    pub(super) fn is_idle(&self) -> bool {
        !self.busy.load(Ordering::Acquire) && !self.writing.load(Ordering::Relaxed)
    }

    /// When it will have been silent for that long.
    pub(super) fn silent_at(&self, time: Duration) -> Instant {
        let heard = self.heard.load(Ordering::Relaxed);
        let answered = self.answered.load(Ordering::Relaxed);
        self.began + Duration::from_millis(heard.max(answered)) + time
    }

    /// Since when it has asked nothing whole. Bytes that trickle in do not count.
    fn idle_since(&self) -> Instant {
        self.began + Duration::from_millis(self.answered.load(Ordering::Relaxed))
    }

    /// Waits to be asked to leave.
    pub(super) async fn asked_to_leave(&self) {
        self.leave.notified().await;
    }
}

/// All connections of an edge.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    guests: Mutex<Guests>,
}

#[derive(Debug, Default)]
struct Guests {
    next: u64,
    all: HashMap<u64, Arc<Guest>>,
}

impl Crowd {
    /// Someone comes in.
    pub(super) fn enter(&self) -> (u64, Arc<Guest>) {
        let guest = Arc::new(Guest::new());
        let mut guests = self.guests.lock().unwrap_or_else(PoisonError::into_inner);
        let id = guests.next;
        guests.next += 1;
        guests.all.insert(id, guest.clone());
        (id, guest)
    }

    /// Someone has left.
    pub(super) fn leave(&self, id: u64) {
        let mut guests = self.guests.lock().unwrap_or_else(PoisonError::into_inner);
        guests.all.remove(&id);
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        let guests = self.guests.lock().unwrap_or_else(PoisonError::into_inner);
        guests.all.len()
    }

    /// Asks those who have been idle longest to leave.
    pub(super) fn make_room(&self, count: usize) {
        let guests = self.guests.lock().unwrap_or_else(PoisonError::into_inner);
        let mut idle: Vec<&Arc<Guest>> = guests.all.values().filter(|g| g.is_idle()).collect();
        idle.sort_unstable_by_key(|guest| guest.idle_since());
        for guest in idle.into_iter().take(count) {
            guest.leave.notify_one();
        }
    }
}
