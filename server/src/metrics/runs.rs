//! Metrics of automation runs: executed by this process, and waiting in the store.

use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

const SUCCEEDED: &str = "succeeded";
const FAILED: &str = "failed";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RunLabels {
    status: &'static str,
}

/// Counters of runs. Cheap to clone: clones count together.
#[derive(Debug, Clone, Default)]
pub struct Runs {
    started: Counter,
    finished: Family<RunLabels, Counter>,
    waiting: Gauge,
    oldest: Gauge<f64, AtomicU64>,
}

impl Runs {
    pub(super) fn register(&self, registry: &mut Registry) {
        let help = "Runs that were taken up, again after a wait or a crash";
        registry.register("started", help, self.started.clone());
        let help = "Runs that ended";
        registry.register("finished", help, self.finished.clone());
        // Shown as 0 before the first, so that a rate has a beginning.
        for status in [SUCCEEDED, FAILED] {
            drop(self.finished.get_or_create(&RunLabels { status }));
        }
        let help = "Events and runs that are due and that no worker runs";
        registry.register("waiting", help, self.waiting.clone());
        let help = "For how long the oldest of them has been due";
        let oldest = self.oldest.clone();
        registry.register_with_unit("oldest_waiting", help, Unit::Seconds, oldest);
    }

    /// Counts a run that was taken up.
    pub fn started(&self) {
        self.started.inc();
    }

    /// Counts a run that ended, well or not.
    pub fn finished(&self, well: bool) {
        let status = if well { SUCCEEDED } else { FAILED };
        self.finished.get_or_create(&RunLabels { status }).inc();
    }

    /// Notes what waits: how many, and for how many microseconds the oldest.
    pub fn waiting(&self, count: i64, oldest: i64) {
        self.waiting.set(count);
        #[expect(
            clippy::cast_precision_loss,
            reason = "the age is read by people and alarms"
        )]
        self.oldest.set(oldest.max(0) as f64 / 1e6);
    }
}
