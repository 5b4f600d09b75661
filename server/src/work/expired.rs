//! What has served its time is removed, a part at a time, so that others get in between.

use crate::context::Context;
use crate::http::idempotency::KEPT;
use crate::store::{Scope, Store, StoreError, Tx};

/// How many lines go in one transaction.
const BATCH: i64 = 1000;

/// A kind of lines that expire: the statement that removes some of them, given an instant and a number.
struct Expiring {
    scope: Scope,
    before: i64,
    sql: &'static str,
}

/// Removes the token pairs that have expired, and gives how many there were. One that was rotated
/// stays until then: using it again has to be noticed.
///
/// # Errors
/// Those of the store.
pub async fn remove_expired_sessions(store: &Store, context: &Context) -> Result<u64, StoreError> {
    let sql = "DELETE FROM main.sessions WHERE id IN (SELECT id FROM sessions \
         WHERE refresh_expires_at <= $1 AND access_expires_at <= $1 LIMIT $2) RETURNING id";
    let (scope, before) = (Scope::Gate, context.now());
    remove(store, &Expiring { scope, before, sql }).await
}

/// Removes answers that were kept for requests sent again, and gives how many there were.
///
/// # Errors
/// Those of the store.
pub async fn remove_kept_answers(store: &Store, context: &Context) -> Result<u64, StoreError> {
    // The age is asked twice: a key may have been claimed anew meanwhile.
    let sql = "DELETE FROM main.idempotency WHERE created_at < $1 \
         AND (caller_id, method, path, key) IN (SELECT caller_id, method, path, key \
         FROM idempotency WHERE created_at < $1 ORDER BY created_at LIMIT $2) RETURNING key";
    let (scope, before) = (Scope::Operator, context.now() - KEPT);
    remove(store, &Expiring { scope, before, sql }).await
}

async fn remove(store: &Store, expiring: &Expiring) -> Result<u64, StoreError> {
    let mut removed = 0;
    loop {
        let part = (expiring.sql, expiring.before);
        let count = store
            .write(&expiring.scope, part, |tx, part| {
                Box::pin(remove_part(tx, *part))
            })
            .await?;
        removed += count as u64;
        if i64::try_from(count).is_ok_and(|count| count < BATCH) {
            return Ok(removed);
        }
    }
}

async fn remove_part(tx: &mut Tx, (sql, before): (&'static str, i64)) -> Result<usize, StoreError> {
    Ok(tx.query(sql, &[before.into(), BATCH.into()]).await?.len())
}
