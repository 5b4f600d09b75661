//! `POST /v1/workflows-v2`

use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use tplkit::json::Value as Json;
use uuid::Uuid;

use super::definition_parts::DefinitionParts;
use crate::automation::{
    self, Definition, NewVersion, NewWorkflow, VersionState, WorkflowScope, keep_secrets,
    lock_files, validate_for,
};
use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::ids::WorkflowKey;
use crate::json_body::{Fields, LABEL};
use crate::json_schemas::{Graph, Trigger};
use crate::model::find;
use crate::model::kind::WORKSPACE;
use crate::refusal::Refusal;
use crate::secret_key::SecretKey;
use crate::store::Tx;

struct WorkflowInput {
    workspace: Uuid,
    workflow: Uuid,
    version: Uuid,
    secret_key: Option<SecretKey>,
    body: Result<WorkflowCreate, Refusal>,
}

/// An automation to make, with its first version.
#[derive(JsonSchema)]
pub(crate) struct WorkflowCreate {
    /// The workspace.
    workspace_id: Uuid,
    /// Name for people.
    #[schemars(length(min = *LABEL.start(), max = *LABEL.end()))]
    name: String,
    /// What starts it.
    #[schemars(with = "Trigger")]
    trigger_config: Json,
    /// What it does.
    #[schemars(with = "Graph")]
    graph_config: Json,
    /// Whether it is a draft.
    #[schemars(default = "is_draft")]
    is_draft: bool,
}

/// What a version is whose body says nothing of it.
fn is_draft() -> bool {
    true
}

/// `POST /v1/workflows-v2`: a first version, as a draft or published at once.
///
/// # Errors
/// 404, 403, 422 with the codes of the issues.
pub async fn create(mut call: Call) -> Result<Response, Refusal> {
    let mut fields = call.body_alone().await?;
    let query = call.query_text.finish();
    let workspace = super::validate::workspace(&mut fields)?;
    let body = query.and_then(|()| WorkflowCreate::read(workspace, fields));
    let new = WorkflowInput {
        workspace,
        workflow: call.app.context.id(),
        version: call.app.context.id(),
        secret_key: call.app.config.secret_key.clone(),
        body,
    };
    call.write(new, |tx, ctx| Box::pin(insert(tx, ctx))).await
}

impl WorkflowCreate {
    pub(crate) fn read(workspace_id: Uuid, mut fields: Fields) -> Result<WorkflowCreate, Refusal> {
        fields.required("name");
        let name = fields.label("name").unwrap_or_default();
        fields.required("graph_config");
        let halves = DefinitionParts::take(&mut fields);
        let body = WorkflowCreate {
            workspace_id,
            name,
            trigger_config: halves.trigger(),
            graph_config: halves.graph(),
            is_draft: fields.flag("is_draft").unwrap_or_else(is_draft),
        };
        fields.finish().map(|()| body)
    }
}

async fn insert(
    tx: &mut Tx,
    ctx: &OperationContext<WorkflowInput>,
) -> Result<ApiResponse, Refusal> {
    let new = &ctx.input;
    let workspace = find::lock(tx, &WORKSPACE, new.workspace).await?;
    let organization = workspace.organization();
    ctx.enter(organization)?;
    if let Some(kept) = ctx.claim(tx).await? {
        return Ok(kept);
    }
    let body = new.body.as_ref().map_err(Clone::clone)?;
    let (trigger, mut graph) = (body.trigger_config.clone(), body.graph_config.clone());
    let place = WorkflowScope {
        organization,
        workspace: body.workspace_id,
        workflow: Some(new.workflow),
    };
    lock_files(tx, organization, &graph).await?;
    let checked = validate_for(tx, place, &trigger.write(), &graph.write()).await?;
    checked.accept()?;
    let of = WorkflowKey {
        organization,
        workflow: new.workflow,
    };
    keep_secrets(tx, new.secret_key.as_ref(), of, &mut graph, None).await?;
    let definition = Definition::new(body.name.clone(), &trigger, &graph, &ctx.context);
    let workflow = NewWorkflow {
        organization,
        workspace: workspace.id,
        id: new.workflow,
    };
    let standing = if body.is_draft {
        VersionState::Draft
    } else {
        VersionState::Published(Some(ctx.caller.id))
    };
    let first = NewVersion {
        id: new.version,
        standing,
        base_version: None,
        now: ctx.now,
    };
    let version = automation::create(tx, workflow, &definition, first).await?;
    ctx.keep(tx, ApiResponse::json(StatusCode::CREATED, &version)?)
        .await
}
