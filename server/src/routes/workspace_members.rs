//! `/v1/workspaces/{workspace_id}/members/{user_id}`: who sees a restricted workspace.

use axum::response::Response;
use uuid::Uuid;

use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::identity::workspace_members;
use crate::ids::WorkspaceKey;
use crate::model::find;
use crate::model::kind::WORKSPACE;
use crate::refusal::Refusal;
use crate::store::Tx;

struct Membership {
    workspace: Uuid,
    user: Result<Uuid, Refusal>,
    listed: bool,
}

/// `PUT …/members/{user_id}`
///
/// # Errors
/// 403 below administrators, 404, 422 for users outside the organization.
pub async fn put(mut call: Call) -> Result<Response, Refusal> {
    let workspace = call.path_id(0).await?;
    let user = match call.bytes().await {
        Ok(bytes) => nothing_in(&bytes).and_then(|()| call.query_text.finish()),
        Err(refusal) => Err(refusal),
    };
    let id = call.path_id(1).await;
    set(call, workspace, user.and(id), true).await
}

/// There is nothing to say in the body.
fn nothing_in(bytes: &[u8]) -> Result<(), Refusal> {
    use crate::json_body::{Fields, parse};
    if bytes.is_empty() {
        return Ok(());
    }
    Fields::of(parse(bytes)?)?.finish()
}

/// `DELETE …/members/{user_id}`
///
/// # Errors
/// 403 below administrators, 404, 422 for users outside the organization.
pub async fn delete(mut call: Call) -> Result<Response, Refusal> {
    let workspace = call.path_id(0).await?;
    let query = call.query_text.finish();
    let id = call.path_id(1).await;
    set(call, workspace, query.and(id), false).await
}

async fn set(
    call: Call,
    workspace: Uuid,
    user: Result<Uuid, Refusal>,
    listed: bool,
) -> Result<Response, Refusal> {
    let input = Membership {
        workspace,
        user,
        listed,
    };
    call.write(input, |tx, ctx| Box::pin(write(tx, ctx))).await
}

async fn write(tx: &mut Tx, ctx: &OperationContext<Membership>) -> Result<ApiResponse, Refusal> {
    let workspace = find::lock(tx, &WORKSPACE, ctx.input.workspace).await?;
    ctx.enter(workspace.organization())?;
    let user = ctx.input.user.clone()?;
    let place = WorkspaceKey {
        organization: workspace.organization(),
        workspace: workspace.id,
    };
    let belongs = if ctx.input.listed {
        workspace_members::list(tx, place, user, ctx.now).await?
    } else {
        workspace_members::unlist(tx, place, user).await?
    };
    if !belongs {
        let message = "is not a member of the organization";
        return Err(Refusal::fault("path.user_id", message));
    }
    Ok(ApiResponse::nothing())
}
