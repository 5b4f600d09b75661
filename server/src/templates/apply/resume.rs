//! Resumes an existing job.

use uuid::Uuid;

use super::ApplyTarget;
use super::in_the_way::{in_the_way, moved};
use super::start::Accepted;
use crate::jobs::{self, Continuing, Job, Status};
use crate::refusal::{Code, Refusal};
use crate::store::Tx;

/// Why an undone job is not resumed.
pub(super) const UNDONE: &str = "The job was undone; apply the template again.";

/// The job to resume.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resume {
    pub(crate) place: ApplyTarget,
    pub(crate) job: Uuid,
    /// Whether an upgrade is asked of it.
    pub(crate) upgrade: bool,
}

/// What a completed job wrote is upgraded by another one.
///
/// # Errors
/// 422 for an upgrade by a job that is completed.
pub(super) fn check_upgrade(job: &Job, upgrade: bool) -> Result<(), Refusal> {
    if upgrade && job.status == Status::Completed {
        let message =
            "goes on with an upgrade, and this job is completed; leave it out for a new upgrade";
        return Err(Refusal::fault("jobId", message));
    }
    Ok(())
}

impl Resume {
    /// The job, when it is one of this template in this workspace.
    ///
    /// # Errors
    /// 404 for any other.
    pub(crate) async fn find(&self, tx: &mut Tx, now: i64) -> Result<Job, Refusal> {
        let job = jobs::find(tx, self.job, now).await?;
        let here = |job: &Job| {
            job.workspace == self.place.workspace && job.template == self.place.template
        };
        job.filter(here).ok_or_else(Refusal::not_found)
    }
}

/// Lets workers take a job up that was found: where it stopped, or, when it was completed, for another pass. It keeps
/// its own package and what was decided about it.
///
/// # Errors
/// 409 while somebody works on it or on another job of the template or line, and for one that was undone; 422 for an
/// upgrade by one that is completed.
pub(crate) async fn resume(
    tx: &mut Tx,
    wanted: &Resume,
    job: &Job,
    caller: Uuid,
    now: i64,
) -> Result<Accepted, Refusal> {
    check_upgrade(job, wanted.upgrade)?;
    if job.status == Status::Undone {
        return Err(Refusal::new(Code::Conflict, UNDONE));
    }
    if job.held || job.status == Status::Undoing {
        return Err(in_the_way(job, job.template));
    }
    jobs::hand_over(tx, job, caller, now).await?;
    let status = if job.status.is_finished() {
        let own = Continuing::Job(job.id);
        let active = jobs::unfinished(tx, wanted.place.key(), own, now).await?;
        if let Some(active) = active {
            return Err(in_the_way(&active, job.template));
        }
        if !jobs::reopen(tx, job, now).await? {
            return Err(moved());
        }
        Status::Pending
    } else {
        job.status
    };
    Ok(Accepted::job(job.id, status))
}
