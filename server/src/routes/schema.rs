//! `/v1/schema` and `/v1/schema/definitions`: the model in one response, and its definitions.

use axum::http::StatusCode;
use axum::response::Response;
use tplkit::definitions::Definitions;
use uuid::Uuid;

use crate::app::SchemaCap;
use crate::call::{Call, OperationContext, json};
use crate::definitions;
use crate::http::response::ApiResponse;
use crate::model::schema;
use crate::refusal::Refusal;
use crate::store::Tx;

/// What is asked for of the model.
struct SchemaRequest {
    /// The one workspace, if it is about one.
    workspace: Option<Uuid>,
    /// How much is shown before it is cut.
    cap: SchemaCap,
    /// What is wrong with the query.
    query: Result<(), Refusal>,
}

/// `GET /v1/schema`
///
/// # Errors
/// 404 for a workspace that cannot be seen.
pub async fn get(mut call: Call) -> Result<Response, Refusal> {
    let workspace = call.query_text.optional_id("workspace_id");
    let input = SchemaRequest {
        workspace,
        cap: call.app.config.schema_cap,
        query: call.query_text.finish(),
    };
    call.read(input, |tx, ctx| Box::pin(select(tx, ctx))).await
}

async fn select(
    tx: &mut Tx,
    ctx: &OperationContext<SchemaRequest>,
) -> Result<ApiResponse, Refusal> {
    if ctx.input.workspace.is_none() {
        ctx.input.query.clone()?;
    }
    let cap = ctx.input.cap;
    let found = schema::read(
        tx,
        ctx.input.workspace,
        cap.features as usize,
        cap.columns as usize,
    )
    .await?;
    ctx.input.query.clone()?;
    ApiResponse::json(StatusCode::OK, &found)
}

/// `GET /v1/schema/definitions`
///
/// # Errors
/// 422 for a format that does not exist.
pub async fn definitions(mut call: Call) -> Result<Response, Refusal> {
    let format = call.query_text.text("format");
    let document = match format.as_deref() {
        None | Some("generated") => definitions::document(Definitions::embedded()),
        Some("legacy") => definitions::legacy(Definitions::embedded()),
        Some(_) => {
            let message = "is neither generated nor legacy";
            return Err(Refusal::fault("query.format", message));
        }
    };
    call.query_text.finish()?;
    json(StatusCode::OK, &document)
}
