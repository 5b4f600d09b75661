//! `/v1/workspaces`

use axum::response::Response;

pub use super::export::export;
use super::records;
use crate::call::Call;
use crate::model::find::PageFilter;
use crate::model::kind::WORKSPACE;
use crate::refusal::Refusal;

/// `GET /v1/workspaces`
///
/// # Errors
/// 422 for parameters that make no sense.
pub async fn list(call: Call) -> Result<Response, Refusal> {
    records::list(call, &WORKSPACE, PageFilter::Within).await
}

/// `POST /v1/workspaces`
///
/// # Errors
/// 404 for a parent that cannot be seen, 409 for a name that is taken, 422.
pub async fn create(call: Call) -> Result<Response, Refusal> {
    records::create(call, &WORKSPACE).await
}

/// `GET /v1/workspaces/{workspace_id}`
///
/// # Errors
/// 404.
pub async fn get(call: Call) -> Result<Response, Refusal> {
    records::get(call, &WORKSPACE).await
}

/// `PATCH /v1/workspaces/{workspace_id}`
///
/// # Errors
/// 403 for fields that never change, 404, 409 for a name that is taken, 422.
pub async fn patch(call: Call) -> Result<Response, Refusal> {
    records::patch(call, &WORKSPACE).await
}

/// `DELETE /v1/workspaces/{workspace_id}`
///
/// # Errors
/// 409 when it holds something and `force` is not true, 404.
pub async fn delete(call: Call) -> Result<Response, Refusal> {
    records::delete(call, &WORKSPACE).await
}
