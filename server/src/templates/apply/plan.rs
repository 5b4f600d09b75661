//! Plans an apply without writing.

use tplkit::apply::{self, Preview, PreviewInput as Asking, fresh, preview};
use tplkit::definitions::Definitions;
use tplkit::problem::Code;
use tplkit::workspace::Source as _;

use super::adopted::adopted;
use super::base_job;
use super::decide::is_of_body;
use super::history::StoredHistory;
use super::resume::{UNDONE, check_upgrade};
use super::{DecideInput, LoadedPackage, in_the_way};
use crate::jobs::{self, Continuing, Job, Status};
use crate::refusal::{Fault, Refusal};
use crate::rows::Tables;
use crate::store::Tx;
use crate::templates::apply_refusal::refused;
use crate::workspace::Snapshot;

/// Makes the plan. What is against an apply is in it. `seen_alone`: rows that whoever asks does not see count for
/// nothing in it, nor in its digest.
///
/// # Errors
/// 422 for refs that the package does not have, because then the body is wrong, and for an upgrade by a job
/// that is completed.
pub(crate) async fn plan(
    tx: &mut Tx,
    input: &DecideInput,
    seen_alone: bool,
    tables: &Tables,
    now: i64,
) -> Result<Preview, Refusal> {
    let package = input.whole.read()?;
    let mut earlier = StoredHistory::read(tx, input).await?;
    if let Err(refusal) = adopted(tx, input, &package, &mut earlier, tables).await? {
        let digest = earlier.digest(&input.whole);
        return Ok(Preview::of_refusals(digest, vec![refusal]));
    }
    let applied = earlier.package()?;
    let legacy_jobs = earlier.legacy_jobs()?;
    let older = earlier.older()?;
    let rows = earlier.row_bases(applied.as_ref(), &older);
    let past = earlier.past(applied.as_ref(), &legacy_jobs, &rows);
    let mut against = Vec::new();
    let continuing = Continuing::of(input.job, &input.request);
    let active = jobs::unfinished(tx, input.place.key(), continuing, now).await?;
    let is_busy = |job: &Job| job.held || job.status == Status::Undoing;
    if let Some(job) = active.filter(|job| is_busy(job) || input.job != Some(job.id)) {
        let active = in_the_way(&job, input.place.template);
        against.push(refusal(Code::JobActive, active.detail()));
    }
    if let Some(job) = input.job {
        let job = jobs::find(tx, job, now).await?;
        if let Some(job) = &job {
            check_upgrade(job, input.upgrade)?;
        }
        let undone = job.is_some_and(|job| job.status == Status::Undone);
        against.extend(undone.then(|| refusal(Code::Conflict, UNDONE)));
    }
    let unfit = base_job::unfit(tx, input.request.terms.base_job, now).await?;
    if let Some(unfit) = &unfit {
        against.push(refusal(Code::Conflict, unfit.detail()));
    }
    let snapshot = Snapshot::new(tx, input.place.workspace, tables).of_seen_rows(seen_alone);
    let structure = snapshot.structure().await?;
    let asking = Asking {
        package: &package,
        package_digest: &earlier.digest(&input.whole),
        request: &input.request,
        earlier: past.entries,
        base: past.base,
        definitions: Definitions::embedded(),
    };
    let mut found = Box::pin(preview(&snapshot, &structure, asking)).await?;
    let wrong = found.refusals.iter().filter(|refusal| is_of_body(refusal));
    let wrong: Vec<apply::Refusal> = wrong.cloned().collect();
    if !wrong.is_empty() {
        return Err(refused(&wrong));
    }
    if unfit.is_some() {
        // There may be a base all the same: it is that job that is none.
        found
            .refusals
            .retain(|refusal| refusal.code != Code::NoBase);
    }
    if let Err(stale) = fresh(input.request.plan.as_deref(), &found.digest) {
        against.push(stale);
    }
    found.refusals.extend(against);
    Ok(found)
}

/// The plan of a package that is not fit to be applied.
pub(crate) fn unfit(whole: &LoadedPackage, refused: &Refusal) -> Preview {
    let detail = |fault: &Fault| format!("{}: {} ({})", fault.path, fault.message, fault.code);
    let faults = refused.errors().iter();
    let refusals = faults.map(|fault| refusal(refused.code, &detail(fault)));
    Preview::of_refusals(whole.digest(), refusals.collect())
}

fn refusal(code: Code, detail: &str) -> apply::Refusal {
    apply::Refusal::new(code, detail)
}
