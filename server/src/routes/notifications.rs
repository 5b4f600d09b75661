//! `GET /v1/notifications`

use axum::http::StatusCode;
use axum::response::Response;

use crate::automation::notification_page;
use crate::http::call::{Asked, Call};
use crate::http::page::PageRequest;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::store::Tx;

/// `GET /v1/notifications`: what automations told the caller, newest first.
///
/// # Errors
/// 422 for parameters that make no sense.
pub async fn list(mut call: Call) -> Result<Response, Problem> {
    let page = call.page("");
    call.read(page, |tx, asked| Box::pin(read(tx, asked))).await
}

async fn read(tx: &mut Tx, asked: &Asked<Result<PageRequest, Problem>>) -> Result<Reply, Problem> {
    let page = asked.input.clone()?;
    let found = notification_page(tx, &page).await?;
    Reply::json(StatusCode::OK, &page.page(found, |told| told.id))
}
