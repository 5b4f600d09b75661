//! `POST /v1/workflows-v2`

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use super::definition_parts::DefinitionParts;
use crate::automation::{self, Definition, Standing, WorkflowScope, keep_secrets, validate_for};
use crate::call::{Call, OperationContext};
use crate::fields::Fields;
use crate::http::response::ApiResponse;
use crate::model::find;
use crate::model::kind::WORKSPACE;
use crate::refusal::Refusal;
use crate::secret_key::SecretKey;
use crate::store::Tx;

struct New {
    workspace: Uuid,
    workflow: Uuid,
    version: Uuid,
    secret_key: Option<SecretKey>,
    body: Result<Body, Refusal>,
}

struct Body {
    name: String,
    halves: DefinitionParts,
    is_draft: bool,
}

/// `POST /v1/workflows-v2`: a first version, as a draft or published at once.
///
/// # Errors
/// 404, 403, 422 with the codes of the issues.
pub async fn create(mut call: Call) -> Result<Response, Refusal> {
    let mut fields = call.body_alone().await?;
    let query = call.query_text.finish();
    let workspace = super::validate::workspace(&mut fields)?;
    let body = query.and_then(|()| Body::read(fields));
    let new = New {
        workspace,
        workflow: call.app.context.id(),
        version: call.app.context.id(),
        secret_key: call.app.config.secret_key.clone(),
        body,
    };
    call.write(new, |tx, ctx| Box::pin(insert(tx, ctx))).await
}

impl Body {
    fn read(mut fields: Fields) -> Result<Body, Refusal> {
        fields.required("name");
        let name = fields.label("name").unwrap_or_default();
        fields.required("graph_config");
        let halves = DefinitionParts::take(&mut fields);
        let is_draft = fields.flag("is_draft").unwrap_or(true);
        fields.finish()?;
        Ok(Body {
            name,
            halves,
            is_draft,
        })
    }
}

async fn insert(tx: &mut Tx, ctx: &OperationContext<New>) -> Result<ApiResponse, Refusal> {
    let new = &ctx.input;
    let workspace = find::lock(tx, &WORKSPACE, new.workspace).await?;
    let organization = workspace.organization();
    ctx.enter(organization)?;
    if let Some(answered) = ctx.claim(tx).await? {
        return Ok(answered);
    }
    let body = new.body.as_ref().map_err(Clone::clone)?;
    let (trigger, graph) = (body.halves.trigger(), body.halves.graph());
    let place = WorkflowScope {
        organization,
        workspace: workspace.id,
        workflow: Some(new.workflow),
    };
    let checked = validate_for(tx, place, &trigger.write(), &graph.write()).await?;
    checked.accept()?;
    let mut graph = graph;
    let of = (organization, new.workflow);
    keep_secrets(tx, new.secret_key.as_ref(), of, &mut graph, None).await?;
    let definition = Definition::new(body.name.clone(), &trigger, &graph, &ctx.context);
    let at = (organization, workspace.id, new.workflow);
    let stamp = (new.version, ctx.now);
    let standing = if body.is_draft {
        Standing::Draft
    } else {
        Standing::Published(Some(ctx.caller.id))
    };
    let version = automation::create(tx, at, &definition, standing, stamp).await?;
    ctx.keep(tx, ApiResponse::json(StatusCode::CREATED, &version)?)
        .await
}
