//! `DELETE …/rows/{row_id}`

use axum::response::Response;
use uuid::Uuid;

use crate::automation::events::{self, Cause};
use crate::http::call::{Asked, Call};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::rows::remove;
use crate::store::Tx;

struct Delete {
    feature: Uuid,
    row: Result<Uuid, Problem>,
    query: Result<(), Problem>,
}

/// `DELETE …/rows/{row_id}`
///
/// # Errors
/// 404 for what does not exist, is hidden, or is not the caller's to delete.
pub async fn delete(mut call: Call) -> Result<Response, Problem> {
    let delete = Delete {
        feature: call.path_id(0).await?,
        row: call.path_id(1).await,
        query: call.query.finish(),
    };
    call.write(delete, |tx, asked| Box::pin(drop_row(tx, asked)))
        .await
}

async fn drop_row(tx: &mut Tx, asked: &Asked<Delete>) -> Result<Reply, Problem> {
    let delete = &asked.input;
    let opened = asked.tables.open(tx, delete.feature).await?;
    let table = opened.ok_or_else(Problem::not_found)?.table;
    // To who may not delete it there is nothing to delete.
    let entered = asked.enter(table.organization);
    entered.map_err(|_| Problem::not_found())?;
    let id = delete.row.clone()?;
    delete.query.clone()?;
    let removed = remove(tx, &table, id).await?;
    let removed = removed.ok_or_else(Problem::not_found)?;
    let cause = Cause::somebody(&asked.bell).to_row_of(removed.creator);
    let row = (id, removed.data.as_str());
    events::deleted(tx, &table, row, cause, (&asked.context, asked.now)).await?;
    Ok(Reply::nothing())
}
