//! `POST /v1/workflows-v2/{workflow_id}/apply`

use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use uuid::Uuid;

use crate::automation::{find, publish};
use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::json_body::Fields;
use crate::refusal::{Code, Refusal};
use crate::store::Tx;

/// The draft to publish; the newest one where absent.
#[derive(JsonSchema)]
pub(crate) struct WorkflowApply {
    /// The draft to publish.
    version_id: Option<Uuid>,
}

impl WorkflowApply {
    pub(crate) fn read(mut fields: Fields) -> Result<WorkflowApply, Refusal> {
        let version_id = fields.id("version_id");
        fields.finish().map(|()| WorkflowApply { version_id })
    }
}

struct Apply {
    workflow: Uuid,
    body: Result<WorkflowApply, Refusal>,
}

/// `POST /v1/workflows-v2/{workflow_id}/apply`: publishes a draft, the newest when none is named.
///
/// # Errors
/// 404, 403, 422, 409 without a draft and for one whose base is no longer in force.
pub async fn apply(mut call: Call) -> Result<Response, Refusal> {
    let workflow = call.path_id(0).await?;
    let fields = call.fields_or_none().await;
    let body = fields.and_then(WorkflowApply::read);
    let input = Apply { workflow, body };
    call.write(input, |tx, ctx| Box::pin(promote(tx, ctx)))
        .await
}

async fn promote(tx: &mut Tx, ctx: &OperationContext<Apply>) -> Result<ApiResponse, Refusal> {
    let row = find::lock_with_tables(tx, ctx.input.workflow).await?;
    ctx.enter(row.organization)?;
    if let Some(kept) = ctx.claim(tx).await? {
        return Ok(kept);
    }
    let body = ctx.input.body.as_ref().map_err(Clone::clone)?;
    let draft = match body.version_id {
        None => find::newest_draft(tx, row.id).await?.ok_or_else(|| {
            Refusal::new(Code::Conflict, "There is no draft that could be published.")
        })?,
        Some(id) => {
            let found = find::by_id(tx, row.id, id).await?;
            found.ok_or_else(Refusal::not_found)?
        }
    };
    if !draft.is_draft {
        return Err(Refusal::new(
            Code::DraftStale,
            "That version is no longer a draft: it was published meanwhile.",
        ));
    }
    let publisher = Some(ctx.caller.id);
    let version = publish(tx, draft, publisher, ctx.now).await?;
    ctx.keep(tx, ApiResponse::json(StatusCode::OK, &version)?)
        .await
}
