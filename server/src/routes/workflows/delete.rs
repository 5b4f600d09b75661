//! `DELETE /v1/workflows-v2/{workflow_id}`

use axum::response::Response;
use uuid::Uuid;

use crate::automation::{find, remove};
use crate::http::call::{Asked, Call};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::store::Tx;

/// `DELETE /v1/workflows-v2/{workflow_id}`: the automation, its versions and its runs.
///
/// # Errors
/// 404, 403, 409 for one that fires, unless forced.
pub async fn delete(mut call: Call) -> Result<Response, Problem> {
    let workflow = call.path_id(0).await?;
    let force = call.query.flag("force");
    let force = call.query.finish().map(|()| force);
    call.write((workflow, force), |tx, asked| {
        Box::pin(remove_one(tx, asked))
    })
    .await
}

async fn remove_one(
    tx: &mut Tx,
    asked: &Asked<(Uuid, Result<bool, Problem>)>,
) -> Result<Reply, Problem> {
    let (workflow, force) = &asked.input;
    let line = find::lock(tx, *workflow).await?;
    asked.enter(line.organization)?;
    let force = force.clone()?;
    remove(tx, &line, force, asked.now).await?;
    Ok(Reply::nothing())
}
