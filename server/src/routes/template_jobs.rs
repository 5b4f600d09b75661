//! `/v1/template-jobs`: what becomes of an apply, and taking it back.

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use crate::http::call::{Asked, Call};
use crate::http::page::PageRequest;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::jobs::{self, Job, Status};
use crate::model::find;
use crate::model::kind::WORKSPACE;
use crate::store::{StoreError, Tx};
use crate::templates::cancel::cancel as stop;
use crate::templates::undo::{self, Undo};

struct List {
    workspace: Option<Uuid>,
    page: Result<PageRequest, Problem>,
}

/// `GET /v1/template-jobs`
///
/// # Errors
/// 404 for a workspace that cannot be seen, 422 for parameters that make no sense.
pub async fn list(mut call: Call) -> Result<Response, Problem> {
    let workspace = call.query.optional_id("workspace_id");
    let of = workspace.map(|id| id.to_string()).unwrap_or_default();
    let page = call.page(&of);
    call.read(List { workspace, page }, |tx, asked| {
        Box::pin(select_page(tx, asked))
    })
    .await
}

async fn select_page(tx: &mut Tx, asked: &Asked<List>) -> Result<Reply, Problem> {
    let List { workspace, page } = &asked.input;
    if let Some(workspace) = workspace {
        let seen = find::get(tx, &WORKSPACE, *workspace).await?;
        seen.ok_or_else(Problem::not_found)?;
    }
    let page = page.clone()?;
    let mut found = select(tx, *workspace, &page, asked.now).await?;
    jobs::veil(tx, &mut found).await?;
    Reply::json(StatusCode::OK, &page.page(found, |job| job.id))
}

async fn select(
    tx: &mut Tx,
    workspace: Option<Uuid>,
    page: &PageRequest,
    now: i64,
) -> Result<Vec<Job>, StoreError> {
    let all = "SELECT organization_id, workspace_id, id, template_id, created_by, status, phase, \
         done, total, locked_until, coalesce(locked_until > {clock $1}, false), report, error, \
         created_at, updated_at FROM template_jobs \
         WHERE {tenant organization_id} AND {workspace workspace_id} AND id > $2 \
         ORDER BY id LIMIT $3";
    let within = "SELECT organization_id, workspace_id, id, template_id, created_by, status, phase, \
         done, total, locked_until, coalesce(locked_until > {clock $1}, false), report, error, \
         created_at, updated_at FROM template_jobs \
         WHERE {tenant organization_id} AND {workspace workspace_id} AND id > $2 \
         AND workspace_id = $4 ORDER BY id LIMIT $3";
    let mut parameters = vec![now.into(), page.from().into(), page.look().into()];
    parameters.extend(workspace.map(Into::into));
    let sql = if workspace.is_some() { within } else { all };
    let rows = tx.last(sql, &parameters).await?;
    rows.iter().map(Job::read).collect()
}

/// `GET /v1/template-jobs/{job_id}`
///
/// # Errors
/// 404.
pub async fn get(mut call: Call) -> Result<Response, Problem> {
    let id = call.path_id(0).await?;
    let query = call.query.finish();
    call.read((id, query), |tx, asked| Box::pin(read(tx, asked)))
        .await
}

async fn read(tx: &mut Tx, asked: &Asked<(Uuid, Result<(), Problem>)>) -> Result<Reply, Problem> {
    let (id, query) = &asked.input;
    let job = jobs::find(tx, *id, asked.now).await?;
    let mut job = job.ok_or_else(Problem::not_found)?;
    query.clone()?;
    jobs::veil(tx, std::slice::from_mut(&mut job)).await?;
    Reply::json(StatusCode::OK, &job)
}

/// `POST /v1/template-jobs/{job_id}/undo`
///
/// # Errors
/// 404, 403, 409 for what would be lost, while the template is busy in the workspace, and the second time.
pub async fn undo(mut call: Call) -> Result<Response, Problem> {
    let id = call.path_id(0).await?;
    let job = call.look(id, |tx, asked| Box::pin(entered(tx, asked)));
    let job = job.await?;
    let force = call.query.flag("force");
    no_body(&mut call).await?;
    if let Some(answered) = call.reserve().await? {
        return Ok(answered);
    }
    let undo = Undo::new(&call.app, call.caller()?, job, force);
    // Whoever asked may go away meanwhile; what was begun ends.
    let undone = tokio::spawn(undo.make()).await;
    let job = undone.map_err(|error| undo::lost(&error))??;
    let status = match job.status {
        Status::Undone => StatusCode::OK,
        _ => StatusCode::ACCEPTED,
    };
    call.found(Reply::json(status, &job)?).await
}

/// `POST /v1/template-jobs/{job_id}/cancel`
///
/// # Errors
/// 404, 403, 409 for a job that has ended, or is being undone.
pub async fn cancel(mut call: Call) -> Result<Response, Problem> {
    let id = call.path_id(0).await?;
    let job = call.look(id, |tx, asked| Box::pin(entered(tx, asked)));
    let job: Job = job.await?;
    no_body(&mut call).await?;
    call.write(job.id, |tx, asked| Box::pin(stop(tx, asked)))
        .await
}

async fn no_body(call: &mut Call) -> Result<(), Problem> {
    let body = call.bytes().await?;
    call.query.finish()?;
    if body.is_empty() {
        Ok(())
    } else {
        Err(Problem::fault("", "this takes no body"))
    }
}

async fn entered(tx: &mut Tx, asked: &Asked<Uuid>) -> Result<Job, Problem> {
    let job = jobs::find(tx, asked.input, asked.now).await?;
    let job = job.ok_or_else(Problem::not_found)?;
    asked.enter(job.organization)?;
    Ok(job)
}
