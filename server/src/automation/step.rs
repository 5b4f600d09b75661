//! How the doing of a step can end before its output is there.

use tplkit::automation::run::Failure;

use crate::http::problem::{Code, Problem};
use crate::store::StoreError;

/// Why a step has no output.
#[derive(Debug, Clone)]
pub(super) enum Stop {
    /// It failed, and the run with it.
    Failed(Failure),
    /// The run is somebody else's by now: nothing was written.
    Fenced,
    /// The store could not do it; later it may.
    Store(StoreError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Stop {
        Stop::Store(error)
    }
}

impl Stop {
    /// What a refusal of the store means for a step.
    pub(super) fn of(problem: &Problem) -> Stop {
        Stop::passing(problem)
            .unwrap_or_else(|| Stop::Failed(Failure::new(problem.detail().to_owned())))
    }

    /// A refusal that says nothing about the step: later it may be done.
    pub(super) fn passing(problem: &Problem) -> Option<Stop> {
        let detail = problem.detail().to_owned();
        match problem.code {
            Code::StoreUnavailable => Some(Stop::Store(StoreError::Unavailable(detail))),
            Code::Internal => Some(Stop::Store(StoreError::Internal(detail))),
            _ => None,
        }
    }
}
