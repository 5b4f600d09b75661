//! One transaction. Its opening is sent together with its first statement; a transaction of a
//! single statement takes one round trip. `statements` sends and reads.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use futures_util::future::{join_all, join3, maybe_done, try_join_all};
use tokio::time::timeout;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::Postgres;
use super::failure::Failure;
use super::hosts::Object;
use super::readers::TakenReader;
use super::scarce_connections::is_used_up;
use super::statements::{
    BoundStatement, SentStatement, behind, over, prepare_all, receive, rows_of, within,
};
use super::transaction_settings::{Opening, OpeningQuery, OpeningStatement, references};
use super::wire::{WireError, WireResponses, WireStatement};
use crate::store::metrics::Outcome;
use crate::store::statement::Statement;
use crate::store::wire_row::WireRow;
use crate::store::{LONG, Row, Scope, Share, StoreError, TransactionMode, Value, sql_log};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Fresh,
    Open,
    /// Committed, or rolled back by the server.
    Over,
    /// Its connection was given up with what was open on it.
    GivenUp,
}

/// One transaction on one connection of the pool. Dropped half way, it closes the connection, so
/// that nobody is handed what another left open.
pub(in crate::store) struct Pipelined {
    postgres: Postgres,
    kind: TransactionMode,
    /// Of what it takes a place when it begins.
    share: Option<Share>,
    client: Option<Object>,
    state: State,
    retry: bool,
    no_place: bool,
    /// Its connection no longer takes writes.
    unwritable: bool,
    failed: Option<Outcome>,
    /// What was sent ahead and not asked for yet.
    sent: Option<SentStatement>,
}

/// The response of authentication, if it was asked, and to the statements behind it.
pub(super) struct OpeningResults {
    pub(super) known: Vec<tokio_postgres::Row>,
    pub(super) results: Vec<Result<Vec<tokio_postgres::Row>, tokio_postgres::Error>>,
}

/// The same of one statement.
pub(in crate::store) type OpeningResult = (Vec<Row>, Result<Vec<Row>, StoreError>);

impl Pipelined {
    pub(super) fn new(
        postgres: &Postgres,
        kind: TransactionMode,
        share: Option<Share>,
    ) -> Pipelined {
        let mut postgres = postgres.clone();
        if kind.is_long() {
            postgres.patience = Some(LONG + super::TIMEOUT);
        }
        Pipelined {
            postgres,
            kind,
            share,
            client: None,
            state: State::Fresh,
            retry: false,
            no_place: false,
            unwritable: false,
            failed: None,
            sent: None,
        }
    }

    /// Whether the whole transaction should be tried again.
    pub(in crate::store) fn retry(&self) -> bool {
        self.retry
    }

    /// Whether it did not begin because its share has no place at the moment.
    pub(in crate::store) fn found_no_place(&self) -> bool {
        self.no_place
    }

    /// What the store last said against a statement.
    pub(in crate::store) fn failed(&self) -> Option<Outcome> {
        self.failed
    }

    /// Whether the database is distributed.
    pub(in crate::store) fn is_distributed(&self) -> bool {
        self.postgres.is_distributed()
    }

    /// Whether the transaction is open.
    pub(in crate::store) fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// Runs a statement; the last one takes the `COMMIT` along.
    pub(in crate::store) async fn query(
        &mut self,
        scope: &Scope,
        statement: &Arc<Statement>,
        parameters: &[Value],
        last: bool,
    ) -> Result<Vec<Row>, StoreError> {
        if self.begins()? {
            return self.first(&[], scope, statement, parameters, last).await?.1;
        }
        let postgres = self.postgres.clone();
        let statements = [(&**statement, parameters)];
        let responses = within(&postgres, self.send(&statements)).await;
        let mut responses = self.check_behind(responses).await?;
        Ok(responses.pop().map(rows_of).unwrap_or_default())
    }

    /// Begins with a query of authentication, and sends the statement along without waiting for its
    /// response. Gives both responses.
    pub(in crate::store) async fn query_after(
        &mut self,
        query: OpeningQuery<'_>,
        scope: &Scope,
        statement: &Arc<Statement>,
        parameters: &[Value],
        last: bool,
    ) -> Result<OpeningResult, StoreError> {
        self.first(query, scope, statement, parameters, last).await
    }

    /// Runs a statement once for each list of parameters; all leave before the first response is
    /// waited for. The transaction has begun.
    pub(in crate::store) async fn each(
        &mut self,
        statement: &Statement,
        parameters: &[Vec<Value>],
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        let statements = parameters
            .iter()
            .map(|parameters| (statement, &parameters[..]));
        self.run_all(&statements.collect::<Vec<_>>()).await
    }

    /// Runs statements in order; all leave before the first response is waited for. The transaction has
    /// begun.
    pub(in crate::store) async fn several(
        &mut self,
        statements: &[(Arc<Statement>, Vec<Value>)],
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        let statements = statements
            .iter()
            .map(|(statement, parameters)| (&**statement, &parameters[..]));
        self.run_all(&statements.collect::<Vec<_>>()).await
    }

    async fn run_all(
        &mut self,
        statements: &[BoundStatement<'_>],
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        let postgres = self.postgres.clone();
        let responses = within(&postgres, self.send(statements)).await;
        let responses = self.check_behind(responses).await?;
        Ok(responses.into_iter().map(rows_of).collect())
    }

    /// Sends a statement whose result is read meanwhile, in place of one that nobody has asked for; and whether it did.
    /// It does not where another statement may end the transaction before that.
    pub(in crate::store) async fn send_ahead(
        &mut self,
        statement: &Arc<Statement>,
        parameters: &[Value],
    ) -> Result<bool, StoreError> {
        let Some(client) = self.client.as_ref().filter(|_| !self.kind.only_reads()) else {
            return Ok(false);
        };
        let statements = [(&**statement, parameters)];
        sql_log::statements(&statements);
        let sent = within(&self.postgres, async {
            let mut ready = prepare_all(client, &statements).await?;
            let ready = ready.pop().ok_or_else(over)?;
            Ok(SentStatement::send(client, &ready).await?)
        });
        let sent = sent.await;
        self.sent = Some(self.check_behind(sent).await?);
        Ok(true)
    }

    /// The result of the statement that was sent so; nothing where none was.
    pub(in crate::store) async fn receive(&mut self) -> Result<Option<Vec<Row>>, StoreError> {
        let Some(sent) = self.sent.take() else {
            return Ok(None);
        };
        let received = within(&self.postgres, sent.rows()).await;
        Ok(Some(self.check(received).map(rows_of)?))
    }

    /// As [`check`](Self::check), of what was sent behind another statement: where that one failed, the transaction takes
    /// no others, and its error is the one to report.
    async fn check_behind<T>(&mut self, response: Result<T, Failure>) -> Result<T, StoreError> {
        if let Err(Failure::Statement(error)) = &response
            && error.code() == Some(&SqlState::IN_FAILED_SQL_TRANSACTION)
        {
            self.receive().await?;
        }
        self.check(response)
    }

    /// Whether the next statement is the first of a transaction.
    fn begins(&mut self) -> Result<bool, StoreError> {
        match self.state {
            State::Fresh => Ok(true),
            State::Open => Ok(false),
            // What only reads sees what others committed between its statements in any case.
            State::Over if self.kind.only_reads() => Ok(true),
            State::Over => Err(StoreError::Internal("the transaction is over".to_owned())),
            State::GivenUp => Err(given_up()),
        }
    }

    /// Begins, and ends with it what only reads.
    async fn first(
        &mut self,
        query: OpeningQuery<'_>,
        scope: &Scope,
        statement: &Arc<Statement>,
        parameters: &[Value],
        last: bool,
    ) -> Result<OpeningResult, StoreError> {
        // What else is to be written, or what comes after it of the same state, decides about an end.
        let last = last && self.kind.only_reads();
        if last
            && self.is_implicit(statement)
            && let Some(reader) = self.reader().await?
        {
            let read = self.implicit(reader, query, scope, statement, parameters);
            return Box::pin(read).await;
        }
        self.ready().await?;
        let postgres = self.postgres.clone();
        let opening = Opening::new(
            &postgres,
            self.kind,
            self.share,
            query,
            scope,
            statement.anew,
        );
        let statements = [(&**statement, parameters)];
        let opened = within(&postgres, self.open(&opening, &statements, last)).await;
        let OpeningResults {
            known,
            results: mut responses,
        } = self.check(opened)?;
        let rows = responses.pop().unwrap_or_else(|| Ok(Vec::new()));
        let rows = self.check(rows.map_err(Failure::Statement)).map(rows_of);
        Ok((rows_of(known), rows))
    }

    /// Whether that statement alone needs no words for its transaction. Only what is short runs on connections for reads:
    /// nothing else is to keep short reads waiting.
    fn is_implicit(&self, statement: &Statement) -> bool {
        let is_short = self.kind == TransactionMode::ShortRead && self.client.is_none();
        is_short && statement.keeps_plan && self.postgres.readers().is_some()
    }

    /// A connection for reads; nothing where the database has no more to give, and those of other transactions have to
    /// do.
    async fn reader(&mut self) -> Result<Option<TakenReader>, StoreError> {
        let Some(readers) = self.postgres.readers() else {
            return Ok(None);
        };
        let taken = TakenReader::from(readers).await;
        match taken {
            Ok(reader) => Ok(Some(reader)),
            Err(error) if is_used_up(&error) => Ok(None),
            Err(error) => self.check(Err(Failure::Pool(error.into()))),
        }
    }

    /// Runs a read of one statement as an implicit transaction.
    async fn implicit(
        &mut self,
        mut reader: TakenReader,
        query: OpeningQuery<'_>,
        scope: &Scope,
        statement: &Arc<Statement>,
        parameters: &[Value],
    ) -> Result<OpeningResult, StoreError> {
        let opening = OpeningStatement::implicit(&self.postgres, query, scope, statement.anew);
        sql_log::typed(opening.text, opening.types());
        sql_log::statements(&[(&**statement, parameters)]);
        let first = WireStatement {
            text: opening.text,
            kept_by: query.first().map(|(statement, _)| statement),
            parameters: &references(&opening.parameters),
            most: None,
        };
        let second = WireStatement {
            text: &statement.text,
            kept_by: Some(statement),
            parameters: &references(parameters),
            most: statement.most,
        };
        // Moved: who does not wait any longer closes it.
        let responses = within(&self.postgres, async move {
            Ok(reader.transact(&first, &second).await?)
        });
        let responses = responses.await;
        let responses = self.check(responses);
        self.state = State::Over;
        let WireResponses { first, second } = responses?;
        let rows = |rows: Vec<WireRow>| -> Vec<Row> { rows.into_iter().map(Row::Wire).collect() };
        let second = second.map_err(|error| Failure::Wire(WireError::Database(error)));
        let second = self.check(second).map(rows);
        Ok((rows(first), second))
    }

    /// Takes a connection, if it has none.
    pub(super) async fn ready(&mut self) -> Result<(), StoreError> {
        if self.client.is_some() {
            return Ok(());
        }
        let taken = if let Some(reached) = self.postgres.connections.reached() {
            let client = reached.connection().await;
            client.map_err(|error| Failure::Pool(error.into()))
        } else {
            let why = "it was not reached since the start".to_owned();
            Err(Failure::Pool(StoreError::Unavailable(why)))
        };
        self.client = Some(self.check(taken)?);
        Ok(())
    }

    /// Notes what a failure means for the transaction.
    fn check<T>(&mut self, response: Result<T, Failure>) -> Result<T, StoreError> {
        let error = match response {
            Ok(response) => return Ok(response),
            // Whatever the database takes, a read that writes is a bug.
            Err(failure) if self.kind.only_reads() && failure.refuses_writes() => {
                StoreError::Internal(format!(
                    "a statement writes in a transaction that only reads ({})",
                    SqlState::READ_ONLY_SQL_TRANSACTION.code()
                ))
            }
            Err(Failure::Pool(error)) => error,
            Err(Failure::Silence) => self.silent(),
            Err(Failure::Overdue) => {
                self.give_up();
                StoreError::TooLong
            }
            Err(Failure::NoPlace) => {
                self.no_place = true;
                StoreError::Busy
            }
            Err(failure) if failure.refuses_writes() => {
                self.unwritable = true;
                self.postgres.connections.distrust();
                StoreError::Unavailable("the database no longer takes writes".to_owned())
            }
            Err(Failure::Statement(error)) => {
                self.retry = error.code().is_some_and(|code| {
                    *code == SqlState::T_R_SERIALIZATION_FAILURE
                        || *code == SqlState::T_R_DEADLOCK_DETECTED
                });
                error.into()
            }
            Err(Failure::Wire(WireError::Database(error))) => {
                self.retry = [
                    SqlState::T_R_SERIALIZATION_FAILURE,
                    SqlState::T_R_DEADLOCK_DETECTED,
                ]
                .iter()
                .any(|code| error.code == code.code());
                error.into()
            }
            Err(Failure::Wire(error)) => error.into(),
        };
        self.failed = Some(Outcome::from(&error));
        Err(error)
    }

    /// Nothing comes back, from a host that responds to nobody.
    fn silent(&mut self) -> StoreError {
        self.give_up();
        self.postgres.connections.distrust();
        StoreError::silent()
    }

    /// Closes a connection on which nothing comes back: nobody knows what it still has to say, and it would not hear
    /// that the transaction is to end.
    fn give_up(&mut self) {
        self.leave();
        self.state = State::GivenUp;
    }

    /// Begins and asks; what only reads and is the `last` ends as well. All leave before the first
    /// response is waited for.
    pub(super) async fn open(
        &mut self,
        opening: &Opening<'_>,
        statements: &[BoundStatement<'_>],
        last: bool,
    ) -> Result<OpeningResults, Failure> {
        let (opened, cut) = self.exchange(opening, statements, last).await?;
        if cut {
            self.leave();
        }
        Ok(opened)
    }

    /// The same, and whether one of the responses ended before its last row.
    async fn exchange(
        &mut self,
        opening: &Opening<'_>,
        statements: &[BoundStatement<'_>],
        last: bool,
    ) -> Result<(OpeningResults, bool), Failure> {
        let Some(client) = &self.client else {
            return Err(over());
        };
        sql_log::control(&opening.begin);
        for statement in &opening.statements {
            sql_log::typed(statement.text, statement.types());
        }
        sql_log::statements(statements);
        let mut begin = pin!(maybe_done(client.batch_execute(&opening.begin)));
        let prepared = async {
            let mut entering = Vec::with_capacity(opening.statements.len());
            for statement in &opening.statements {
                entering.push(client.prepare_cached(statement.text).await?);
            }
            Ok::<_, tokio_postgres::Error>((entering, prepare_all(client, statements).await?))
        };
        let (entering, ready) = if self.postgres.with_settings().is_some() {
            // Names have no meaning before the settings of the transaction, so it begins before anything
            // is prepared.
            self.state = State::Open;
            behind(begin.as_mut(), prepared).await?
        } else {
            prepared.await?
        };
        self.state = State::Open;
        let client: &Client = client;
        // What is polled first leaves first, and all of these poll in order.
        let mut known = Vec::with_capacity(entering.len());
        for (prepared, statement) in entering.iter().zip(&opening.statements) {
            known.push(enter(client, prepared, statement));
        }
        let known = join_all(known);
        let goes_on = !self.kind.only_reads();
        let responses = ready.iter().map(|ready| receive(client, ready, goes_on));
        let mut received = pin!(join3(begin.as_mut(), known, join_all(responses)));
        let ((), known, responses) = if last {
            // Of what only read, the end has nothing to report: it leaves behind the rest, whatever has come
            // back by then, and the next transaction of this connection leaves behind it.
            sql_log::control("COMMIT");
            let mut commit = pin!(client.batch_execute("COMMIT"));
            let mut left = false;
            let responses = poll_fn(|cx| {
                let responses = received.as_mut().poll(cx);
                if !left {
                    left = true;
                    let _ = commit.as_mut().poll(cx);
                }
                responses
            })
            .await;
            self.state = State::Over;
            responses
        } else {
            received.as_mut().await
        };
        begin.take_output().unwrap_or(Ok(()))?;
        let mut found = Vec::new();
        for (rows, statement) in known.into_iter().zip(&opening.statements) {
            let rows = rows.map_err(|error| opening.failure(error))?;
            if statement.responds {
                found.extend(rows);
            }
        }
        let cut = responses.iter().flatten().any(|response| response.cut);
        let responses = responses.into_iter();
        let responses = responses.map(|response| response.map(|response| response.rows));
        let results = responses.collect();
        Ok((
            OpeningResults {
                known: found,
                results,
            },
            cut,
        ))
    }

    async fn send(
        &mut self,
        statements: &[BoundStatement<'_>],
    ) -> Result<Vec<Vec<tokio_postgres::Row>>, Failure> {
        let Some(client) = &self.client else {
            return Err(over());
        };
        sql_log::statements(statements);
        let ready = prepare_all(client, statements).await?;
        let client: &Client = client;
        let goes_on = !self.kind.only_reads();
        let responses = ready.iter().map(|ready| receive(client, ready, goes_on));
        let responses = try_join_all(responses).await?;
        if responses.iter().any(|response| response.cut) {
            self.leave();
        }
        let rows = responses.into_iter().map(|response| response.rows);
        Ok(rows.collect())
    }

    /// Closes a connection on which there is still something to come that nobody will read.
    fn leave(&mut self) {
        self.state = State::Over;
        drop(self.client.take().map(Object::take));
    }

    /// Ends the transaction.
    pub(in crate::store) async fn end(&mut self, commit: bool) -> Result<(), StoreError> {
        if self.state == State::Open
            && let Some(client) = &self.client
        {
            let words = if commit { "COMMIT" } else { "ROLLBACK" };
            sql_log::control(words);
            let ended = client.batch_execute(words);
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
                Err(_) => self.silent(),
            };
            self.failed = self.failed.or(Some(Outcome::from(&error)));
            return Err(error);
        }
        if self.state == State::GivenUp && commit {
            return Err(given_up());
        }
        self.state = State::Over;
        Ok(())
    }
}

/// The error of what is asked of a transaction whose connection was given up.
fn given_up() -> StoreError {
    StoreError::Unavailable("the connection was given up".to_owned())
}

/// Sends a statement of an opening.
async fn enter(
    client: &Client,
    prepared: &tokio_postgres::Statement,
    statement: &OpeningStatement<'_>,
) -> Result<Vec<tokio_postgres::Row>, tokio_postgres::Error> {
    let parameters = references(&statement.parameters);
    client.query(prepared, &parameters).await
}

impl Drop for Pipelined {
    fn drop(&mut self) {
        if (self.state == State::Open || self.unwritable)
            && let Some(client) = self.client.take()
        {
            drop(Object::take(client));
        }
    }
}
