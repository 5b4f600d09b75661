//! `PATCH …/rows/{row_id}`

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use crate::automation::events::{self, Cause};
use crate::http::call::{Asked, Call};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::rows::{Entering, Stored, Submission, Table, Validate, replace, together};
use crate::store::Tx;

struct Patch {
    feature: Uuid,
    row: Result<Uuid, Problem>,
    change: Result<Change, Problem>,
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
pub async fn patch(mut call: Call) -> Result<Response, Problem> {
    let (feature, row) = (call.path_id(0).await?, call.path_id(1).await);
    let change = Change::read(&mut call).await;
    let patch = Patch {
        feature,
        row,
        change,
    };
    call.write(patch, |tx, asked| Box::pin(update(tx, asked)))
        .await
}

impl Change {
    async fn read(call: &mut Call) -> Result<Change, Problem> {
        let bytes = call.bytes().await?;
        let validate = Validate::of(call.query.word("validate", &Validate::WORDS));
        let merge = call.query.word("merge", &["true", "false"]) == Some("true");
        call.query.finish()?;
        Ok(Change {
            cells: Submission::change(bytes)?,
            validate,
            merge,
        })
    }
}

async fn update(tx: &mut Tx, asked: &Asked<Patch>) -> Result<Reply, Problem> {
    let patch = &asked.input;
    let opened = asked.tables.open(tx, patch.feature).await?;
    let table = opened.ok_or_else(Problem::not_found)?.table;
    let id = match &patch.row {
        Ok(id) => *id,
        Err(problem) => {
            asked.enter(table.organization)?;
            return Err(problem.clone());
        }
    };
    // Locked before it is read, so that merges of different keys build on each other.
    let sql = "SELECT id, created_at, updated_at, {text data}, created_by FROM rows \
         WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND {row feature_id created_by} \
         AND organization_id = $1 AND feature_id = $2 AND id = $3 {lock}";
    let parameters = [table.organization.into(), table.id.into(), id.into()];
    let found = tx.first(sql, &parameters).await?;
    let found = found.ok_or_else(Problem::not_found)?;
    let mut row = Stored::read(&found)?;
    let creator = found.get(4)?;
    asked.enter(table.organization)?;
    let change = patch.change.as_ref().map_err(Clone::clone)?;
    if let Some(cells) = &change.cells {
        change
            .apply(tx, asked, (&table, cells), (&mut row, creator))
            .await?;
    }
    Ok(Reply::written(StatusCode::OK, row.document(table.id)))
}

impl Change {
    async fn apply(
        &self,
        tx: &mut Tx,
        asked: &Asked<Patch>,
        (table, cells): (&Table, &Submission),
        (row, creator): (&mut Stored, Option<Uuid>),
    ) -> Result<(), Problem> {
        let sent: Vec<_> = cells.cells(0).into_iter().flatten().collect();
        let entering = Entering {
            table,
            validate: self.validate,
            context: &asked.context,
        };
        let mut faults = cells.faults();
        if self.merge {
            for (key, _) in sent.iter().filter(|(_, raw)| *raw == "null") {
                entering.without(key, (0, &mut faults));
            }
        }
        let result = together(table, &row.data, &sent, self.merge);
        let after = entering.row(row.id, result.into_iter(), (0, &mut faults));
        faults.finish()?;
        // What holds already is not written again: no other time, nothing for others to notice.
        if after.is_complete() && after.data == row.data {
            return Ok(());
        }
        let after = replace(tx, table, &row.data, after, asked.now).await?;
        let before = std::mem::replace(&mut row.data, after.data);
        row.updated_at = asked.now;
        let cause = Cause::somebody(&asked.bell).to_row_of(creator);
        events::updated(tx, table, (&before, row), cause, &asked.context).await?;
        Ok(())
    }
}
