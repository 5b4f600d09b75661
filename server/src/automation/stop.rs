//! The ways in which a step can end without an output.

use tplkit::automation::run::{Failure, Reason};

use crate::refusal::{Code, Refusal};
use crate::store::StoreError;

/// Why a step has no output.
#[derive(Debug, Clone)]
pub(super) enum Stop {
    /// It failed, and the run with it.
    Failed(Failure),
    /// The run is somebody else's by now: nothing was written.
    Fenced,
    /// The principal of the run no longer sees its workspace.
    Lost(Reason),
    /// The store could not do it.
    Store(StoreError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Stop {
        match failure_of(&error) {
            Some(failure) => Stop::Failed(failure),
            None => Stop::Store(error),
        }
    }
}

impl Stop {
    /// What a refusal of the store means for a step.
    pub(super) fn of(refusal: &Refusal) -> Stop {
        Stop::passing(refusal).unwrap_or_else(|| {
            let failure = Failure::new(refusal.detail().to_owned());
            Stop::Failed(failure.because(Reason::Refused(refusal.code)))
        })
    }

    /// A refusal that says nothing about the step: later it may be done.
    pub(super) fn passing(refusal: &Refusal) -> Option<Stop> {
        if refusal.is_too_long() {
            return Some(StoreError::TooLong.into());
        }
        let detail = refusal.detail().to_owned();
        match refusal.code {
            Code::StoreUnavailable => Some(StoreError::Unavailable(detail).into()),
            Code::Internal => Some(StoreError::Internal(detail).into()),
            _ => None,
        }
    }
}

/// What the store says about the step itself: asked again it would say the same.
fn failure_of(error: &StoreError) -> Option<Failure> {
    Some(match error {
        StoreError::OutOfScope | StoreError::Denied(_) => {
            let reason = "the user of the run may not do this";
            Failure::new(reason).because(Reason::Refused(Code::Forbidden))
        }
        StoreError::TooLong => Failure::new(
            "the store was not done with it in time: ask for fewer rows, or for rows that a view filters or sorts by",
        ),
        StoreError::Reference | StoreError::Unique { .. } => {
            Failure::new("what it refers to has changed meanwhile")
        }
        _ => return None,
    })
}

/// Whether what the store says may be over later, for reasons that are not the run's.
pub(super) fn passes(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Unavailable(_)
            | StoreError::Locked
            | StoreError::Busy
            | StoreError::NotBrief
            | StoreError::Stale
            | StoreError::TurnedAway(_)
    )
}
