//! Removes expired records in small batches, so that other work gets in between.

use std::time::Duration;

use uuid::Uuid;

use crate::context::{Context, micros};
use crate::retention::KEPT_RESPONSES;
use crate::store::{Scope, Store, StoreError, Tx, Value};

/// How many rows go in one transaction.
const ROWS_PER_TRANSACTION: i64 = 1000;
/// How many runs do: each takes its steps along.
const RUNS_PER_TRANSACTION: i64 = 200;

/// What expires.
#[derive(Debug, Clone, Copy)]
enum Expired {
    Sessions,
    KeptResponses,
    Runs,
    Chains,
}

/// Rows that expire.
#[derive(Debug, Clone, Copy)]
struct ExpiringRows {
    what: Expired,
    /// Those of before that instant, in microseconds.
    before: i64,
    /// At most so many at a time.
    most: i64,
}

/// Removes the token pairs that have expired, and gives how many there were. One that was rotated
/// stays until then: using it again has to be noticed.
///
/// # Errors
/// Those of the store.
pub async fn remove_expired_sessions(store: &Store, context: &Context) -> Result<u64, StoreError> {
    let expiring = ExpiringRows {
        what: Expired::Sessions,
        before: context.now(),
        most: ROWS_PER_TRANSACTION,
    };
    remove(store, Scope::Authentication, expiring).await
}

/// Removes responses that were kept for requests sent again, and gives how many there were.
///
/// # Errors
/// Those of the store.
pub async fn remove_kept_responses(store: &Store, context: &Context) -> Result<u64, StoreError> {
    let expiring = ExpiringRows {
        what: Expired::KeptResponses,
        before: context.now() - KEPT_RESPONSES,
        most: ROWS_PER_TRANSACTION,
    };
    remove(store, Scope::Operator, expiring).await
}

/// Removes runs of automations that finished longer than `kept` ago, with their steps, and gives how many
/// there were. What has not finished stays, however old it is. Counts of chains that began before that go, too.
///
/// # Errors
/// Those of the store.
pub async fn remove_old_runs(
    store: &Store,
    context: &Context,
    kept: Duration,
) -> Result<u64, StoreError> {
    let kept = i64::try_from(micros(kept)).unwrap_or(i64::MAX / 2);
    let expiring = ExpiringRows {
        what: Expired::Runs,
        before: context.now() - kept,
        most: RUNS_PER_TRANSACTION,
    };
    let removed = remove(store, Scope::Operator, expiring).await?;
    let chains = ExpiringRows {
        what: Expired::Chains,
        most: ROWS_PER_TRANSACTION,
        ..expiring
    };
    remove(store, Scope::Operator, chains).await?;
    Ok(removed)
}

async fn remove(store: &Store, scope: Scope, expiring: ExpiringRows) -> Result<u64, StoreError> {
    let mut removed = 0;
    loop {
        let part = store
            .write(&scope, expiring, |tx, part| {
                Box::pin(remove_part(tx, *part))
            })
            .await?;
        removed += part.removed as u64;
        if i64::try_from(part.found).is_ok_and(|found| found < expiring.most) {
            return Ok(removed);
        }
    }
}

/// What one transaction did.
#[derive(Debug, Clone, Copy)]
struct RemovedPart {
    found: usize,
    removed: usize,
}

async fn remove_part(tx: &mut Tx, expiring: ExpiringRows) -> Result<RemovedPart, StoreError> {
    let of = [expiring.before.into(), expiring.most.into()];
    match expiring.what {
        Expired::Sessions => {
            let sql = "DELETE FROM main.sessions WHERE id IN (SELECT id FROM sessions \
                 WHERE refresh_expires_at <= $1 AND access_expires_at <= $1 LIMIT $2) RETURNING id";
            let found = tx.query(sql, &of).await?.len();
            let removed = found;
            Ok(RemovedPart { found, removed })
        }
        Expired::KeptResponses => {
            let finds = "SELECT caller_id, method, path, key FROM idempotency WHERE created_at < $1 \
                 ORDER BY created_at LIMIT $2 {across queue}";
            let found = tx.query(finds, &of).await?;
            // The age is asked twice: a key may have been claimed anew meanwhile.
            let sql = "DELETE FROM main.idempotency WHERE caller_id = $1 AND method = $2 AND path = $3 AND key = $4 \
                 AND created_at < $5 RETURNING key";
            let keys = found.iter().map(|row| {
                Ok(vec![
                    row.get::<Uuid>(0)?.into(),
                    row.get::<String>(1)?.into(),
                    row.get::<String>(2)?.into(),
                    row.get::<String>(3)?.into(),
                    expiring.before.into(),
                ])
            });
            let keys = keys.collect::<Result<Vec<Vec<Value>>, StoreError>>()?;
            let removed = tx.each(sql, &keys).await?;
            Ok(RemovedPart {
                found: found.len(),
                removed: removed.iter().flatten().count(),
            })
        }
        Expired::Runs => {
            let finds = "SELECT organization_id, id FROM workflow_runs WHERE finished_at < $1 \
                 ORDER BY finished_at LIMIT $2 {across queue}";
            let sql = "DELETE FROM main.workflow_runs WHERE organization_id = $1 AND {any id $2} RETURNING id";
            remove_found(tx, finds, sql, &of).await
        }
        Expired::Chains => {
            let finds = "SELECT organization_id, id FROM run_chains WHERE created_at < $1 \
                 ORDER BY created_at LIMIT $2 {across queue}";
            let sql = "DELETE FROM main.run_chains WHERE organization_id = $1 AND {any id $2} RETURNING id";
            remove_found(tx, finds, sql, &of).await
        }
    }
}

/// Removes what the first statement finds with the second one, organization by organization.
async fn remove_found(
    tx: &mut Tx,
    finds: &'static str,
    removes: &'static str,
    of: &[Value],
) -> Result<RemovedPart, StoreError> {
    let found = tx.query(finds, of).await?;
    let removed = tx.by_organization(removes, &found, &[]).await?;
    Ok(RemovedPart {
        found: found.len(),
        removed: removed.len(),
    })
}
