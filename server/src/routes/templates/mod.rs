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

use crate::http::call::{Asked, Call};
use crate::http::problem::{Code, Problem};
use crate::http::reply::Reply;
use crate::store::Tx;
use crate::templates::{self, Manage};

/// Tells who may not change a template so, before anything of the body is looked at.
async fn entered(call: &mut Call, id: Uuid) -> Result<(), Problem> {
    call.look(Manage(id), |tx, asked| Box::pin(may_manage(tx, asked)))
        .await
}

async fn may_manage(tx: &mut Tx, asked: &Asked<Manage>) -> Result<(), Problem> {
    templates::manage(tx, asked, asked.input.0).await.map(drop)
}

/// Does what takes a while with a large package where nobody waits for it.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.unwrap_or_else(|error| {
        tracing::error!(%error, "a package could not be judged");
        let told = "Something went wrong here; it has been recorded.";
        Err(Problem::new(Code::Internal, told))
    })
}

/// An answer with JSON that is written already.
fn written(text: String) -> Reply {
    Reply::written(axum::http::StatusCode::OK, text.into_bytes())
}
