//! `GET /v1/workflows-v2` and `GET /v1/workflows-v2/{workflow_id}`

use axum::http::StatusCode;
use axum::response::Response;

use crate::automation::find::{self, WorkflowFilter};
use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::paging::PageRequest;
use crate::refusal::Refusal;
use crate::routes::path_record::Checked;
use crate::store::Tx;

/// A page of versions.
struct List {
    /// Of which automations.
    filter: WorkflowFilter,
    /// Which page.
    page: PageRequest,
}

/// `GET /v1/workflows-v2`: a page of versions.
///
/// # Errors
/// 422 for parameters that make no sense.
pub async fn list(mut call: Call) -> Result<Response, Refusal> {
    let workspace = call.query_text.optional_id("workspace_id");
    let active = call.query_text.word("active", &["true", "false"]);
    let active = active.map(|word| word == "true");
    let page = call.page(&format!("{workspace:?} {active:?}"))?;
    let filter = WorkflowFilter { workspace, active };
    call.read(List { filter, page }, |tx, ctx| {
        Box::pin(select_page(tx, ctx))
    })
    .await
}

async fn select_page(tx: &mut Tx, ctx: &OperationContext<List>) -> Result<ApiResponse, Refusal> {
    let List { filter, page } = &ctx.input;
    let found = find::page(tx, *filter, page).await?;
    ApiResponse::json(
        StatusCode::OK,
        &page.bounded_page(found, |version| version.id),
    )
}

/// `GET /v1/workflows-v2/{workflow_id}`: the version in force.
///
/// # Errors
/// 404.
pub async fn get(mut call: Call) -> Result<Response, Refusal> {
    let id = call.path_id(0).await?;
    let query = call.query_text.finish();
    call.read(Checked { id, query }, |tx, ctx| Box::pin(select(tx, ctx)))
        .await
}

async fn select(tx: &mut Tx, ctx: &OperationContext<Checked<()>>) -> Result<ApiResponse, Refusal> {
    let found = find::in_force(tx, ctx.input.id).await?;
    let version = found.ok_or_else(Refusal::not_found)?;
    ctx.input.query.clone()?;
    ApiResponse::json(StatusCode::OK, &version)
}
