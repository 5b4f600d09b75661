//! `/v1/features/{feature_id}/columns`

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use super::records;
use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::model::find;
use crate::model::kind::COLUMN;
use crate::refusal::Refusal;
use crate::store::Tx;

struct List {
    feature: Uuid,
    query: Result<(), Refusal>,
}

/// `GET …/columns`: all of them, in display order.
///
/// # Errors
/// 404.
pub async fn list(mut call: Call) -> Result<Response, Refusal> {
    let feature = call.path_id(0).await?;
    let query = call.query_text.finish();
    call.read(List { feature, query }, |tx, ctx| Box::pin(select(tx, ctx)))
        .await
}

async fn select(tx: &mut Tx, ctx: &OperationContext<List>) -> Result<ApiResponse, Refusal> {
    let columns = find::columns(tx, ctx.input.feature).await?;
    ctx.input.query.clone()?;
    ApiResponse::json(StatusCode::OK, &columns)
}

/// `POST …/columns`
///
/// # Errors
/// 404 for a feature that cannot be seen, 409 for a name that is taken, 422.
pub async fn create(call: Call) -> Result<Response, Refusal> {
    records::create_below(call, &COLUMN).await
}

/// `PATCH …/columns/{column_id}`
///
/// # Errors
/// 403 for fields that never change, 404, 409 for a unique column over repeated values, 422.
pub async fn patch(call: Call) -> Result<Response, Refusal> {
    records::patch(call, &COLUMN).await
}

/// `DELETE …/columns/{column_id}`: the definition alone; rows keep the key.
///
/// # Errors
/// 409 when some row carries the key and `force` is not true, 404.
pub async fn delete(call: Call) -> Result<Response, Refusal> {
    records::delete(call, &COLUMN).await
}
