//! `DELETE /v1/files/{file_id}`

use axum::response::Response;
use uuid::Uuid;

use crate::call::{Call, OperationContext};
use crate::files::remove;
use crate::http::response::ApiResponse;
use crate::refusal::Refusal;
use crate::store::Tx;

struct Delete {
    id: Uuid,
    force: Result<bool, Refusal>,
}

/// Deletes a file. Its bytes go a little later, if no other file of the organization has the same.
///
/// # Errors
/// 404, 403, 409 while something uses it.
pub async fn delete(mut call: Call) -> Result<Response, Refusal> {
    let id = call.path_id(0).await?;
    let force = call.query_text.flag("force");
    let force = call.query_text.finish().map(|()| force);
    call.write(Delete { id, force }, |tx, ctx| {
        Box::pin(remove_one(tx, ctx))
    })
    .await
}

async fn remove_one(tx: &mut Tx, ctx: &OperationContext<Delete>) -> Result<ApiResponse, Refusal> {
    let Delete { id, force } = &ctx.input;
    remove::remove(tx, ctx.actor(), *id, force.clone()).await?;
    Ok(ApiResponse::nothing())
}
