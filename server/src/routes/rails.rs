//! `/v1/rails`

use axum::response::Response;

use super::records;
use crate::call::Call;
use crate::model::find::PageFilter;
use crate::model::kind::RAIL;
use crate::refusal::Refusal;

/// `GET /v1/rails`
///
/// # Errors
/// 404 for a parent that cannot be seen, 422 for parameters that make no sense.
pub async fn list(call: Call) -> Result<Response, Refusal> {
    records::list(call, &RAIL, PageFilter::Below).await
}

/// `POST /v1/rails`
///
/// # Errors
/// 404 for a parent that cannot be seen, 409 for a name that is taken, 422.
pub async fn create(call: Call) -> Result<Response, Refusal> {
    records::create(call, &RAIL).await
}

/// `GET /v1/rails/{rail_id}`
///
/// # Errors
/// 404.
pub async fn get(call: Call) -> Result<Response, Refusal> {
    records::get(call, &RAIL).await
}

/// `PATCH /v1/rails/{rail_id}`
///
/// # Errors
/// 403 for fields that never change, 404, 409 for a name that is taken, 422.
pub async fn patch(call: Call) -> Result<Response, Refusal> {
    records::patch(call, &RAIL).await
}

/// `DELETE /v1/rails/{rail_id}`
///
/// # Errors
/// 404.
pub async fn delete(call: Call) -> Result<Response, Refusal> {
    records::delete(call, &RAIL).await
}
