//! The attempts at runs that go on in this process, and how one lets go of its run when the store was away at its end.
//!
//! A run counts a crash when the process that held its lease has ended. A lease that ends while the store is away looks
//! the same, so a process takes none of its own attempts for ended, and takes back what others counted meanwhile.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use uuid::Uuid;

use super::executor::RunExecutor;
use super::run_lease;
use super::runs::Run;
use super::step::passes;
use crate::store::{Scope, StoreError};

/// How long the store is left alone before a run is let go of again: at first, and at most.
const AGAIN: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(5);

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

/// A run whose attempt has ended, and which the store did not let go of.
#[derive(Debug)]
pub(super) struct UnreleasedRun {
    pub(super) run: Run,
    /// It goes on until the run is let go of.
    pub(super) attempt: OngoingAttempt,
}

impl RunExecutor {
    /// Lets go of a run as soon as the store is there again, unless the process is to stop before.
    pub(super) async fn release_late(
        &self,
        unreleased: UnreleasedRun,
        mut stop: watch::Receiver<bool>,
    ) {
        let UnreleasedRun { run, attempt } = unreleased;
        let mut pause = AGAIN;
        loop {
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => break,
                () = tokio::time::sleep(pause) => {}
            }
            pause = (pause * 2).min(LONGEST);
            let input = (run.clone(), self.attempts.clone());
            let released = self
                .store
                .write(&Scope::Operator, input, |tx, (run, attempts)| {
                    Box::pin(run_lease::release_late(tx, run, attempts))
                });
            let released: Result<(), StoreError> = released.await;
            match released {
                Ok(()) => break,
                Err(error) if passes(&error) => {}
                Err(error) => {
                    tracing::warn!(%error, "a run was not let go of; its lease will end");
                    break;
                }
            }
        }
        drop(attempt);
    }
}
