//! `POST /v1/workspaces/{workspace_id}/export`

use axum::response::Response;
use uuid::Uuid;

use crate::http::body;
use crate::http::call::{Asked, Call};
use crate::http::lane::{check, transfer};
use crate::http::problem::Problem;
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
    let organization = call.look(workspace, |tx, asked| Box::pin(seen(tx, asked)));
    let organization = organization.await?;
    let lane = call.app.lanes.transfers.clone();
    check(&lane, organization)?;
    let text = body::text(call.bytes().await?)?;
    call.query.finish()?;
    body::read(&text)?;
    let export = Export::read(workspace, &text)?;
    transfer(&lane, organization, async move {
        let spool = call.survey(export, |tx, asked| Box::pin(Export::write(tx, asked)));
        spool.await?.response()
    })
    .await
}

/// Whose workspace it is.
async fn seen(tx: &mut Tx, asked: &Asked<Uuid>) -> Result<Uuid, Problem> {
    let found = find::get(tx, &WORKSPACE, asked.input).await?;
    let found = found.ok_or_else(Problem::not_found)?;
    Ok(found.organization())
}
