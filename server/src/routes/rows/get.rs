//! `GET …/rows/{row_id}`

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

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
    let place = (call.path_id(0).await?, call.path_id(1).await?);
    call.query.finish()?;
    call.read(place, |tx, asked| Box::pin(select(tx, asked)))
        .await
}

/// One statement: a row says itself who may see it.
async fn select(tx: &mut Tx, asked: &Asked<(Uuid, Uuid)>) -> Result<Reply, Problem> {
    let (feature, row) = asked.input;
    let sql = "SELECT id, created_at, updated_at, {text data} FROM rows \
         WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND {row feature_id created_by} AND feature_id = $1 AND id = $2";
    let rows = tx.last(sql, &[feature.into(), row.into()]).await?;
    let found = rows.first().ok_or_else(Problem::not_found)?;
    let document = Stored::read(found)?.document(feature);
    Ok(Reply::written(StatusCode::OK, document))
}
