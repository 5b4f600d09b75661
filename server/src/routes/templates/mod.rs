//! `/v1/templates`: the catalog, whole packages, and their payloads.

mod apply;
mod catalog;
mod check;
mod package;
mod payloads;
mod write;

pub use apply::{apply, plan};
pub use catalog::{get, list};
pub use check::check;
pub use package::{get as get_package, import, put as put_package};
pub use payloads::{delete as delete_payload, list as list_payloads, put as put_payload};
#[cfg(test)]
pub(crate) use write::manifest;
pub use write::{create, delete, patch};

use axum::http::StatusCode;
use uuid::Uuid;

use crate::call::{Call, OperationContext};
use crate::cpu_threads::offload;
use crate::http::response::ApiResponse;
use crate::refusal::Refusal;
use crate::store::Tx;
use crate::templates::{self, Create};

/// Whose template it is. Reports who may not change it so, before anything of the body is looked at.
async fn managed_by(call: &mut Call, id: Uuid) -> Result<Uuid, Refusal> {
    call.query(id, |tx, ctx| Box::pin(may_manage(tx, ctx)))
        .await
}

async fn may_manage(tx: &mut Tx, ctx: &OperationContext<Uuid>) -> Result<Uuid, Refusal> {
    let managed = templates::manage(tx, ctx.actor(), ctx.input).await;
    managed.map(|record| record.organization_id)
}

/// Adds a template to the catalog, once for each key.
async fn insert(tx: &mut Tx, ctx: &OperationContext<Create>) -> Result<ApiResponse, Refusal> {
    ctx.enter(ctx.input.organization)?;
    if let Some(kept) = ctx.claim(tx).await? {
        return Ok(kept);
    }
    let record = templates::create(tx, &ctx.input, &ctx.context, ctx.now).await?;
    ctx.keep(tx, ApiResponse::json(StatusCode::CREATED, &record)?)
        .await
}

/// A response with JSON that is written already.
fn written(text: String) -> ApiResponse {
    ApiResponse::written(StatusCode::OK, text.into_bytes())
}
