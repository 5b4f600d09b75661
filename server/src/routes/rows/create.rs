//! `POST …/rows`

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use super::prepared::PreparedSubmission;
use crate::app::App;
use crate::automation::events::{self, Cause, CreatedRows};
use crate::call::{Call, OperationContext};
use crate::cpu_threads::{MAX_INLINE_BYTES, offload};
use crate::http::response::ApiResponse;
use crate::refusal::Refusal;
use crate::rows::{PreparedRow, StoredRow, Submission, Validate, insert};
use crate::store::Tx;

/// New rows for a table, or what is wrong with the request: reported after what the caller may not see.
pub(super) struct New {
    feature: Uuid,
    rows: Result<PreparedSubmission, Refusal>,
}

/// `POST …/rows`
///
/// # Errors
/// 404, 403, 422 for what cannot enter, 409 for a repeated value or when there are rows enough.
pub async fn create(mut call: Call) -> Result<Response, Refusal> {
    let received = RowsRequest::of(&mut call).await?;
    let new = received.prepare(call.app.clone(), Submission::one).await;
    call.write(new, |tx, ctx| {
        Box::pin(write(tx, ctx, |feature, rows, now| {
            let row = rows.first().ok_or_else(Refusal::not_found)?;
            let row = StoredRow {
                id: row.id,
                created_at: now,
                updated_at: now,
                data: row.data.clone(),
            };
            Ok(row.document(feature))
        }))
    })
    .await
}

/// A request for new rows as it came.
pub(super) struct RowsRequest {
    pub(super) feature: Uuid,
    body: Result<(Vec<u8>, Validate), Refusal>,
}

impl RowsRequest {
    /// Receives a request.
    pub(super) async fn of(call: &mut Call) -> Result<RowsRequest, Refusal> {
        let feature = call.path_id(0).await?;
        let body = RowsRequest::body(call).await;
        Ok(RowsRequest { feature, body })
    }

    async fn body(call: &mut Call) -> Result<(Vec<u8>, Validate), Refusal> {
        let bytes = call.bytes().await?;
        let validate = Validate::of(call.query_text.word("validate", &Validate::WORDS));
        call.query_text.finish()?;
        Ok((bytes, validate))
    }

    /// Lets the rows into their table as far as that needs no store.
    pub(super) async fn prepare(
        self,
        app: Arc<App>,
        shape: impl FnOnce(Vec<u8>) -> Result<Submission, Refusal> + Send + 'static,
    ) -> New {
        let feature = self.feature;
        let rows = match self.body {
            Ok((bytes, validate)) => {
                let long = bytes.len() > MAX_INLINE_BYTES;
                let work = move || {
                    Ok(PreparedSubmission::new(
                        shape(bytes)?,
                        validate,
                        &app.tables,
                        &app.context,
                        feature,
                    ))
                };
                if long { offload(work).await } else { work() }
            }
            Err(refusal) => Err(refusal),
        };
        New { feature, rows }
    }
}

/// Writes new rows, once for each key, and responds with the document that `write_document` makes of them.
pub(super) async fn write(
    tx: &mut Tx,
    ctx: &OperationContext<New>,
    write_document: impl Fn(Uuid, &[PreparedRow], i64) -> Result<Vec<u8>, Refusal>,
) -> Result<ApiResponse, Refusal> {
    let New { feature, rows } = &ctx.input;
    let opened = ctx.tables.open(tx, *feature).await?;
    let opened = opened.ok_or_else(Refusal::not_found)?;
    ctx.enter(opened.table.organization)?;
    if let Some(kept) = ctx.claim(tx).await? {
        return Ok(kept);
    }
    let prepared = rows.as_ref().map_err(Clone::clone)?;
    let rows = prepared.rows(&opened.table, &ctx.context)?;
    let mut rows = rows.into_owned();
    let (creator, now) = (Some(ctx.caller.id), ctx.now);
    insert(tx, &opened, creator, now, &mut rows)
        .await
        .map_err(|refused| refused.refusal(prepared.is_batch()))?;
    let cause = Cause::person(&ctx.signal).to_row_of(creator);
    let created = CreatedRows { rows: &rows, now };
    events::created(tx, &opened.table, created, cause, &ctx.context).await?;
    let document = write_document(*feature, &rows, now)?;
    let response = ApiResponse::written(StatusCode::CREATED, document);
    ctx.keep(tx, response).await
}
