//! `GET /v1/files/{file_id}`

use axum::http::StatusCode;
use axum::response::Response;

use crate::call::{Call, OperationContext};
use crate::files::find;
use crate::http::response::ApiResponse;
use crate::refusal::Refusal;
use crate::routes::path_record::Checked;
use crate::store::Tx;

/// Reads the record of a file.
///
/// # Errors
/// 404.
pub async fn get(mut call: Call) -> Result<Response, Refusal> {
    let id = call.path_id(0).await?;
    let query = call.query_text.finish();
    call.read(Checked { id, query }, |tx, ctx| Box::pin(read(tx, ctx)))
        .await
}

async fn read(tx: &mut Tx, ctx: &OperationContext<Checked<()>>) -> Result<ApiResponse, Refusal> {
    let Checked { id, query } = &ctx.input;
    let file = find::by_id(tx, *id).await?;
    let file = file.ok_or_else(Refusal::not_found)?;
    query.clone()?;
    ApiResponse::json(StatusCode::OK, &file)
}
