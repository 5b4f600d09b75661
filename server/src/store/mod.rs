//! The store: two engines behind one interface.
//!
//! An operation is an `async fn` over a [`Tx`] and its input. It is atomic, runs for a [`Scope`],
//! and its statements have one text for both stores ([`translate`]). On SQLite it runs on the thread
//! that owns the connection, so it must not wait for anything except its own statements; on
//! PostgreSQL it is repeated after a serialization failure.
//!
//! Two layers separate organizations: predicates in the statements, and row security of the store.
//! Both are generated from the module `policy`.

mod bounded;
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
mod polled_shards;
mod postgres;
mod query_fn;
mod queues;
mod read_ahead;
mod run;
mod scope;
mod scope_ids;
pub mod sql_log;
mod sqlite;
mod statement;
mod transaction_mode;
pub mod translate;
mod tx;
mod value;
mod wire_row;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use crate::lanes::Share;
pub use bounded::bounded_records;
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
pub use query_fn::{Input, OperationError, Output, QueryFn, Work};
pub use scope::{Isolation, OneTable, Scope, Visible};
use transaction_mode::LONG;
pub(crate) use transaction_mode::TransactionMode;
pub use tx::Tx;
pub(crate) use tx::{Check, Precondition};
pub use value::{FromColumn, Row, Value};

pub use polled_shards::POLLS_AT_ONCE;
use polled_shards::Swept;
use postgres::Postgres;
pub use queues::SWEEP;
use sqlite::{FileLock, Sqlite, refuse_other_name};
use tx::TranslatedStatements;

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

    /// Opens a store that somebody has made: a SQLite file that is not there stays so.
    ///
    /// # Errors
    /// As [`open`](Store::open), and when the file is not there.
    pub async fn open_existing(url: &str) -> Result<Store, StoreError> {
        if let Some(file) = file(url)?
            && matches!(file.try_exists(), Ok(false))
        {
            return Err(StoreError::Absent(file.display().to_string()));
        }
        Store::open(url).await
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
