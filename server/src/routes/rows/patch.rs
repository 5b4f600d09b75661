//! `PATCH …/rows/{row_id}`

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use crate::automation::events::{self, Cause, UpdatedRow};
use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::refusal::Refusal;
use crate::rows::find::{self, LockedRow};
use crate::rows::{RowPreparer, StoredRow, Submission, Table, Validate, merge, replace};
use crate::store::Tx;

struct Patch {
    feature: Uuid,
    row: Result<Uuid, Refusal>,
    change: Result<Change, Refusal>,
}

/// What is to become of a row.
struct Change {
    /// Nothing, when the body has no data.
    cells: Option<Submission>,
    validate: Validate,
    merge: bool,
}

/// `PATCH …/rows/{row_id}`: replaces the data, or merges into it.
///
/// # Errors
/// 404, 403, 422 for what cannot enter, 409 for a repeated value.
pub async fn patch(mut call: Call) -> Result<Response, Refusal> {
    let (feature, row) = (call.path_id(0).await?, call.path_id(1).await);
    let change = Change::read(&mut call).await;
    let patch = Patch {
        feature,
        row,
        change,
    };
    call.write(patch, |tx, ctx| Box::pin(update(tx, ctx))).await
}

impl Change {
    async fn read(call: &mut Call) -> Result<Change, Refusal> {
        let bytes = call.bytes().await?;
        let validate = Validate::of(call.query_text.word("validate", &Validate::WORDS));
        let merge = call.query_text.word("merge", &["true", "false"]) == Some("true");
        call.query_text.finish()?;
        Ok(Change {
            cells: Submission::change(bytes)?,
            validate,
            merge,
        })
    }
}

async fn update(tx: &mut Tx, ctx: &OperationContext<Patch>) -> Result<ApiResponse, Refusal> {
    let patch = &ctx.input;
    let opened = ctx.tables.open(tx, patch.feature).await?;
    let table = opened.ok_or_else(Refusal::not_found)?.table;
    let id = match &patch.row {
        Ok(id) => *id,
        Err(refusal) => {
            ctx.enter(table.organization)?;
            return Err(refusal.clone());
        }
    };
    let found = find::lock(tx, table.organization, table.id, id).await?;
    let LockedRow { mut row, creator } = found.ok_or_else(Refusal::not_found)?;
    ctx.enter(table.organization)?;
    let change = patch.change.as_ref().map_err(Clone::clone)?;
    if let Some(cells) = &change.cells {
        change
            .apply(tx, ctx, &table, cells, &mut row, creator)
            .await?;
    }
    Ok(ApiResponse::written(StatusCode::OK, row.document(table.id)))
}

impl Change {
    async fn apply(
        &self,
        tx: &mut Tx,
        ctx: &OperationContext<Patch>,
        table: &Table,
        cells: &Submission,
        row: &mut StoredRow,
        creator: Option<Uuid>,
    ) -> Result<(), Refusal> {
        let mut faults = cells.faults();
        let Some(sent) = cells.cells(0) else {
            // Data of another shape has its fault already.
            return faults.finish();
        };
        let sent: Vec<_> = sent.collect();
        let entering = RowPreparer {
            table,
            validate: self.validate,
            context: &ctx.context,
        };
        if self.merge {
            for (key, _) in sent.iter().filter(|(_, raw)| *raw == "null") {
                entering.without(key, 0, &mut faults);
            }
        }
        let result = merge(table, &row.data, &sent, self.merge);
        let after = entering.row(row.id, result.into_iter(), 0, &mut faults);
        faults.finish()?;
        // What holds already is not written again: no other time, nothing for others to notice.
        if after.is_complete() && after.data == row.data {
            return Ok(());
        }
        let before = replace(tx, table, row, after, ctx.now).await?;
        let cause = Cause::person(&ctx.signal).to_row_of(creator);
        let updated = UpdatedRow {
            before: &before,
            after: row,
        };
        events::updated(tx, table, updated, cause, &ctx.context).await?;
        Ok(())
    }
}
