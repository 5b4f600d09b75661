//! How much processor time a run has used. Time that a step spends waiting is not counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use tokio::time::Instant;
use tplkit::automation::run::Failure;

use crate::context::micros;

/// Counts processor time, in microseconds. Cheap to clone: clones count together.
#[derive(Debug, Clone, Default)]
pub(super) struct Meter(Arc<AtomicI64>);

impl Meter {
    /// One that continues from there.
    pub(super) fn of(spent: i64) -> Meter {
        Meter(Arc::new(AtomicI64::new(spent)))
    }

    /// What was counted so far.
    pub(super) fn total(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts the time until what is given goes out of scope.
    pub(super) fn start(&self) -> Measured<'_> {
        Measured {
            meter: self,
            since: Instant::now(),
        }
    }

    /// Whether the run may continue.
    ///
    /// # Errors
    /// A failure when it has used more than it may.
    pub(super) fn check(&self, most: Duration) -> Result<(), Failure> {
        if self.total() <= i64::try_from(micros(most)).unwrap_or(i64::MAX) {
            return Ok(());
        }
        let reason = format!(
            "the steps of this run have used more than {} minutes of processor time: read fewer rows, or split the automation",
            most.as_secs() / 60
        );
        Err(Failure::too_large("", reason))
    }
}

/// Work that is being counted.
#[derive(Debug)]
pub(super) struct Measured<'m> {
    meter: &'m Meter,
    since: Instant,
}

impl Measured<'_> {
    /// Counts the time since, and continues.
    pub(super) fn note(&mut self) {
        let now = Instant::now();
        let spent = micros(now.duration_since(self.since));
        self.since = now;
        let spent = i64::try_from(spent).unwrap_or(i64::MAX / 4);
        self.meter.0.fetch_add(spent, Ordering::Relaxed);
    }
}

impl Drop for Measured<'_> {
    fn drop(&mut self) {
        self.note();
    }
}
