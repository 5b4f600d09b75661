//! Chains: what one run causes, through other runs too. Their length is bounded, so that automations that set each other
//! off end, however many each of them starts.

use tplkit::automation::run::Reason;
use tplkit::automation::run::effect_rules::MAX_CHAIN_DEPTH;
use uuid::Uuid;

use super::run_failure::RunFailure;
use crate::store::{StoreError, Tx};

/// How many runs a chain may have, next to the one that began it.
const MAX_CAUSED_RUNS: i64 = 50_000;

/// Runs that are about to be caused in a chain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extension {
    pub(super) organization: Uuid,
    /// The run that began the chain.
    pub(super) chain: Uuid,
    /// How many.
    pub(super) by: i64,
}

/// Counts runs, and gives how many of them each chain may have: -1 where a run of it was refused before. The counts
/// stay locked until the transaction ends, so those of several chains come in the order of their ids.
///
/// # Errors
/// Those of the store.
pub(super) async fn extend(
    tx: &mut Tx,
    extensions: &[Extension],
    now: i64,
) -> Result<Vec<i64>, StoreError> {
    let sql = "INSERT INTO main.run_chains {into $1} (organization_id, id, caused, created_at) \
         VALUES ($1, $2, $3, $4) ON CONFLICT (organization_id, id) \
         DO UPDATE SET caused = run_chains.caused + excluded.caused RETURNING caused";
    let parameters = extensions.iter().map(|one| {
        vec![
            one.organization.into(),
            one.chain.into(),
            one.by.into(),
            now.into(),
        ]
    });
    let counted = tx.each(sql, &parameters.collect::<Vec<_>>()).await?;
    let allowed = extensions.iter().zip(counted).map(|(one, rows)| {
        let caused: i64 = rows.first().map_or(Ok(one.by), |row| row.get(0))?;
        Ok((MAX_CAUSED_RUNS - (caused - one.by)).clamp(-1, one.by))
    });
    allowed.collect()
}

/// Why a run of that depth is not executed.
pub(super) fn too_deep(depth: i64) -> Option<RunFailure> {
    (depth > i64::from(MAX_CHAIN_DEPTH)).then(|| {
        let detail = format!(
            "runs caused one another to a depth of {depth}, and {MAX_CHAIN_DEPTH} is the deepest: the automations set each other off"
        );
        RunFailure::new(Reason::TooDeep, detail)
    })
}

/// Why a run beyond the length of its chain is not executed.
pub(super) fn too_long() -> RunFailure {
    let detail = format!(
        "one run has caused {MAX_CAUSED_RUNS} others, directly and through them, and no chain is longer: the automations set each \
         other off"
    );
    RunFailure::new(Reason::TooDeep, detail)
}
