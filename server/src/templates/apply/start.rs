//! Stores a new job.

use schemars::JsonSchema;
use serde::Serialize;
use tplkit::apply::{Minter, Request};
use uuid::Uuid;

use super::in_the_way::{in_the_way, moved};
use super::{ApplyTarget, Decided, LoadedPackage};
use crate::context::{Context, RandomIds};
use crate::jobs::{self, Continuing, New};
use crate::refusal::Refusal;
use crate::store::{StoreError, Tx};

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
/// 404 when the workspace has gone since the decision, 409 while another job of the template or line is unfinished in
/// it.
pub(crate) async fn start(
    tx: &mut Tx,
    Start { place, new }: &Start,
    now: i64,
) -> Result<Accepted, Refusal> {
    let created = match jobs::create(tx, new).await {
        Err(StoreError::Reference) => return Err(Refusal::not_found()),
        created => created?,
    };
    if !created {
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
