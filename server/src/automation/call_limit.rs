//! Limits the external calls of one organization across all processes of a store.
//!
//! Each call takes a place, which is stored with its run and held by the run's lease. Places need
//! no renewal, and a killed process holds none longer than its runs.

use super::runs::Run;
use crate::store::{StoreError, Tx, lease};

/// How many calls of one organization run at once.
pub(super) const CALLS: usize = 16;
/// The same, as the store counts.
const PLACES: i64 = 16;

/// What became of asking for a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlaceOutcome {
    /// The run has one.
    Taken,
    /// There is none at the moment.
    Full,
    /// The run is somebody else's by now.
    Fenced,
}

/// Takes a place for a run that is held.
///
/// # Errors
/// Those of the store; [`StoreError::Unique`] when another one took this place at the same moment.
pub(super) async fn take(tx: &mut Tx, run: &Run) -> Result<PlaceOutcome, StoreError> {
    let sql = concat!(
        "SELECT calling, id, coalesce(",
        lease!(held "{clock}"),
        ", false) FROM workflow_runs WHERE organization_id = $1 AND calling IS NOT NULL"
    );
    let mut taken = [false; CALLS];
    let mut ended = Vec::new();
    for row in tx.query(sql, &[run.organization.into()]).await? {
        let (place, of): (i64, uuid::Uuid) = (row.get(0)?, row.get(1)?);
        if of == run.id {
            continue;
        }
        if row.get(2)? {
            if let Some(place) = usize::try_from(place).ok().and_then(|at| taken.get_mut(at)) {
                *place = true;
            }
        } else {
            ended.push(vec![run.organization.into(), of.into(), place.into()]);
        }
    }
    // Those who ask at one moment begin to look at different places.
    let first = i64::from(run.id.as_bytes()[15]);
    let mut places = (first..first + PLACES).map(|place| place % PLACES);
    let free = places.find(|place| usize::try_from(*place).is_ok_and(|at| !taken[at]));
    let Some(free) = free else {
        return Ok(PlaceOutcome::Full);
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
    Ok(row.map_or(PlaceOutcome::Fenced, |_| PlaceOutcome::Taken))
}

/// Gives the place of a run back.
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
