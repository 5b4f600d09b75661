//! Stores a new job.

use schemars::JsonSchema;
use serde::Serialize;
use tplkit::apply::{Minter, Request};
use uuid::Uuid;

use super::{ApplyTarget, Decided, LoadedPackage};
use crate::context::{Context, RandomIds, rfc3339};
use crate::jobs::{self, Continuing, Job, New};
use crate::refusal::{BlockingJob, Code, Refusal};
use crate::store::Tx;

/// A job that is to be: nothing is against it.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) place: ApplyTarget,
    new: New,
}

/// The packages that a job takes along.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JobPackages<'p> {
    /// The one that it applies.
    pub(crate) package: &'p LoadedPackage,
    /// The one that the workspace was set up by, when somebody gave it.
    pub(crate) base: Option<&'p LoadedPackage>,
}

impl Start {
    /// Everything that the job needs, whatever becomes of the template.
    ///
    /// # Errors
    /// When the package cannot be read, which is a bug.
    pub(crate) fn of(
        place: ApplyTarget,
        packages: JobPackages<'_>,
        mut request: Request,
        decided: Decided,
        creator: Uuid,
        context: &Context,
    ) -> Result<Start, Refusal> {
        request.terms.planned = request.upgrade.then_some(decided.seen);
        let new = New {
            organization: place.organization,
            workspace: place.workspace,
            id: context.id(),
            template: place.template,
            creator,
            request,
            inherited: decided.inherited,
            minter: Minter::new(context.clock(), &mut RandomIds),
            parts: packages.package.parts()?,
            base: packages.base.map_or(Ok(Vec::new()), LoadedPackage::parts)?,
            now: context.now(),
        };
        Ok(Start { place, new })
    }
}

/// Stores the job, for a worker to take up. The caller has entered the organization.
///
/// # Errors
/// 409 while another job of the template or line is unfinished in the workspace.
pub(crate) async fn start(
    tx: &mut Tx,
    Start { place, new }: &Start,
    now: i64,
) -> Result<Accepted, Refusal> {
    if !jobs::create(tx, new).await? {
        let own = Continuing::New(&new.request);
        let active = jobs::unfinished(tx, place.key(), own, now).await?;
        return Err(active.map_or_else(moved, |job| in_the_way(&job, place.template)));
    }
    Ok(Accepted::job(new.id, jobs::Status::Pending))
}

/// The job that carries out an apply.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Accepted {
    /// The job.
    job_id: Uuid,
    /// How it stands.
    status: jobs::Status,
}

impl Accepted {
    pub(super) fn job(id: Uuid, status: jobs::Status) -> Accepted {
        Accepted { job_id: id, status }
    }
}

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
