//! `GET …/rows/{row_id}`

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use super::question::visible;
use crate::http::call::{Asked, Call};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::rows::Stored;
use crate::store::Tx;

/// `GET …/rows/{row_id}`
///
/// # Errors
/// 404 for what does not exist or is hidden, 422 for ids that are none.
pub async fn get(mut call: Call) -> Result<Response, Problem> {
    let wanted = Wanted {
        feature: call.path_id(0).await?,
        row: call.path_id(1).await,
        query: call.query.finish(),
    };
    call.read(wanted, |tx, asked| Box::pin(select(tx, asked)))
        .await
}

struct Wanted {
    feature: Uuid,
    /// No id is told when it is clear that the table may be seen.
    row: Result<Uuid, Problem>,
    /// Told when it is clear that the row may be seen.
    query: Result<(), Problem>,
}

/// One statement: a row says itself who may see it.
async fn select(tx: &mut Tx, asked: &Asked<Wanted>) -> Result<Reply, Problem> {
    let Wanted {
        feature,
        row,
        query,
    } = &asked.input;
    let row = match row {
        Ok(row) => row,
        Err(problem) => return visible(tx, &asked.tables, *feature, problem).await,
    };
    let sql = "SELECT id, created_at, updated_at, {text data} FROM rows \
         WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND {row feature_id created_by} AND feature_id = $1 AND id = $2";
    let rows = tx.last(sql, &[(*feature).into(), (*row).into()]).await?;
    let found = rows.first().ok_or_else(Problem::not_found)?;
    query.clone()?;
    let document = Stored::read(found)?.document(*feature);
    Ok(Reply::written(StatusCode::OK, document))
}
