//! The attempts at runs that go on in this process.
//!
//! A run counts a crash when the process that held its lease has ended. A lease that ends while the store is away looks
//! the same, so a process takes none of its own attempts for ended.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::runs::Run;

/// The attempts of a process. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Attempts(Arc<Mutex<HashSet<Attempt>>>);

/// A run, and who holds its lease.
type Attempt = (Uuid, Uuid);

impl Attempts {
    fn all(&self) -> MutexGuard<'_, HashSet<Attempt>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes an attempt, until what this returns is dropped.
    pub(super) fn begin(&self, run: &Run) -> OngoingAttempt {
        let attempt = (run.id, run.owner);
        self.all().insert(attempt);
        OngoingAttempt {
            attempts: self.clone(),
            attempt,
        }
    }

    /// Whether who holds the lease of a run is at work in this process.
    pub(super) fn goes_on(&self, run: Uuid, owner: Uuid) -> bool {
        self.all().contains(&(run, owner))
    }
}

/// An attempt that goes on.
#[derive(Debug)]
pub(super) struct OngoingAttempt {
    attempts: Attempts,
    attempt: Attempt,
}

impl Drop for OngoingAttempt {
    fn drop(&mut self) {
        self.attempts.all().remove(&self.attempt);
    }
}
