//! PostgreSQL: a pool, and transactions that travel in as few round trips as they can.
//!
//! The opening of a transaction (`BEGIN`, role, settings) leaves together with its first statement, and a
//! transaction of one statement leaves whole. Short reads of one caller may share a transaction. Whatever
//! role the URL names, statements run as a role that owns nothing and passes no policy by.

mod opening;
mod sharing;
mod tls;
mod together;
mod transaction;

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{
    Manager, ManagerConfig, Object, Pool, QueueMode, RecyclingMethod, Runtime,
};
use tokio::sync::OnceCell;

use super::{Depth, Kind, Options, StoreError, migrate};
use sharing::Sharing;
use tls::Address;
pub(super) use together::Forms;
pub(super) use transaction::Pipelined;

const CONNECTIONS: usize = 16;
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a statement waits for another transaction; less than a statement may take, so that what is
/// told is what was waited for.
const LOCK: Duration = Duration::from_secs(3);
const KEEPALIVE: Duration = Duration::from_secs(20);
/// How long a process may stand still in the middle of a transaction: what it holds, others wait for.
const IDLE: Duration = Duration::from_secs(10);

/// A statement is planned once, for any parameters: it takes longer to plan than to run. Whatever the
/// planner thinks of tables that are empty today, none is read from end to end for one organization.
const PLANS: &str = "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off";

/// The pool.
#[derive(Debug, Clone)]
pub(super) struct Postgres {
    pool: Pool,
    /// False only in tests that take row-level security away.
    wall: bool,
    /// Set once it was reached and migrated.
    reached: Arc<OnceCell<()>>,
    /// How long an answer may take, when the database cannot say so itself.
    patience: Option<Duration>,
    sharing: Arc<Sharing>,
}

impl Postgres {
    /// Makes ready to connect.
    pub(super) fn prepare(url: &str, wall: bool, behave: &Options) -> Result<Postgres, StoreError> {
        let refuse = |why: String| StoreError::Url(format!("{}: {why}", without_password(url)));
        let Address { mut config, tls } = Address::parse(url).map_err(refuse)?;
        let limit = behave.statement_timeout;
        let options = config.get_options().unwrap_or_default();
        let options = format!(
            "{options} -c search_path=main -c timezone=UTC -c lock_timeout={} \
             -c idle_in_transaction_session_timeout={} -c statement_timeout={} {PLANS}",
            LOCK.as_millis(),
            IDLE.as_millis(),
            limit.as_millis()
        );
        config.options(options.trim_start());
        config.connect_timeout(PATIENCE);
        if config.get_application_name().is_none() {
            config.application_name("tplkit-server");
        }
        // A database whose machine is gone says nothing any more, not even that.
        config.keepalives_idle(KEEPALIVE);
        config.tcp_user_timeout(KEEPALIVE);
        let manager = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let pool = Pool::builder(Manager::from_config(config, tls, manager))
            .max_size(CONNECTIONS)
            // What came last knows the statements already.
            .queue_mode(QueueMode::Lifo)
            .wait_timeout(Some(PATIENCE))
            .create_timeout(Some(PATIENCE))
            .recycle_timeout(Some(PATIENCE))
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| StoreError::Internal(error.to_string()))?;
        Ok(Postgres {
            pool,
            wall,
            reached: Arc::default(),
            patience: (!limit.is_zero()).then_some(limit + PATIENCE),
            sharing: Arc::default(),
        })
    }

    /// Connects and migrates, unless that was done.
    pub(super) async fn reach(&self) -> Result<(), StoreError> {
        let migrate = async || {
            let client = self.pool.get().await?;
            // Taken out of the pool: a migration takes as long as it takes.
            let mut client = Object::take(client);
            client.batch_execute("SET statement_timeout = 0").await?;
            migrate::postgres(&mut client).await
        };
        self.reached.get_or_try_init(migrate).await.copied()
    }

    /// How much there is to do.
    pub(super) fn depth(&self) -> Depth {
        let status = self.pool.status();
        Depth {
            connections: status.size,
            busy: status.size.saturating_sub(status.available),
            waiting: status.waiting,
        }
    }

    /// A transaction that has not begun.
    pub(super) fn begin(&self, kind: Kind) -> Pipelined {
        Pipelined::new(self, kind)
    }
}

/// The URL as it may be shown.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    match rest.split_once('@') {
        Some((_, host)) => format!("{scheme}://…@{host}"),
        None => format!("{scheme}://{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::without_password;

    #[test]
    fn a_url_is_shown_without_its_password() {
        assert_eq!(
            without_password("postgres://u:p@host/db"),
            "postgres://…@host/db"
        );
        assert_eq!(without_password("postgres:///db"), "postgres:///db");
    }
}
