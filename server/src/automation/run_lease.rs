//! The lease of a run: which runs may be claimed, by whom, and how an attempt holds, leaves and ends one.
//!
//! An attempt at a run holds a lease of it ([`Hold`](crate::store::Hold)), measured by the clock of the database. Every
//! write first checks that the attempt still owns the run ([`hold`]).

use tplkit::automation::run::Reason;
use tplkit::json::Value as Json;
use uuid::Uuid;

use super::attempts::Attempts;
use super::find;
use super::mentioned_tables::{keeps_rows_apart, mentioned_ids};
use super::principal_lookup;
use super::processor_time::Meter;
use super::run_failure::RunFailure;
use super::runs::Run;
use crate::store::{Hold, PipelinedStatement, Row, StoreError, Tx, Value, lease};

/// How many attempts may end without a word before a run is given up.
const MAX_CRASHES: i64 = 3;

/// In a statement: the run may be claimed. `$1` is the time, or another parameter.
macro_rules! waits {
    () => {
        $crate::automation::run_lease::waits!("$1")
    };
    ($now:literal) => {
        concat!(
            "status IN ('queued', 'running') AND (wake_at IS NULL OR wake_at <= ",
            $now,
            ") AND ",
            $crate::store::lease!(free "{clock}")
        )
    };
}
pub(crate) use waits;

/// In a statement, behind [`waits!`]: its organization is none of `$2`. PostgreSQL has no opinion of `coalesce`.
/// A list that it does not know it takes for ten organizations: where it has counted fewer it expects that no run
/// is left, and sorts all that wait to find the first.
macro_rules! of_others {
    () => {
        " AND NOT coalesce({any organization_id $2}, false)"
    };
}
pub(super) use of_others;

/// The statement that finds up to so many runs behind `$3` that wait for nobody. The number is in it: a plan that
/// is made for any number is not made for a small one.
fn free(most: usize) -> &'static str {
    macro_rules! free {
        ($most:literal) => {
            concat!(
                "SELECT organization_id, id FROM workflow_runs WHERE ",
                waits!(),
                of_others!(),
                " AND {queue organization_id} AND id > $3 ORDER BY id LIMIT ",
                $most,
                " {across queue}"
            )
        };
    }
    match found_at_most(most) {
        32 => free!("32"),
        MIN_RUNS_PER_CLAIM => free!("8"),
        _ => free!("1"),
    }
}

/// How many runs of a backlog are claimed together at least.
pub(super) const MIN_RUNS_PER_CLAIM: usize = 8;

/// How many runs a claim of so many finds at most.
pub(super) fn found_at_most(most: usize) -> usize {
    match most {
        32.. => 32,
        MIN_RUNS_PER_CLAIM.. => MIN_RUNS_PER_CLAIM,
        _ => 1,
    }
}

/// Runs that were taken up.
#[derive(Debug, Default)]
pub(super) struct Claimed {
    /// Those that are to be executed.
    pub(super) runs: Vec<Run>,
    /// How many were given up instead: too many attempts at them ended without a word.
    pub(super) abandoned: usize,
}

/// Who claims runs, and how many.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClaimRequest {
    pub(super) owner: Uuid,
    /// At most so many.
    pub(super) most: usize,
    /// For how long, in microseconds by the clock of the database.
    pub(super) lease: i64,
    pub(super) now: i64,
}

/// Claims some of the runs that wait for nobody. Those of organizations that hold all they may be left, and so are those
/// whose attempt goes on here. One that is still somebody's was left by a process that ended.
///
/// # Errors
/// Those of the store.
pub(super) async fn claim(
    tx: &mut Tx,
    request: ClaimRequest,
    full: &[Uuid],
    attempts: &Attempts,
) -> Result<Claimed, StoreError> {
    let ClaimRequest {
        owner,
        most,
        lease,
        now,
    } = request;
    let mut rows = lock_waiting(tx, most, now, full).await?;
    // Whoever is at work on it here renews its lease, or lets go of it.
    rows.retain(|row| match (row.get(1), row.get::<Option<Uuid>>(16)) {
        (Ok(run), Ok(Some(holder))) => !attempts.goes_on(run, holder),
        _ => true,
    });
    let run = |row: &Row| {
        let id: Uuid = row.get(1)?;
        let crashed = row.get::<Option<Uuid>>(16)?.is_some();
        Ok(Run {
            organization: row.get(0)?,
            id,
            workspace: row.get(2)?,
            workflow: row.get(3)?,
            version: row.get(4)?,
            version_id: row.get(18)?,
            feature: row.get(5)?,
            row: row.get(6)?,
            record: row.get(7)?,
            dry_run: row.get(8)?,
            depth: row.get(9)?,
            began: row.get(17)?,
            caller: row.get(10)?,
            wake_at: row.get(11)?,
            fresh: row.get::<String>(12)? == "queued",
            publisher: row.get(13)?,
            crashes: row.get::<i64>(14)? + i64::from(crashed),
            meter: Meter::of(row.get(15)?),
            named: Vec::new(),
            owner,
            allowed: None,
        })
    };
    let found = rows.iter().map(run);
    let mut found = found.collect::<Result<Vec<Run>, StoreError>>()?;
    found.sort_unstable_by_key(|run| run.id);
    let sql = concat!(
        "UPDATE main.workflow_runs SET ",
        lease!(set "$3", "{clock} + $4"),
        ", status = 'running', started_at = coalesce(started_at, $5), crashes = $6 WHERE ",
        lease!(row)
    );
    let claims = found.iter().map(|run| {
        let own = [lease.into(), now.into(), run.crashes.into()];
        run.attempt().with(own)
    });
    tx.each(sql, &claims.collect::<Vec<_>>()).await?;
    let mut claimed = Claimed::default();
    for mut run in found {
        if run.crashes < MAX_CRASHES {
            claimed.runs.push(run);
        } else {
            run.named = named(tx, &run).await?;
            end(tx, &run, Some(&abandoned()), now).await?;
            claimed.abandoned += 1;
        }
    }
    principal_lookup::of_all(tx, &mut claimed.runs, now).await?;
    Ok(claimed)
}

/// Locks the runs that wait longest, up to so many, and reads them; those that others claim at the moment are passed
/// over.
async fn lock_waiting(
    tx: &mut Tx,
    most: usize,
    now: i64,
    full: &[Uuid],
) -> Result<Vec<Row>, StoreError> {
    let locks = concat!(
        "SELECT organization_id, id, workspace_id, workflow_id, version, feature_id, row_id, record, dry_run, depth, \
         caller, wake_at, status, publisher, crashes, spent, lease_owner, chain, \
         (SELECT v.id FROM workflow_versions v WHERE v.organization_id = $1 \
         AND v.workflow_id = workflow_runs.workflow_id AND v.version = workflow_runs.version) AS version_id \
         FROM workflow_runs \
         WHERE organization_id = $1 AND {any id $2} AND ",
        waits!("$3"),
        " ORDER BY id {skip}"
    );
    let mut after = Uuid::nil();
    loop {
        let of_others = [now.into(), Value::Ids(full.to_vec()), after.into()];
        let found = tx.query(free(most), &of_others).await?;
        let Some(last) = found.last() else {
            return Ok(Vec::new());
        };
        after = last.get(1)?;
        let locked = tx.by_organization(locks, &found, &[now.into()]).await?;
        if !locked.is_empty() || found.len() < found_at_most(most) {
            return Ok(locked);
        }
    }
}

/// The ids that the steps of a run name, and the table of the row that fired it: nobody executes it any more, who would
/// have read them.
async fn named(tx: &mut Tx, run: &Run) -> Result<Vec<Uuid>, StoreError> {
    let version = find::by_number(tx, run.organization, run.workflow, run.version).await?;
    let graph = version.and_then(|version| Json::parse(&version.graph_config).ok());
    let mut named = mentioned_ids(&graph.unwrap_or_default());
    named.extend(run.feature);
    Ok(named)
}

/// Why a run that nobody could bring to its end has failed.
fn abandoned() -> RunFailure {
    let detail = format!(
        "{MAX_CRASHES} attempts at this run ended with the server that made them: start it again, and if that \
         happens again look into the log of the server"
    );
    RunFailure::new(Reason::Abandoned, detail)
}

/// Notes that an attempt ended with an error of the server. The run is taken up again at `wake_at`, or
/// given up; true when it was.
///
/// # Errors
/// Those of the store.
pub(super) async fn leave(
    tx: &mut Tx,
    run: &Run,
    wake_at: i64,
    now: i64,
) -> Result<bool, StoreError> {
    if run.crashes + 1 >= MAX_CRASHES {
        return end(tx, run, Some(&abandoned()), now).await;
    }
    let sql = concat!(
        "UPDATE main.workflow_runs SET ",
        lease!(let go),
        ", wake_at = $4, crashes = crashes + 1 WHERE ",
        lease!(fence)
    );
    tx.query(sql, &run.attempt().with([wake_at.into()])).await?;
    Ok(false)
}

pub(super) fn holding(run: &Run, lease: i64) -> PipelinedStatement {
    let sql = concat!(
        "UPDATE main.workflow_runs SET ",
        lease!(renew "{clock} + $4"),
        ", spent = $5 WHERE ",
        lease!(fence),
        " RETURNING id"
    );
    let own = [lease.into(), run.meter.total().into()];
    PipelinedStatement::new(sql, run.attempt().with(own))
}

/// Holds a run for as long again; false when it is somebody else's by now.
///
/// # Errors
/// Those of the store.
pub(super) async fn hold(tx: &mut Tx, run: &Run, lease: i64) -> Result<bool, StoreError> {
    let holding = holding(run, lease);
    let held = tx.execute(&holding.text, &holding.parameters).await?;
    Ok(!held.is_empty())
}

/// Lets go of a run, to be taken up again at `wake_at`, or at once.
///
/// # Errors
/// Those of the store.
pub(super) async fn release(
    tx: &mut Tx,
    run: &Run,
    wake_at: Option<i64>,
) -> Result<(), StoreError> {
    let sql = concat!(
        "UPDATE main.workflow_runs SET ",
        lease!(let go),
        ", wake_at = $4 WHERE ",
        lease!(fence)
    );
    let parameters = run.attempt().with([wake_at.into()]);
    tx.query(sql, &parameters).await.map(drop)
}

/// Lets go of a run of which the store did not hear at the end of its attempt. Where another process has taken it up
/// since, that one counted a crash of this process, which has not ended: the count is taken back.
/// Whatever it had waited for stays as it was: it waits for that no second time.
///
/// # Errors
/// Those of the store.
pub(super) async fn release_late(
    tx: &mut Tx,
    run: &Run,
    attempts: &Attempts,
) -> Result<(), StoreError> {
    let attempt = run.attempt();
    let sql = concat!(
        "UPDATE main.workflow_runs SET ",
        lease!(let go),
        " WHERE ",
        lease!(fence),
        " RETURNING id"
    );
    if tx.first(sql, &attempt.with([])).await?.is_some() {
        return Ok(());
    }
    let sql = concat!("SELECT lease_owner FROM workflow_runs WHERE ", lease!(row));
    let at = [run.organization.into(), run.id.into()];
    let row = tx.first(sql, &at).await?;
    let holder: Option<Uuid> = row.map_or(Ok(None), |row| row.get(0))?;
    let Some(owner) = holder.filter(|holder| !attempts.goes_on(run.id, *holder)) else {
        return Ok(());
    };
    let sql = concat!(
        "UPDATE main.workflow_runs SET crashes = crashes - 1 WHERE ",
        lease!(fence),
        " AND crashes > 0"
    );
    let taken_up = Hold { owner, ..attempt };
    tx.query(sql, &taken_up.with([])).await.map(drop)
}

/// Ends the row of a run, and notes whether rows of what it is about were kept from somebody then.
pub(super) fn ending(run: &Run, ending: Option<&RunFailure>, now: i64) -> PipelinedStatement {
    let sql = concat!(
        "UPDATE main.workflow_runs SET status = $4, error = $5, error_code = $6, \
         finished_at = $7, spent = $8, ",
        lease!(let go),
        ", wake_at = NULL, own_rows = EXISTS (SELECT 1 FROM features f WHERE ",
        keeps_rows_apart!("$9", "$10"),
        ") WHERE ",
        lease!(fence),
        " RETURNING id"
    );
    let status = if ending.is_some() {
        "failed"
    } else {
        "succeeded"
    };
    let parameters = run.attempt().with([
        status.into(),
        ending.map(|ending| ending.detail.as_str()).into(),
        ending.map(|ending| ending.code).into(),
        now.into(),
        run.meter.total().into(),
        run.workspace.into(),
        Value::Ids(run.named.clone()),
    ]);
    PipelinedStatement::new(sql, parameters)
}

/// Ends the steps of a run that have not: one that waited is skipped, one that was being done failed with
/// the run.
fn ending_steps(run: &Run, ending: &RunFailure) -> PipelinedStatement {
    let sql = "UPDATE main.workflow_steps SET \
         status = CASE WHEN key = 'delay' THEN 'skipped' ELSE 'failed' END, \
         error = CASE WHEN key = 'delay' THEN NULL ELSE $3 END, \
         error_code = CASE WHEN key = 'delay' THEN NULL ELSE $4 END \
         WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND run_id = $2 AND status = 'running'";
    let parameters = vec![
        run.organization.into(),
        run.id.into(),
        ending.detail.as_str().into(),
        ending.code.into(),
    ];
    PipelinedStatement::new(sql, parameters)
}

/// Ends a run; false when it is somebody else's by now.
///
/// # Errors
/// Those of the store.
pub(super) async fn end(
    tx: &mut Tx,
    run: &Run,
    why: Option<&RunFailure>,
    now: i64,
) -> Result<bool, StoreError> {
    let ending = ending(run, why, now);
    let ended = tx.execute(&ending.text, &ending.parameters).await?;
    let ours = !ended.is_empty();
    if let Some(why) = why.filter(|_| ours) {
        let steps = ending_steps(run, why);
        tx.execute(&steps.text, &steps.parameters).await?;
    }
    Ok(ours)
}
