//! Limits the external calls of one organization across all processes of a store.
//!
//! Each call acquires a permit, which is stored with its run and held by the run's lease. Permits need
//! no renewal, and a killed process holds none longer than its runs.

use super::runs::Run;
use crate::store::{StoreError, Tx, lease};

/// How many calls of one organization run at once.
pub(super) const MAX_CALLS: usize = 16;

/// What became of asking for a permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PermitOutcome {
    /// The run has one.
    Taken,
    /// There is none at the moment.
    Full,
    /// The run is somebody else's by now.
    Fenced,
}

/// Acquires a permit for a run that is held.
///
/// # Errors
/// Those of the store; [`StoreError::Unique`] when another one took this permit at the same moment.
pub(super) async fn take(tx: &mut Tx, run: &Run) -> Result<PermitOutcome, StoreError> {
    let sql = concat!(
        "SELECT calling, id, coalesce(",
        lease!(held "{clock}"),
        ", false) FROM workflow_runs WHERE organization_id = $1 AND calling IS NOT NULL"
    );
    let mut taken = [false; MAX_CALLS];
    let mut ended = Vec::new();
    for row in tx.query(sql, &[run.organization.into()]).await? {
        let (permit, of): (i64, uuid::Uuid) = (row.get(0)?, row.get(1)?);
        if of == run.id {
            continue;
        }
        if row.get(2)? {
            if let Some(permit) = usize::try_from(permit)
                .ok()
                .and_then(|at| taken.get_mut(at))
            {
                *permit = true;
            }
        } else {
            ended.push(vec![run.organization.into(), of.into(), permit.into()]);
        }
    }
    // Those who ask at one moment begin to look at different permits.
    let first = i64::from(run.id.as_bytes()[15]);
    let count = i64::try_from(MAX_CALLS).unwrap_or(i64::MAX);
    let mut permits = (first..first + count).map(|permit| permit % count);
    let free = permits.find(|permit| usize::try_from(*permit).is_ok_and(|at| !taken[at]));
    let Some(free) = free else {
        return Ok(PermitOutcome::Full);
    };
    let sql = concat!(
        "UPDATE main.workflow_runs SET calling = NULL WHERE ",
        lease!(row),
        " AND calling = $3 AND ",
        lease!(free "{clock}")
    );
    tx.each(sql, &ended).await?;
    let sql = concat!(
        "UPDATE main.workflow_runs SET calling = $4 WHERE ",
        lease!(fence),
        " RETURNING id"
    );
    let parameters = run.attempt().with([free.into()]);
    let row = tx.first(sql, &parameters).await?;
    Ok(row.map_or(PermitOutcome::Fenced, |_| PermitOutcome::Taken))
}

/// Gives the permit of a run back.
///
/// # Errors
/// Those of the store.
pub(super) async fn leave(tx: &mut Tx, run: &Run) -> Result<(), StoreError> {
    let sql = concat!(
        "UPDATE main.workflow_runs SET calling = NULL WHERE ",
        lease!(fence)
    );
    let parameters = run.attempt().with([]);
    tx.query(sql, &parameters).await.map(drop)
}
