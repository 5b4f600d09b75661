//! Cancels a job (`rest` 8).

use super::Job;
use super::error::JobError;
use crate::store::{StoreError, Tx, lease};

/// Ends a job that is unfinished; false when it has ended. Whoever works on it loses the lease: the
/// unit in hand is written before, or not at all, and no other one follows.
///
/// # Errors
/// Those of the store.
pub async fn cancel(tx: &mut Tx, job: &Job, now: i64) -> Result<bool, StoreError> {
    let error = JobError {
        code: "cancelled",
        detail: "The job was cancelled. What is written stays: resume the job to go on where it \
            stopped, or undo it to take that away.",
        reference: None,
    };
    let sql = concat!(
        "UPDATE main.template_jobs SET status = 'failed', error = $4, updated_at = $3, ",
        lease!(let go),
        " WHERE ",
        lease!(row),
        " AND status IN ('pending', 'structure', 'rows', 'publish') RETURNING id"
    );
    let parameters = [
        job.organization.into(),
        job.id.into(),
        now.into(),
        error.write().into(),
    ];
    Ok(tx.first(sql, &parameters).await?.is_some())
}
