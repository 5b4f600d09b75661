//! Cancels a job.

use super::apply::in_the_way;
use crate::jobs::{self, Job, Status};
use crate::refusal::{Code, Refusal};
use crate::store::Tx;

/// Stops a job that is unfinished, and gives it as it is then.
///
/// # Errors
/// 409 for a job that has ended or is being undone.
pub(crate) async fn cancel(tx: &mut Tx, job: &Job, now: i64) -> Result<Job, Refusal> {
    if job.status == Status::Undoing {
        return Err(in_the_way(job, job.template));
    }
    if !jobs::cancel(tx, job, now).await? {
        return Err(Refusal::new(
            Code::Conflict,
            "The job has ended: there is nothing to cancel. Undo it to take away what it wrote.",
        ));
    }
    let job = jobs::find(tx, job.id, now).await?;
    let mut job = job.ok_or_else(Refusal::not_found)?;
    jobs::redact(tx, std::slice::from_mut(&mut job)).await?;
    Ok(job)
}
