//! `DELETE /v1/workflows-v2/{workflow_id}`

use axum::response::Response;
use uuid::Uuid;

use crate::automation::{find, remove, remove_part};
use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::refusal::{Code, Refusal};
use crate::store::Tx;

/// A deletion of an automation.
#[derive(Clone)]
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
    let input = Delete { workflow, force };
    if input.force.is_ok() {
        remove_parts(&call, &input).await?;
    }
    call.write(input, |tx, ctx| Box::pin(remove_one(tx, ctx)))
        .await
}

/// Removes finished runs, part after part. What was removed stays so when the request ends before the automation itself
/// is deleted: sent again, it goes on.
async fn remove_parts(call: &Call, delete: &Delete) -> Result<(), Refusal> {
    loop {
        let part =
            call.write_preliminary(delete.clone(), |tx, ctx| Box::pin(remove_finished(tx, ctx)));
        match part.await {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            // The deletion says so itself.
            Err(refusal) if matches!(refusal.code, Code::NotFound | Code::Forbidden) => {
                return Ok(());
            }
            Err(refusal) => return Err(refusal),
        }
    }
}

async fn remove_finished(tx: &mut Tx, ctx: &OperationContext<Delete>) -> Result<bool, Refusal> {
    let Delete { workflow, force } = &ctx.input;
    let organization = find::organization(tx, *workflow).await?;
    ctx.enter(organization)?;
    let force = force.clone()?;
    Ok(remove_part(tx, organization, *workflow, force).await?)
}

async fn remove_one(tx: &mut Tx, ctx: &OperationContext<Delete>) -> Result<ApiResponse, Refusal> {
    let Delete { workflow, force } = &ctx.input;
    let row = find::lock_with_tables(tx, *workflow).await?;
    ctx.enter(row.organization)?;
    let force = force.clone()?;
    remove(tx, &row, force, ctx.now).await?;
    Ok(ApiResponse::nothing())
}
