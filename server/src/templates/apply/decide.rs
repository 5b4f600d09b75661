//! Decides whether a package can be applied as requested.

use tplkit::apply::{
    self, BasePackage, JobHistory, LegacyJob, Minter, Preview, PreviewInput as Asking, Request,
    Resolutions, fresh, package_digest, preview, resolve_from,
};
use tplkit::check::Checked;
use tplkit::definitions::Definitions;
use tplkit::problem::Code;
use tplkit::workspace::Source as _;
use tplkit::workspace::ledger::Entry;
use uuid::Uuid;

use super::base_job;
use super::{ApplyTarget, LoadedPackage, in_the_way};
use crate::jobs::{self, StoredLegacyJob};
use crate::refusal::Refusal;
use crate::rows::Tables;
use crate::store::{StoreError, Tx};
use crate::templates::package::bug;
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
    /// Whether an upgrade is asked of that.
    pub(crate) upgrade: bool,
}

impl DecideInput {
    /// What earlier jobs wrote that this one binds to, and its own ledger.
    pub(super) async fn earlier(&self, tx: &mut Tx) -> Result<StoredHistory, StoreError> {
        let base_job = self.request.terms.base_job;
        let line = jobs::earlier(tx, self.place.key(), self.job, base_job).await?;
        let mut entries = line.entries;
        if let Some(job) = self.job {
            entries.extend(jobs::own(tx, self.place.organization, job).await?);
        }
        let base = match line.newest {
            Some(job) => {
                let kept = jobs::read_package(tx, self.place.organization, job, true).await?;
                kept.map(|(_, text)| AppliedPackage {
                    job,
                    resolutions: line.resolutions,
                    text: LoadedPackage::trusted(text),
                })
            }
            None => None,
        };
        Ok(StoredHistory {
            entries,
            base,
            legacy_jobs: line.legacy_jobs,
        })
    }
}

/// What an apply starts from.
#[derive(Debug)]
pub(super) struct StoredHistory {
    /// What earlier jobs wrote.
    pub(super) entries: Vec<Entry>,
    /// The newest of them.
    pub(super) base: Option<AppliedPackage>,
    /// Those of them whose ledgers were written before ledgers held the base.
    legacy_jobs: Vec<StoredLegacyJob>,
}

/// A job with its package.
#[derive(Debug)]
pub(super) struct AppliedPackage {
    job: Uuid,
    resolutions: Resolutions,
    text: LoadedPackage,
}

impl AppliedPackage {
    /// What an upgrade starts from, its package read.
    pub(super) fn base<'e>(
        &'e self,
        package: &'e Checked<'e>,
        legacy_jobs: &'e [LegacyJob<'e>],
    ) -> BasePackage<'e> {
        BasePackage {
            job: Some(self.job),
            package,
            resolutions: &self.resolutions,
            legacy_jobs,
        }
    }
}

impl StoredHistory {
    /// The package of the newest job.
    ///
    /// # Errors
    /// When what was checked cannot be read, which is a bug.
    pub(super) fn package(&self) -> Result<Option<Checked<'_>>, Refusal> {
        let base = self.base.as_ref();
        base.map(|applied| applied.text.read()).transpose()
    }

    /// The packages of jobs whose ledgers were written before ledgers held the base.
    ///
    /// # Errors
    /// When what was checked cannot be read, which is a bug.
    pub(super) fn legacy_jobs(&self) -> Result<Vec<LegacyJob<'_>>, Refusal> {
        let jobs = self.legacy_jobs.iter();
        jobs.map(|job| job.read().map_err(|error| bug(&error)))
            .collect()
    }
}

/// Finds everything that is against an apply, and whether the plan that was looked at is still the one.
///
/// # Errors
/// 422 with all refusals, 409 while another job of the template is unfinished or for a stale plan.
pub(crate) async fn decide(
    tx: &mut Tx,
    input: &DecideInput,
    tables: &Tables,
    now: i64,
) -> Result<(), Refusal> {
    let package = input.whole.read()?;
    let definitions = Definitions::embedded();
    let earlier = input.earlier(tx).await?;
    let applied = earlier.package()?;
    let base = earlier.base.as_ref().zip(applied.as_ref());
    let legacy_jobs = earlier.legacy_jobs()?;
    let base = base.map(|(base, package)| base.base(package, &legacy_jobs));
    let past = JobHistory {
        entries: &earlier.entries,
        base,
    };
    let active = jobs::unfinished(tx, input.place.key(), now).await?;
    // A completed job may be taken back while nobody looks.
    let unfit = base_job::unfit(tx, input.request.terms.base_job, now).await?;
    let snapshot = Snapshot::new(tx, input.place.workspace, tables);
    let structure = snapshot.structure().await?;
    let minter = Minter::at(jiff::Timestamp::UNIX_EPOCH, 0);
    let approved = resolve_from(
        &package,
        &input.request,
        &structure,
        past,
        minter,
        definitions,
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
        return Err(in_the_way(&job));
    }
    // Conflicts are reported before there is a job.
    if plan.is_some() || (input.request.upgrade && approved.is_ok()) {
        let asking = Asking {
            package: &package,
            package_digest: &package_digest(input.whole.text()),
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
    }
    approved.map(drop).map_err(|refusals| refused(&refusals))
}

/// Whether cells or rows would be lost that nobody has allowed to lose.
fn loses(refusal: &apply::Refusal) -> bool {
    refusal.code == Code::Destructive
}

/// 422 with everything that somebody has to decide.
fn undecided(plan: &Preview) -> Refusal {
    let is_that = |refusal: &&apply::Refusal| refusal.code == Code::UpgradeConflicts;
    let refusals: Vec<apply::Refusal> = plan.refusals.iter().filter(is_that).cloned().collect();
    let mut problem = refused(&refusals);
    problem.conflicts = serde_json::to_value(&plan.conflicts).ok().map(Box::new);
    problem
}

/// Whether the body itself is wrong, whatever the destination has.
pub(super) fn is_of_body(refusal: &apply::Refusal) -> bool {
    matches!(
        refusal.code,
        Code::UnknownResolutionRef | Code::ValidationFailed
    )
}
