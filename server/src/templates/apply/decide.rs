//! Decides whether a package can be applied as requested.

use std::sync::Arc;

use tplkit::apply::{
    self, Minter, PreviewInput as Asking, Request, fresh, package_digest, preview, resolve,
};
use tplkit::definitions::Definitions;
use tplkit::problem::Code;
use tplkit::workspace::Source as _;
use tplkit::workspace::ledger::Entry;
use uuid::Uuid;

use super::{ApplyTarget, LoadedPackage, in_the_way};
use crate::http::call::OperationContext;
use crate::jobs;
use crate::refusal::Refusal;
use crate::store::{StoreError, Tx};
use crate::templates::refusals::refused;
use crate::workspace::Snapshot;

/// A package, a place, and what somebody decided.
#[derive(Debug)]
pub(crate) struct DecideInput {
    pub(crate) place: ApplyTarget,
    pub(crate) whole: LoadedPackage,
    pub(crate) request: Request,
    /// The job to resume.
    pub(crate) job: Option<Uuid>,
}

impl DecideInput {
    /// What earlier jobs wrote that this one binds to, and its own ledger.
    pub(super) async fn earlier(&self, tx: &mut Tx) -> Result<Vec<Entry>, StoreError> {
        let mut entries = jobs::earlier(tx, self.place.key(), self.job).await?;
        if let Some(job) = self.job {
            entries.extend(jobs::own(tx, self.place.organization, job).await?);
        }
        Ok(entries)
    }
}

/// Finds everything that is against an apply, and whether the plan that was looked at is still the one.
///
/// # Errors
/// 422 with all refusals, 409 while another job of the template is unfinished or for a stale plan.
pub(crate) async fn decide(
    tx: &mut Tx,
    asked: &OperationContext<Arc<DecideInput>>,
) -> Result<(), Refusal> {
    let question = &asked.input;
    let package = question.whole.read()?;
    let definitions = Definitions::embedded();
    let earlier = question.earlier(tx).await?;
    let active = jobs::unfinished(tx, question.place.key(), asked.now).await?;
    let snapshot = Snapshot::new(tx, question.place.workspace, &asked.tables);
    let structure = snapshot.structure().await?;
    let minter = Minter::at(jiff::Timestamp::UNIX_EPOCH, 0);
    let approved = resolve(
        &package,
        &question.request,
        &structure,
        Some(&earlier),
        minter,
        definitions,
    );
    let plan = question.request.plan.as_deref();
    // A plan that was looked at had other refusals, or none: what changed since is the reason.
    if let Err(refusals) = &approved
        && (plan.is_none() || refusals.iter().any(is_of_body))
    {
        return Err(refused(refusals));
    }
    if let Some(job) = active.filter(|job| approved.is_ok() && question.job != Some(job.id)) {
        return Err(in_the_way(&job));
    }
    if plan.is_some() {
        let asking = Asking {
            package: &package,
            package_digest: &package_digest(question.whole.text()),
            request: &question.request,
            earlier: &earlier,
            definitions,
        };
        let now = Box::pin(preview(&snapshot, &structure, asking)).await?;
        fresh(plan, &now.digest).map_err(|refusal| refused(&[refusal]))?;
    }
    approved.map(drop).map_err(|refusals| refused(&refusals))
}

/// Whether the body itself is wrong, whatever the destination has.
pub(super) fn is_of_body(refusal: &apply::Refusal) -> bool {
    matches!(
        refusal.code,
        Code::UnknownResolutionRef | Code::ValidationFailed
    )
}
