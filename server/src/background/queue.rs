//! Measures the waiting work of automations, for the metrics.

use super::TaskContext;
use crate::automation::run_lease::waits;
use crate::store::{Scope, StoreError, Tx};

/// Looks how many events and runs are due and held by nobody, and for how long the oldest.
///
/// # Errors
/// Those of the store.
pub async fn measure_queue(task_context: &TaskContext) -> Result<u64, StoreError> {
    let now = task_context.context.now();
    let (count, oldest) = task_context
        .store
        .read(&Scope::Operator, now, |tx, now| Box::pin(waiting(tx, *now)))
        .await?;
    let age = oldest.map_or(0, |oldest| now - oldest);
    task_context.metrics.runs().waiting(count, age);
    Ok(0)
}

/// How many there are, and since when the oldest is due.
async fn waiting(tx: &mut Tx, now: i64) -> Result<(i64, Option<i64>), StoreError> {
    let events = "SELECT count(*), min(created_at) FROM workflow_events {across queue}";
    let events = tx.first(events, &[]).await?;
    let runs = concat!(
        "SELECT count(*), min(coalesce(wake_at, created_at)) FROM workflow_runs WHERE ",
        waits!(),
        " {across queue}"
    );
    let runs = tx.first(runs, &[now.into()]).await?;
    let (mut count, mut oldest) = (0, None::<i64>);
    for row in [events, runs].into_iter().flatten() {
        count += row.get::<i64>(0)?;
        let since: Option<i64> = row.get(1)?;
        oldest = oldest.into_iter().chain(since).min();
    }
    Ok((count, oldest))
}
