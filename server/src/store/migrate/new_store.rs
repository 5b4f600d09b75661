//! Whether a database can become a store.

use tokio_postgres::Transaction;

use crate::store::{StoreError, sql_log};

/// The database, and in which encoding it keeps texts.
const ENCODING: &str =
    "SELECT CAST(current_database() AS text), current_setting('server_encoding')";

/// Refuses one whose texts are not in UTF-8.
pub(super) async fn check(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    sql_log::control(ENCODING);
    let row = transaction.query_one(ENCODING, &[]).await?;
    let (database, encoding): (String, String) = (row.try_get(0)?, row.try_get(1)?);
    if encoding != "UTF8" {
        return Err(StoreError::NotUtf8 { database, encoding });
    }
    Ok(())
}
