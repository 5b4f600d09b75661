//! `POST` and `GET /v1/workflows-v2/{workflow_id}/runs`, `GET /v1/workflow-runs/{run_id}`

use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use tplkit::json::Value as Json;
use uuid::Uuid;

use crate::automation::runs::{self, NewRun};
use crate::automation::{NamedRow, find, fired_row, read_run, run_page, sees_fired};
use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::ids;
use crate::json_body::Fields;
use crate::paging::PageRequest;
use crate::refusal::{Code, Refusal};
use crate::routes::path_record::Checked;
use crate::store::Tx;

struct RunInput {
    workflow: Uuid,
    run: Uuid,
    body: Result<RunCreate, Refusal>,
}

/// How to start a run.
#[derive(Default, JsonSchema)]
pub(crate) struct RunCreate {
    /// The row to run on.
    row_id: Option<Uuid>,
    /// Its table, where the trigger names none.
    feature_id: Option<Uuid>,
    /// Whether nothing is kept: writes are rolled back, calls to the outside are stubbed.
    #[schemars(default)]
    dry_run: bool,
}

/// `POST /v1/workflows-v2/{workflow_id}/runs`: begins a run, with a row or without one.
///
/// # Errors
/// 404, 403, 422, 409 for an automation that does not fire, unless the run is dry.
pub async fn run(mut call: Call) -> Result<Response, Refusal> {
    let workflow = call.path_id(0).await?;
    let fields = call.fields_or_none().await;
    let new = RunInput {
        workflow,
        run: call.app.context.id(),
        body: fields.and_then(RunCreate::read),
    };
    call.write(new, |tx, ctx| Box::pin(begin(tx, ctx))).await
}

impl RunCreate {
    pub(crate) fn read(mut fields: Fields) -> Result<RunCreate, Refusal> {
        let body = RunCreate {
            row_id: fields.id("row_id"),
            feature_id: fields.id("feature_id"),
            dry_run: fields.flag("dry_run").unwrap_or_default(),
        };
        fields.finish()?;
        Ok(body)
    }
}

async fn begin(tx: &mut Tx, ctx: &OperationContext<RunInput>) -> Result<ApiResponse, Refusal> {
    let new = &ctx.input;
    let workflow = find::lock(tx, new.workflow).await?;
    ctx.enter(workflow.organization)?;
    if let Some(kept) = ctx.claim(tx).await? {
        return replay(tx, workflow.organization, new, kept).await;
    }
    let body = new.body.as_ref().map_err(Clone::clone)?;
    let version = find::in_force(tx, workflow.id).await?;
    let version = version.ok_or_else(Refusal::not_found)?;
    let row = fired_row(tx, &version, body.feature_id, body.row_id).await?;
    if !body.dry_run && !version.is_active {
        return Err(Refusal::new(
            Code::NoActiveVersion,
            "Only active automations run; dry_run=true shows what this one would do.",
        ));
    }
    let run = NewRun {
        id: new.run,
        organization: workflow.organization,
        workspace: workflow.workspace,
        workflow: workflow.id,
        version: version.version,
        trigger: "manual",
        row,
        dry_run: body.dry_run,
        depth: 1,
        cause: None,
        chain: None,
        caller: Some(ctx.caller.id),
        publisher: None,
        due_at: None,
        now: ctx.now,
    };
    runs::begin(tx, &run).await?;
    ctx.signal.mark();
    let shown = read_run(tx, new.run).await?;
    ctx.keep(tx, ApiResponse::json(StatusCode::ACCEPTED, &shown)?)
        .await
}

/// The response that is kept, unless it is about a table or a row that the caller does not see any more.
async fn replay(
    tx: &mut Tx,
    organization: Uuid,
    new: &RunInput,
    kept: ApiResponse,
) -> Result<ApiResponse, Refusal> {
    if let (Some(run), Ok(body)) = (begun(&kept), &new.body) {
        let named = NamedRow {
            feature: body.feature_id,
            row: body.row_id,
        };
        if !sees_fired(tx, organization, run, named).await? {
            return Err(Refusal::not_found());
        }
    }
    Ok(kept)
}

/// The run of a response, if it began one.
fn begun(response: &ApiResponse) -> Option<Uuid> {
    let run = std::str::from_utf8(&response.body).ok()?;
    let run = Json::parse(run).ok()?;
    ids::uuid(run.get("id")?.as_str()?)
}

/// `GET /v1/workflows-v2/{workflow_id}/runs`
///
/// # Errors
/// 404, 422 for parameters that make no sense.
pub async fn list_runs(mut call: Call) -> Result<Response, Refusal> {
    let id = call.path_id(0).await?;
    let query = call.page(&id.to_string());
    call.read(Checked { id, query }, |tx, ctx| {
        Box::pin(select_page(tx, ctx))
    })
    .await
}

async fn select_page(
    tx: &mut Tx,
    ctx: &OperationContext<Checked<PageRequest>>,
) -> Result<ApiResponse, Refusal> {
    let Checked {
        id: workflow,
        query,
    } = &ctx.input;
    let page = match query {
        Ok(page) => page,
        Err(refusal) => {
            // What cannot be seen is reported first.
            let found = find::in_force(tx, *workflow).await?;
            return Err(found.map_or_else(Refusal::not_found, |_| refusal.clone()));
        }
    };
    ApiResponse::json(StatusCode::OK, &run_page(tx, *workflow, page).await?)
}

/// `GET /v1/workflow-runs/{run_id}`
///
/// # Errors
/// 404.
pub async fn get_run(mut call: Call) -> Result<Response, Refusal> {
    let id = call.path_id(0).await?;
    let query = call.query_text.finish();
    call.read(Checked { id, query }, |tx, ctx| Box::pin(select(tx, ctx)))
        .await
}

async fn select(tx: &mut Tx, ctx: &OperationContext<Checked<()>>) -> Result<ApiResponse, Refusal> {
    let run = read_run(tx, ctx.input.id).await?;
    ctx.input.query.clone()?;
    ApiResponse::json(StatusCode::OK, &run)
}
