//! Metrics of the store.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::StoreError;
use crate::histogram::seconds;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabels {
    kind: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabel {
    kind: &'static str,
}

/// Counts operations. Clones count together.
#[derive(Debug, Clone)]
pub(crate) struct StoreMetrics {
    operations: Family<OperationLabels, Counter>,
    durations: Family<KindLabel, Histogram, fn() -> Histogram>,
    retries: Counter,
}

impl Default for StoreMetrics {
    fn default() -> StoreMetrics {
        StoreMetrics {
            operations: Family::default(),
            durations: Family::new_with_constructor(seconds),
            retries: Counter::default(),
        }
    }
}

impl StoreMetrics {
    pub(crate) fn register(&self, registry: &mut Registry) {
        let help = "Operations of the store";
        registry.register("operations", help, self.operations.clone());
        let help = "Time from asking the store to its response";
        let durations = self.durations.clone();
        registry.register_with_unit("operation_duration", help, Unit::Seconds, durations);
        let help = "Transactions that were run again";
        registry.register("retries", help, self.retries.clone());
    }

    pub(super) fn ran(&self, may_write: bool, outcome: Outcome, took: Duration) {
        let kind = if may_write { "write" } else { "read" };
        let outcome = outcome.0;
        let operation = OperationLabels { kind, outcome };
        self.operations.get_or_create(&operation).inc();
        let seconds = took.as_secs_f64();
        self.durations
            .get_or_create(&KindLabel { kind })
            .observe(seconds);
    }

    pub(super) fn retried(&self) {
        self.retries.inc();
    }
}

/// How an operation ended, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outcome(&'static str);

impl Outcome {
    /// Of an operation, and what the store last said to it.
    pub(super) fn of(done: bool, failed: Option<Outcome>) -> Outcome {
        match (done, failed) {
            (true, _) => Outcome("ok"),
            (false, Some(failed)) => failed,
            // Its own decision.
            (false, None) => Outcome("refused"),
        }
    }
}

impl From<&StoreError> for Outcome {
    fn from(error: &StoreError) -> Outcome {
        Outcome(match error {
            StoreError::Unique { .. } | StoreError::Reference => "conflict",
            StoreError::Denied(_) | StoreError::OutOfScope => "denied",
            StoreError::TooLong => "too_long",
            StoreError::Busy => "busy",
            StoreError::Unavailable(_) => "unavailable",
            _ => "error",
        })
    }
}
