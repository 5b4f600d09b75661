//! The stable codes of failures of runs and steps (`rest` 7.5), on which clients branch.

use crate::problem::Code;

/// Why a run or a step failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Reason {
    /// The step could not be done as its config says.
    #[default]
    StepFailed,
    /// A value, the envelope, what is stored, the steps or their time are beyond their bound.
    RunTooLarge,
    /// Every attempt at the run ended with its process, or with an error of the server; or what a step of it
    /// brought about cannot be read any more.
    Abandoned,
    /// Whoever published the version does not see the workspace any more.
    PublisherLostAccess,
    /// Whoever began the run does not see the workspace any more.
    StarterLostAccess,
    /// Runs caused one another too often.
    TooDeep,
    /// The write was refused, as the same write of a person would be.
    Refused(Code),
}

impl Reason {
    /// The word over HTTP and in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Reason::StepFailed => "step_failed",
            Reason::RunTooLarge => "run_too_large",
            Reason::Abandoned => "abandoned",
            Reason::PublisherLostAccess => "publisher_lost_access",
            Reason::StarterLostAccess => "starter_lost_access",
            Reason::TooDeep => "too_deep",
            Reason::Refused(code) => code.as_str(),
        }
    }
}
