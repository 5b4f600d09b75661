//! `/v1/health` says that the process runs, `/v1/ready` that the store answers, too.

use axum::http::StatusCode;
use axum::response::Response;

use crate::health::health as document;
use crate::http::call::{Call, json};
use crate::http::problem::Problem;

/// `GET /v1/health`. Asks nobody.
///
/// # Errors
/// None.
pub async fn health(_: Call) -> Result<Response, Problem> {
    json(StatusCode::OK, &document())
}

/// `GET /v1/ready`
///
/// # Errors
/// 503 while the store does not answer, and when this server is about to stop.
pub async fn ready(call: Call) -> Result<Response, Problem> {
    if call.app.is_stopping() {
        return Err(Problem::unavailable("This server is stopping."));
    }
    call.app.store.ready().await?;
    json(StatusCode::OK, &document())
}
