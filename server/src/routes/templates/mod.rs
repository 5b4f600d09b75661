//! `/v1/templates`: the catalog, whole packages, and their payloads.

mod apply;
mod catalog;
mod package;
mod payloads;
mod write;

pub use apply::{apply, plan};
pub use catalog::{get, list};
pub use package::{get as get_package, import, put as put_package};
pub use payloads::{delete as delete_payload, list as list_payloads, put as put_payload};
pub use write::{create, delete, patch};

use uuid::Uuid;

use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::offload::offload;
use crate::refusal::Refusal;
use crate::store::Tx;
use crate::templates::{self, Manage};

/// Whose template it is. Reports who may not change it so, before anything of the body is looked at.
async fn entered(call: &mut Call, id: Uuid) -> Result<Uuid, Refusal> {
    call.query(Manage(id), |tx, ctx| Box::pin(may_manage(tx, ctx)))
        .await
}

async fn may_manage(tx: &mut Tx, ctx: &OperationContext<Manage>) -> Result<Uuid, Refusal> {
    let managed = templates::manage(tx, ctx, ctx.input.0).await;
    managed.map(|record| record.organization_id)
}

/// A response with JSON that is written already.
fn written(text: String) -> ApiResponse {
    ApiResponse::written(axum::http::StatusCode::OK, text.into_bytes())
}
