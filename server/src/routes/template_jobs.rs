//! `/v1/template-jobs`: the progress of applies, their cancellation and undo.

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use super::path_record::Checked;
use crate::app::App;
use crate::call::{Call, OperationContext, Reservation};
use crate::http::response::ApiResponse;
use crate::jobs::{self, Job, Status};
use crate::model::find;
use crate::model::kind::WORKSPACE;
use crate::paging::PageRequest;
use crate::refusal::Refusal;
use crate::store::Tx;
use crate::templates::cancel::cancel as stop;
use crate::templates::undo::{self, Undo, UndoParts};

struct List {
    workspace: Option<Uuid>,
    page: Result<PageRequest, Refusal>,
}

/// `GET /v1/template-jobs`
///
/// # Errors
/// 404 for a workspace that cannot be seen, 422 for parameters that make no sense.
pub async fn list(mut call: Call) -> Result<Response, Refusal> {
    let workspace = call.query_text.optional_id("workspace_id");
    let of = workspace.map(|id| id.to_string()).unwrap_or_default();
    let page = call.page(&of);
    call.read(List { workspace, page }, |tx, ctx| {
        Box::pin(select_page(tx, ctx))
    })
    .await
}

async fn select_page(tx: &mut Tx, ctx: &OperationContext<List>) -> Result<ApiResponse, Refusal> {
    let List { workspace, page } = &ctx.input;
    if let Some(workspace) = workspace {
        let seen = find::get(tx, &WORKSPACE, *workspace).await?;
        seen.ok_or_else(Refusal::not_found)?;
    }
    let page = page.clone()?;
    let mut found = jobs::page(tx, *workspace, &page, ctx.now).await?;
    jobs::redact(tx, &mut found.records).await?;
    ApiResponse::json(StatusCode::OK, &page.bounded_page(found, |job| job.id))
}

/// `GET /v1/template-jobs/{job_id}`
///
/// # Errors
/// 404.
pub async fn get(mut call: Call) -> Result<Response, Refusal> {
    let id = call.path_id(0).await?;
    let query = call.query_text.finish();
    call.read(Checked { id, query }, |tx, ctx| Box::pin(read(tx, ctx)))
        .await
}

async fn read(tx: &mut Tx, ctx: &OperationContext<Checked<()>>) -> Result<ApiResponse, Refusal> {
    let Checked { id, query } = &ctx.input;
    let job = jobs::find(tx, *id, ctx.now).await?;
    let mut job = job.ok_or_else(Refusal::not_found)?;
    query.clone()?;
    jobs::redact(tx, std::slice::from_mut(&mut job)).await?;
    ApiResponse::json(StatusCode::OK, &job)
}

/// `POST /v1/template-jobs/{job_id}/undo`
///
/// # Errors
/// 404, 403, 409 for what would be lost, while the template is busy in the workspace, and the second time.
pub async fn undo(mut call: Call) -> Result<Response, Refusal> {
    let force = call.query_text.flag("force");
    let job = named_job(&mut call).await?;
    let again = match call.reserve().await? {
        Reservation::Ours { again } => again,
        Reservation::Kept(kept) => {
            let replay = Replay { job, kept };
            let response = call.query(replay, |tx, ctx| Box::pin(replayed(tx, ctx)));
            return response.await.map(ApiResponse::response);
        }
    };
    let undo = Undo {
        parts: parts(&call.app),
        scope: call.confirmed_scope()?,
        by: call.caller()?.id,
        job,
        force,
        again,
    };
    let undone = undone(undo).await;
    call.respond(undone).await
}

async fn undone(undo: Undo) -> Result<ApiResponse, Refusal> {
    // Whoever asked may go away meanwhile; what was begun ends.
    let undone = tokio::spawn(undo.make()).await;
    let job = undone.map_err(|error| undo::lost(&error))??;
    let status = match job.status {
        Status::Undone => StatusCode::OK,
        _ => StatusCode::ACCEPTED,
    };
    ApiResponse::json(status, &job)
}

/// `POST /v1/template-jobs/{job_id}/cancel`
///
/// # Errors
/// 404, 403, 409 for a job that has ended, or is being undone.
pub async fn cancel(mut call: Call) -> Result<Response, Refusal> {
    let job = named_job(&mut call).await?;
    call.write(job.id, |tx, ctx| Box::pin(stopped(tx, ctx)))
        .await
}

/// What an undo works with.
fn parts(app: &App) -> UndoParts {
    UndoParts {
        store: app.store.clone(),
        context: app.context.clone(),
        tables: app.tables.clone(),
        signal: app.signal.clone(),
        lease: i64::from(app.config.lease_seconds) * 1_000_000,
        wait: app.config.undo_wait,
    }
}

async fn stopped(tx: &mut Tx, ctx: &OperationContext<Uuid>) -> Result<ApiResponse, Refusal> {
    let job = visible_job(tx, ctx).await?;
    if let Some(kept) = ctx.claim(tx).await? {
        return redacted(tx, &job, kept).await;
    }
    let job = stop(tx, &job, ctx.now).await?;
    ctx.keep(tx, ApiResponse::json(StatusCode::ACCEPTED, &job)?)
        .await
}

/// A response about a job that was kept under the key of a request.
struct Replay {
    job: Job,
    kept: ApiResponse,
}

async fn replayed(tx: &mut Tx, ctx: &OperationContext<Replay>) -> Result<ApiResponse, Refusal> {
    let Replay { job, kept } = &ctx.input;
    redacted(tx, job, kept.clone()).await
}

/// The response that is kept, without what its report says of tables whose rows were hidden from the caller since.
async fn redacted(tx: &mut Tx, job: &Job, mut kept: ApiResponse) -> Result<ApiResponse, Refusal> {
    let document: Option<serde_json::Value> = serde_json::from_slice(&kept.body).ok();
    let Some(mut document) = document.filter(|_| kept.status.is_success()) else {
        return Ok(kept);
    };
    let mut then = Job {
        report: Some(document["report"].to_string()).filter(|report| report != "null"),
        ..job.clone()
    };
    jobs::redact(tx, std::slice::from_mut(&mut then)).await?;
    let report = then.report.as_deref().map(serde_json::from_str);
    let report: Result<Option<serde_json::Value>, _> = report.transpose();
    let report = report.map_err(|_| Refusal::internal())?;
    if let Some(report) = report.filter(|report| *report != document["report"]) {
        document["report"] = report;
        kept.body = document.to_string().into_bytes();
    }
    Ok(kept)
}

/// The job that the path of a request without a body names, when the caller may change it.
async fn named_job(call: &mut Call) -> Result<Job, Refusal> {
    let id = call.path_id(0).await?;
    let mut job = call
        .query(id, |tx, ctx| Box::pin(visible_job(tx, ctx)))
        .await?;
    if call.body_was_slow().await? {
        job = call
            .query(id, |tx, ctx| Box::pin(visible_job(tx, ctx)))
            .await?;
    }
    let body = call.bytes().await?;
    call.query_text.finish()?;
    if body.is_empty() {
        Ok(job)
    } else {
        Err(Refusal::fault("", "this takes no body"))
    }
}

async fn visible_job(tx: &mut Tx, ctx: &OperationContext<Uuid>) -> Result<Job, Refusal> {
    let job = jobs::find(tx, ctx.input, ctx.now).await?;
    let job = job.ok_or_else(Refusal::not_found)?;
    ctx.enter(job.organization)?;
    Ok(job)
}
