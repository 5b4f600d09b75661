//! The refusals of an apply that another job keeps from its template.

use uuid::Uuid;

use crate::context::rfc3339;
use crate::jobs::{self, Job};
use crate::refusal::{BlockingJob, Code, Refusal};

/// What was there a moment ago has ended since.
pub(crate) fn moved() -> Refusal {
    Refusal::new(
        Code::Conflict,
        "Another job of this template has just ended in the workspace; look at it and try again.",
    )
}

/// 409 for a job that is unfinished and keeps others from a template: one of it, or of another template that
/// goes on with the same line. Its deadline is in the words, as it is in the job.
pub(crate) fn in_the_way(job: &Job, template: Uuid) -> Refusal {
    let until = job.locked_until.map(rfc3339);
    let id = job.id;
    let (of, with) = if job.template == template {
        ("of this template".to_owned(), String::new())
    } else {
        (
            format!("of the template {}, on the same line,", job.template),
            format!(" with the template {}", job.template),
        )
    };
    let detail = match (&until, job.held) {
        _ if job.status == jobs::Status::Undoing => {
            let until = until.as_ref().filter(|_| job.held);
            let until = until.map(|until| format!(", and has it until {until}"));
            format!(
                "The job {id} {of} is being undone{}; wait for its end.",
                until.unwrap_or_default()
            )
        }
        (Some(until), true) => {
            format!("A worker runs the job {id} {of}, and has it until {until}.")
        }
        (Some(until), false) => format!(
            "The job {id} {of} is unfinished; its last worker had it until {until}. \
             Send its id as jobId{with} to go on with it."
        ),
        (None, _) => format!(
            "The job {id} {of} is unfinished, and no worker has it yet. \
             Send its id as jobId{with} to go on with it."
        ),
    };
    let mut refusal = Refusal::new(Code::JobActive, detail);
    refusal.job = Some(Box::new(BlockingJob {
        id,
        status: job.status.as_str(),
        locked_until: until,
    }));
    refusal
}
