//! `GET /v1/notifications`

use axum::http::StatusCode;
use axum::response::Response;

use crate::automation::notification_page;
use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::paging::PageRequest;
use crate::refusal::Refusal;
use crate::store::Tx;

/// `GET /v1/notifications`: the notifications of the caller, newest first.
///
/// # Errors
/// 422 for parameters that make no sense.
pub async fn list(mut call: Call) -> Result<Response, Refusal> {
    let page = call.page("");
    call.read(page, |tx, ctx| Box::pin(read(tx, ctx))).await
}

async fn read(
    tx: &mut Tx,
    ctx: &OperationContext<Result<PageRequest, Refusal>>,
) -> Result<ApiResponse, Refusal> {
    let page = ctx.input.clone()?;
    let found = notification_page(tx, &page).await?;
    ApiResponse::json(
        StatusCode::OK,
        &page.bounded_page(found, |notification| notification.id),
    )
}
