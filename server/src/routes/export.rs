//! `POST /v1/workspaces/{workspace_id}/export`

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use crate::http::body;
use crate::http::call::{Asked, Call};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::model::find;
use crate::model::kind::WORKSPACE;
use crate::store::Tx;
use crate::templates::Export;

/// Answers with a package of what the caller sees.
///
/// # Errors
/// 404 for a workspace that cannot be seen, 422 for a selection of what is not there.
pub async fn export(mut call: Call) -> Result<Response, Problem> {
    let workspace = call.path_id(0).await?;
    call.look(workspace, |tx, asked| Box::pin(seen(tx, asked)))
        .await?;
    let text = body::text(call.bytes().await?)?;
    call.query.finish()?;
    body::read(&text)?;
    let export = Export::read(workspace, &text)?;
    let spool = call.survey(export, |tx, asked| Box::pin(Export::write(tx, asked)));
    let spool = spool.await?;
    if !call.is_kept() {
        return spool.response();
    }
    // An export changes nothing, so the key is all that is written.
    let bytes = spool.bytes()?;
    call.write(bytes, |tx, asked| Box::pin(keep(tx, asked)))
        .await
}

async fn seen(tx: &mut Tx, asked: &Asked<Uuid>) -> Result<(), Problem> {
    let found = find::get(tx, &WORKSPACE, asked.input).await?;
    found.map(drop).ok_or_else(Problem::not_found)
}

async fn keep(tx: &mut Tx, asked: &Asked<Vec<u8>>) -> Result<Reply, Problem> {
    if let Some(answered) = asked.claim(tx).await? {
        return Ok(answered);
    }
    let reply = Reply::written(StatusCode::OK, asked.input.clone());
    asked.keep(tx, reply).await
}
