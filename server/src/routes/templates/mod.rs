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

use crate::http::aside::aside;
use crate::http::call::{Asked, Call};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::store::Tx;
use crate::templates::{self, Manage};

/// Whose template it is. Tells who may not change it so, before anything of the body is looked at.
async fn entered(call: &mut Call, id: Uuid) -> Result<Uuid, Problem> {
    call.look(Manage(id), |tx, asked| Box::pin(may_manage(tx, asked)))
        .await
}

async fn may_manage(tx: &mut Tx, asked: &Asked<Manage>) -> Result<Uuid, Problem> {
    let managed = templates::manage(tx, asked, asked.input.0).await;
    managed.map(|record| record.organization_id)
}

/// An answer with JSON that is written already.
fn written(text: String) -> Reply {
    Reply::written(axum::http::StatusCode::OK, text.into_bytes())
}
