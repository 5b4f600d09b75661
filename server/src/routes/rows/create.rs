//! `POST …/rows`

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use super::prepared::Prepared;
use crate::automation::events::{self, Cause};
use crate::http::call::{Asked, Call};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::rows::{Entered, Stored, Submission, Validate, insert};
use crate::store::Tx;

/// New rows for a table, or what is wrong with the request: told after what the caller may not see.
pub(super) struct New {
    feature: Uuid,
    rows: Result<Prepared, Problem>,
}

/// `POST …/rows`
///
/// # Errors
/// 404, 403, 422 for what cannot enter, 409 for a repeated value or when there are rows enough.
pub async fn create(mut call: Call) -> Result<Response, Problem> {
    let new = New::read(&mut call, Submission::one).await?;
    call.write(new, |tx, asked| {
        Box::pin(write(tx, asked, |feature, rows, now| {
            let row = rows.first().ok_or_else(Problem::not_found)?;
            let row = Stored {
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

impl New {
    /// Reads a request.
    pub(super) async fn read(
        call: &mut Call,
        shape: impl FnOnce(Vec<u8>) -> Result<Submission, Problem>,
    ) -> Result<New, Problem> {
        let feature = call.path_id(0).await?;
        let rows = New::rows(call, shape, feature).await;
        Ok(New { feature, rows })
    }

    async fn rows(
        call: &mut Call,
        shape: impl FnOnce(Vec<u8>) -> Result<Submission, Problem>,
        feature: Uuid,
    ) -> Result<Prepared, Problem> {
        let bytes = call.bytes().await?;
        let validate = Validate::of(call.query.word("validate", &Validate::WORDS));
        call.query.finish()?;
        let with = (&call.app.tables, &call.app.context);
        Ok(Prepared::new(shape(bytes)?, validate, with, feature))
    }
}

/// Writes new rows, once for each key, and answers with the document that `tell` makes of them.
pub(super) async fn write(
    tx: &mut Tx,
    asked: &Asked<New>,
    tell: impl Fn(Uuid, &[Entered], i64) -> Result<Vec<u8>, Problem>,
) -> Result<Reply, Problem> {
    let New { feature, rows } = &asked.input;
    let opened = asked.tables.open(tx, *feature).await?;
    let opened = opened.ok_or_else(Problem::not_found)?;
    asked.enter(opened.table.organization)?;
    if let Some(answered) = asked.claim(tx).await? {
        return Ok(answered);
    }
    let prepared = rows.as_ref().map_err(Clone::clone)?;
    let rows = prepared.rows(&opened.table, &asked.context)?;
    let mut rows = rows.into_owned();
    let (creator, now) = (Some(asked.caller.id), asked.now);
    insert(tx, &opened, (creator, now), &mut rows)
        .await
        .map_err(|refused| refused.problem(prepared.is_batch()))?;
    let cause = Cause::somebody(&asked.bell);
    events::created(tx, &opened.table, (&rows, now), cause, &asked.context).await?;
    let document = tell(*feature, &rows, now)?;
    let reply = Reply::written(StatusCode::CREATED, document);
    asked.keep(tx, reply).await
}
