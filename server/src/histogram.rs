//! The one scale on which durations are counted.

use prometheus_client::metrics::histogram::Histogram;

/// Seconds: from a response out of memory to the limit of a statement and beyond.
const SECONDS: [f64; 13] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0,
];

/// A histogram of durations.
pub(crate) fn seconds() -> Histogram {
    Histogram::new(SECONDS)
}
