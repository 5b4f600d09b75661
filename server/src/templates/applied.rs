//! A line of a workspace, read as the library compares it with what is there.

use std::collections::{BTreeMap, HashSet};

use tplkit::apply::{BasePackage, JobHistory, LegacyJob, Request, RowBase};
use tplkit::check::Checked;
use tplkit::workspace::Id;
use tplkit::workspace::ledger::Entry;
use uuid::Uuid;

use super::package::unreadable;
use crate::jobs::{self, AppliedLine, LedgerPart, LineLedgers, StoredRowBases, WantedLedger};
use crate::refusal::Refusal;
use crate::spool::SpooledText;
use crate::store::{Scope, Tx};
use crate::workspace::{ReadError, keeps_some};

/// A line with its newest package.
#[derive(Debug)]
pub(super) struct Applied {
    job: Uuid,
    line: LineLedgers,
    /// How the newest package was applied.
    pub(super) request: Request,
    text: SpooledText,
    rows: StoredRowBases,
}

impl Applied {
    /// Reads it; the package without rows where records alone count.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) async fn read(
        tx: &mut Tx,
        organization: Uuid,
        line: &AppliedLine,
        what: LedgerPart,
    ) -> Result<Applied, Refusal> {
        let newest = line.newest().id;
        let wanted = line.jobs.iter().map(|job| WantedLedger {
            job: job.id,
            compares: job.compares,
        });
        let wanted: Vec<WantedLedger> = wanted.collect();
        let resolutions = line.resolutions.clone();
        let written = jobs::written_by(tx, organization, &wanted, resolutions, what).await?;
        let rows = what == LedgerPart::All;
        let kept = jobs::read_package(tx, organization, newest, rows).await?;
        let (order, text) = kept.ok_or_else(Refusal::not_found)?;
        let rows = match what {
            LedgerPart::All => StoredRowBases::read(tx, organization, &written, &text).await?,
            LedgerPart::Records => StoredRowBases::default(),
        };
        Ok(Applied {
            rows,
            job: newest,
            line: written,
            request: order.request,
            text,
        })
    }

    /// The newest package.
    ///
    /// # Errors
    /// When what was checked cannot be read, which is a bug.
    pub(super) fn package(&self) -> Result<Checked<'_>, Refusal> {
        Checked::trusted(&self.text).map_err(|error| unreadable(&error))
    }

    /// The packages of jobs whose ledgers were written before ledgers held the base.
    ///
    /// # Errors
    /// When what was checked cannot be read, which is a bug.
    pub(super) fn legacy_jobs(&self) -> Result<Vec<LegacyJob<'_>>, Refusal> {
        let jobs = self.line.legacy_jobs.iter();
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
    pub(super) fn row_bases<'a>(
        &self,
        package: &'a Checked<'a>,
        older: &'a [Checked<'a>],
    ) -> Vec<RowBase<'a>> {
        self.rows.bases(package, older)
    }

    /// What the line wrote.
    pub(super) fn past<'a>(
        &'a self,
        package: &'a Checked<'a>,
        legacy_jobs: &'a [LegacyJob<'a>],
        rows: &'a [RowBase<'a>],
    ) -> JobHistory<'a> {
        JobHistory {
            entries: &self.line.entries,
            base: Some(BasePackage {
                job: Some(self.job),
                package,
                resolutions: &self.line.resolutions,
                legacy_jobs,
                rows,
            }),
        }
    }

    /// Rows of the line that the scope would not see if they were there: of tables that show everybody their own rows,
    /// those that somebody else's job wrote, and those of a job that was handed over, which wrote for somebody else
    /// before. Whose a row was that is gone nobody knows: where one row of a job is kept from the scope, all of its
    /// rows in that table count as such.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) async fn unseen(
        &self,
        tx: &mut Tx,
        line: &AppliedLine,
    ) -> Result<HashSet<Id>, Refusal> {
        let mut unseen = HashSet::new();
        let Scope::Caller(visible) = tx.scope().clone() else {
            return Ok(unseen);
        };
        if visible.guarded.is_empty() {
            return Ok(unseen);
        }
        for job in &self.line.jobs {
            let mut written: BTreeMap<Id, Vec<Id>> = BTreeMap::new();
            let entries = self.line.entries.get(job.entries.clone());
            for entry in entries.unwrap_or_default() {
                match entry {
                    Entry::Rows(rows) if visible.guarded.contains(&rows.feature) => {
                        let of_table = written.entry(rows.feature).or_default();
                        of_table.extend(rows.rows.iter().map(|row| row.id));
                    }
                    Entry::Recognised(rows)
                        if rows.adopted && visible.guarded.contains(&rows.feature) =>
                    {
                        let of_table = written.entry(rows.feature).or_default();
                        of_table.extend(rows.rows.iter().copied());
                    }
                    _ => {}
                }
            }
            let mut jobs = line.jobs.iter();
            let own = jobs.any(|one| one.id == job.id && one.creator == Some(visible.caller));
            for (feature, rows) in written {
                let others = !own
                    || match keeps_some(tx, feature, &rows).await {
                        // Nothing of it is compared.
                        Err(ReadError::NoTable(_)) => false,
                        kept => kept?,
                    };
                if others {
                    unseen.extend(rows);
                }
            }
        }
        Ok(unseen)
    }
}
