//! `GET /v1/templates` and `GET /v1/templates/{template_id}`.

use axum::http::StatusCode;
use axum::response::Response;

use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::paging::PageRequest;
use crate::refusal::Refusal;
use crate::routes::path_record::Checked;
use crate::store::Tx;
use crate::templates::{self, Filter};

const SCOPES: [&str; 4] = ["organization", "workspace", "module", "feature"];
const VISIBILITIES: [&str; 3] = ["system", "org", "public"];

/// A page of the catalog.
struct List {
    /// Of which templates.
    filter: Filter,
    /// Which page.
    page: PageRequest,
}

/// `GET /v1/templates`: what the caller's organizations have, and what is for everybody.
///
/// # Errors
/// 422 for parameters that make no sense.
pub async fn list(mut call: Call) -> Result<Response, Refusal> {
    let filter = Filter {
        scope: call.query_text.word("scope", &SCOPES),
        visibility: call.query_text.word("visibility", &VISIBILITIES),
    };
    let page = call.page(&format!("{filter:?}"))?;
    call.read(List { filter, page }, |tx, ctx| {
        Box::pin(select_page(tx, ctx))
    })
    .await
}

async fn select_page(tx: &mut Tx, ctx: &OperationContext<List>) -> Result<ApiResponse, Refusal> {
    let List { filter, page } = &ctx.input;
    let found = templates::page(tx, *filter, page).await?;
    ApiResponse::json(
        StatusCode::OK,
        &page.bounded_page(found, |record| record.id),
    )
}

/// `GET /v1/templates/{template_id}`, with the manifest.
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
    let Checked { id, query } = &ctx.input;
    let found = templates::get(tx, *id).await?;
    query.clone()?;
    ApiResponse::json(StatusCode::OK, &found)
}
