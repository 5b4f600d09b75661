//! One attempt at a job: loads the job and executes it, to its end or to an interruption.

use std::borrow::Cow;

use tplkit::apply::{
    ApplyError, BasePackage, JobHistory, LegacyJob, Minter, Request, Resolutions, ResolveInput,
    base_resolutions, decide_from, note_adopted, run_from,
};
use tplkit::check::{Checked, NotChecked};
use tplkit::definitions::Definitions;
use tplkit::problem::Code;
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::{Source as _, Target as _};

use super::failure::Failure;
use super::package::{self, JobRequest};
use uuid::Uuid;

use super::row_bases::StoredRowBases;
use super::{Destination, Job, ledger};
use crate::release_memory;
use crate::spool::SpooledText;
use crate::store::{StoreError, Tx};
use crate::workspace::ReadError;

/// How often names are chosen anew. Each time somebody else has written theirs meanwhile, so it takes that many
/// at once to fail.
const MAX_NAME_ATTEMPTS: usize = 64;

/// What an attempt reads of its job.
struct AttemptInput {
    job_request: JobRequest,
    text: SpooledText,
    earlier: Vec<Entry>,
    /// What was decided about dependencies before.
    resolutions: Resolutions,
    /// The newest of the jobs that it binds to, with its package; without one the package that the workspace was
    /// set up by, if there is that.
    base: Option<(Option<Uuid>, SpooledText)>,
    /// Those of them whose ledgers were written before ledgers held the base.
    legacy_jobs: Vec<ledger::StoredLegacyJob>,
    /// Packages that say what rows held.
    rows: StoredRowBases,
}

/// Goes on with a job where its ledger ends.
///
/// # Errors
/// As [`Failure`] lists them. What was written by then stays and is known.
pub(super) async fn attempt(mut target: Destination, job: &Job) -> Result<(), Failure> {
    // A pass that writes nothing asks, too.
    if !target.has_right().await? {
        return Err(Failure::forbidden());
    }
    let kept = target.read(job.clone(), |tx, job| Box::pin(kept(tx, job)));
    let Some(kept) = kept.await? else {
        return Err(Failure::reported(Code::NotFound, "The job is gone."));
    };
    // What the ones before took, and the reading.
    release_memory::between_steps(&kept.text);
    let package = Checked::trusted(&kept.text).map_err(unreadable)?;
    let base = match &kept.base {
        Some((job, text)) => Some((*job, Checked::trusted(text).map_err(unreadable)?)),
        None => None,
    };
    let adopting = base.as_ref().filter(|(job, _)| job.is_none());
    let resolutions = match adopting {
        Some((_, base)) => base_resolutions(base, &package, &kept.job_request.request),
        None => kept.resolutions,
    };
    let legacy_jobs = kept.legacy_jobs.iter().map(ledger::StoredLegacyJob::read);
    let legacy_jobs: Vec<LegacyJob<'_>> =
        legacy_jobs.collect::<Result<_, _>>().map_err(unreadable)?;
    let older = kept.rows.packages().map_err(unreadable)?;
    let rows = match &base {
        Some((_, newest)) => kept.rows.bases(newest, &older),
        None => Vec::new(),
    };
    let past = JobHistory {
        entries: &kept.earlier,
        base: base.as_ref().map(|(job, package)| BasePackage {
            job: *job,
            package,
            resolutions: &resolutions,
            legacy_jobs: &legacy_jobs,
            rows: &rows,
        }),
    };
    if let Some(base) = past.base.filter(|_| adopting.is_some()) {
        Box::pin(note_adopted(&mut target, base, Definitions::embedded())).await?;
    }
    let JobRequest {
        request, minter, ..
    } = &kept.job_request;
    // To which jobs a copy is bound was decided when their ledgers were chosen.
    let request = &Request {
        copy: false,
        ..request.clone()
    };
    for _ in 1..MAX_NAME_ATTEMPTS {
        match Box::pin(carry_out(&mut target, &package, request, *minter, past)).await? {
            Ok(()) => return Ok(()),
            // A name that was free was taken before the structure was written, all or nothing; or people changed,
            // or took away, what was to be changed.
            Err(ApplyError::Refused { code, .. })
                if code == Code::Conflict || (code == Code::NotFound && request.upgrade) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Box::pin(carry_out(&mut target, &package, request, *minter, past)).await??;
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "errors are mapped so")]
fn unreadable(error: NotChecked) -> Failure {
    // It was checked before it was kept.
    tracing::error!(%error, "the package of a job cannot be read");
    let detail = "The package of the job cannot be read; apply the template again.";
    Failure::reported(Code::Internal, detail)
}

/// Decides by the workspace as it is, and carries it out.
async fn carry_out(
    target: &mut Destination,
    package: &Checked<'_>,
    request: &Request,
    minter: Minter,
    past: JobHistory<'_>,
) -> Result<Result<(), ApplyError<ReadError>>, Failure> {
    let definitions = Definitions::embedded();
    let own = target.ledger().await?;
    let destination = target.structure().await?;
    let known = match own.as_slice() {
        [] => Cow::Borrowed(past.entries),
        own => Cow::Owned([past.entries, own].concat()),
    };
    drop(own);
    // What is there already is bound and what is missing created: the same decisions as at the first
    // attempt, but for what people have changed since.
    let deciding = JobHistory {
        entries: &known,
        ..past
    };
    let decided = decide_from(
        target,
        ResolveInput {
            package,
            request,
            destination: &destination,
            past: deciding,
            definitions,
        },
        minter,
    );
    let approved = Box::pin(decided).await?;
    let approved = approved.map_err(|refusals| Failure::refused(&refusals))?;
    drop((known, destination));
    let mut unwatched = |_| {};
    let ran = run_from(
        target,
        &approved,
        &package.payloads,
        past,
        definitions,
        &mut unwatched,
    );
    Ok(Box::pin(ran).await.map(drop))
}

async fn kept(tx: &mut Tx, job: &Job) -> Result<Option<AttemptInput>, StoreError> {
    let Some((job_request, text)) = package::read(tx, job.organization, job.id, true).await? else {
        return Ok(None);
    };
    let line = ledger::kept_entries(tx, job).await?;
    let mut rows = StoredRowBases::default();
    let base = if let Some(newest) = line.newest {
        let kept = package::read(tx, job.organization, newest, true).await?;
        if let Some((_, text)) = &kept {
            rows = StoredRowBases::read(tx, job.organization, &line, text).await?;
        }
        kept.map(|(_, text)| (Some(newest), text))
    } else {
        let given = package::read_base(tx, job.organization, job.id).await?;
        given.map(|text| (None, text))
    };
    Ok(Some(AttemptInput {
        job_request,
        text,
        earlier: line.entries,
        resolutions: line.resolutions,
        base,
        legacy_jobs: line.legacy_jobs,
        rows,
    }))
}
