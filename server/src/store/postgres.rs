//! PostgreSQL: a pool, and transactions that travel in as few round trips as they can.
//!
//! The opening of a transaction (`BEGIN`, role, settings) leaves together with its first statement,
//! and a transaction of one statement leaves whole. Whatever role the URL names, statements run as a
//! role that owns nothing and passes no policy by.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{
    Manager, ManagerConfig, Object, Pool, QueueMode, RecyclingMethod, Runtime,
};
use futures_util::future::{join3, join4, try_join_all};
use tokio::sync::OnceCell;
use tokio::time::timeout;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::dialect::Statement;
use super::meters::Outcome;
use super::tls::Address;
use super::{Depth, Kind, LONG, Options, Row, Scope, StoreError, Value, migrate};

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

/// The settings in the order of [`opening`]. `set_config('role', …)` is `SET LOCAL ROLE` in a form that
/// takes a parameter. All of them are set every time: after a transaction a setting is `''`, which the
/// policies read as nothing.
const SETTINGS: [&str; 8] = [
    "role",
    "tplkit.caller",
    "tplkit.organizations",
    "tplkit.administered",
    "tplkit.workspaces",
    "tplkit.hidden",
    "tplkit.guarded",
    "tplkit.platform",
];

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
        let mut postgres = self.clone();
        if kind.is_long() {
            postgres.patience = Some(LONG + PATIENCE);
        }
        Pipelined {
            postgres,
            kind,
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
    kind: Kind,
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
        statement: &Statement,
        parameters: &[Value],
        last: bool,
    ) -> Result<Vec<Row>, StoreError> {
        self.ready().await?;
        let patience = self.postgres.patience;
        // What comes after it would see another state.
        let last = last && self.kind != Kind::Snapshot;
        let answer = within(patience, self.send(scope, statement, parameters, last)).await;
        Ok(all(self.judge(answer)?))
    }

    /// Runs a statement once for each list of parameters; all leave before the first answer is
    /// waited for. The transaction has begun.
    pub(super) async fn each(
        &mut self,
        statement: &Statement,
        parameters: &[Vec<Value>],
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        let patience = self.postgres.patience;
        let answers = within(patience, self.send_all(statement, parameters)).await;
        Ok(self.judge(answers)?.into_iter().map(all).collect())
    }

    /// Runs statements in order; all leave before the first answer is waited for. The transaction has
    /// begun.
    pub(super) async fn several(
        &mut self,
        asked: &[(Arc<Statement>, Vec<Value>)],
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        let patience = self.postgres.patience;
        let answers = within(patience, self.send_several(asked)).await;
        Ok(self.judge(answers)?.into_iter().map(all).collect())
    }

    /// Whether the transaction has begun and goes on.
    pub(super) fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// Begins with a question to the gate, and sends the statement along without waiting for its
    /// answer. Gives both answers.
    pub(super) async fn query_after(
        &mut self,
        question: (&Statement, &[Value]),
        scope: &Scope,
        statement: (&Statement, &[Value]),
        last: bool,
    ) -> Result<(Vec<Row>, Result<Vec<Row>, StoreError>), StoreError> {
        self.ready().await?;
        let patience = self.postgres.patience;
        let last = last && self.kind != Kind::Snapshot;
        let answers = within(patience, self.send_after(question, scope, statement, last)).await;
        let (known, rows) = self.judge(answers)?;
        let rows = self.judge(rows.map_err(Failure::Statement)).map(all);
        Ok((all(known), rows))
    }

    /// What the store last said against a statement.
    pub(super) fn failed(&self) -> Option<Outcome> {
        self.failed
    }

    /// Takes a connection, if it has none.
    async fn ready(&mut self) -> Result<(), StoreError> {
        if self.client.is_some() {
            return Ok(());
        }
        let taken = if self.postgres.reached.initialized() {
            let client = self.postgres.pool.get().await;
            client.map_err(|error| Failure::Pool(error.into()))
        } else {
            let why = "it was not reached since the start".to_owned();
            Err(Failure::Pool(StoreError::Unavailable(why)))
        };
        self.client = Some(self.judge(taken)?);
        Ok(())
    }

    /// Notes what a failure means for the transaction.
    fn judge<T>(&mut self, answer: Result<T, Failure>) -> Result<T, StoreError> {
        let error = match answer {
            Ok(answer) => return Ok(answer),
            Err(Failure::Pool(error)) => error,
            Err(Failure::Silence) => {
                // Nobody knows what this connection still has to say: it is closed, not returned.
                self.state = State::Open;
                StoreError::Unavailable("the database does not answer".to_owned())
            }
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

    async fn send_after(
        &mut self,
        (question, asked): (&Statement, &[Value]),
        scope: &Scope,
        (statement, parameters): (&Statement, &[Value]),
        last: bool,
    ) -> Result<Both, Failure> {
        let Some(client) = &self.client else {
            return Err(over());
        };
        let question = format!(
            "SELECT * FROM ({}) AS known WHERE ({}) IS NOT NULL",
            question.text,
            entering(asked.len() + 1, statement.anew)
        );
        let question = client.prepare_cached(&question).await?;
        let statement = prepare(client, statement).await?;
        let opening = opening(scope, self.postgres.wall);
        let mut asked = references(asked);
        asked.extend(opening.iter().map(|value| value as &(dyn ToSql + Sync)));
        let parameters = references(parameters);
        let begin = match (self.kind, self.postgres.wall) {
            (Kind::Write, true) => "BEGIN; SET LOCAL ROLE tplkit_gate",
            (Kind::Glance | Kind::Read, true) => "BEGIN READ ONLY; SET LOCAL ROLE tplkit_gate",
            (Kind::Snapshot, true) => {
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL ROLE tplkit_gate"
            }
            (kind, _) => words(kind),
        };
        self.state = State::Open;
        // What else is to be written decides whether there is a commit.
        let last = last && !self.kind.writes();
        let client: &Client = client;
        let begin = client.batch_execute(begin);
        let known = client.query(&question, &asked);
        let query = client.query(&statement, &parameters);
        let (begun, known, rows) = if last {
            let commit = client.batch_execute("COMMIT");
            let (begun, known, rows, committed) = join4(begin, known, query, commit).await;
            if committed.is_ok() {
                self.state = State::Over;
            }
            let rows = rows.and_then(|rows| committed.map(|()| rows));
            (begun, known, rows)
        } else {
            join3(begin, known, query).await
        };
        begun?;
        let known = known?;
        Ok((known, rows))
    }

    async fn send_all(
        &mut self,
        statement: &Statement,
        all: &[Vec<Value>],
    ) -> Result<Vec<Vec<tokio_postgres::Row>>, Failure> {
        let Some(client) = &self.client else {
            return Err(over());
        };
        let prepared = prepare(client, statement).await?;
        let client: &Client = client;
        let parameters: Vec<Vec<&(dyn ToSql + Sync)>> =
            all.iter().map(|all| references(all)).collect();
        let answers = parameters
            .iter()
            .map(|parameters| client.query(&prepared, parameters));
        Ok(try_join_all(answers).await?)
    }

    async fn send_several(
        &mut self,
        asked: &[(Arc<Statement>, Vec<Value>)],
    ) -> Result<Vec<Vec<tokio_postgres::Row>>, Failure> {
        let Some(client) = &self.client else {
            return Err(over());
        };
        let mut ready = Vec::with_capacity(asked.len());
        for (statement, parameters) in asked {
            ready.push((prepare(client, statement).await?, references(parameters)));
        }
        let client: &Client = client;
        let answers = ready
            .iter()
            .map(|(statement, parameters)| client.query(statement, parameters));
        Ok(try_join_all(answers).await?)
    }

    async fn send(
        &mut self,
        scope: &Scope,
        statement: &Statement,
        parameters: &[Value],
        last: bool,
    ) -> Result<Vec<tokio_postgres::Row>, Failure> {
        let last = last && !self.kind.writes();
        // What only reads sees what others committed between its statements in any case.
        if self.state == State::Over && matches!(self.kind, Kind::Glance | Kind::Read) {
            self.state = State::Fresh;
        }
        let (Some(client), true) = (&self.client, self.state != State::Over) else {
            return Err(over());
        };
        let anew = statement.anew;
        let statement = prepare(client, statement).await?;
        let parameters = references(parameters);
        // What is polled first leaves first; `join3` and `join4` poll in order.
        match (self.state, last) {
            (State::Fresh, last) => {
                let opening = opening(scope, self.postgres.wall);
                let open: Vec<&(dyn ToSql + Sync)> = opening
                    .iter()
                    .map(|value| value as &(dyn ToSql + Sync))
                    .collect();
                let open_statement = client.prepare_cached(&entering(1, anew)).await?;
                self.state = State::Open;
                let client: &Client = client;
                let begin = client.batch_execute(words(self.kind));
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

async fn prepare(
    client: &Object,
    statement: &Statement,
) -> Result<tokio_postgres::Statement, tokio_postgres::Error> {
    if statement.lasting {
        client.prepare_cached(&statement.text).await
    } else {
        let client: &Client = client;
        client.prepare(&statement.text).await
    }
}

fn references(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    let values = values.iter();
    values.map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// The answers to a question and to the statement behind it.
type Both = (
    Vec<tokio_postgres::Row>,
    Result<Vec<tokio_postgres::Row>, tokio_postgres::Error>,
);

fn all(rows: Vec<tokio_postgres::Row>) -> Vec<Row> {
    rows.into_iter().map(Row::Postgres).collect()
}

fn over() -> Failure {
    Failure::Pool(StoreError::Internal("the transaction is over".to_owned()))
}

/// Waits for an answer, but not for ever.
async fn within<T>(
    patience: Option<Duration>,
    answer: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    match patience {
        None => answer.await,
        Some(patience) => timeout(patience, answer)
            .await
            .unwrap_or(Err(Failure::Silence)),
    }
}

enum Failure {
    /// Nothing came back.
    Silence,
    Pool(StoreError),
    Statement(tokio_postgres::Error),
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Failure {
        Failure::Statement(error)
    }
}

/// How a transaction begins.
fn words(kind: Kind) -> &'static str {
    match kind {
        Kind::Glance | Kind::Read => "BEGIN READ ONLY",
        Kind::Snapshot => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        Kind::Write => "BEGIN",
        Kind::Long => "BEGIN; SET LOCAL statement_timeout = '600s'",
        Kind::Repeatable => {
            "BEGIN; SET LOCAL statement_timeout = '600s'; SET LOCAL synchronous_commit = off"
        }
    }
}

/// Sets the scope, by parameters from that number on, and for a transaction that plans anew this, too.
fn entering(first: usize, anew: bool) -> String {
    let settings = SETTINGS.iter().zip(first..);
    let mut settings: Vec<String> = settings
        .map(|(name, number)| format!("set_config('{name}', ${number}, true)"))
        .collect();
    if anew {
        settings.push("set_config('plan_cache_mode', 'force_custom_plan', true)".to_owned());
    }
    format!("SELECT {}", settings.join(" || "))
}

/// The parameters of [`entering`], in the order of [`SETTINGS`].
fn opening(scope: &Scope, wall: bool) -> [String; 8] {
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
            list(&visible.hidden),
            list(&visible.guarded),
            if visible.platform { "on" } else { "" }.to_owned(),
        ],
        Scope::Gate | Scope::Operator => {
            let [
                caller,
                organizations,
                administered,
                workspaces,
                hidden,
                guarded,
                platform,
            ] = Default::default();
            let role = role.to_owned();
            [
                role,
                caller,
                organizations,
                administered,
                workspaces,
                hidden,
                guarded,
                platform,
            ]
        }
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
