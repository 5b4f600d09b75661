//! `POST /v1/workspaces/{workspace_id}/export`

use axum::response::Response;
use uuid::Uuid;

use crate::call::lane::{check, transfer};
use crate::call::{Call, OperationContext};
use crate::cpu_threads::offload;
use crate::http::large_response;
use crate::json_body;
use crate::model::find;
use crate::model::kind::WORKSPACE;
use crate::refusal::Refusal;
use crate::spool::Spool;
use crate::store::Tx;
use crate::templates::{EarlierPackage, Export, earlier};

/// Responds with a package of what the caller sees.
///
/// # Errors
/// 404 for a workspace that cannot be seen, 422 for a selection of what is not there.
pub async fn export(mut call: Call) -> Result<Response, Refusal> {
    let workspace = call.path_id(0).await?;
    let organization = call.query(workspace, |tx, ctx| Box::pin(visible_workspace(tx, ctx)));
    let organization = organization.await?;
    let lane = call.app.lanes.transfers.clone();
    check(&lane, organization)?;
    if call.body_was_slow().await? {
        call.query(workspace, |tx, ctx| Box::pin(visible_workspace(tx, ctx)))
            .await?;
    }
    let text = json_body::text(call.bytes().await?)?;
    call.query_text.finish()?;
    json_body::read(&text)?;
    let export = Export::read(workspace, &text)?;
    transfer(&lane, organization, async move {
        let mut export = export;
        if let Some(template) = export.onto() {
            let package = call.snapshot(template, |tx, ctx| Box::pin(earlier(tx, ctx.input)));
            let package = package.await?;
            let package = offload(move || EarlierPackage::of(package)).await?;
            export = export.going_on_from(package);
        }
        let spool = call.snapshot(export, |tx, ctx| Box::pin(write(tx, ctx)));
        large_response(spool.await?)
    })
    .await
}

async fn write(tx: &mut Tx, ctx: &OperationContext<Export>) -> Result<Spool, Refusal> {
    Export::write(tx, &ctx.input, &ctx.tables, &ctx.context).await
}

/// Whose workspace it is.
async fn visible_workspace(tx: &mut Tx, ctx: &OperationContext<Uuid>) -> Result<Uuid, Refusal> {
    let found = find::get(tx, &WORKSPACE, ctx.input).await?;
    let found = found.ok_or_else(Refusal::not_found)?;
    Ok(found.organization())
}
