//! `GET …/rows/{row_id}`

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use super::row_filter::visible;
use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::refusal::Refusal;
use crate::rows::find;
use crate::store::Tx;

/// `GET …/rows/{row_id}`
///
/// # Errors
/// 404 for what does not exist or is hidden, 422 for ids that are none.
pub async fn get(mut call: Call) -> Result<Response, Refusal> {
    let wanted = Get {
        feature: call.path_id(0).await?,
        row: call.path_id(1).await,
        query: call.query_text.finish(),
    };
    call.read(wanted, |tx, ctx| Box::pin(select(tx, ctx))).await
}

struct Get {
    feature: Uuid,
    /// No id is reported when the table is visible.
    row: Result<Uuid, Refusal>,
    /// Reported when it is clear that the row may be seen.
    query: Result<(), Refusal>,
}

/// One statement: a row says itself who may see it.
async fn select(tx: &mut Tx, ctx: &OperationContext<Get>) -> Result<ApiResponse, Refusal> {
    let Get {
        feature,
        row,
        query,
    } = &ctx.input;
    let row = match row {
        Ok(row) => row,
        Err(refusal) => return visible(tx, &ctx.tables, *feature, refusal).await,
    };
    let found = find::by_id(tx, *feature, *row).await?;
    let found = found.ok_or_else(Refusal::not_found)?;
    query.clone()?;
    Ok(ApiResponse::written(
        StatusCode::OK,
        found.document(*feature),
    ))
}
