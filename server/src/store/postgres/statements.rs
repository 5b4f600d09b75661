//! What goes to the database and comes back on one connection: statements prepared, sent, and their rows read.
//!
//! It knows nothing of what they mean for a transaction; a [`Failure`] says what went wrong.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::ptr;
use std::time::Duration;

use futures_util::TryStreamExt as _;
use futures_util::future::maybe_done;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, RowStream};

use super::Postgres;
use super::failure::Failure;
use super::hosts::Object;
use super::transaction_settings::references;
use crate::store::statement::Statement;
use crate::store::{Row, StoreError, Value};

/// How long before the end of its patience whoever waits for a response asks whether the host responds.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// A statement with its parameters.
pub(super) type BoundStatement<'a> = (&'a Statement, &'a [Value]);

/// A statement as the database knows it, with its parameters.
pub(super) struct PreparedStatement<'a> {
    statement: tokio_postgres::Statement,
    parameters: Vec<&'a (dyn ToSql + Sync)>,
    /// After how many bytes its response may end.
    most: Option<usize>,
}

/// What a statement found.
pub(super) struct StatementResult {
    pub(super) rows: Vec<tokio_postgres::Row>,
    /// Whether there were more, beyond what was to be read, and they are still to come.
    pub(super) cut: bool,
}

/// A statement whose result a task of its own reads: the database goes on only while somebody reads.
pub(super) struct SentStatement(JoinHandle<Result<StatementResult, tokio_postgres::Error>>);

impl SentStatement {
    pub(super) async fn send(
        client: &Client,
        ready: &PreparedStatement<'_>,
    ) -> Result<SentStatement, tokio_postgres::Error> {
        let parameters = ready.parameters.iter().copied();
        let stream = client.query_raw(&ready.statement, parameters).await?;
        Ok(SentStatement(tokio::spawn(read(stream, ready.most, true))))
    }

    pub(super) async fn rows(self) -> Result<Vec<tokio_postgres::Row>, Failure> {
        match self.0.await {
            Ok(result) => Ok(result?.rows),
            Err(error) => Err(Failure::Pool(StoreError::Internal(error.to_string()))),
        }
    }
}

/// Sends a statement and reads its response, as far as it is to be read. In a transaction that goes on, the
/// rest has to come first: it is dropped row by row.
pub(super) async fn receive(
    client: &Client,
    ready: &PreparedStatement<'_>,
    goes_on: bool,
) -> Result<StatementResult, tokio_postgres::Error> {
    let parameters = ready.parameters.iter().copied();
    let stream = client.query_raw(&ready.statement, parameters).await?;
    read(stream, ready.most, goes_on).await
}

async fn read(
    stream: RowStream,
    most: Option<usize>,
    goes_on: bool,
) -> Result<StatementResult, tokio_postgres::Error> {
    let mut stream = pin!(stream);
    let (mut rows, mut bytes) = (Vec::new(), 0);
    while let Some(row) = stream.try_next().await? {
        if most.is_some_and(|most| bytes > most) {
            if goes_on {
                continue;
            }
            return Ok(StatementResult { rows, cut: true });
        }
        bytes += row.raw_size_bytes();
        rows.push(row);
    }
    Ok(StatementResult { rows, cut: false })
}

/// Waits for something that is sent behind something else. The response to that one is read meanwhile, for it
/// may come in pieces, and what nobody reads keeps back all that comes after it.
pub(super) async fn behind<T>(
    mut first: Pin<&mut impl Future>,
    then: impl Future<Output = T>,
) -> T {
    let mut then = pin!(then);
    poll_fn(|cx| {
        let _ = first.as_mut().poll(cx);
        then.as_mut().poll(cx)
    })
    .await
}

pub(super) async fn prepare_all<'a>(
    client: &Object,
    statements: &[BoundStatement<'a>],
) -> Result<Vec<PreparedStatement<'a>>, tokio_postgres::Error> {
    let mut ready: Vec<PreparedStatement<'_>> = Vec::with_capacity(statements.len());
    let mut before: Option<&Statement> = None;
    for (statement, parameters) in statements {
        // Often it is one statement with many lists of parameters.
        let prepared = match ready.last() {
            Some(PreparedStatement {
                statement: prepared,
                ..
            }) if before.is_some_and(|before| ptr::eq(before, *statement)) => prepared.clone(),
            _ => prepare(client, statement).await?,
        };
        before = Some(statement);
        ready.push(PreparedStatement {
            statement: prepared,
            parameters: references(parameters),
            most: statement.most,
        });
    }
    Ok(ready)
}

async fn prepare(
    client: &Object,
    statement: &Statement,
) -> Result<tokio_postgres::Statement, tokio_postgres::Error> {
    if statement.keeps_plan {
        client.prepare_cached(&statement.text).await
    } else {
        let client: &Client = client;
        client.prepare(&statement.text).await
    }
}

pub(super) fn rows_of(rows: Vec<tokio_postgres::Row>) -> Vec<Row> {
    rows.into_iter().map(Row::Postgres).collect()
}

pub(super) fn over() -> Failure {
    Failure::Pool(StoreError::Internal("the transaction is over".to_owned()))
}

/// Waits for a response, but not for ever. What PostgreSQL is in the middle of, it does not always end when it should:
/// so where nothing came back, the last of the time shows whether its host responds at all.
pub(super) async fn within<T>(
    postgres: &Postgres,
    response: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let Some(patience) = postgres.patience else {
        return response.await;
    };
    let mut response = pin!(response);
    let before = timeout(patience.saturating_sub(PROBE_TIMEOUT), response.as_mut());
    if let Ok(response) = before.await {
        return response;
    }
    let mut probe = pin!(maybe_done(postgres.connections.responds(PROBE_TIMEOUT)));
    let response = behind(probe.as_mut(), timeout(PROBE_TIMEOUT, response)).await;
    let responds = probe.take_output().unwrap_or(false);
    response.unwrap_or(Err(if responds {
        Failure::Overdue
    } else {
        Failure::Silence
    }))
}
