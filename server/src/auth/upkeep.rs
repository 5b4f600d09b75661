//! Sessions that nobody can use any more.

use crate::context::Context;
use crate::store::{Scope, Store, StoreError, Tx};

/// How many are removed in one transaction, so that others get in between.
const BATCH: i64 = 1000;

/// Removes the token pairs that have expired, and gives how many there were. One that was rotated
/// stays until then: using it again has to be noticed.
///
/// # Errors
/// Those of the store.
pub async fn remove_expired_sessions(store: &Store, context: &Context) -> Result<u64, StoreError> {
    let mut removed = 0;
    loop {
        let count = store
            .write(&Scope::Gate, context.now(), |tx, now| {
                Box::pin(remove(tx, *now))
            })
            .await?;
        removed += count as u64;
        if i64::try_from(count).is_ok_and(|count| count < BATCH) {
            return Ok(removed);
        }
    }
}

async fn remove(tx: &mut Tx, now: i64) -> Result<usize, StoreError> {
    let sql = "DELETE FROM main.sessions WHERE id IN (SELECT id FROM sessions \
         WHERE refresh_expires_at <= $1 AND access_expires_at <= $1 LIMIT $2) RETURNING id";
    Ok(tx.query(sql, &[now.into(), BATCH.into()]).await?.len())
}
