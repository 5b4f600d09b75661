//! Opens the first connection, detects a pooler, and migrates.
//!
//! Sessions start with settings as parameters. A pooler either refuses such a start or drops the
//! parameters. Both are detected here once; from then on each transaction sends its settings.

use std::time::Duration;

use deadpool::Status;
use tokio::sync::{Mutex, OnceCell};
use tokio_postgres::error::SqlState;

use super::connect_error::PoolError;
use super::hosts::{Object, Pool};
use super::readers::ReadPool;
use super::settings::Settings;
use crate::store::StoreError;
use crate::store::migrate::{self, DistributionReport};
use crate::store::policy::Form;

/// The connections to a database.
#[derive(Debug)]
pub(super) struct Connections {
    pub(super) settings: Settings,
    /// Starts sessions with the settings.
    pub(super) direct: Pool,
    /// The same, for reads of one statement.
    pub(super) readers: ReadPool,
    /// Starts sessions with the settings for a distributed database.
    pub(super) distributed: Pool,
    /// Starts sessions as a pooler takes them.
    pub(super) pooled: Pool,
    /// Set once it was reached and migrated.
    pub(super) reached: OnceCell<ReachedDatabase>,
}

/// How a database is talked to, once it was reached.
#[derive(Debug)]
pub(super) struct ReachedDatabase {
    pub(super) pool: Pool,
    /// What follows each `BEGIN`; nothing where sessions were started with the settings.
    pub(super) settings: Option<String>,
    /// For reads of one statement; nothing where sessions were not started with the settings.
    pub(super) readers: Option<ReadPool>,
    /// Whether it is distributed over the workers of a cluster.
    pub(super) distributed: bool,
    /// Held by the one that asks for a connection where the database has no more to give.
    pub(super) waiting: Mutex<()>,
}

impl Connections {
    /// How it is talked to; nothing before it was reached.
    pub(super) fn reached(&self) -> Option<&ReachedDatabase> {
        self.reached.get()
    }

    /// The pool in use.
    pub(super) fn pool(&self) -> &Pool {
        self.reached().map_or(&self.direct, |reached| &reached.pool)
    }

    /// How much there is to do for the connections in use, and for those of reads.
    pub(super) fn status(&self) -> (Status, Status) {
        (self.pool().status(), self.readers.status())
    }

    /// Whether the host in use responds to who connects to it now.
    pub(super) async fn responds(&self, patience: Duration) -> bool {
        self.pool().manager().responds(patience).await
    }

    /// Nothing is left to what has stopped responding, or to take writes.
    pub(super) fn distrust(&self) {
        self.pool().manager().distrust();
    }

    /// Connects and migrates, unless that was done.
    pub(super) async fn reach(&self) -> Result<(), StoreError> {
        let reach = async || {
            let (mut reached, client) = self.connect().await?;
            // Taken out of the pool: a migration takes as long as it takes.
            let mut client = Object::take(client);
            migrate::postgres(&mut client, Form::OneMachine).await?;
            if migrate::is_distributed(&client).await? {
                reached = self.as_distributed(&reached);
            }
            Ok(reached)
        };
        self.reached.get_or_try_init(reach).await.map(drop)
    }

    /// How a database is talked to that turned out to be distributed.
    fn as_distributed(&self, reached: &ReachedDatabase) -> ReachedDatabase {
        let pooled = reached.settings.is_some();
        let pool = if pooled {
            &self.pooled
        } else {
            &self.distributed
        };
        let settings = self.settings.distributed();
        ReachedDatabase {
            pool: pool.clone(),
            settings: pooled.then(|| settings.in_transaction()),
            // Statements that set something on all nodes are for a transaction that has begun.
            readers: None,
            distributed: true,
            waiting: Mutex::default(),
        }
    }

    /// Migrates, and distributes the database. Whoever reaches it behind this talks to it as distributed.
    pub(super) async fn distribute(&self) -> Result<DistributionReport, StoreError> {
        let (_, client) = self.connect().await?;
        let mut client = Object::take(client);
        migrate::postgres(&mut client, Form::Distributed).await?;
        migrate::distribute(&mut client, &self.settings.on_workers()).await
    }

    async fn connect(&self) -> Result<(ReachedDatabase, Object), StoreError> {
        match self.direct.get().await {
            Ok(client) if self.settings.hold(&client).await? => {
                let reached = ReachedDatabase {
                    pool: self.direct.clone(),
                    settings: None,
                    readers: Some(self.readers.clone()),
                    distributed: false,
                    waiting: Mutex::default(),
                };
                return Ok((reached, client));
            }
            // Dropped on the way. This connection is of no use any more.
            Ok(client) => drop(Object::take(client)),
            Err(error) if refused_start(&error) => {}
            Err(error) => return Err(error.into()),
        }
        let client = self.pooled.get().await?;
        tracing::info!(
            "sessions cannot be started with settings, as behind a pooler: transactions bring them along"
        );
        let reached = ReachedDatabase {
            pool: self.pooled.clone(),
            settings: Some(self.settings.in_transaction()),
            readers: None,
            distributed: false,
            waiting: Mutex::default(),
        };
        Ok((reached, client))
    }
}

/// Whether the start parameters were refused, and not the user.
fn refused_start(error: &PoolError) -> bool {
    matches!(error, PoolError::Backend(error)
        if error.has_code(&SqlState::PROTOCOL_VIOLATION))
}
