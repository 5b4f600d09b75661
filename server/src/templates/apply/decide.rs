//! Decides whether a package can be applied as requested.

use tplkit::apply::{
    self, Minter, PreviewInput as Asking, Resolutions, ResolveInput, fresh, preview, resolve,
};
use tplkit::definitions::Definitions;
use tplkit::problem::Code;
use tplkit::upgrade::SeenLeaves;
use tplkit::workspace::Source as _;

use super::adopted::adopted;
use super::base_job;
use super::history::StoredHistory;
use super::undecided::undecided;
use super::{DecideInput, in_the_way};
use crate::jobs::{self, Continuing};
use crate::refusal::Refusal;
use crate::rows::Tables;
use crate::store::Tx;
use crate::templates::apply_refusal::refused;
use crate::workspace::Snapshot;

/// What a job takes along of what was decided.
#[derive(Debug, Default)]
pub(crate) struct Decided {
    /// What an upgrade saw of leaves that people changed and somebody decided about.
    pub(crate) seen: SeenLeaves,
    /// What earlier jobs of the line decided about dependencies that have other refs now.
    pub(crate) inherited: Resolutions,
}

/// Finds everything that is against an apply, and whether the plan that was looked at is still the one.
///
/// # Errors
/// 422 with all refusals, 409 while another job of the template or line is unfinished or for a stale plan.
pub(crate) async fn decide(
    tx: &mut Tx,
    input: &DecideInput,
    tables: &Tables,
    now: i64,
) -> Result<Decided, Refusal> {
    let package = input.whole.read()?;
    let definitions = Definitions::embedded();
    let mut earlier = StoredHistory::read(tx, input).await?;
    let adopted = adopted(tx, input, &package, &mut earlier, tables).await?;
    adopted.map_err(|refusal| refused(&[refusal]))?;
    let applied = earlier.package()?;
    let legacy_jobs = earlier.legacy_jobs()?;
    let older = earlier.older()?;
    let rows = earlier.row_bases(applied.as_ref(), &older);
    let past = earlier.past(applied.as_ref(), &legacy_jobs, &rows);
    let continuing = Continuing::of(input.job, &input.request);
    let active = jobs::unfinished(tx, input.place.key(), continuing, now).await?;
    // A completed job may be taken back while nobody looks.
    let unfit = base_job::unfit(tx, input.request.terms.base_job, now).await?;
    let snapshot = Snapshot::new(tx, input.place.workspace, tables);
    let structure = snapshot.structure().await?;
    let minter = Minter::at(jiff::Timestamp::UNIX_EPOCH, 0);
    let approved = resolve(
        ResolveInput {
            package: &package,
            request: &input.request,
            destination: &structure,
            past,
            definitions,
        },
        minter,
    );
    let plan = input.request.plan.as_deref();
    // A plan that was looked at had other refusals, or none: what changed since is the reason.
    if let Some(unfit) = unfit
        && !approved
            .as_ref()
            .is_err_and(|all| all.iter().any(is_of_body))
    {
        return Err(unfit);
    }
    if let Err(refusals) = &approved
        && (plan.is_none() || refusals.iter().any(is_of_body))
    {
        return Err(refused(refusals));
    }
    if let Some(job) = active.filter(|job| approved.is_ok() && input.job != Some(job.id)) {
        return Err(in_the_way(&job, input.place.template));
    }
    let mut decided = Decided::default();
    if let Some(base) = past.base.filter(|_| input.request.upgrade) {
        decided.inherited = base.renamed_resolutions(&input.request, &package, &structure);
    }
    // Conflicts are reported before there is a job.
    if plan.is_some() || (input.request.upgrade && approved.is_ok()) {
        let asking = Asking {
            package: &package,
            package_digest: &earlier.digest(&input.whole),
            request: &input.request,
            earlier: past.entries,
            base: past.base,
            definitions,
        };
        let found = Box::pin(preview(&snapshot, &structure, asking)).await?;
        fresh(plan, &found.digest).map_err(|refusal| refused(&[refusal]))?;
        let wrong = found.refusals.iter().filter(|refusal| is_of_body(refusal));
        let wrong: Vec<apply::Refusal> = wrong.cloned().collect();
        if approved.is_ok() && !wrong.is_empty() {
            return Err(refused(&wrong));
        }
        if !found.conflicts.is_empty() {
            return Err(undecided(&found));
        }
        let lost = found.refusals.iter();
        let lost: Vec<apply::Refusal> = lost.filter(|one| loses(one)).cloned().collect();
        if !lost.is_empty() {
            return Err(refused(&lost));
        }
        decided.seen = found.seen;
    }
    approved
        .map(|_| decided)
        .map_err(|refusals| refused(&refusals))
}

/// Whether cells or rows would be lost that nobody has allowed to lose.
fn loses(refusal: &apply::Refusal) -> bool {
    refusal.code == Code::Destructive
}

/// Whether the body itself is wrong, whatever the destination has.
pub(super) fn is_of_body(refusal: &apply::Refusal) -> bool {
    !refusal.of_package
        && matches!(
            refusal.code,
            Code::UnknownResolutionRef | Code::ValidationFailed
        )
}
