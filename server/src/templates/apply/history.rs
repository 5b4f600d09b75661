//! What an apply starts from: the line that it continues, or what people set up by hand.

use std::sync::Arc;

use tplkit::apply::{BasePackage, JobHistory, LegacyJob, Resolutions, RowBase};
use tplkit::check::Checked;
use tplkit::workspace::ledger::Entry;
use uuid::Uuid;

use super::{DecideInput, LoadedPackage};
use crate::jobs::{self, StoredLegacyJob, StoredRowBases};
use crate::refusal::Refusal;
use crate::store::{StoreError, Tx};
use crate::templates::package::unreadable;

/// What an apply starts from.
#[derive(Debug)]
pub(super) struct StoredHistory {
    /// What earlier jobs wrote, and the job itself.
    pub(super) entries: Vec<Entry>,
    /// The newest of them, or what somebody gave in its place.
    pub(super) base: Option<AppliedPackage>,
    /// Those of them whose ledgers were written before ledgers held the base.
    legacy_jobs: Vec<StoredLegacyJob>,
    /// Packages that say what rows held.
    rows: StoredRowBases,
}

/// A package that stands in the workspace.
#[derive(Debug)]
pub(super) struct AppliedPackage {
    /// The job that applied it; nothing of one that people set the workspace up by.
    pub(super) job: Option<Uuid>,
    pub(super) resolutions: Resolutions,
    pub(super) text: Arc<LoadedPackage>,
}

impl AppliedPackage {
    /// What an upgrade starts from, its package read.
    fn base<'e>(
        &'e self,
        package: &'e Checked<'e>,
        legacy_jobs: &'e [LegacyJob<'e>],
        rows: &'e [RowBase<'e>],
    ) -> BasePackage<'e> {
        BasePackage {
            job: self.job,
            package,
            resolutions: &self.resolutions,
            legacy_jobs,
            rows,
        }
    }
}

impl StoredHistory {
    /// What earlier jobs wrote that this one binds to, and its own ledger.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) async fn read(
        tx: &mut Tx,
        input: &DecideInput,
    ) -> Result<StoredHistory, StoreError> {
        let (place, base_job) = (input.place, input.request.terms.base_job);
        let line = jobs::earlier(tx, place.key(), input.job, base_job).await?;
        let mut rows = StoredRowBases::default();
        let base = match line.newest {
            Some(job) => {
                let kept = jobs::read_package(tx, place.organization, job, true).await?;
                if let Some((_, text)) = &kept {
                    rows = StoredRowBases::read(tx, place.organization, &line, text).await?;
                }
                kept.map(|(_, text)| AppliedPackage {
                    job: Some(job),
                    resolutions: line.resolutions,
                    text: Arc::new(LoadedPackage::trusted(text)),
                })
            }
            None => None,
        };
        let mut entries = line.entries;
        if let Some(job) = input.job {
            entries.extend(jobs::own(tx, place.organization, job).await?);
        }
        Ok(StoredHistory {
            entries,
            base,
            legacy_jobs: line.legacy_jobs,
            rows,
        })
    }

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
        jobs.map(|job| job.read().map_err(|error| unreadable(&error)))
            .collect()
    }

    /// Older packages that say what rows held.
    ///
    /// # Errors
    /// When what was checked cannot be read, which is a bug.
    pub(super) fn older(&self) -> Result<Vec<Checked<'_>>, Refusal> {
        self.rows.packages().map_err(|error| unreadable(&error))
    }

    /// The packages that say what rows held, newest first.
    pub(super) fn row_bases<'e>(
        &self,
        package: Option<&'e Checked<'e>>,
        older: &'e [Checked<'e>],
    ) -> Vec<RowBase<'e>> {
        package.map_or_else(Vec::new, |package| self.rows.bases(package, older))
    }

    /// It for the library, its packages read.
    pub(super) fn past<'e>(
        &'e self,
        package: Option<&'e Checked<'e>>,
        legacy_jobs: &'e [LegacyJob<'e>],
        rows: &'e [RowBase<'e>],
    ) -> JobHistory<'e> {
        let base = self.base.as_ref().zip(package);
        JobHistory {
            entries: &self.entries,
            base: base.map(|(base, package)| base.base(package, legacy_jobs, rows)),
        }
    }

    /// The digest of a package that is applied, and of the one that somebody gave as what is there.
    pub(super) fn digest(&self, whole: &LoadedPackage) -> String {
        let digest = whole.digest();
        match self.base.as_ref().filter(|base| base.job.is_none()) {
            Some(base) => format!("{digest} {}", base.text.digest()),
            None => digest,
        }
    }
}
