//! Why an apply stopped.

use crate::problem::Code;
use crate::workspace::CommitError;

/// Why an apply stopped before its end.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError<E> {
    /// The store failed. What was written is written and known; the job goes on where it stood
    /// when it is resumed.
    #[error("the store failed {doing}; what is written stays, resume the job to go on")]
    Store {
        /// What was being done.
        doing: String,
        /// Why it failed.
        #[source]
        source: E,
    },
    /// Somebody else works on the job now; nothing was written after that.
    #[error("another worker has taken the job over; watch it there, there is nothing to do here")]
    Fenced,
    /// The structure was refused: nothing at all was written.
    #[error("{doing} was refused, and nothing was written: {detail}")]
    Refused {
        /// What was being done.
        doing: String,
        /// The stable code.
        code: Code,
        /// Why, and what to do.
        detail: String,
    },
}

impl<E> ApplyError<E> {
    /// The store did not respond.
    pub(super) fn store(doing: impl Into<String>) -> impl FnOnce(E) -> ApplyError<E> {
        let doing = doing.into();
        move |source| ApplyError::Store { doing, source }
    }

    /// A unit that nothing can be done without was not written.
    pub(super) fn commit(doing: impl Into<String>, error: CommitError<E>) -> ApplyError<E> {
        match error {
            CommitError::Store(source) => ApplyError::Store {
                doing: doing.into(),
                source,
            },
            CommitError::Fenced => ApplyError::Fenced,
            CommitError::Refused(refused) => ApplyError::Refused {
                doing: doing.into(),
                code: refused.code,
                detail: refused.message,
            },
        }
    }
}
