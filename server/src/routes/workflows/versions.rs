//! `POST /v1/workflows-v2/{workflow_id}/versions`

use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use tplkit::json::Value as Json;
use uuid::Uuid;

use super::definition_parts::DefinitionParts;
use crate::automation::{
    Definition, NewVersion, VersionState, WorkflowScope, add_version, find, keep_secrets,
    lock_files, validate_for,
};
use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::ids::WorkflowKey;
use crate::json_body::{Fields, LABEL};
use crate::refusal::{Code, Refusal};
use crate::secret_key::SecretKey;
use crate::store::Tx;

struct VersionInput {
    workflow: Uuid,
    version: Uuid,
    secret_key: Option<SecretKey>,
    body: Result<WorkflowVersionCreate, Refusal>,
}

/// What the new draft changes; the rest is inherited.
#[derive(JsonSchema)]
pub(crate) struct WorkflowVersionCreate {
    /// Name for people.
    #[schemars(length(min = *LABEL.start(), max = *LABEL.end()))]
    name: Option<String>,
    #[schemars(flatten)]
    halves: DefinitionParts,
}

/// `POST /v1/workflows-v2/{workflow_id}/versions`: a draft based on the active version, from which it
/// has what the body leaves out.
///
/// # Errors
/// 404, 403, 422 with the codes of the issues, 409 where no version is active.
pub async fn versions(mut call: Call) -> Result<Response, Refusal> {
    let workflow = call.path_id(0).await?;
    let fields = call.fields().await;
    let new = VersionInput {
        workflow,
        version: call.app.context.id(),
        secret_key: call.app.config.secret_key.clone(),
        body: fields.and_then(WorkflowVersionCreate::read),
    };
    call.write(new, |tx, ctx| Box::pin(insert(tx, ctx))).await
}

impl WorkflowVersionCreate {
    pub(crate) fn read(mut fields: Fields) -> Result<WorkflowVersionCreate, Refusal> {
        let name = fields.label("name");
        let halves = DefinitionParts::take(&mut fields);
        fields.finish()?;
        Ok(WorkflowVersionCreate { name, halves })
    }
}

async fn insert(tx: &mut Tx, ctx: &OperationContext<VersionInput>) -> Result<ApiResponse, Refusal> {
    let new = &ctx.input;
    let row = find::lock(tx, new.workflow).await?;
    ctx.enter(row.organization)?;
    if let Some(kept) = ctx.claim(tx).await? {
        return Ok(kept);
    }
    let body = new.body.as_ref().map_err(Clone::clone)?;
    let base = find::in_force(tx, row.id).await?;
    let base = base.ok_or_else(Refusal::not_found)?;
    let half = |given: &Option<Json>, kept: &str| match given {
        Some(given) => given.clone(),
        None => Json::parse(kept).unwrap_or_default(),
    };
    let trigger = half(&body.halves.trigger, &base.trigger_config);
    let mut graph = half(&body.halves.graph, &base.graph_config);
    // What is wrong with the body is reported before what is wrong with the moment.
    let place = WorkflowScope {
        organization: row.organization,
        workspace: row.workspace,
        workflow: Some(row.id),
    };
    let given = body.halves.trigger.is_some() || body.halves.graph.is_some();
    let files = lock_files(tx, row.organization, &graph).await?;
    if given {
        let checked = validate_for(tx, place, &trigger.write(), &graph.write()).await?;
        checked.accept()?;
    }
    if !base.is_active {
        return Err(Refusal::new(
            Code::NoActiveVersion,
            "A new version is based on the active one, and none is active: publish and activate one first.",
        ));
    }
    // Files that are inherited are attached in the name of whoever saves this version; the rest was validated when it came.
    if !given && !files.is_empty() {
        let checked = validate_for(tx, place, &trigger.write(), &graph.write()).await?;
        checked.of_attached_files().accept()?;
    }
    if body.halves.graph.is_some() {
        let key = new.secret_key.as_ref();
        let of = WorkflowKey {
            organization: row.organization,
            workflow: row.id,
        };
        keep_secrets(tx, key, of, &mut graph, Some(&base.graph_config)).await?;
    }
    let name = body.name.clone().unwrap_or(base.name);
    let definition = Definition::new(name, &trigger, &graph, &ctx.context);
    let draft = NewVersion {
        id: new.version,
        standing: VersionState::Draft,
        base_version: Some(base.version),
        now: ctx.now,
    };
    let version = add_version(tx, &row, &definition, draft).await?;
    ctx.keep(tx, ApiResponse::json(StatusCode::CREATED, &version)?)
        .await
}
