//! `DELETE …/rows/{row_id}`

use axum::response::Response;
use uuid::Uuid;

use crate::automation::events::{self, Cause, DeletedRow};
use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::refusal::Refusal;
use crate::rows::{find, remove};
use crate::store::Tx;

struct Delete {
    feature: Uuid,
    row: Result<Uuid, Refusal>,
    /// Reported when it is clear that the row may be seen.
    query: Result<(), Refusal>,
}

/// `DELETE …/rows/{row_id}`
///
/// # Errors
/// 404 for what does not exist, is hidden, or is not the caller's to delete.
pub async fn delete(mut call: Call) -> Result<Response, Refusal> {
    let delete = Delete {
        feature: call.path_id(0).await?,
        row: call.path_id(1).await,
        query: call.query_text.finish(),
    };
    call.write(delete, |tx, ctx| Box::pin(drop_row(tx, ctx)))
        .await
}

async fn drop_row(tx: &mut Tx, ctx: &OperationContext<Delete>) -> Result<ApiResponse, Refusal> {
    let delete = &ctx.input;
    let opened = ctx.tables.open(tx, delete.feature).await?;
    let table = opened.ok_or_else(Refusal::not_found)?.table;
    // To who may not delete it there is nothing to delete.
    let entered = ctx.enter(table.organization);
    entered.map_err(|_| Refusal::not_found())?;
    let id = delete.row.clone()?;
    if let Err(fault) = &delete.query {
        let row = find::within(tx, table.organization, table.id, id).await?;
        return Err(row.map_or_else(Refusal::not_found, |_| fault.clone()));
    }
    let removed = remove(tx, &table, id, ctx.now).await?;
    let removed = removed.ok_or_else(Refusal::not_found)?;
    let cause = Cause::person(&ctx.signal).to_row_of(removed.creator);
    let deleted = DeletedRow {
        id,
        data: &removed.data,
        created_at: removed.created_at,
        updated_at: removed.updated_at,
        now: ctx.now,
    };
    events::deleted(tx, &table, deleted, cause, &ctx.context).await?;
    Ok(ApiResponse::nothing())
}
