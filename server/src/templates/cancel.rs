//! Cancels a job.

use axum::http::StatusCode;
use uuid::Uuid;

use super::apply::in_the_way;
use crate::call::OperationContext;
use crate::http::response::ApiResponse;
use crate::jobs::{self, Job, Status};
use crate::refusal::{Code, Refusal};
use crate::store::Tx;

/// Stops a job that is unfinished, and answers with it.
///
/// # Errors
/// 404, 403, 409 for a job that has ended or is being undone.
pub(crate) async fn cancel(
    tx: &mut Tx,
    asked: &OperationContext<Uuid>,
) -> Result<ApiResponse, Refusal> {
    let job = find(tx, asked).await?;
    asked.enter(job.organization)?;
    if let Some(answered) = asked.claim(tx).await? {
        return Ok(answered);
    }
    if job.status == Status::Undoing {
        return Err(in_the_way(&job));
    }
    if !jobs::cancel(tx, &job, asked.now).await? {
        return Err(Refusal::new(
            Code::Conflict,
            "The job has ended: there is nothing to cancel. Undo it to take away what it wrote.",
        ));
    }
    let mut job = find(tx, asked).await?;
    jobs::redact(tx, std::slice::from_mut(&mut job)).await?;
    asked
        .keep(tx, ApiResponse::json(StatusCode::ACCEPTED, &job)?)
        .await
}

async fn find(tx: &mut Tx, asked: &OperationContext<Uuid>) -> Result<Job, Refusal> {
    let job = jobs::find(tx, asked.input, asked.now).await?;
    job.ok_or_else(Refusal::not_found)
}
