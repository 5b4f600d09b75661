//! An operation in the form that the SQLite threads run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_util::FutureExt as _;
use tokio::sync::oneshot;

use super::metrics::Outcome;
use super::sqlite::{SecuredConnection, Task};
use super::tx::{Check, Inner, TranslatedStatements};
use super::{Input, OperationError, Output, QueryFn, Scope, StoreError, TransactionMode, Tx};

/// An operation for the thread that runs it.
pub(super) struct QueuedOperation<I, T, E, F> {
    pub(super) kind: TransactionMode,
    pub(super) scope: Scope,
    pub(super) texts: Arc<TranslatedStatements>,
    pub(super) check: Option<Check>,
    pub(super) input: I,
    pub(super) work: F,
    pub(super) result: Option<Result<T, E>>,
    /// Whether its check held when it ran last; nothing where it was not asked about.
    pub(super) check_held: Option<bool>,
    /// What the store last said against it.
    pub(super) failed: Option<Outcome>,
    /// To whoever waits for it.
    pub(super) result_sender: oneshot::Sender<FinishedOperation<I, T, E>>,
}

/// How an operation ended.
pub(super) struct FinishedOperation<I, T, E> {
    /// What it returned, unless the store failed.
    pub(super) result: Result<T, E>,
    /// Its input, given back.
    pub(super) input: I,
    /// Whether its check held; nothing where it was not asked about.
    pub(super) check_held: Option<bool>,
    /// What the store last said against it.
    pub(super) failed: Option<Outcome>,
}

impl<I: Input, T: Output, E: OperationError, F: QueryFn<I, T, E>> Task
    for QueuedOperation<I, T, E, F>
{
    fn scope(&self) -> Scope {
        self.scope.clone()
    }

    fn is_brief(&self) -> bool {
        self.kind == TransactionMode::ShortRead
    }

    fn is_heavy(&self) -> bool {
        self.kind.is_heavy()
    }

    fn is_passage(&self) -> bool {
        self.kind == TransactionMode::Snapshot
    }

    fn may_be_lost(&self) -> bool {
        self.kind.may_be_lost()
    }

    fn run(&mut self, mut connection: SecuredConnection) -> (SecuredConnection, bool) {
        connection.hurry(!self.kind.is_long());
        let mut tx = Tx {
            scope: self.scope.clone(),
            texts: self.texts.clone(),
            // Not taken: when another task undoes the transaction, this one is run once more.
            check: self.check.clone(),
            check_held: None,
            inner: Inner::Sqlite(connection),
        };
        // The connection stays with us when the operation panics.
        let ran = catch_unwind(AssertUnwindSafe(|| {
            (self.work)(&mut tx, &self.input).now_or_never()
        }));
        let result = match ran {
            Ok(Some(result)) => result,
            Ok(None) => {
                let why = "an operation waited for something else than the store";
                Err(StoreError::Internal(why.to_owned()).into())
            }
            Err(_) => Err(StoreError::Internal("an operation panicked".to_owned()).into()),
        };
        let keep = result.is_ok();
        self.result = Some(result);
        self.check_held = tx.check_held;
        let Inner::Sqlite(mut connection) = std::mem::replace(&mut tx.inner, Inner::Gone) else {
            unreachable!("nobody else has this transaction");
        };
        self.failed = connection.failed();
        (connection, keep)
    }

    fn finish(self: Box<Self>, committed: Result<(), StoreError>) {
        let failed = committed.as_ref().err().map(Outcome::from).or(self.failed);
        let result = match (committed, self.result) {
            (Ok(()), Some(result)) => result,
            (Ok(()), None) => Err(StoreError::Internal("an operation never ran".to_owned()).into()),
            (Err(error), Some(Ok(_)) | None) => Err(error.into()),
            (Err(_), Some(Err(own))) => Err(own),
        };
        // Whoever waited may have gone.
        let _ = self.result_sender.send(FinishedOperation {
            result,
            input: self.input,
            check_held: self.check_held,
            failed,
        });
    }
}
