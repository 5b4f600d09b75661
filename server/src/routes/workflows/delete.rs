//! `DELETE /v1/workflows-v2/{workflow_id}`

use axum::response::Response;
use uuid::Uuid;

use crate::automation::{find, remove};
use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::refusal::Refusal;
use crate::store::Tx;

/// A deletion of an automation.
struct Delete {
    /// The automation.
    workflow: Uuid,
    /// Whether an active one is deleted, or what is wrong with the query.
    force: Result<bool, Refusal>,
}

/// `DELETE /v1/workflows-v2/{workflow_id}`: the automation, its versions and its runs.
///
/// # Errors
/// 404, 403, 409 for one that fires, unless forced.
pub async fn delete(mut call: Call) -> Result<Response, Refusal> {
    let workflow = call.path_id(0).await?;
    let force = call.query_text.flag("force");
    let force = call.query_text.finish().map(|()| force);
    call.write(Delete { workflow, force }, |tx, ctx| {
        Box::pin(remove_one(tx, ctx))
    })
    .await
}

async fn remove_one(tx: &mut Tx, ctx: &OperationContext<Delete>) -> Result<ApiResponse, Refusal> {
    let Delete { workflow, force } = &ctx.input;
    let row = find::lock(tx, *workflow).await?;
    ctx.enter(row.organization)?;
    let force = force.clone()?;
    remove(tx, &row, force, ctx.now).await?;
    Ok(ApiResponse::nothing())
}
