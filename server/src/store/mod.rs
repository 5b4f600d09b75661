//! The store: two engines behind one interface.
//!
//! An operation is an `async fn` over a [`Tx`] and its input. It is atomic, runs for a [`Scope`],
//! and its statements have one text for both stores ([`translate`]). On SQLite it runs on the thread
//! that owns the connection, so it must not wait for anything except its own statements; on
//! PostgreSQL it is repeated after a serialization failure.
//!
//! Two layers separate organizations: predicates in the statements, and row security of the store.
//! Both are generated from the module `policy`.

mod bulk;
mod dialect;
mod distribution;
mod error;
mod lease;
mod metrics;
mod migrate;
mod operation;
mod options;
#[cfg(test)]
mod outgoing;
mod owner;
mod pipeline;
mod policy;
mod postgres;
mod queues;
mod read_ahead;
mod scope;
mod scope_ids;
pub mod sql_log;
mod sqlite;
mod statement;
mod swept;
mod transaction_mode;
pub mod translate;
mod tx;
mod value;
mod wire_row;

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::oneshot;

pub use crate::lanes::Share;
pub use bulk::{BulkInsert, EachStatement, RowValue};
pub use dialect::Dialect;
#[cfg(any(test, feature = "row-security-off"))]
pub use distribution::{TranslatedStatement, translated_statements};
pub use error::StoreError;
pub use lease::Hold;
pub(crate) use lease::lease;
pub(crate) use metrics::StoreMetrics;
pub use migrate::DistributionReport;
pub use options::{Depth, Options};
#[cfg(test)]
pub(crate) use outgoing::OutgoingStatement;
pub use pipeline::PipelinedStatement;
pub(crate) use policy::sees_file;
pub use policy::{Placement, placements, postgres_policies};
pub use scope::{Isolation, OneTable, Scope, Visible};
use transaction_mode::LONG;
pub(crate) use transaction_mode::TransactionMode;
pub use tx::Tx;
pub(crate) use tx::{Check, Precondition};
pub use value::{FromColumn, Row, Value};

use crate::context::Stopwatch;
use metrics::Outcome;
use operation::{FinishedOperation, QueuedOperation};
use postgres::Postgres;
pub use queues::{LOOKS_AT_ONCE, SWEEP};
use sqlite::{FileLock, Sqlite, refuse_other_name};
use swept::Swept;
use tx::{Inner, TranslatedStatements};

/// What an operation returns: `Box::pin(some_async_fn(tx, input))`.
pub type Work<'a, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'a>>;

/// What an operation does in its transaction; more than once, when others get in its way.
pub trait QueryFn<I, T, E>:
    for<'a> Fn(&'a mut Tx, &'a I) -> Work<'a, T, E> + Send + Sync + 'static
{
}

impl<I, T, E, F> QueryFn<I, T, E> for F where
    F: for<'a> Fn(&'a mut Tx, &'a I) -> Work<'a, T, E> + Send + Sync + 'static
{
}

/// What an operation is given: it may be needed on another thread, and again.
pub trait Input: Send + Sync + 'static {}

impl<I: Send + Sync + 'static> Input for I {}

/// What it finds or has done.
pub trait Output: Send + 'static {}

impl<T: Send + 'static> Output for T {}

/// Why it did not, with room for the store's own reasons.
pub trait OperationError: From<StoreError> + Send + 'static {}

impl<E: From<StoreError> + Send + 'static> OperationError for E {}

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

/// The bytes after which a bounded response ends.
pub const BOUND: usize = 8 << 20;

/// An open, migrated store. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    engine: Engine,
    texts: Arc<TranslatedStatements>,
    metrics: StoreMetrics,
    /// Operations that have not ended.
    pending: Arc<AtomicUsize>,
    /// When all organizations were looked at.
    swept: Arc<Swept>,
}

#[derive(Debug, Clone)]
enum Engine {
    Sqlite(Arc<Sqlite>),
    Postgres(Postgres),
}

/// The right to serve a store; of a SQLite file only one process has it.
#[derive(Debug)]
pub struct Serving(#[expect(dead_code, reason = "held, not read")] Option<FileLock>);

impl Store {
    /// Opens `sqlite:FILE`, `sqlite::memory:` or `postgres://…`, and migrates it.
    ///
    /// # Errors
    /// When the URL names no store, the store cannot be reached, or is newer than this program.
    pub async fn open(url: &str) -> Result<Store, StoreError> {
        Store::open_with(url, &Options::default()).await
    }

    /// Opens a store that behaves otherwise.
    ///
    /// # Errors
    /// As [`open`](Store::open).
    pub async fn open_with(url: &str, options: &Options) -> Result<Store, StoreError> {
        let store = Store::prepare(url, options)?;
        store.reach().await?;
        Ok(store)
    }

    /// Opens a store with one layer missing, to see that the other holds.
    ///
    /// # Errors
    /// As [`open`](Store::open).
    #[cfg(any(test, feature = "row-security-off"))]
    pub async fn open_without(url: &str, isolation: Isolation) -> Result<Store, StoreError> {
        let store = Store::build(url, isolation, &Options::default())?;
        store.reach().await?;
        Ok(store)
    }

    /// Opens a store that need not be there yet: until it was [reached](Store::reach) once,
    /// everything that is asked of it is [`StoreError::Unavailable`]. A SQLite file is opened at once.
    ///
    /// # Errors
    /// When the URL names no store, or a file that is served under another name.
    pub fn prepare(url: &str, options: &Options) -> Result<Store, StoreError> {
        if let Some(file) = file(url)? {
            refuse_other_name(file)?;
        }
        Store::build(url, Isolation::BOTH, options)
    }

    /// Claims the store for serving, and [prepares](Store::prepare) it: in this order, so that a store
    /// which another process serves is not touched.
    ///
    /// # Errors
    /// As [`prepare`](Store::prepare), and when another process serves this file, under whatever name.
    pub fn prepare_serving(url: &str, options: &Options) -> Result<(Store, Serving), StoreError> {
        let claim = file(url)?.map(FileLock::take).transpose()?;
        let store = Store::build(url, Isolation::BOTH, options)?;
        Ok((store, Serving(claim)))
    }

    fn build(url: &str, isolation: Isolation, options: &Options) -> Result<Store, StoreError> {
        let engine = if url.starts_with("sqlite:") {
            Engine::Sqlite(Arc::new(Sqlite::open(file(url)?, isolation, options)?))
        } else if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            Engine::Postgres(Postgres::prepare(url, isolation.row_security, options)?)
        } else {
            return Err(StoreError::Url(error::without_secrets(url)));
        };
        Ok(Store {
            engine,
            texts: Arc::new(TranslatedStatements::new(isolation)),
            metrics: StoreMetrics::default(),
            pending: Arc::default(),
            swept: Arc::default(),
        })
    }

    /// Reaches the store and migrates it; does nothing when that was done before.
    ///
    /// # Errors
    /// When the store cannot be reached, or is newer than this program.
    pub async fn reach(&self) -> Result<(), StoreError> {
        match &self.engine {
            Engine::Sqlite(_) => Ok(()),
            Engine::Postgres(postgres) => postgres.reach().await,
        }
    }

    /// Migrates the store, and distributes it over the workers of the Citus cluster whose coordinator the URL names.
    /// A store that was reached before goes on as one that is not distributed: this is for a program that does
    /// nothing else.
    ///
    /// # Errors
    /// As [`reach`](Store::reach), and [`StoreError::NotDistributable`] where this is no such cluster.
    pub async fn distribute(&self) -> Result<DistributionReport, StoreError> {
        match &self.engine {
            Engine::Sqlite(_) => Err(StoreError::NotDistributable(
                "a SQLite file lies on one machine: name a PostgreSQL database with `--database`"
                    .to_owned(),
            )),
            Engine::Postgres(postgres) => postgres.distribute().await,
        }
    }

    /// Which of the two it is, in one word.
    pub fn kind(&self) -> &'static str {
        match &self.engine {
            Engine::Sqlite(_) => "sqlite",
            Engine::Postgres(_) => "postgres",
        }
    }

    /// How much there is to do.
    pub fn depth(&self) -> Depth {
        match &self.engine {
            Engine::Sqlite(sqlite) => {
                let pending = self.pending.load(Ordering::Relaxed);
                let busy = pending.min(sqlite.connections);
                Depth {
                    connections: sqlite.connections,
                    busy,
                    waiting: pending - busy,
                }
            }
            Engine::Postgres(postgres) => postgres.depth(),
        }
    }

    /// What is counted of it.
    pub(crate) fn metrics(&self) -> &StoreMetrics {
        &self.metrics
    }

    /// What all statements took so far, in steps of SQLite's machine: nothing on PostgreSQL, which shows
    /// its plans itself.
    #[cfg(any(test, feature = "row-security-off"))]
    pub fn steps(&self) -> Option<u64> {
        match &self.engine {
            Engine::Sqlite(sqlite) => Some(sqlite.steps()),
            Engine::Postgres(_) => None,
        }
    }

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

    /// Whether the store responds.
    ///
    /// # Errors
    /// When it does not.
    pub async fn ready(&self) -> Result<(), StoreError> {
        self.read(&Scope::Authentication, (), |tx, ()| {
            Box::pin(async move { tx.last("SELECT 1", &[]).await.map(drop) })
        })
        .await
    }
}

/// The file that a URL names, if it names one.
fn file(url: &str) -> Result<Option<&Path>, StoreError> {
    match url.strip_prefix("sqlite:") {
        Some("") => Err(StoreError::Url(url.to_owned())),
        None | Some(":memory:") => Ok(None),
        Some(file) => Ok(Some(Path::new(file))),
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
