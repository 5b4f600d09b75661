//! Why reading or writing a workspace failed.

use tplkit::problem::Code;
use tplkit::workspace::{Id, RecordKind, Refused};

use crate::refusal::Refusal;
use crate::rows;
use crate::store::StoreError;

/// Why a workspace was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is no such workspace, or none that may be seen.
    #[error("there is no workspace {0}, or none that may be seen")]
    NoWorkspace(Id),
    /// There is no such table, or none that may be seen.
    #[error("there is no table {0}, or none that may be seen")]
    NoTable(Id),
    /// Who asked for it has lost the right to write there.
    #[error("who asked for it may no longer write to the workspace")]
    Forbidden,
    /// Who asked for it sees, or may decide, something else than when it was read.
    #[error("what who asked for it sees has changed")]
    RightsChanged,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a unit was not written. The transaction is to be left.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UnitError {
    /// It cannot be written as it is.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// Somebody else holds the job.
    #[error("another worker has taken the job over")]
    Fenced,
    /// Who asked for the job has lost the right to write there.
    #[error("who asked for it may no longer write to the workspace")]
    Forbidden,
    /// Who asked for the job sees, or may decide, something else than when the attempt began.
    #[error("what who asked for it sees has changed")]
    RightsChanged,
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
}

impl From<StoreError> for UnitError {
    fn from(error: StoreError) -> UnitError {
        match error {
            // What had to be there has gone since it was looked at.
            StoreError::Reference => {
                refused(Code::NotFound, "what it lies in was taken away").into()
            }
            // Names and values have refusals of their own; what is left are ids.
            StoreError::Unique { .. } => refused(Code::Conflict, "its id is taken already").into(),
            error => UnitError::Store(error),
        }
    }
}

impl From<Refusal> for UnitError {
    fn from(refusal: Refusal) -> UnitError {
        match refusal.code {
            Code::StoreUnavailable => {
                UnitError::Store(StoreError::Unavailable(refusal.detail().to_owned()))
            }
            Code::Internal => UnitError::Store(StoreError::Internal(refusal.detail().to_owned())),
            code => Refused {
                column: refusal.column.clone(),
                ..refused(code, refusal.detail())
            }
            .into(),
        }
    }
}

impl From<rows::RowRefusal> for UnitError {
    fn from(why: rows::RowRefusal) -> UnitError {
        match why {
            rows::RowRefusal::Conflict(taken) => {
                let (row, column) = taken.into_iter().next().unwrap_or_default();
                Refused::repeated(row, column).into()
            }
            rows::RowRefusal::Quota => {
                let detail = "the organization has as many rows as it may have";
                refused(Code::QuotaExceeded, detail).into()
            }
            rows::RowRefusal::UsedUp(column) => {
                let detail = format!("the sequence of the column {column:?} is used up");
                Refused {
                    column: Some(column),
                    ..refused(Code::ValidationFailed, detail)
                }
                .into()
            }
            rows::RowRefusal::Files(cells) => {
                let (row, column) = cells.into_iter().next().unwrap_or_default();
                let detail = format!("data.{column}: {}", rows::NO_FILE);
                Refused {
                    row: Some(row),
                    column: Some(column),
                    ..refused(Code::ValidationFailed, detail)
                }
                .into()
            }
            rows::RowRefusal::Store(error) => error.into(),
        }
    }
}

/// A refusal about no row and no column.
pub(super) fn refused(code: Code, message: impl Into<String>) -> Refused {
    Refused {
        code,
        row: None,
        column: None,
        message: message.into(),
    }
}

/// A record that is not there.
pub(super) fn missing(kind: RecordKind, id: Id) -> UnitError {
    refused(Code::NotFound, format!("there is no {} {id}", kind.noun())).into()
}
