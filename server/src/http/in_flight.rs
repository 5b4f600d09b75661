//! Requests with an `Idempotency-Key` that this process is handling: a repeat is refused at once
//! instead of waiting.
//!
//! Other processes of the same store do not know them; there a repeat waits for the first claim.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Fingerprint = [u8; 32];

/// What runs, by the name of its key.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    first: Mutex<HashMap<u64, Arc<FirstRequest>>>,
}

#[derive(Debug)]
struct FirstRequest {
    fingerprint: Fingerprint,
    ended: AtomicBool,
}

/// The place of a request among those of its key. It is held as long as anything works for the request,
/// also when its client is gone.
#[derive(Debug)]
pub(crate) struct InFlightGuard {
    requests: Arc<InFlight>,
    key: u64,
    first: Arc<FirstRequest>,
    is_first: bool,
}

impl InFlight {
    /// Takes a turn.
    pub(crate) fn enter(
        self: &Arc<Self>,
        key: &impl Hash,
        fingerprint: Fingerprint,
    ) -> InFlightGuard {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let key = hasher.finish();
        let (first, is_first) = match self.lock().entry(key) {
            Entry::Occupied(there) => (there.get().clone(), false),
            Entry::Vacant(room) => {
                let ended = AtomicBool::new(false);
                let first = Arc::new(FirstRequest { fingerprint, ended });
                (room.insert(first).clone(), true)
            }
        };
        InFlightGuard {
            requests: self.clone(),
            key,
            first,
            is_first,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<FirstRequest>>> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InFlightGuard {
    /// What the request stands for that came before and has not ended.
    pub(crate) fn wait_for_first(&self) -> Option<Fingerprint> {
        let waits = !self.is_first && !self.first.ended.load(Ordering::Acquire);
        waits.then_some(self.first.fingerprint)
    }

    /// The request has its response: the next one gets it from the store.
    pub(crate) fn end(&self) {
        if self.is_first && !self.first.ended.swap(true, Ordering::AcqRel) {
            self.requests.lock().remove(&self.key);
        }
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::InFlight;

    #[test]
    fn the_first_has_its_turn_until_it_ends_or_goes() {
        let running = Arc::new(InFlight::default());
        let first = running.enter(&"k", [1; 32]);
        assert_eq!(first.wait_for_first(), None);
        let second = running.enter(&"k", [2; 32]);
        assert_eq!(second.wait_for_first(), Some([1; 32]));
        assert_eq!(running.enter(&"other", [2; 32]).wait_for_first(), None);
        // Who is behind ends nothing.
        drop(running.enter(&"k", [1; 32]));
        assert_eq!(second.wait_for_first(), Some([1; 32]));
        first.end();
        assert_eq!(second.wait_for_first(), None);
        let third = running.enter(&"k", [3; 32]);
        assert_eq!(third.wait_for_first(), None);
        // An ended turn ends no other one.
        drop((first, second));
        assert_eq!(running.enter(&"k", [4; 32]).wait_for_first(), Some([3; 32]));
        drop(third);
        assert!(running.lock().is_empty());
    }
}
