//! `POST /v1/workflows-v2/validate`

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use super::definition_parts::DefinitionParts;
use crate::automation::{WorkflowScope, validate_for};
use crate::call::{Call, OperationContext};
use crate::fields::Fields;
use crate::http::response::ApiResponse;
use crate::ids;
use crate::model::kind::WORKSPACE;
use crate::model::{Record, find};
use crate::refusal::Refusal;
use crate::store::Tx;

struct ValidateRequest {
    workspace: Uuid,
    body: Result<(DefinitionParts, Option<Uuid>), Refusal>,
}

/// `POST /v1/workflows-v2/validate`: the verdict of a save, without one.
///
/// # Errors
/// 404 for a workspace that is not seen, 422 for a body that cannot be read.
pub async fn validate(mut call: Call) -> Result<Response, Refusal> {
    let mut fields = call.body_alone().await?;
    let query = call.query_text.finish();
    let workspace = workspace(&mut fields)?;
    let body = query.and_then(|()| read(fields));
    call.read(ValidateRequest { workspace, body }, |tx, ctx| {
        Box::pin(respond(tx, ctx))
    })
    .await
}

/// The workspace that a body names: who cannot be told where cannot be reported more.
pub(super) fn workspace(fields: &mut Fields) -> Result<Uuid, Refusal> {
    let Some(value) = fields.take("workspace_id") else {
        return Err(Refusal::fault("workspace_id", "is required"));
    };
    let id = value.as_str().and_then(ids::uuid);
    id.ok_or_else(|| Refusal::fault("workspace_id", "is no UUID"))
}

fn read(mut fields: Fields) -> Result<(DefinitionParts, Option<Uuid>), Refusal> {
    let halves = DefinitionParts::take(&mut fields);
    let workflow = fields.id("workflow_id");
    fields.finish()?;
    Ok((halves, workflow))
}

async fn respond(
    tx: &mut Tx,
    ctx: &OperationContext<ValidateRequest>,
) -> Result<ApiResponse, Refusal> {
    let found = find::get(tx, &WORKSPACE, ctx.input.workspace).await?;
    let workspace = found.ok_or_else(Refusal::not_found)?;
    verdict(tx, ctx, &workspace).await
}

async fn verdict(
    tx: &mut Tx,
    ctx: &OperationContext<ValidateRequest>,
    workspace: &Record,
) -> Result<ApiResponse, Refusal> {
    let (halves, workflow) = ctx.input.body.as_ref().map_err(Clone::clone)?;
    let place = WorkflowScope {
        organization: workspace.organization(),
        workspace: workspace.id,
        workflow: *workflow,
    };
    let (trigger, graph) = (halves.trigger().write(), halves.graph().write());
    let checked = validate_for(tx, place, &trigger, &graph).await?;
    ApiResponse::json(StatusCode::OK, &checked)
}
