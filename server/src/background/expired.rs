//! Removes expired records in small batches, so that other work gets in between.

use std::time::Duration;

use crate::context::{Context, micros};
use crate::retention::KEPT_RESPONSES;
use crate::store::{Scope, Store, StoreError, Tx};

/// How many rows go in one transaction.
const BATCH: i64 = 1000;
/// How many runs do: each takes its steps along.
const RUNS: i64 = 200;

/// Rows that expire.
#[derive(Debug, Clone, Copy)]
struct ExpiringRows {
    /// Removes some of them, given an instant and a number.
    sql: &'static str,
    /// The instant, in microseconds.
    before: i64,
    /// The number: at most so many at a time.
    most: i64,
}

/// Removes the token pairs that have expired, and gives how many there were. One that was rotated
/// stays until then: using it again has to be noticed.
///
/// # Errors
/// Those of the store.
pub async fn remove_expired_sessions(store: &Store, context: &Context) -> Result<u64, StoreError> {
    let sql = "DELETE FROM main.sessions WHERE id IN (SELECT id FROM sessions \
         WHERE refresh_expires_at <= $1 AND access_expires_at <= $1 LIMIT $2) RETURNING id";
    let expiring = ExpiringRows {
        sql,
        before: context.now(),
        most: BATCH,
    };
    remove(store, Scope::Authentication, expiring).await
}

/// Removes responses that were kept for requests sent again, and gives how many there were.
///
/// # Errors
/// Those of the store.
pub async fn remove_kept_responses(store: &Store, context: &Context) -> Result<u64, StoreError> {
    // The age is asked twice: a key may have been claimed anew meanwhile.
    let sql = "DELETE FROM main.idempotency WHERE created_at < $1 \
         AND (caller_id, method, path, key) IN (SELECT caller_id, method, path, key \
         FROM idempotency WHERE created_at < $1 ORDER BY created_at LIMIT $2) RETURNING key";
    let expiring = ExpiringRows {
        sql,
        before: context.now() - KEPT_RESPONSES,
        most: BATCH,
    };
    remove(store, Scope::Operator, expiring).await
}

/// Removes runs of automations that finished longer than `kept` ago, with their steps, and gives how many
/// there were. What has not finished stays, however old it is.
///
/// # Errors
/// Those of the store.
pub async fn remove_old_runs(
    store: &Store,
    context: &Context,
    kept: Duration,
) -> Result<u64, StoreError> {
    let sql = "DELETE FROM main.workflow_runs WHERE (organization_id, id) IN \
         (SELECT organization_id, id FROM workflow_runs WHERE finished_at < $1 \
         ORDER BY finished_at LIMIT $2) RETURNING id";
    let kept = i64::try_from(micros(kept)).unwrap_or(i64::MAX / 2);
    let expiring = ExpiringRows {
        sql,
        before: context.now() - kept,
        most: RUNS,
    };
    remove(store, Scope::Operator, expiring).await
}

async fn remove(store: &Store, scope: Scope, expiring: ExpiringRows) -> Result<u64, StoreError> {
    let mut removed = 0;
    loop {
        let count = store
            .write(&scope, expiring, |tx, part| {
                Box::pin(remove_part(tx, *part))
            })
            .await?;
        removed += count as u64;
        if i64::try_from(count).is_ok_and(|count| count < expiring.most) {
            return Ok(removed);
        }
    }
}

async fn remove_part(tx: &mut Tx, expiring: ExpiringRows) -> Result<usize, StoreError> {
    Ok(tx
        .query(
            expiring.sql,
            &[expiring.before.into(), expiring.most.into()],
        )
        .await?
        .len())
}
