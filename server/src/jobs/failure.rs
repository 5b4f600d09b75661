//! Why a job stopped: the message, and whether to retry.

use tplkit::apply::{ApplyError, Refusal};
use tplkit::problem::Code;

use super::error::JobError;
use crate::store::StoreError;
use crate::workspace::ReadError;

/// Why an attempt ended before its job did.
#[derive(Debug)]
pub(super) enum Failure {
    /// Others hold the job: it is theirs.
    Fenced,
    /// Who asked for the job sees, or may decide, something else by now: it begins anew by that.
    RightsChanged,
    /// The store does not respond; later it may.
    Later(String),
    /// It has to be seen to: the document that people are shown.
    Reported(String),
}

impl Failure {
    /// With a code to branch on, and what can be done about it.
    pub(super) fn reported(code: Code, detail: &str) -> Failure {
        let error = JobError {
            code: code.as_str(),
            detail,
            reference: None,
        };
        Failure::Reported(error.write())
    }

    /// What was decided no longer fits the workspace.
    pub(super) fn refused(refusals: &[Refusal]) -> Failure {
        let first = refusals.first();
        let code = first.map_or(Code::Internal, |refusal| refusal.code);
        let details: Vec<&str> = refusals.iter().map(|refusal| &*refusal.detail).collect();
        let detail = format!(
            "What was decided no longer fits the workspace: {} \
             Fix it and resume the job, or undo it and apply the template again.",
            details.join(" ")
        );
        let error = JobError {
            code: code.as_str(),
            detail: &detail,
            reference: first.and_then(|refusal| refusal.reference.as_deref()),
        };
        Failure::Reported(error.write())
    }

    /// Who asked for the job has lost the right to carry it out.
    pub(super) fn forbidden() -> Failure {
        Failure::reported(
            Code::Forbidden,
            "Who asked for this job may no longer write to the workspace. What is written stays; \
             somebody who may can resume the job or undo it.",
        )
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        match error {
            StoreError::Unavailable(_)
            | StoreError::Locked
            | StoreError::Busy
            | StoreError::TurnedAway(_)
            | StoreError::NotBrief
            | StoreError::Stale => Failure::Later(error.to_string()),
            StoreError::TooLong => Failure::reported(
                Code::StoreUnavailable,
                "A statement of the store took too long and was given up. What is written stays; \
                 resume the job when the store has less to do.",
            ),
            error => {
                tracing::error!(%error, "a template job failed");
                Failure::reported(
                    Code::Internal,
                    "Something went wrong here; it has been recorded. What is written stays; \
                     resume the job to go on.",
                )
            }
        }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Failure {
        match error {
            ReadError::Store(error) => error.into(),
            ReadError::Forbidden => Failure::forbidden(),
            ReadError::RightsChanged => Failure::RightsChanged,
            ReadError::NoWorkspace(_) => Failure::reported(
                Code::NotFound,
                "The workspace is gone, or kept from who asked for the job.",
            ),
            ReadError::NoTable(feature) => Failure::reported(
                Code::NotFound,
                &format!(
                    "The table {feature} was taken away while the job was at work. What is written stays. \
                     Resume the job: an apply creates the table again; an upgrade goes on without it, \
                     or says what has to be decided first."
                ),
            ),
        }
    }
}

impl From<ApplyError<ReadError>> for Failure {
    fn from(error: ApplyError<ReadError>) -> Failure {
        match error {
            ApplyError::Fenced => Failure::Fenced,
            ApplyError::Store { source, .. } => source.into(),
            ApplyError::Refused { code, .. } => Failure::reported(code, &error.to_string()),
        }
    }
}
