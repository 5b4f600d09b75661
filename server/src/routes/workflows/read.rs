//! `GET /v1/workflows-v2` and `GET /v1/workflows-v2/{workflow_id}`

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use crate::automation::find::{self, Which};
use crate::http::call::{Asked, Call};
use crate::http::page::PageRequest;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::store::Tx;

/// `GET /v1/workflows-v2`: a page of versions.
///
/// # Errors
/// 422 for parameters that make no sense.
pub async fn list(mut call: Call) -> Result<Response, Problem> {
    let workspace = call.query.optional_id("workspace_id");
    let active = call.query.word("active", &["true", "false"]);
    let active = active.map(|word| word == "true");
    let page = call.page(&format!("{workspace:?} {active:?}"))?;
    let which = Which { workspace, active };
    call.read((which, page), |tx, asked| Box::pin(select_page(tx, asked)))
        .await
}

async fn select_page(tx: &mut Tx, asked: &Asked<(Which, PageRequest)>) -> Result<Reply, Problem> {
    let (which, page) = &asked.input;
    let found = find::page(tx, *which, page).await?;
    Reply::json(StatusCode::OK, &page.page(found, |version| version.id))
}

/// `GET /v1/workflows-v2/{workflow_id}`: the version in force.
///
/// # Errors
/// 404.
pub async fn get(mut call: Call) -> Result<Response, Problem> {
    let workflow = call.path_id(0).await?;
    let query = call.query.finish();
    call.read((workflow, query), |tx, asked| Box::pin(select(tx, asked)))
        .await
}

async fn select(tx: &mut Tx, asked: &Asked<(Uuid, Result<(), Problem>)>) -> Result<Reply, Problem> {
    let found = find::in_force(tx, asked.input.0).await?;
    let version = found.ok_or_else(Problem::not_found)?;
    asked.input.1.clone()?;
    Reply::json(StatusCode::OK, &version)
}
