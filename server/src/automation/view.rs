//! Runs in responses, and who may see their data (`rest` 2.5).
//!
//! The principal of the run and administrators see everything; others do when all tables of the run
//! show all rows to everybody, now and when it ended. Everybody else sees only that it ran and how
//! it ended. Lists never contain inputs and outputs.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use tplkit::automation::run::{Reason, RunState};
use tplkit::json::Value as Json;
use uuid::Uuid;

use super::find;
use super::mentioned_tables::{keeps_rows_apart, mentioned_ids};
use super::run_steps::{StepRow, outlines, steps};
use crate::json_schemas::{AnyObject, Nullable, UtcInstant};
use crate::paging::{Page, PageRequest};
use crate::refusal::Refusal;
use crate::store::{BOUND, Row, Scope, StoreError, Tx, Value, bounded_records};

/// How many steps a page of runs reports before it ends early.
const MAX_STEPS_PER_PAGE: usize = 20_000;

/// One execution of an automation.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Run")]
pub struct RunView {
    /// What is known of it.
    #[serde(flatten)]
    pub head: RunHead,
    /// The steps that were carried out, in order.
    steps: Vec<StepView>,
}

/// One execution of an automation, without the data of its steps.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunSummary {
    /// What is known of it.
    #[serde(flatten)]
    pub head: RunHead,
    /// Without what went in and came out: that is read run by run.
    steps: Vec<StepSummary>,
}

/// What is known of a run itself.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunHead {
    /// Id of the record.
    pub id: Uuid,
    /// The automation.
    workflow_id: Uuid,
    /// Number of the version that it executes.
    version: i64,
    /// How it stands.
    #[schemars(extend("enum" = ["queued", "running", "succeeded", "failed"]))]
    status: String,
    /// What started the run.
    #[schemars(extend("enum" = ["manual", "record.event", "cron", "automation"]))]
    trigger: String,
    /// The row that started the run.
    row_id: Option<Uuid>,
    /// Whether nothing is kept: writes are rolled back, calls to the outside are stubbed.
    dry_run: bool,
    /// When it began.
    started_at: Option<UtcInstant>,
    /// When it ended.
    finished_at: Option<UtcInstant>,
    /// Why it failed; null otherwise.
    error: Option<FailureView>,
}

/// Why a run or a step failed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RunFailure")]
struct FailureView {
    /// `step_failed`, `run_too_large`, `abandoned`, `publisher_lost_access`, `starter_lost_access`, `too_deep`,
    /// or the code of a refused write.
    code: String,
    /// For people; null for who may not read what was in the run.
    detail: Option<String>,
}

impl FailureView {
    fn redact(&mut self) {
        self.detail = None;
    }

    fn of(code: Option<String>, detail: Option<String>) -> Option<FailureView> {
        // Before there were codes there was one reason.
        let code = code.or_else(|| {
            let unnamed = Reason::StepFailed.as_str().to_owned();
            detail.as_ref().map(|_| unnamed)
        });
        code.map(|code| FailureView { code, detail })
    }
}

/// One step of a run.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RunStep")]
struct StepView {
    /// Where, dotted.
    path: String,
    /// Id of the step in the definition.
    id: String,
    /// Which step it is.
    key: String,
    /// How it stands.
    #[schemars(extend("enum" = STEP_STATUS))]
    status: String,
    /// What the step was given; null where the caller may not see it.
    #[schemars(with = "Option<AnyObject>")]
    input: Option<Box<RawValue>>,
    /// What the step produced; null where the caller may not see it.
    #[schemars(with = "Option<AnyObject>")]
    output: Option<Box<RawValue>>,
    /// Of a dry run: the variables and records that the step left, or `{"cut": true, "text"}`, the beginning of
    /// them, where they are large.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Nullable<AnyObject>")]
    envelope: Option<Nullable<Box<RawValue>>>,
    /// Why it failed; null otherwise.
    error: Option<FailureView>,
}

/// One step of a run, without its data.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RunStepSummary")]
struct StepSummary {
    /// Where, dotted.
    path: String,
    /// Id of the step in the definition.
    id: String,
    /// Which step it is.
    key: String,
    /// How it stands.
    #[schemars(extend("enum" = STEP_STATUS))]
    status: String,
    /// Why it failed; null otherwise.
    error: Option<FailureView>,
}

const STEP_STATUS: [&str; 4] = ["running", "succeeded", "failed", "skipped"];

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
    run: RunHead,
}

fn run_row(row: &Row) -> Result<RunRow, StoreError> {
    let caller: Option<Uuid> = row.get(14)?;
    Ok(RunRow {
        organization: row.get(0)?,
        workspace: row.get(13)?,
        feature: row.get(6)?,
        principal: caller.or(row.get(15)?),
        own_rows: row.get(16)?,
        run: RunHead {
            id: row.get(1)?,
            workflow_id: row.get(2)?,
            version: row.get(3)?,
            status: row.get(4)?,
            trigger: row.get(5)?,
            row_id: row.get(7)?,
            dry_run: row.get(8)?,
            started_at: row.get::<Option<i64>>(9)?.map(UtcInstant),
            finished_at: row.get::<Option<i64>>(10)?.map(UtcInstant),
            error: FailureView::of(row.get(12)?, row.get(11)?),
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
    let record = run_row(&row.ok_or_else(Refusal::not_found)?)?;
    let open = is_open(tx, &record).await?;
    let found = steps(tx, record.organization, record.run.id).await?;
    let dry_run = record.run.dry_run;
    let mut steps: Vec<StepView> = found
        .into_iter()
        .map(|step| step_view(step, dry_run, open))
        .collect();
    let failed = steps.iter_mut().filter_map(|step| step.error.as_mut());
    let head = view(tx, record, failed, open).await?;
    Ok(RunView { head, steps })
}

/// A page of the runs of an automation. It ends early where they have many steps, or long errors.
///
/// # Errors
/// 404 for an automation that cannot be seen.
pub async fn run_page(
    tx: &mut Tx,
    workflow: Uuid,
    page: &PageRequest,
) -> Result<Page<RunSummary>, Refusal> {
    visible(tx, workflow).await?;
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM workflow_runs WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND workflow_id = $1 AND id > $2 ORDER BY id LIMIT $3 {bounded}"
    );
    let parameters = [workflow.into(), page.from().into(), page.lookahead().into()];
    let rows = tx.query(sql, &parameters).await?;
    let found = bounded_records(rows, run_row)?;
    let (records, mut more) = page.cut(found.records);
    more |= found.ended_early;
    let (mut items, mut reported, mut bytes) = (Vec::with_capacity(records.len()), 0, 0);
    for record in records {
        if reported > MAX_STEPS_PER_PAGE {
            more = true;
            break;
        }
        let open = is_open(tx, &record).await?;
        let found = outlines(tx, record.organization, record.run.id).await?;
        reported += found.len();
        let own = record.run.error.iter();
        let own = own.filter_map(|error| error.detail.as_deref());
        let of_steps = found.iter().filter_map(|step| step.error.as_deref());
        bytes += own.chain(of_steps).map(str::len).sum::<usize>();
        if bytes > BOUND && !items.is_empty() {
            more = true;
            break;
        }
        let mut steps: Vec<StepSummary> = found.into_iter().map(summary).collect();
        let failed = steps.iter_mut().filter_map(|step| step.error.as_mut());
        let head = view(tx, record, failed, open).await?;
        items.push(RunSummary { head, steps });
    }
    let last = items.last().filter(|_| more);
    let next_cursor = last.map(|last| page.cursor(last.head.id, &[]));
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

/// The run without what the caller may not see; neither is it in the failures of its steps.
async fn view(
    tx: &mut Tx,
    record: RunRow,
    failed: impl Iterator<Item = &mut FailureView>,
    open: bool,
) -> Result<RunHead, StoreError> {
    let row = record.feature.zip(record.run.row_id);
    let mut run = record.run;
    if open {
        return Ok(run);
    }
    failed.for_each(FailureView::redact);
    if let Some(error) = &mut run.error {
        error.redact();
    }
    if let Some((feature, row)) = row {
        let sql = "SELECT id FROM rows WHERE {tenant organization_id} AND {workspace workspace_id} \
             AND {row feature_id created_by} \
             AND organization_id = $1 AND feature_id = $2 AND id = $3";
        let parameters = [record.organization.into(), feature.into(), row.into()];
        let seen = tx.first(sql, &parameters).await?.is_some();
        run.row_id = run.row_id.filter(|_| seen);
    }
    Ok(run)
}

fn summary(step: StepRow) -> StepSummary {
    StepSummary {
        path: step.path,
        id: step.id,
        key: step.key,
        status: step.status,
        error: FailureView::of(step.error_code, step.error),
    }
}

fn step_view(step: StepRow, dry_run: bool, open: bool) -> StepView {
    let raw = |text: String| RawValue::from_string(text).ok();
    let output = step.output.filter(|_| open);
    let envelope = step.envelope.filter(|_| open);
    StepView {
        path: step.path,
        id: step.id,
        key: step.key,
        status: step.status,
        input: Some(step.input).filter(|_| open).and_then(raw),
        output: output.map(redact_output).and_then(raw),
        envelope: dry_run.then(|| Nullable(envelope.and_then(raw))),
        error: FailureView::of(step.error_code, step.error),
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
async fn is_open(tx: &mut Tx, record: &RunRow) -> Result<bool, StoreError> {
    let Scope::Caller(visible) = tx.scope().clone() else {
        return Ok(true);
    };
    let theirs = record.principal == Some(visible.caller);
    if theirs || visible.administered.contains(&record.organization) {
        return Ok(true);
    }
    if record.own_rows {
        return Ok(false);
    }
    if visible.guarded.is_empty() && visible.hidden.is_empty() {
        return Ok(true);
    }
    let mut ids: Vec<Uuid> = record.feature.into_iter().collect();
    let version = find::by_number(
        tx,
        record.organization,
        record.run.workflow_id,
        record.run.version,
    )
    .await?;
    for half in version
        .iter()
        .flat_map(|v| [&v.trigger_config, &v.graph_config])
    {
        ids.extend(mentioned_ids(&Json::parse(half).unwrap_or_default()));
    }
    let sql = concat!(
        "SELECT f.id FROM features f WHERE {tenant f.organization_id} AND {workspace f.workspace_id} AND ",
        keeps_rows_apart!("$2", "$3"),
        " LIMIT 1"
    );
    let parameters = [
        record.organization.into(),
        record.workspace.into(),
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
