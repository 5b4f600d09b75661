//! `/v1/health`: the process runs. `/v1/ready`: its store is reachable too.

use axum::http::StatusCode;
use axum::response::Response;

use crate::call::{Call, json};
use crate::health::health as document;
use crate::refusal::Refusal;

/// `GET /v1/health`. Asks nobody.
///
/// # Errors
/// 422 for query parameters: it has none.
pub async fn health(mut call: Call) -> Result<Response, Refusal> {
    call.query_text.finish()?;
    json(StatusCode::OK, &document())
}

/// `GET /v1/ready`
///
/// # Errors
/// 422 for query parameters, 503 while the store does not respond, and when this server is about to stop.
pub async fn ready(mut call: Call) -> Result<Response, Refusal> {
    call.query_text.finish()?;
    if call.app.is_stopping() {
        return Err(Refusal::unavailable("This server is stopping."));
    }
    call.app.store.ready().await?;
    json(StatusCode::OK, &document())
}
