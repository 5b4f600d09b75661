//! Lets go of a run when the store was away at its end.
//!
//! A run counts a crash when the process that held its lease has ended. A lease that ends while the store is away looks
//! the same, so an attempt goes on until its run is let go of, and what others counted meanwhile is taken back.

use std::time::Duration;

use tokio::sync::watch;

use super::attempts::OngoingAttempt;
use super::executor::RunExecutor;
use super::run_lease;
use super::runs::Run;
use super::stop::passes;
use crate::store::{Scope, StoreError};

/// A run whose attempt has ended, and which the store did not let go of.
#[derive(Debug)]
pub(super) struct UnreleasedRun {
    pub(super) run: Run,
    /// It goes on until the run is let go of.
    pub(super) attempt: OngoingAttempt,
}

/// How long the store is left alone before a run is let go of again: at first, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

const MAX_PAUSE: Duration = Duration::from_secs(5);

impl RunExecutor {
    /// Lets go of a run as soon as the store is there again, unless the process is to stop before.
    pub(super) async fn release_late(
        &self,
        unreleased: UnreleasedRun,
        mut stop: watch::Receiver<bool>,
    ) {
        let UnreleasedRun { run, attempt } = unreleased;
        let mut pause = FIRST_PAUSE;
        loop {
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => break,
                () = tokio::time::sleep(pause) => {}
            }
            pause = (pause * 2).min(MAX_PAUSE);
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
