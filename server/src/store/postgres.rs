//! PostgreSQL: a pool, and transactions that travel in as few round trips as they can.
//!
//! The opening of a transaction (`BEGIN`, role, settings) leaves together with its first statement,
//! and a transaction of one statement leaves whole. Whatever role the URL names, statements run as a
//! role that owns nothing and passes no policy by.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use futures_util::future::{join3, join4};
use tokio::sync::OnceCell;
use tokio::time::timeout;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::meters::Outcome;
use super::tls::Address;
use super::{Depth, Options, Row, Scope, StoreError, Value, migrate};

const CONNECTIONS: usize = 16;
const PATIENCE: Duration = Duration::from_secs(5);
const KEEPALIVE: Duration = Duration::from_secs(20);

/// `set_config('role', …)` is `SET LOCAL ROLE` in a form that takes a parameter. All settings are
/// set every time: after a transaction a setting is `''`, which the policies read as nothing.
const OPEN: &str = "SELECT set_config('role', $1, true), \
     set_config('tplkit.caller', $2, true), \
     set_config('tplkit.organizations', $3, true), \
     set_config('tplkit.administered', $4, true), \
     set_config('tplkit.workspaces', $5, true)";

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
}

impl Postgres {
    /// Makes ready to connect.
    pub(super) fn prepare(url: &str, wall: bool, behave: &Options) -> Result<Postgres, StoreError> {
        let refuse = |why: String| StoreError::Url(format!("{}: {why}", without_password(url)));
        let Address { mut config, tls } = Address::parse(url).map_err(refuse)?;
        let limit = behave.statement_timeout;
        let options = config.get_options().unwrap_or_default();
        let options = format!(
            "{options} -c search_path=main -c timezone=UTC -c statement_timeout={}",
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
    pub(super) fn begin(&self, may_write: bool) -> Pipelined {
        Pipelined {
            postgres: self.clone(),
            may_write,
            client: None,
            state: State::Fresh,
            retry: false,
            failed: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Fresh,
    Open,
    /// Committed, or rolled back by the server.
    Over,
}

/// One transaction on one connection of the pool. Dropped half way, it closes the connection, so
/// that nobody is handed what another left open.
pub(super) struct Pipelined {
    postgres: Postgres,
    may_write: bool,
    client: Option<Object>,
    state: State,
    retry: bool,
    failed: Option<Outcome>,
}

impl Pipelined {
    /// Whether the whole transaction should be tried again.
    pub(super) fn retry(&self) -> bool {
        self.retry
    }

    /// Runs a statement; the last one takes the `COMMIT` along.
    pub(super) async fn query(
        &mut self,
        scope: &Scope,
        text: &str,
        parameters: &[Value],
        last: bool,
    ) -> Result<Vec<Row>, StoreError> {
        let answer = self.timely(scope, text, parameters, last).await;
        let error = match answer {
            Ok(rows) => return Ok(rows.into_iter().map(Row::Postgres).collect()),
            Err(Failure::Pool(error)) => error,
            Err(Failure::Statement(error)) => {
                self.retry = error.code().is_some_and(|code| {
                    *code == SqlState::T_R_SERIALIZATION_FAILURE
                        || *code == SqlState::T_R_DEADLOCK_DETECTED
                });
                error.into()
            }
        };
        self.failed = Some(Outcome::from(&error));
        Err(error)
    }

    /// What the store last said against a statement.
    pub(super) fn failed(&self) -> Option<Outcome> {
        self.failed
    }

    /// Sends a statement on a connection that there is, and waits for the answer, but not for ever.
    async fn timely(
        &mut self,
        scope: &Scope,
        text: &str,
        parameters: &[Value],
        last: bool,
    ) -> Result<Vec<tokio_postgres::Row>, Failure> {
        if !self.postgres.reached.initialized() {
            let why = "it was not reached since the start".to_owned();
            return Err(Failure::Pool(StoreError::Unavailable(why)));
        }
        if self.client.is_none() {
            let client = self.postgres.pool.get().await;
            self.client = Some(client.map_err(|error| Failure::Pool(error.into()))?);
        }
        let patience = self.postgres.patience;
        let answer = self.send(scope, text, parameters, last);
        let Some(patience) = patience else {
            return answer.await;
        };
        if let Ok(answer) = timeout(patience, answer).await {
            return answer;
        }
        // Nobody knows what this connection still has to say: it is closed, not returned.
        self.state = State::Open;
        let why = "the database does not answer".to_owned();
        Err(Failure::Pool(StoreError::Unavailable(why)))
    }

    async fn send(
        &mut self,
        scope: &Scope,
        text: &str,
        parameters: &[Value],
        last: bool,
    ) -> Result<Vec<tokio_postgres::Row>, Failure> {
        let (Some(client), true) = (&self.client, self.state != State::Over) else {
            return Err(Failure::Pool(StoreError::Internal(
                "the transaction is over".to_owned(),
            )));
        };
        let statement = client.prepare_cached(text).await?;
        let parameters: Vec<&(dyn ToSql + Sync)> = parameters
            .iter()
            .map(|value| value as &(dyn ToSql + Sync))
            .collect();
        let client: &Client = client;
        // What is polled first leaves first; `join3` and `join4` poll in order.
        match (self.state, last) {
            (State::Fresh, last) => {
                let opening = opening(scope, self.postgres.wall);
                let open: Vec<&(dyn ToSql + Sync)> = opening
                    .iter()
                    .map(|value| value as &(dyn ToSql + Sync))
                    .collect();
                let open_statement = match &self.client {
                    Some(client) => client.prepare_cached(OPEN).await?,
                    None => client.prepare(OPEN).await?,
                };
                self.state = State::Open;
                let begin = client.batch_execute(if self.may_write {
                    "BEGIN"
                } else {
                    "BEGIN READ ONLY"
                });
                let open = client.query(&open_statement, &open);
                let query = client.query(&statement, &parameters);
                if last {
                    let commit = client.batch_execute("COMMIT");
                    let (begun, opened, rows, committed) = join4(begin, open, query, commit).await;
                    // A failed statement makes the COMMIT a ROLLBACK: it is over in any case.
                    begun?;
                    opened?;
                    if committed.is_ok() {
                        self.state = State::Over;
                    }
                    let rows = rows?;
                    committed?;
                    Ok(rows)
                } else {
                    let (begun, opened, rows) = join3(begin, open, query).await;
                    begun?;
                    opened?;
                    Ok(rows?)
                }
            }
            _ => Ok(client.query(&statement, &parameters).await?),
        }
    }

    /// Ends the transaction.
    pub(super) async fn end(&mut self, commit: bool) -> Result<(), StoreError> {
        if self.state == State::Open
            && let Some(client) = &self.client
        {
            let ended = client.batch_execute(if commit { "COMMIT" } else { "ROLLBACK" });
            let ended = match self.postgres.patience {
                Some(patience) => timeout(patience, ended).await,
                None => Ok(ended.await),
            };
            let error = match ended {
                Ok(Ok(())) => {
                    self.state = State::Over;
                    return Ok(());
                }
                Ok(Err(error)) => {
                    let code = error.code();
                    self.retry |=
                        code.is_some_and(|code| *code == SqlState::T_R_SERIALIZATION_FAILURE);
                    error.into()
                }
                Err(_) => StoreError::Unavailable("the database does not answer".to_owned()),
            };
            self.failed = self.failed.or(Some(Outcome::from(&error)));
            return Err(error);
        }
        self.state = State::Over;
        Ok(())
    }
}

impl Drop for Pipelined {
    fn drop(&mut self) {
        if self.state == State::Open
            && let Some(client) = self.client.take()
        {
            drop(Object::take(client));
        }
    }
}

enum Failure {
    Pool(StoreError),
    Statement(tokio_postgres::Error),
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Failure {
        Failure::Statement(error)
    }
}

/// The parameters of [`OPEN`].
fn opening(scope: &Scope, wall: bool) -> [String; 5] {
    let list = |ids: &[Uuid]| {
        let ids: Vec<String> = ids.iter().map(Uuid::to_string).collect();
        format!("{{{}}}", ids.join(","))
    };
    let role = if wall { scope.role() } else { "none" };
    match scope {
        Scope::Caller(visible) => [
            role.to_owned(),
            visible.caller.to_string(),
            list(&visible.organizations),
            list(&visible.administered),
            list(&visible.workspaces),
        ],
        Scope::Gate | Scope::Operator => [
            role.to_owned(),
            String::new(),
            String::new(),
            String::new(),
            String::new(),
        ],
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
