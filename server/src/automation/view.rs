//! Runs in responses, and who may see their data (`rest` 2.5).
//!
//! The principal of the run and administrators see everything; others do when all tables of the run
//! show all rows to everybody, now and when it ended. Everybody else sees only that it ran and how
//! it ended. Lists never contain inputs and outputs.

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use tplkit::automation::run::{Reason, RunState};
use tplkit::json::Value as Json;
use uuid::Uuid;

use super::find;
use super::mentioned_tables::mentioned_ids;
use super::runs::{StepRow, outlines, steps};
use crate::context::rfc3339;
use crate::paging::{Page, PageRequest};
use crate::refusal::Refusal;
use crate::store::{Row, Scope, StoreError, Tx, Value};

/// How many steps a page of runs reports before it ends early.
const STEPS: usize = 20_000;

/// A run.
#[derive(Debug, Serialize)]
pub struct RunView {
    /// Its id.
    pub id: Uuid,
    workflow_id: Uuid,
    version: i64,
    status: String,
    trigger: String,
    row_id: Option<Uuid>,
    dry_run: bool,
    started_at: Option<String>,
    finished_at: Option<String>,
    error: Option<FailureView>,
    steps: Vec<StepView>,
}

/// Why a run or a step failed: in one word, and for people where they may read it.
#[derive(Debug, Serialize)]
struct FailureView {
    code: String,
    detail: Option<String>,
}

impl FailureView {
    fn of(code: Option<String>, detail: Option<String>) -> Option<FailureView> {
        // Before there were codes there was one reason.
        let code = code.or_else(|| {
            let unnamed = Reason::StepFailed.as_str().to_owned();
            detail.as_ref().map(|_| unnamed)
        });
        code.map(|code| FailureView { code, detail })
    }
}

#[derive(Debug)]
struct StepView {
    path: String,
    id: String,
    key: String,
    status: String,
    error: Option<FailureView>,
    /// What went in and came out; not in lists.
    content: Option<Content>,
}

#[derive(Debug)]
struct Content {
    input: Option<Box<RawValue>>,
    output: Option<Box<RawValue>>,
    /// Of the steps of dry runs alone.
    envelope: Option<Box<RawValue>>,
    dry_run: bool,
}

impl Serialize for StepView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("path", &self.path)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("key", &self.key)?;
        map.serialize_entry("status", &self.status)?;
        if let Some(content) = &self.content {
            map.serialize_entry("input", &content.input)?;
            map.serialize_entry("output", &content.output)?;
            if content.dry_run {
                map.serialize_entry("envelope", &content.envelope)?;
            }
        }
        map.serialize_entry("error", &self.error)?;
        map.end()
    }
}

macro_rules! columns {
    () => {
        "organization_id, id, workflow_id, version, status, trigger_word, feature_id, row_id, \
         dry_run, started_at, finished_at, error, error_code, workspace_id, caller, publisher, \
         own_rows"
    };
}

struct RunRow {
    organization: Uuid,
    workspace: Uuid,
    feature: Option<Uuid>,
    /// For whom it worked.
    principal: Option<Uuid>,
    /// Whether rows of what it is about were kept from somebody when it ended.
    own_rows: bool,
    run: RunView,
}

fn run_row(row: &Row) -> Result<RunRow, StoreError> {
    let caller: Option<Uuid> = row.get(14)?;
    Ok(RunRow {
        organization: row.get(0)?,
        workspace: row.get(13)?,
        feature: row.get(6)?,
        principal: caller.or(row.get(15)?),
        own_rows: row.get(16)?,
        run: RunView {
            id: row.get(1)?,
            workflow_id: row.get(2)?,
            version: row.get(3)?,
            status: row.get(4)?,
            trigger: row.get(5)?,
            row_id: row.get(7)?,
            dry_run: row.get(8)?,
            started_at: row.get::<Option<i64>>(9)?.map(rfc3339),
            finished_at: row.get::<Option<i64>>(10)?.map(rfc3339),
            error: FailureView::of(row.get(12)?, row.get(11)?),
            steps: Vec::new(),
        },
    })
}

/// A run by its id.
///
/// # Errors
/// 404 when there is none that may be seen.
pub async fn read_run(tx: &mut Tx, id: Uuid) -> Result<RunView, Refusal> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM workflow_runs WHERE {tenant organization_id} AND {workspace workspace_id} AND id = $1"
    );
    let row = tx.first(sql, &[id.into()]).await?;
    let line = run_row(&row.ok_or_else(Refusal::not_found)?)?;
    let open = is_open(tx, &line).await?;
    let found = steps(tx, (line.organization, line.run.id)).await?;
    let dry_run = line.run.dry_run;
    let steps = found.into_iter().map(|mut step| {
        let content = content(&mut step, dry_run, open);
        outline(step, Some(content))
    });
    let steps = steps.collect();
    Ok(view(tx, line, steps, open).await?)
}

/// A page of the runs of an automation.
///
/// # Errors
/// 404 for an automation that cannot be seen.
pub async fn run_page(
    tx: &mut Tx,
    workflow: Uuid,
    page: &PageRequest,
) -> Result<Page<RunView>, Refusal> {
    visible(tx, workflow).await?;
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM workflow_runs WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND workflow_id = $1 AND id > $2 ORDER BY id LIMIT $3"
    );
    let parameters = [workflow.into(), page.from().into(), page.lookahead().into()];
    let rows = tx.query(sql, &parameters).await?;
    let (rows, mut more) = page.cut(rows);
    let (mut items, mut reported) = (Vec::with_capacity(rows.len()), 0);
    for row in &rows {
        if reported > STEPS {
            more = true;
            break;
        }
        let line = run_row(row)?;
        let open = is_open(tx, &line).await?;
        let found = outlines(tx, (line.organization, line.run.id)).await?;
        reported += found.len();
        let steps = found.into_iter().map(|step| outline(step, None)).collect();
        items.push(view(tx, line, steps, open).await?);
    }
    let last = items.last().filter(|_| more);
    let next_cursor = last.map(|last| page.cursor(last.id, &[]));
    Ok(Page { items, next_cursor })
}

/// Sees to it that an automation may be seen.
///
/// # Errors
/// 404.
async fn visible(tx: &mut Tx, workflow: Uuid) -> Result<(), Refusal> {
    let sql = "SELECT id FROM workflows WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND id = $1";
    let found = tx.first(sql, &[workflow.into()]).await?;
    found.map(drop).ok_or_else(Refusal::not_found)
}

/// The run with its steps, without what the caller may not see.
async fn view(
    tx: &mut Tx,
    line: RunRow,
    steps: Vec<StepView>,
    open: bool,
) -> Result<RunView, StoreError> {
    let row = line.feature.zip(line.run.row_id);
    let mut run = line.run;
    run.steps = steps;
    if open {
        return Ok(run);
    }
    let failed = run.steps.iter_mut().filter_map(|step| step.error.as_mut());
    for failed in failed.chain(&mut run.error) {
        failed.detail = None;
    }
    if let Some((feature, row)) = row {
        let sql = "SELECT id FROM rows WHERE {tenant organization_id} AND {workspace workspace_id} \
             AND {row feature_id created_by} \
             AND organization_id = $1 AND feature_id = $2 AND id = $3";
        let parameters = [line.organization.into(), feature.into(), row.into()];
        let seen = tx.first(sql, &parameters).await?.is_some();
        run.row_id = run.row_id.filter(|_| seen);
    }
    Ok(run)
}

fn outline(step: StepRow, content: Option<Content>) -> StepView {
    StepView {
        path: step.path,
        id: step.id,
        key: step.key,
        status: step.status,
        error: FailureView::of(step.error_code, step.error),
        content,
    }
}

fn content(step: &mut StepRow, dry_run: bool, open: bool) -> Content {
    let raw = |text: String| RawValue::from_string(text).ok();
    let input = std::mem::take(&mut step.input);
    let output = step.output.take().filter(|_| open);
    let envelope = step.envelope.take().filter(|_| open);
    Content {
        input: Some(input).filter(|_| open).and_then(raw),
        output: output.map(redact_output).and_then(raw),
        envelope: envelope.and_then(raw),
        dry_run,
    }
}

/// An output without what the run remembers for itself.
fn redact_output(output: String) -> String {
    match Json::parse(&output) {
        Ok(Json::Object(members)) => Json::Object(RunState::report_size(members)).write(),
        _ => output,
    }
}

/// Whether the caller sees the data of the run.
async fn is_open(tx: &mut Tx, line: &RunRow) -> Result<bool, StoreError> {
    let Scope::Caller(visible) = tx.scope().clone() else {
        return Ok(true);
    };
    let theirs = line.principal == Some(visible.caller);
    if theirs || visible.administered.contains(&line.organization) {
        return Ok(true);
    }
    if line.own_rows {
        return Ok(false);
    }
    if visible.guarded.is_empty() && visible.hidden.is_empty() {
        return Ok(true);
    }
    let mut ids: Vec<Uuid> = line.feature.into_iter().collect();
    let version = find::by_number(tx, line.run.workflow_id, line.run.version).await?;
    for half in version
        .iter()
        .flat_map(|v| [&v.trigger_config, &v.graph_config])
    {
        ids.extend(mentioned_ids(&Json::parse(half).unwrap_or_default()));
    }
    let sql = "SELECT id FROM features WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND own_rows \
         AND (workspace_id = $2 OR (is_shared AND {any id $3})) LIMIT 1";
    let parameters = [
        line.organization.into(),
        line.workspace.into(),
        Value::Ids(ids.clone()),
    ];
    if tx.first(sql, &parameters).await?.is_some() {
        return Ok(false);
    }
    Ok(visible.hidden.is_empty() || sees(tx, &ids).await?)
}

/// Whether the caller sees everything that is named. Of what is not a table, channel, person or
/// automation that is seen, nobody knows what it is.
async fn sees(tx: &mut Tx, ids: &[Uuid]) -> Result<bool, StoreError> {
    let features = "SELECT id FROM features WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND id = $1";
    let channels = "SELECT id FROM channels WHERE {tenant organization_id} AND id = $1";
    let people = "SELECT user_id FROM memberships WHERE {tenant organization_id} AND user_id = $1";
    let others = "SELECT id FROM workflows WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND id = $1";
    for id in ids {
        let mut seen = false;
        for sql in [features, channels, people, others] {
            seen = seen || tx.first(sql, &[(*id).into()]).await?.is_some();
        }
        if !seen {
            return Ok(false);
        }
    }
    Ok(true)
}
