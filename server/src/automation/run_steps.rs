//! The steps of a run: read, and written by an attempt that holds the run.

use uuid::Uuid;

use super::run_failure::RunFailure;
use super::run_lease::{ending, holding};
use super::runs::Run;
use crate::store::{PipelinedStatement, Row, StoreError, Tx, Value};

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
    PipelinedStatement::new(WRITE_STEP, step_parameters(run, step))
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
    let rows: Vec<_> = steps
        .iter()
        .map(|step| step_parameters(run, step))
        .collect();
    tx.each(WRITE_STEP, &rows).await.map(drop)
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
    was_ours(responses.await)
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
    // The run before its steps, as the removal of a workspace reaches them: the other way round they would wait for
    // each other.
    let responses = tx.pipeline(vec![ending(run, None, now), writing(run, step)]);
    was_ours(responses.await)
}

/// Whether the run was ours when its step was written. A step refers to nothing but its run: where it finds none, the
/// run has gone with its automation.
fn was_ours(responses: Result<Vec<Vec<Row>>, StoreError>) -> Result<bool, StoreError> {
    match responses {
        Err(StoreError::Reference) => Ok(false),
        responses => Ok(responses?.first().is_some_and(|rows| !rows.is_empty())),
    }
}
