//! The status of a job.

use schemars::JsonSchema;
use serde::Serialize;

use crate::store::StoreError;

/// In a statement: the job is unfinished, as [`Status::is_finished`] has it.
macro_rules! unfinished {
    () => {
        "status IN ('pending', 'structure', 'rows', 'publish', 'undoing')"
    };
}
pub(super) use unfinished;

/// The status of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "TemplateJobStatus")]
pub enum Status {
    /// Nobody has begun.
    Pending,
    /// Its first phase.
    Structure,
    /// Its second phase.
    Rows,
    /// Its third phase.
    Publish,
    /// Everything was done that could be done.
    Completed,
    /// It stopped, and resumes on request.
    Failed,
    /// What it wrote is being removed.
    Undoing,
    /// What it wrote was removed.
    Undone,
}

impl Status {
    const ALL: [Status; 8] = [
        Status::Pending,
        Status::Structure,
        Status::Rows,
        Status::Publish,
        Status::Completed,
        Status::Failed,
        Status::Undoing,
        Status::Undone,
    ];

    /// The word in responses and in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Structure => "structure",
            Status::Rows => "rows",
            Status::Publish => "publish",
            Status::Completed => "completed",
            Status::Failed => "failed",
            Status::Undoing => "undoing",
            Status::Undone => "undone",
        }
    }

    /// The status of that word.
    pub fn parse(word: &str) -> Option<Status> {
        Status::ALL
            .into_iter()
            .find(|status| status.as_str() == word)
    }

    /// The status of a row.
    ///
    /// # Errors
    /// When it is none.
    pub(super) fn read(word: &str) -> Result<Status, StoreError> {
        Status::parse(word).ok_or_else(|| StoreError::Internal(format!("a job is {word:?}")))
    }

    /// Whether nobody works on it any more.
    pub const fn is_finished(self) -> bool {
        matches!(self, Status::Completed | Status::Failed | Status::Undone)
    }
}
