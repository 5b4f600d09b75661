//! Whether a database can become a store.

use tokio_postgres::Transaction;

use crate::store::{StoreError, sql_log};

/// The database, and in which encoding it keeps texts.
const ENCODING: &str =
    "SELECT CAST(current_database() AS text), current_setting('server_encoding')";

/// Whether there is a schema `main` with something in it, and no ledger of migrations. A schema that is empty was made for
/// this one; what belongs to an extension is nobody's, and an index is its table's. One look sees all or nothing of what
/// another process migrates.
const FOREIGN: &str = "SELECT coalesce(bool_and(relname <> 'schema_migrations'), false) \
     FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace \
     WHERE nspname = 'main' AND relkind NOT IN ('i', 'I') AND NOT EXISTS (SELECT FROM pg_depend \
     WHERE classid = CAST('pg_class' AS regclass) AND objid = pg_class.oid AND deptype = 'e')";

/// Refuses one whose texts are not in UTF-8, or whose schema another program has.
pub(super) async fn check(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    sql_log::control(ENCODING);
    let row = transaction.query_one(ENCODING, &[]).await?;
    let (database, encoding): (String, String) = (row.try_get(0)?, row.try_get(1)?);
    if encoding != "UTF8" {
        return Err(StoreError::NotUtf8 { database, encoding });
    }
    sql_log::control(FOREIGN);
    let is_foreign: bool = transaction.query_one(FOREIGN, &[]).await?.try_get(0)?;
    if is_foreign {
        return Err(StoreError::ForeignSchema(database));
    }
    Ok(())
}
