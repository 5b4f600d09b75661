//! Runs operations: on a thread of SQLite, or over a connection to PostgreSQL, there again when others got in the way.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::oneshot;

use super::metrics::Outcome;
use super::operation::{FinishedOperation, QueuedOperation};
use super::tx::{Check, Inner};
use super::{
    Engine, Input, OperationError, Output, QueryFn, Scope, Share, Store, StoreError,
    TransactionMode, Tx,
};
use crate::context::Stopwatch;

/// The result of an operation that may have had a check.
pub(crate) struct CheckedResult<I, T, E> {
    /// What the operation returned, or the error of the store.
    pub(crate) result: Result<T, E>,
    /// Its input, given back; nothing where the store has stopped.
    pub(crate) input: Option<I>,
    /// Whether the check held; nothing where it was not asked about.
    pub(crate) check_held: Option<bool>,
}

/// One attempt at an operation on PostgreSQL.
struct Attempt<T, E> {
    result: Result<T, E>,
    /// Whether its check held; nothing where it was not asked about.
    check_held: Option<bool>,
    /// What the database last said against it.
    failed: Option<Outcome>,
}

/// How often a transaction is tried when others get in its way.
const ATTEMPTS: usize = 6;

impl Store {
    /// Runs an operation that only reads.
    ///
    /// # Errors
    /// The operation's own, or the store's.
    pub async fn read<I: Input, T: Output, E: OperationError>(
        &self,
        scope: &Scope,
        input: I,
        work: impl QueryFn<I, T, E>,
    ) -> Result<T, E> {
        self.run(TransactionMode::Read, scope, None, input, work)
            .await
            .result
    }

    /// Runs an operation that is expected to be short, as requests for rows are.
    ///
    /// # Errors
    /// The operation's own, or the store's.
    #[cfg(any(test, feature = "row-security-off"))]
    pub async fn short_read<I: Input, T: Output, E: OperationError>(
        &self,
        scope: &Scope,
        input: I,
        work: impl QueryFn<I, T, E>,
    ) -> Result<T, E> {
        self.run(TransactionMode::ShortRead, scope, None, input, work)
            .await
            .result
    }

    /// Runs an operation that writes. When it returns an error, nothing was written.
    ///
    /// # Errors
    /// The operation's own, or the store's.
    pub async fn write<I: Input, T: Output, E: OperationError>(
        &self,
        scope: &Scope,
        input: I,
        work: impl QueryFn<I, T, E>,
    ) -> Result<T, E> {
        self.run(TransactionMode::Write, scope, None, input, work)
            .await
            .result
    }

    /// Runs an operation that only reads, and sees one state of the store however many statements it
    /// takes.
    ///
    /// # Errors
    /// The operation's own, or the store's.
    pub async fn snapshot<I: Input, T: Output, E: OperationError>(
        &self,
        scope: &Scope,
        input: I,
        work: impl QueryFn<I, T, E>,
    ) -> Result<T, E> {
        self.run(TransactionMode::Snapshot, scope, None, input, work)
            .await
            .result
    }

    /// As [`write`](Store::write), for what nobody waits for: its statements may take long.
    ///
    /// # Errors
    /// The operation's own, or the store's.
    pub async fn write_long<I: Input, T: Output, E: OperationError>(
        &self,
        scope: &Scope,
        input: I,
        work: impl QueryFn<I, T, E>,
    ) -> Result<T, E> {
        self.run(TransactionMode::Long, scope, None, input, work)
            .await
            .result
    }

    /// As [`write_long`](Store::write_long), for what is found missing and written again when it is lost:
    /// nobody waits until it is safe from a power cut. Whoever sees it may not see it after one; the next
    /// write of any other kind that ends makes it safe, because both stores keep one log. Who goes on from
    /// it has to ask the store whether it is there, and not their own memory.
    ///
    /// # Errors
    /// The operation's own, or the store's.
    pub async fn write_repeatable<I: Input, T: Output, E: OperationError>(
        &self,
        scope: &Scope,
        input: I,
        work: impl QueryFn<I, T, E>,
    ) -> Result<T, E> {
        let ran = self.run(TransactionMode::Repeatable, scope, None, input, work);
        ran.await.result
    }

    /// Runs an operation, and before its first statement the check, in the same transaction. Where
    /// the check does not hold, the operation fails and writes nothing.
    pub(crate) async fn run<I: Input, T: Output, E: OperationError>(
        &self,
        kind: TransactionMode,
        scope: &Scope,
        check: Option<Check>,
        input: I,
        work: impl QueryFn<I, T, E>,
    ) -> CheckedResult<I, T, E> {
        let watch = Stopwatch::start();
        let _pending = Pending::new(&self.pending);
        let writes = kind.writes();
        let (ended, outcome) = match &self.engine {
            Engine::Sqlite(sqlite) => {
                let (result_sender, finished) = oneshot::channel();
                let task = Box::new(QueuedOperation {
                    kind,
                    scope: scope.clone(),
                    texts: self.texts.clone(),
                    check,
                    input,
                    work,
                    result: None,
                    check_held: None,
                    failed: None,
                    result_sender,
                });
                if writes {
                    sqlite.write(task);
                } else {
                    sqlite.read(task);
                }
                if let Ok(finished) = finished.await {
                    let FinishedOperation {
                        result,
                        input,
                        check_held,
                        failed,
                    } = finished;
                    let outcome = Outcome::of(result.is_ok(), failed);
                    let ended = CheckedResult {
                        result,
                        input: Some(input),
                        check_held,
                    };
                    (ended, outcome)
                } else {
                    let stopped = StoreError::Unavailable("the store has stopped".to_owned());
                    let outcome = Outcome::from(&stopped);
                    let ended = CheckedResult {
                        result: Err(stopped.into()),
                        input: None,
                        check_held: None,
                    };
                    (ended, outcome)
                }
            }
            Engine::Postgres(postgres) => {
                let share = Share::current();
                let begin = || Tx {
                    scope: scope.clone(),
                    texts: self.texts.clone(),
                    check: check.clone(),
                    check_held: None,
                    inner: Inner::Postgres(postgres.begin(kind, share)),
                };
                let Attempt {
                    result,
                    check_held,
                    failed,
                } = self.attempt(begin, share, &input, &work).await;
                let outcome = Outcome::of(result.is_ok(), failed);
                let ended = CheckedResult {
                    result,
                    input: Some(input),
                    check_held,
                };
                (ended, outcome)
            }
        };
        self.metrics.ran(writes, outcome, watch.elapsed());
        ended
    }

    /// Runs an operation on PostgreSQL, again when others got in its way or there was no place for it.
    /// Gives the last attempt.
    async fn attempt<I, T, E: From<StoreError>>(
        &self,
        begin: impl Fn() -> Tx,
        share: Option<Share>,
        input: &I,
        work: &impl QueryFn<I, T, E>,
    ) -> Attempt<T, E> {
        let mut attempt = 1;
        let mut waited = Duration::ZERO;
        loop {
            let mut tx = begin();
            let result = work(&mut tx, input).await;
            let check_held = tx.check_held;
            let Inner::Postgres(mut pipelined) = tx.inner else {
                return Attempt {
                    result,
                    check_held,
                    failed: None,
                };
            };
            let ended = pipelined.end(result.is_ok()).await;
            if pipelined.retry() && attempt < ATTEMPTS {
                attempt += 1;
                self.metrics.retried();
                continue;
            }
            let failed = pipelined.failed();
            if let (true, Some(share)) = (pipelined.found_no_place(), share)
                && let Some(pause) = share.pause(waited)
            {
                drop(pipelined);
                waited += pause;
                tokio::time::sleep(pause).await;
                continue;
            }
            let (result, failed) = match (result, ended) {
                (Ok(_), Err(error)) => {
                    let failed = failed.or_else(|| Some(Outcome::from(&error)));
                    (Err(error.into()), failed)
                }
                // Why it failed matters more than that the rollback did, too.
                (result, _) => (result, failed),
            };
            return Attempt {
                result,
                check_held,
                failed,
            };
        }
    }
}

/// An operation that has not ended.
struct Pending(Arc<AtomicUsize>);

impl Pending {
    fn new(count: &Arc<AtomicUsize>) -> Pending {
        count.fetch_add(1, Ordering::Relaxed);
        Pending(count.clone())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
