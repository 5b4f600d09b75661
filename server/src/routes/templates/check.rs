//! `POST /v1/templates/check`

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use super::offload;
use crate::call::Call;
use crate::call::lane::{check as check_lane, transfer};
use crate::http::response::ApiResponse;
use crate::refusal::Refusal;
use crate::templates::PackageVerdict;

/// `POST /v1/templates/check`: what the rules say of a package, which nobody keeps.
///
/// # Errors
/// 422 for a body that is missing or JSON that is no object, and for query parameters that there are not.
pub async fn check(mut call: Call) -> Result<Response, Refusal> {
    let lane = call.app.lanes.transfers.clone();
    let organization = call.on_behalf_of(Uuid::nil())?;
    check_lane(&lane, organization)?;
    let bytes = call.bytes().await?;
    call.query_text.finish()?;
    transfer(&lane, organization, async move {
        let verdict = offload(move || PackageVerdict::of(&bytes)).await?;
        ApiResponse::json(StatusCode::OK, &verdict).map(ApiResponse::response)
    })
    .await
}
