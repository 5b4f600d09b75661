//! Why a run, or a step of it, has failed.

use tplkit::automation::run::Reason;

/// Why a run, or a step of it, has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RunFailure {
    /// In one word.
    pub code: &'static str,
    /// For people.
    pub detail: String,
}

impl RunFailure {
    /// One for that reason.
    pub(super) fn new(reason: Reason, detail: impl Into<String>) -> RunFailure {
        RunFailure {
            code: reason.as_str(),
            detail: detail.into(),
        }
    }
}
