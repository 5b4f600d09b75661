//! A statement that is sent before its result is needed.
//!
//! In: a statement and its parameters. Out: its rows, when they are asked for. Sending it takes until the database
//! has begun to respond. What is sent in between comes back behind it.

use super::tx::Inner;
use super::{Row, StoreError, Tx, Value};

impl Tx {
    /// Sends a statement whose result is asked for later, in place of one that was not asked for; and whether it did. It
    /// does not where nothing is gained by it: on SQLite, and where the statement would begin or end a transaction.
    ///
    /// # Errors
    /// As [`query`](Tx::query).
    pub(crate) async fn send_ahead(
        &mut self,
        source: &'static str,
        parameters: &[Value],
    ) -> Result<bool, StoreError> {
        if !self.has_begun() {
            return Ok(false);
        }
        let statement = self.text(source, parameters.len())?;
        let parameters = self.complete(&statement, parameters.to_vec())?;
        match &mut self.inner {
            Inner::Postgres(connection) => connection.send_ahead(&statement, &parameters).await,
            Inner::Sqlite(_) | Inner::Gone => Ok(false),
        }
    }

    /// The result of the statement that was sent ahead; nothing where none was.
    ///
    /// # Errors
    /// As [`query`](Tx::query).
    pub(crate) async fn receive(&mut self) -> Result<Option<Vec<Row>>, StoreError> {
        match &mut self.inner {
            Inner::Postgres(connection) => connection.receive().await,
            Inner::Sqlite(_) | Inner::Gone => Ok(None),
        }
    }
}
