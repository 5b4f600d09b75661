//! Starts scheduled runs: one for each due instant of an active version.
//!
//! The row of a schedule has its next due instant, which moves on in the transaction that starts
//! the run. A unique key allows one run per instant, so several processes may try.

use jiff::Timestamp;
use tplkit::automation::run::{Reason, Schedule, Timer};
use tplkit::json::Value as Json;
use uuid::Uuid;

use super::executor::RunExecutor;
use super::{connections, find, runs};
use crate::store::{Scope, StoreError, Tx};

/// Schedules missed by more than a day are skipped (microseconds).
const TOO_LATE: i64 = 24 * 3600 * 1_000_000;

/// How many schedules one round looks at.
const BATCH: i64 = 100;

/// A row that was found due: the next instant of a version, and since when the active version is that. Where another
/// version is the active one, the instants up to then wait for their runs.
#[derive(Debug, Clone)]
struct DueSchedule {
    organization: Uuid,
    workflow: Uuid,
    version: i64,
    since: i64,
    due_at: Option<i64>,
    /// For a run.
    id: Uuid,
    now: i64,
}

/// Begins the runs that are due, and gives how many schedules were moved on.
///
/// # Errors
/// Those of the store.
pub(super) async fn begin_due(executor: &RunExecutor, scope: &Scope) -> Result<usize, StoreError> {
    let mut moved = 0;
    loop {
        let now = executor.context.now();
        let found: Vec<DueSchedule> = executor
            .store
            .read(scope, now, |tx, now| Box::pin(due(tx, *now)))
            .await?;
        if found.is_empty() {
            return Ok(moved);
        }
        for mut due in found {
            due.id = executor.context.id();
            executor
                .store
                .write(scope, due, |tx, due| Box::pin(advance(tx, due)))
                .await?;
            moved += 1;
        }
    }
}

async fn due(tx: &mut Tx, now: i64) -> Result<Vec<DueSchedule>, StoreError> {
    let sql = "SELECT organization_id, workflow_id, version, since, due_at FROM workflow_schedules \
         WHERE {queue organization_id} AND (due_at IS NULL OR due_at <= $1) ORDER BY due_at, workflow_id LIMIT $2 \
         {across queue}";
    let rows = tx.query(sql, &[now.into(), BATCH.into()]).await?;
    rows.iter()
        .map(|row| {
            Ok(DueSchedule {
                organization: row.get(0)?,
                workflow: row.get(1)?,
                version: row.get(2)?,
                since: row.get(3)?,
                due_at: row.get(4)?,
                id: Uuid::nil(),
                now,
            })
        })
        .collect()
}

/// Begins the run of the instant, and notes the next one.
async fn advance(tx: &mut Tx, due: &DueSchedule) -> Result<(), StoreError> {
    // Whoever publishes or deletes an automation keeps it, and then its schedule: the run refers to it, too.
    let keeps = "SELECT id FROM workflows WHERE organization_id = $1 AND id = $2 {share workflows}";
    tx.query(keeps, &[due.organization.into(), due.workflow.into()])
        .await?;
    let noted = find::by_number(tx, due.organization, due.workflow, due.version).await?;
    // Whose instants are still due, although another version is active by now.
    let (version, before) = match noted {
        Some(noted) if noted.is_active => (Some(noted), None),
        noted => {
            let active = find::active_of(tx, due.organization, due.workflow).await?;
            (active, noted)
        }
    };
    let Some(version) = version else {
        // It fires no more.
        let sql = "DELETE FROM main.workflow_schedules WHERE organization_id = $1 \
             AND workflow_id = $2 AND version = $3";
        let of = [
            due.organization.into(),
            due.workflow.into(),
            due.version.into(),
        ];
        return tx.query(sql, &of).await.map(drop);
    };
    let trigger = &before.as_ref().unwrap_or(&version).trigger_config;
    let schedule = schedule(tx, due.organization, trigger).await?;
    // What was made by a clock that was ahead is there by now.
    let made_at = Some(version.created_at).filter(|made_at| *made_at <= due.now);
    // A version is active from `since` on: no earlier instant is its own.
    let from = match (due.due_at, &before) {
        (Some(at), Some(_)) => at,
        (at, _) => at
            .unwrap_or(due.since)
            .max(due.since)
            .max(made_at.unwrap_or(due.since)),
    };
    let next = match &schedule {
        Ok(schedule) => {
            let from = from.max(due.now - TOO_LATE);
            let from = Timestamp::from_microsecond(from).unwrap_or(Timestamp::UNIX_EPOCH);
            schedule.next_after(from).map(Timestamp::as_microsecond)
        }
        Err(_) => None,
    };
    let (number, next) = match before.as_ref() {
        Some(before) => match next.filter(|next| *next <= due.since) {
            Some(next) => (before.version, Some(next)),
            // From here on the active version decides.
            None => (version.version, None),
        },
        // What is never due again stands as far away as can be.
        None => (version.version, Some(next.unwrap_or(i64::MAX))),
    };
    // Who finds the row as it was is the one who begins the run.
    let sql = "UPDATE main.workflow_schedules SET version = $6, due_at = $4 WHERE organization_id = $1 \
         AND workflow_id = $2 AND version = $3 AND coalesce(due_at, -1) = $5 AND since = $7 \
         RETURNING workflow_id";
    let parameters = [
        due.organization.into(),
        due.workflow.into(),
        due.version.into(),
        next.into(),
        due.due_at.unwrap_or(-1).into(),
        number.into(),
        due.since.into(),
    ];
    if tx.first(sql, &parameters).await?.is_none() {
        return Ok(());
    }
    let error = schedule.err().filter(|_| before.is_none());
    if due.due_at.is_none_or(|at| at < due.now - TOO_LATE) && error.is_none() {
        return Ok(());
    }
    let new = runs::NewRun {
        id: due.id,
        organization: due.organization,
        workspace: version.workspace,
        workflow: due.workflow,
        version: version.version,
        trigger: "cron",
        row: None,
        dry_run: false,
        depth: 1,
        cause: None,
        chain: None,
        caller: None,
        publisher: version.publisher,
        due_at: due.due_at.or(Some(due.since)),
        now: due.now,
    };
    runs::begin(tx, &new).await?;
    if let Some(error) = error {
        let sql = "UPDATE main.workflow_runs SET status = 'failed', error = $3, error_code = $5, finished_at = $4 \
             WHERE organization_id = $1 AND id = $2";
        let message = format!("the trigger is never due: {error}");
        let parameters = [
            due.organization.into(),
            due.id.into(),
            message.into(),
            due.now.into(),
            Reason::StepFailed.as_str().into(),
        ];
        tx.query(sql, &parameters).await?;
    }
    Ok(())
}

/// The schedule that a trigger says, with the timer that it may name.
pub(super) async fn schedule(
    tx: &mut Tx,
    organization: Uuid,
    trigger: &str,
) -> Result<Result<Schedule, String>, StoreError> {
    let trigger = Json::parse(trigger).unwrap_or_default();
    let config = trigger.get("config").cloned().unwrap_or_default();
    let named = config.get("timerProfile").and_then(Json::as_str);
    let mut timer = None;
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        let url = connections::timer(tx, organization, named).await?;
        timer = url.as_deref().and_then(Timer::parse);
    }
    Ok(Schedule::read(&config, timer.as_ref()))
}
