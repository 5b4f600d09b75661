//! Runs statements of a migration: in a transaction of its own settings, written to the log of statements.

use tokio_postgres::{Client, IsolationLevel, Transaction};

use super::statements::statements;
use crate::store::sql_log;

/// A migration takes as long as it takes, and finds its tables, and means the same, however the session was started. None
/// outlives the transaction: behind a pooler, the session goes to somebody else next.
pub(super) const SETTINGS: &str = "SET LOCAL search_path = main; SET LOCAL statement_timeout = 0; \
     SET LOCAL standard_conforming_strings = on; SET LOCAL row_security = on";

/// Begins a transaction that sees what others did while it waited for them, whatever the default of the database is.
pub(super) async fn begin(client: &mut Client) -> Result<Transaction<'_>, tokio_postgres::Error> {
    // In the words of the library.
    sql_log::control("START TRANSACTION ISOLATION LEVEL READ COMMITTED");
    let transaction = client.build_transaction();
    let transaction = transaction.isolation_level(IsolationLevel::ReadCommitted);
    transaction.start().await
}

/// Runs statements without parameters.
pub(super) async fn run(
    transaction: &Transaction<'_>,
    text: &str,
) -> Result<(), tokio_postgres::Error> {
    sql_log::control(text);
    transaction.batch_execute(text).await
}

/// Runs statements one by one: Citus sends the words of each to its workers.
pub(super) async fn run_each(
    transaction: &Transaction<'_>,
    text: &str,
) -> Result<(), tokio_postgres::Error> {
    for statement in statements(text) {
        run(transaction, statement).await?;
    }
    Ok(())
}

/// Shows how a transaction ends: one that is dropped is rolled back.
pub(super) fn log_end(commits: bool) {
    sql_log::control(if commits { "COMMIT" } else { "ROLLBACK" });
}
