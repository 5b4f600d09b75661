//! Runs as they are answered. Who does not see all rows of the tables that a run is about is told that it
//! was, and how it ended, and nothing of what was in it.

use serde::Serialize;
use serde_json::value::RawValue;
use tplkit::automation::run::Play;
use tplkit::json::{Doc, Value as Json};
use uuid::Uuid;

use super::find;
use super::runs::{StepLine, steps};
use crate::context::rfc3339;
use crate::http::page::PageRequest;
use crate::http::problem::Problem;
use crate::http::query;
use crate::store::{Row, Scope, StoreError, Tx};

/// How many records of an output are shown.
const SHOWN: usize = 20;

/// A run.
#[derive(Debug, Serialize)]
pub struct Shown {
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
    error: Option<String>,
    steps: Vec<Step>,
}

#[derive(Debug, Serialize)]
struct Step {
    path: String,
    id: String,
    key: String,
    status: String,
    input: Option<Box<RawValue>>,
    output: Option<Box<RawValue>>,
    error: Option<String>,
}

/// What stands in the place of what is not shown.
const WITHHELD: &str = "it failed; why is not shown to who does not see all rows concerned";

macro_rules! columns {
    () => {
        "organization_id, id, workflow_id, version, status, trigger_word, feature_id, row_id, \
         dry_run, started_at, finished_at, error"
    };
}

struct Line {
    organization: Uuid,
    feature: Option<Uuid>,
    run: Shown,
}

fn line(row: &Row) -> Result<Line, StoreError> {
    Ok(Line {
        organization: row.get(0)?,
        feature: row.get(6)?,
        run: Shown {
            id: row.get(1)?,
            workflow_id: row.get(2)?,
            version: row.get(3)?,
            status: row.get(4)?,
            trigger: row.get(5)?,
            row_id: row.get(7)?,
            dry_run: row.get(8)?,
            started_at: row.get::<Option<i64>>(9)?.map(rfc3339),
            finished_at: row.get::<Option<i64>>(10)?.map(rfc3339),
            error: row.get(11)?,
            steps: Vec::new(),
        },
    })
}

/// A run by its id.
///
/// # Errors
/// 404 when there is none that may be seen.
pub async fn read_run(tx: &mut Tx, id: Uuid) -> Result<Shown, Problem> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM workflow_runs WHERE {tenant organization_id} AND {workspace workspace_id} AND id = $1"
    );
    let row = tx.first(sql, &[id.into()]).await?;
    let line = line(&row.ok_or_else(Problem::not_found)?)?;
    Ok(shown(tx, line).await?)
}

/// A page of the runs of an automation, and one more if another page follows.
///
/// # Errors
/// 404 for an automation that cannot be seen.
pub async fn run_page(
    tx: &mut Tx,
    workflow: Uuid,
    page: &PageRequest,
) -> Result<Vec<Shown>, Problem> {
    visible(tx, workflow).await?;
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM workflow_runs WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND workflow_id = $1 AND id > $2 ORDER BY id LIMIT $3"
    );
    let parameters = [workflow.into(), page.from().into(), page.look().into()];
    let rows = tx.query(sql, &parameters).await?;
    let mut runs = Vec::with_capacity(rows.len());
    for row in &rows {
        let line = line(row)?;
        runs.push(shown(tx, line).await?);
    }
    Ok(runs)
}

/// Sees to it that an automation may be seen.
///
/// # Errors
/// 404.
async fn visible(tx: &mut Tx, workflow: Uuid) -> Result<(), Problem> {
    let sql = "SELECT id FROM workflows WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND id = $1";
    let found = tx.first(sql, &[workflow.into()]).await?;
    found.map(drop).ok_or_else(Problem::not_found)
}

async fn shown(tx: &mut Tx, line: Line) -> Result<Shown, StoreError> {
    let Line {
        organization,
        feature,
        mut run,
    } = line;
    let open = sees_all(tx, (run.workflow_id, run.version), feature).await?;
    let lines = steps(tx, (organization, run.id)).await?;
    run.steps = lines.into_iter().map(|line| step(line, open)).collect();
    if !open {
        run.row_id = None;
        run.error = run.error.map(|_| WITHHELD.to_owned());
    }
    Ok(run)
}

fn step(line: StepLine, open: bool) -> Step {
    let raw = |text: String| RawValue::from_string(text).ok();
    Step {
        path: line.path,
        id: line.id,
        key: line.key,
        status: line.status,
        input: Some(line.input).filter(|_| open).and_then(raw),
        output: line.output.filter(|_| open).map(cut).and_then(raw),
        error: line
            .error
            .map(|error| if open { error } else { WITHHELD.to_owned() }),
    }
}

/// An output without what the play remembers for itself, and without most of the records.
fn cut(output: String) -> String {
    let Ok(Json::Object(mut members)) = Json::parse(&output) else {
        return output;
    };
    if let Some(Json::List(records)) = members.get_mut("records") {
        records.truncate(SHOWN);
    }
    Json::Object(Play::told(members)).write()
}

/// Whether who asks sees every row of the tables that the version names and of the one that fired.
async fn sees_all(
    tx: &mut Tx,
    (workflow, version): (Uuid, i64),
    feature: Option<Uuid>,
) -> Result<bool, StoreError> {
    let Scope::Caller(visible) = tx.scope().clone() else {
        return Ok(true);
    };
    if visible.guarded.is_empty() && visible.hidden.is_empty() {
        return Ok(true);
    }
    let mut named: Vec<Uuid> = feature.into_iter().collect();
    if let Some(version) = find::by_number(tx, workflow, version).await?
        && let Ok(doc) = Doc::parse(&version.graph_config)
    {
        let texts = doc.all_nodes();
        named.extend(texts.filter_map(|node| node.as_str().and_then(query::uuid)));
    }
    if named.iter().any(|id| visible.guarded.contains(id)) {
        return Ok(false);
    }
    if visible.hidden.is_empty() {
        return Ok(true);
    }
    // Of what is named and is not a table that is seen, nobody knows what it is.
    let sql = "SELECT id FROM features WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND id = $1";
    let known = "SELECT id FROM channels WHERE {tenant organization_id} AND id = $1";
    let people = "SELECT user_id FROM memberships WHERE {tenant organization_id} AND user_id = $1";
    let others = "SELECT id FROM workflows WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND id = $1";
    for id in named {
        let mut seen = false;
        for sql in [sql, known, people, others] {
            seen = seen || tx.first(sql, &[id.into()]).await?.is_some();
        }
        if !seen {
            return Ok(false);
        }
    }
    Ok(true)
}
