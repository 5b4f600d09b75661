//! Stores runs and their steps: started, leased, ended.
//!
//! An attempt at a run holds a lease of it ([`Hold`]), measured by the clock of the database. Every
//! write first checks that the attempt still owns the run (`hold`).

use tplkit::automation::run::Reason;
use uuid::Uuid;

use super::events::too_deep;
use super::meter::Meter;
use super::principal::{self, Principal};
use crate::ids::WorkspaceKey;
use crate::store::{Hold, PipelinedStatement, Row, StoreError, Tx, Value, lease};

/// How many attempts may end without a word before a run is given up.
pub(super) const CRASHES: i64 = 3;

/// A run that was claimed.
#[derive(Debug, Clone)]
pub struct Run {
    /// Whose it is.
    pub organization: Uuid,
    /// Where its automation stands.
    pub workspace: Uuid,
    /// Its automation.
    pub workflow: Uuid,
    /// Its own id.
    pub id: Uuid,
    /// The number of the version that is executed.
    pub version: i64,
    /// The table of the row that fired.
    pub feature: Option<Uuid>,
    /// The row that fired.
    pub row: Option<Uuid>,
    /// That row as it was then, as the API writes it.
    pub record: Option<String>,
    /// Whether nothing is to be done.
    pub dry_run: bool,
    /// How deep it was caused.
    pub depth: i64,
    /// Who began it, if it was a person or a key.
    pub caller: Option<Uuid>,
    /// Who published the automation that fired, if nobody began it.
    pub publisher: Option<Uuid>,
    /// How many attempts at it ended without a word.
    pub crashes: i64,
    /// How much processor time it has used.
    pub(super) meter: Meter,
    /// The ids that its version names, once that is known.
    pub named: Vec<Uuid>,
    /// Until when it waits, or waited.
    pub wake_at: Option<i64>,
    /// Whether nobody has executed any of it.
    pub fresh: bool,
    /// This attempt.
    pub owner: Uuid,
    /// What it might do when it was claimed; nothing where nobody has looked, or whoever it works for has
    /// lost access.
    pub(super) allowed: Option<Principal>,
}

impl Run {
    /// The workspace that it works in.
    pub(super) fn workspace_key(&self) -> WorkspaceKey {
        WorkspaceKey {
            organization: self.organization,
            workspace: self.workspace,
        }
    }

    /// With whose visibility it works.
    pub fn principal(&self) -> Option<Uuid> {
        self.caller.or(self.publisher)
    }

    /// This attempt at its row.
    pub(super) fn attempt(&self) -> Hold {
        Hold {
            organization: self.organization,
            id: self.id,
            owner: self.owner,
        }
    }
}

/// Why a run, or a step of it, has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFailure {
    /// In one word.
    pub code: &'static str,
    /// For people.
    pub detail: String,
}

impl RunFailure {
    /// One for that reason.
    pub(super) fn new(reason: Reason, detail: impl Into<String>) -> RunFailure {
        RunFailure {
            code: reason.as_str(),
            detail: detail.into(),
        }
    }
}

/// A run that is to be.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// Its id.
    pub id: Uuid,
    /// Whose it is.
    pub organization: Uuid,
    /// Where its automation stands.
    pub workspace: Uuid,
    /// Its automation.
    pub workflow: Uuid,
    /// The number of the version that is executed.
    pub version: i64,
    /// `manual`, `cron` or `automation`.
    pub trigger: &'static str,
    /// Table, id and document of the row that fires.
    pub row: Option<(Uuid, Uuid, String)>,
    /// Whether nothing is to be done.
    pub dry_run: bool,
    /// How deep it is caused.
    pub depth: i64,
    /// The run that causes it.
    pub cause: Option<Uuid>,
    /// Who begins it.
    pub caller: Option<Uuid>,
    /// With whose visibility it works if nobody begins it.
    pub publisher: Option<Uuid>,
    /// The instant at which it was due.
    pub due_at: Option<i64>,
    /// The time.
    pub now: i64,
}

/// Writes a run down, to be executed by whoever comes first. One that is due at an instant that has a run
/// already is not written.
///
/// # Errors
/// Those of the store.
pub async fn begin(tx: &mut Tx, new: &NewRun) -> Result<(), StoreError> {
    let sql = "INSERT INTO main.workflow_runs {into $1} (organization_id, workspace_id, workflow_id, id, \
         version, status, trigger_word, feature_id, row_id, record, dry_run, depth, cause, caller, \
         due_at, error, error_code, created_at, finished_at, publisher) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20) \
         ON CONFLICT (organization_id, workflow_id, due_at) DO NOTHING";
    let (status, error) = too_deep(new.depth);
    let row = new.row.as_ref();
    let parameters = [
        new.organization.into(),
        new.workspace.into(),
        new.workflow.into(),
        new.id.into(),
        new.version.into(),
        status.into(),
        new.trigger.into(),
        row.map(|(feature, ..)| *feature).into(),
        row.map(|(_, row, _)| *row).into(),
        row.map(|(.., record)| record.as_str()).into(),
        new.dry_run.into(),
        new.depth.into(),
        new.cause.into(),
        new.caller.into(),
        new.due_at.into(),
        error.clone().into(),
        error.as_ref().map(|_| Reason::TooDeep.as_str()).into(),
        new.now.into(),
        error.map(|_| new.now).into(),
        new.publisher.into(),
    ];
    tx.query(sql, &parameters).await.map(drop)
}

/// In a statement: the run may be claimed. `$1` is the time.
macro_rules! waits {
    () => {
        concat!(
            "status IN ('queued', 'running') AND (wake_at IS NULL OR wake_at <= $1) AND ",
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

/// The statement that finds up to so many runs that wait for nobody. The number is in it: a plan that
/// is made for any number is not made for a small one.
fn free(most: usize) -> &'static str {
    macro_rules! free {
        ($most:literal) => {
            concat!(
                "SELECT organization_id, workspace_id, workflow_id, id, version, feature_id, row_id, \
                 record, dry_run, depth, caller, wake_at, status, publisher, crashes, spent, \
                 lease_owner FROM workflow_runs WHERE ",
                waits!(),
                of_others!(),
                " ORDER BY id LIMIT ",
                $most,
                " {skip}"
            )
        };
    }
    match found_at_most(most) {
        32 => free!("32"),
        PART => free!("8"),
        _ => free!("1"),
    }
}

/// How many runs of a backlog are claimed together at least.
pub(super) const PART: usize = 8;

/// How many runs a claim of so many finds at most.
pub(super) fn found_at_most(most: usize) -> usize {
    match most {
        32.. => 32,
        PART.. => PART,
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

/// Claims some of the runs that wait for nobody. Those of organizations that hold all they may be left. One that is still somebody's was left by
/// a process that ended.
///
/// # Errors
/// Those of the store.
pub(super) async fn claim(
    tx: &mut Tx,
    request: ClaimRequest,
    full: &[Uuid],
) -> Result<Claimed, StoreError> {
    let ClaimRequest {
        owner,
        most,
        lease,
        now,
    } = request;
    let parameters = [now.into(), Value::Ids(full.to_vec())];
    let rows = tx.query(free(most), &parameters).await?;
    let run = |row: &Row| {
        let left = row.get::<Option<Uuid>>(16)?.is_some();
        Ok(Run {
            organization: row.get(0)?,
            workspace: row.get(1)?,
            workflow: row.get(2)?,
            id: row.get(3)?,
            version: row.get(4)?,
            feature: row.get(5)?,
            row: row.get(6)?,
            record: row.get(7)?,
            dry_run: row.get(8)?,
            depth: row.get(9)?,
            caller: row.get(10)?,
            wake_at: row.get(11)?,
            fresh: row.get::<String>(12)? == "queued",
            publisher: row.get(13)?,
            crashes: row.get::<i64>(14)? + i64::from(left),
            meter: Meter::of(row.get(15)?),
            named: Vec::new(),
            owner,
            allowed: None,
        })
    };
    let found = rows
        .iter()
        .map(run)
        .collect::<Result<Vec<Run>, StoreError>>()?;
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
    for run in found {
        if run.crashes < CRASHES {
            claimed.runs.push(run);
        } else {
            end(tx, &run, Some(&abandoned()), now).await?;
            claimed.abandoned += 1;
        }
    }
    principal::of_all(tx, &mut claimed.runs, now).await?;
    Ok(claimed)
}

/// Why a run that nobody could bring to its end has failed.
fn abandoned() -> RunFailure {
    let detail = format!(
        "{CRASHES} attempts at this run ended with the server that made them: begin it anew, and if that \
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
    if run.crashes + 1 >= CRASHES {
        return end(tx, run, Some(&abandoned()), now).await;
    }
    let sql = concat!(
        "UPDATE main.workflow_runs SET ",
        lease!(let go),
        ", wake_at = $4, crashes = $5 WHERE ",
        lease!(fence)
    );
    let own = [wake_at.into(), (run.crashes + 1).into()];
    tx.query(sql, &run.attempt().with(own)).await?;
    Ok(false)
}

fn holding(run: &Run, lease: i64) -> PipelinedStatement {
    let sql = concat!(
        "UPDATE main.workflow_runs SET ",
        lease!(renew "{clock} + $4"),
        ", spent = $5 WHERE ",
        lease!(fence),
        " RETURNING id"
    );
    let own = [lease.into(), run.meter.total().into()];
    (sql.into(), run.attempt().with(own))
}

/// Holds a run for as long again; false when it is somebody else's by now.
///
/// # Errors
/// Those of the store.
pub(super) async fn hold(tx: &mut Tx, run: &Run, lease: i64) -> Result<bool, StoreError> {
    let (sql, parameters) = holding(run, lease);
    Ok(!tx.execute(&sql, &parameters).await?.is_empty())
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

/// Ends the row of a run, and notes whether rows of what it is about were kept from somebody then.
fn ending(run: &Run, ending: Option<&RunFailure>, now: i64) -> PipelinedStatement {
    let sql = concat!(
        "UPDATE main.workflow_runs SET status = $4, error = $5, error_code = $6, \
         finished_at = $7, spent = $8, ",
        lease!(let go),
        ", wake_at = NULL, \
         own_rows = EXISTS (SELECT 1 FROM features f WHERE f.organization_id = $1 AND f.own_rows \
         AND (f.workspace_id = $9 OR (f.is_shared AND {any f.id $10}))) WHERE ",
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
    (sql.into(), parameters)
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
    (sql.into(), parameters)
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
    let (sql, parameters) = ending(run, why, now);
    let ours = !tx.execute(&sql, &parameters).await?.is_empty();
    if let Some(why) = why.filter(|_| ours) {
        let (sql, parameters) = ending_steps(run, why);
        tx.execute(&sql, &parameters).await?;
    }
    Ok(ours)
}

/// A step as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepRow {
    /// Counted from 0 in the order of their turns.
    pub number: i64,
    /// Dotted path in the graph.
    pub path: String,
    /// Its id.
    pub id: String,
    /// Its key.
    pub key: String,
    /// `running`, `succeeded`, `failed` or `skipped`.
    pub status: String,
    /// Its config as it was meant: JSON text.
    pub input: String,
    /// What came of it: JSON text.
    pub output: Option<String>,
    /// Why nothing could.
    pub error: Option<String>,
    /// The same in one word.
    pub error_code: Option<String>,
    /// What a step of a dry run left to those behind it: JSON text.
    pub envelope: Option<String>,
}

impl StepRow {
    /// That it failed, and why.
    pub(super) fn fail(&mut self, ending: &RunFailure) {
        "failed".clone_into(&mut self.status);
        self.error = Some(ending.detail.clone());
        self.error_code = Some(ending.code.to_owned());
    }
}

/// The steps of a run so far, in order.
///
/// # Errors
/// Those of the store.
pub async fn steps(tx: &mut Tx, organization: Uuid, run: Uuid) -> Result<Vec<StepRow>, StoreError> {
    let sql = "SELECT number, path, step_id, key, status, error, error_code, input, output, envelope \
         FROM workflow_steps WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND run_id = $2 ORDER BY number";
    let rows = tx.query(sql, &[organization.into(), run.into()]).await?;
    rows.iter()
        .map(|row| {
            Ok(StepRow {
                input: row.get(7)?,
                output: row.get(8)?,
                envelope: row.get(9)?,
                ..outline(row)?
            })
        })
        .collect()
}

/// The steps of a run without what went in and came out.
///
/// # Errors
/// Those of the store.
pub async fn outlines(
    tx: &mut Tx,
    organization: Uuid,
    run: Uuid,
) -> Result<Vec<StepRow>, StoreError> {
    let sql = "SELECT number, path, step_id, key, status, error, error_code FROM workflow_steps \
         WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND run_id = $2 ORDER BY number";
    let rows = tx.query(sql, &[organization.into(), run.into()]).await?;
    rows.iter().map(outline).collect()
}

fn outline(row: &Row) -> Result<StepRow, StoreError> {
    Ok(StepRow {
        number: row.get(0)?,
        path: row.get(1)?,
        id: row.get(2)?,
        key: row.get(3)?,
        status: row.get(4)?,
        error: row.get(5)?,
        error_code: row.get(6)?,
        input: String::new(),
        output: None,
        envelope: None,
    })
}

/// Writes a step down, or what became of it since.
const WRITE_STEP: &str = "INSERT INTO main.workflow_steps {into $1} (organization_id, workspace_id, run_id, number, \
         path, step_id, key, status, input, output, error, error_code, envelope) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
         ON CONFLICT (organization_id, run_id, number) DO UPDATE SET status = excluded.status, \
         input = excluded.input, output = excluded.output, error = excluded.error, \
         error_code = excluded.error_code, envelope = excluded.envelope \
         WHERE workflow_steps.status <> 'succeeded'";

fn writing(run: &Run, step: &StepRow) -> PipelinedStatement {
    (WRITE_STEP.into(), step_parameters(run, step))
}

fn step_parameters(run: &Run, step: &StepRow) -> Vec<Value> {
    vec![
        run.organization.into(),
        run.workspace.into(),
        run.id.into(),
        step.number.into(),
        step.path.as_str().into(),
        step.id.as_str().into(),
        step.key.as_str().into(),
        step.status.as_str().into(),
        step.input.as_str().into(),
        step.output.as_deref().into(),
        step.error.as_deref().into(),
        step.error_code.as_deref().into(),
        step.envelope.as_deref().into(),
    ]
}

/// Writes the steps of a run down, all at once.
///
/// # Errors
/// Those of the store.
pub(super) async fn write_steps(
    tx: &mut Tx,
    run: &Run,
    steps: &[StepRow],
) -> Result<(), StoreError> {
    let lines: Vec<_> = steps
        .iter()
        .map(|step| step_parameters(run, step))
        .collect();
    tx.each(WRITE_STEP, &lines).await.map(drop)
}

/// Writes a step down. One that succeeded is never written again.
///
/// # Errors
/// Those of the store.
pub(super) async fn write_step(tx: &mut Tx, run: &Run, step: &StepRow) -> Result<(), StoreError> {
    let (sql, parameters) = writing(run, step);
    tx.execute(&sql, &parameters).await.map(drop)
}

/// Writes a step down and holds the run; false when that is somebody else's by now, and then the
/// transaction has to be undone.
///
/// # Errors
/// Those of the store.
pub(super) async fn write_held(
    tx: &mut Tx,
    run: &Run,
    step: &StepRow,
    lease: i64,
) -> Result<bool, StoreError> {
    let responses = tx.pipeline(vec![holding(run, lease), writing(run, step)]);
    Ok(responses
        .await?
        .first()
        .is_some_and(|held| !held.is_empty()))
}

/// Writes the last step down and ends the run well; false when it is somebody else's by now, and then
/// the transaction has to be undone.
///
/// # Errors
/// Those of the store.
pub(super) async fn write_last(
    tx: &mut Tx,
    run: &Run,
    step: &StepRow,
    now: i64,
) -> Result<bool, StoreError> {
    let responses = tx.pipeline(vec![writing(run, step), ending(run, None, now)]);
    Ok(responses
        .await?
        .last()
        .is_some_and(|ended| !ended.is_empty()))
}
