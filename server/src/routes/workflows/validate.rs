//! `POST /v1/workflows-v2/validate`

use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use tplkit::json::Value as Json;
use uuid::Uuid;

use super::definition_parts::DefinitionParts;
use crate::automation::{WorkflowScope, validate_for};
use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::ids;
use crate::json_body::Fields;
use crate::json_schemas::{Graph, Trigger};
use crate::model::kind::WORKSPACE;
use crate::model::{Record, find};
use crate::refusal::Refusal;
use crate::store::Tx;

/// An automation to validate.
#[derive(JsonSchema)]
pub(crate) struct WorkflowValidate {
    /// The workspace.
    workspace_id: Uuid,
    /// The automation that it is or becomes, if there is one.
    workflow_id: Option<Uuid>,
    /// What starts it.
    #[schemars(with = "Option<Trigger>")]
    trigger_config: Json,
    /// What it does.
    #[schemars(with = "Option<Graph>")]
    graph_config: Json,
}

struct ValidateRequest {
    workspace: Uuid,
    body: Result<WorkflowValidate, Refusal>,
}

/// `POST /v1/workflows-v2/validate`: the verdict of a save, without one.
///
/// # Errors
/// 404 for a workspace that is not seen, 422 for a body that cannot be read.
pub async fn validate(mut call: Call) -> Result<Response, Refusal> {
    let mut fields = call.body_alone().await?;
    let query = call.query_text.finish();
    let workspace = workspace(&mut fields)?;
    let body = query.and_then(|()| WorkflowValidate::read(workspace, fields));
    call.read(ValidateRequest { workspace, body }, |tx, ctx| {
        Box::pin(respond(tx, ctx))
    })
    .await
}

/// The workspace that the body names. It is checked first: without it nothing else can be checked.
pub(super) fn workspace(fields: &mut Fields) -> Result<Uuid, Refusal> {
    let Some(value) = fields.take("workspace_id") else {
        return Err(Refusal::fault("workspace_id", "is required"));
    };
    let id = value.as_str().and_then(ids::uuid);
    id.ok_or_else(|| Refusal::fault("workspace_id", "is not a UUID"))
}

impl WorkflowValidate {
    pub(crate) fn read(
        workspace_id: Uuid,
        mut fields: Fields,
    ) -> Result<WorkflowValidate, Refusal> {
        let halves = DefinitionParts::take(&mut fields);
        let body = WorkflowValidate {
            workspace_id,
            workflow_id: fields.id("workflow_id"),
            trigger_config: halves.trigger(),
            graph_config: halves.graph(),
        };
        fields.finish().map(|()| body)
    }
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
    let body = ctx.input.body.as_ref().map_err(Clone::clone)?;
    let place = WorkflowScope {
        organization: workspace.organization(),
        workspace: body.workspace_id,
        workflow: body.workflow_id,
    };
    let (trigger, graph) = (body.trigger_config.write(), body.graph_config.write());
    let checked = validate_for(tx, place, &trigger, &graph).await?;
    ApiResponse::json(StatusCode::OK, &checked)
}
