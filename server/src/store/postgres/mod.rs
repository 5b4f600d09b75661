//! PostgreSQL: a pool, and transactions with few round trips.
//!
//! The opening of a transaction (`BEGIN`, role, settings) is sent together with its first
//! statement, and a transaction of one statement takes one round trip. Whatever role
//! the URL names, statements run as a role that owns nothing and bypasses no policy.
//!
//! Reads of one statement have connections of their own, on which no words begin or end a transaction
//! (`readers`, `wire`), unless there is a pooler in between.

mod connect_error;
mod failure;
mod host_list;
mod host_probe;
mod hosts;
mod readers;
mod scarce_connections;
mod settings;
mod socket;
mod startup;
mod statements;
mod tls;
mod transaction;
mod transaction_settings;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use deadpool::managed::{Manager, QueueMode};
use deadpool::{Runtime, Status};
use tokio::sync::OnceCell;

use super::migrate::DistributionReport;
use super::{Depth, Options, Share, StoreError, TransactionMode};
use hosts::Hosts;
use readers::{ReadPool, Readers};
use settings::Settings;
use startup::Connections;
use tls::Address;
pub(super) use transaction::Pipelined;

const CONNECTIONS: usize = 16;
/// How many more there are for reads of one statement, where the database is reached directly.
const READERS: usize = 8;
const TIMEOUT: Duration = Duration::from_secs(5);
/// How long a statement waits for another transaction; less than a statement may take, so that the error
/// names what was waited for.
const LOCK_TIMEOUT: Duration = Duration::from_secs(3);
/// When a connection on which nothing is said is asked whether its other end is there, and how often
/// from then on.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(2));
/// How long the network may take to confirm what was sent. A database that is busy with a long statement reads nothing
/// meanwhile, and what is pipelined behind it waits as if its machine were gone: shorter would end its connection.
const UNCONFIRMED: Duration = Duration::from_secs(20);
/// How long a process may be still in the middle of a transaction: what it holds, others wait for.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

/// The pool.
#[derive(Debug, Clone)]
pub(super) struct Postgres {
    connections: Arc<Connections>,
    /// False only in tests that take row-level security away.
    secured: bool,
    /// How long a response may take, when the database cannot say so itself.
    patience: Option<Duration>,
}

impl Postgres {
    /// Makes ready to connect.
    pub(super) fn prepare(
        url: &str,
        secured: bool,
        behave: &Options,
    ) -> Result<Postgres, StoreError> {
        let shown = super::error::without_secrets(url);
        let refuse = |why: String| StoreError::Address(shown, why);
        let Address { mut config, tls } = Address::parse(url).map_err(refuse)?;
        let limit = behave.statement_timeout;
        config.connect_timeout(TIMEOUT);
        if config.get_application_name().is_none() {
            config.application_name("tplkit-server");
        }
        // A database whose machine is gone says nothing any more, not even that.
        config.keepalives_idle(KEEPALIVE.0);
        config.keepalives_interval(KEEPALIVE.1);
        config.tcp_user_timeout(UNCONFIRMED);
        let settings = Settings::new(behave);
        let mut direct = config.clone();
        direct.options(settings.at_start(config.get_options()));
        let mut reading = config.clone();
        reading.options(settings.at_start_of_reader(config.get_options(), secured));
        let mut distributed = config.clone();
        distributed.options(settings.distributed().at_start(config.get_options()));
        let direct = pool(Hosts::new(&direct, tls.clone()), CONNECTIONS)?;
        let readers = Readers::new(direct.manager().lending(&reading));
        let connections = Connections {
            settings,
            direct,
            readers: pool(readers, READERS)?,
            distributed: pool(Hosts::new(&distributed, tls.clone()), CONNECTIONS)?,
            pooled: pool(Hosts::new(&config, tls), CONNECTIONS)?,
            reached: OnceCell::new(),
        };
        Ok(Postgres {
            connections: Arc::new(connections),
            secured,
            patience: (!limit.is_zero()).then_some(limit + TIMEOUT),
        })
    }

    /// Connects and migrates, unless that was done.
    pub(super) async fn reach(&self) -> Result<(), StoreError> {
        self.connections.reach().await
    }

    /// How much there is to do.
    pub(super) fn depth(&self) -> Depth {
        let (all, readers) = self.connections.status();
        let busy = |status: &Status| status.size.saturating_sub(status.available);
        Depth {
            connections: all.size + readers.size,
            busy: busy(&all) + busy(&readers),
            waiting: all.waiting + readers.waiting,
        }
    }

    /// A transaction that has not begun. What is short takes no place of a share.
    pub(super) fn begin(&self, kind: TransactionMode, share: Option<Share>) -> Pipelined {
        Pipelined::new(
            self,
            kind,
            share.filter(|_| kind != TransactionMode::ShortRead),
        )
    }

    /// Brings a migrated database over the workers of its cluster.
    pub(super) async fn distribute(&self) -> Result<DistributionReport, StoreError> {
        self.connections.distribute().await
    }

    /// Whether the database is distributed; nobody knows before it was reached.
    pub(super) fn is_distributed(&self) -> bool {
        let reached = self.connections.reached();
        reached.is_some_and(|reached| reached.distributed)
    }

    /// What follows each `BEGIN`, where transactions bring the settings along.
    fn with_settings(&self) -> Option<&str> {
        self.connections.reached()?.settings.as_deref()
    }

    /// The connections for reads of one statement, where there are such.
    fn readers(&self) -> Option<&ReadPool> {
        self.connections.reached()?.readers.as_ref()
    }
}

/// Connections that are made when they are needed, so many at most.
fn pool<M: Manager>(maker: M, most: usize) -> Result<deadpool::managed::Pool<M>, StoreError> {
    deadpool::managed::Pool::builder(maker)
        .max_size(most)
        // What came last knows the statements already.
        .queue_mode(QueueMode::Lifo)
        .wait_timeout(Some(TIMEOUT))
        // Hosts have their own: a timeout here would say less.
        .create_timeout(None)
        .recycle_timeout(Some(TIMEOUT))
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|error| StoreError::Internal(error.to_string()))
}
