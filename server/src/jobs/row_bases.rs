//! The packages of a line that say what cells of rows are compared with (`upgrade` 3.1.2), and what blueprints
//! imported (3.1.4).
//!
//! In: the ledgers of the line. Out: packages, newest first, as many as speak of every row and column that the
//! ledgers know, and of what was imported. Mostly that is one: a first apply, or the upgrade after which nothing was left over.

use tplkit::apply::{BasedRows, RowBase, speaks_of_all};
use tplkit::check::{Checked, NotChecked};
use tplkit::workspace::ledger::Entry;
use uuid::Uuid;

use super::ledger::{LedgerJob, LineLedgers};
use super::package;
use crate::spool::SpooledText;
use crate::store::{StoreError, Tx};

/// Packages that say what rows held, or what was imported, newest first.
#[derive(Debug, Default)]
pub struct StoredRowBases(Vec<StoredRowBase>);

#[derive(Debug)]
struct StoredRowBase {
    /// Nothing for the package of the newest job, which whoever asks has.
    text: Option<SpooledText>,
    until: usize,
    rows: BasedRows,
}

impl StoredRowBases {
    /// Reads them. `newest` is the package of the newest job.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn read(
        tx: &mut Tx,
        organization: Uuid,
        line: &LineLedgers,
        newest: &SpooledText,
    ) -> Result<StoredRowBases, StoreError> {
        let mut bases = StoredRowBases::default();
        let given = line.adopted();
        let mut jobs = line.speaking();
        while let Some((job, rows)) = jobs.pop() {
            let text = if line.newest == Some(job.id) {
                None
            } else {
                let with_rows = rows != BasedRows::NoRows;
                let kept = package::read(tx, organization, job.id, with_rows).await?;
                let Some((_, text)) = kept else { continue };
                Some(text)
            };
            bases.0.push(StoredRowBase {
                text,
                until: job.entries.end,
                rows,
            });
            let more = !jobs.is_empty() || given.is_some();
            if more && bases.is_enough(line, newest) {
                return Ok(bases);
            }
        }
        if let Some((job, until)) = given
            && let Some(text) = package::read_base(tx, organization, job).await?
        {
            bases.0.push(StoredRowBase {
                text: Some(text),
                until,
                rows: BasedRows::All,
            });
        } else if let Some(oldest) = bases
            .0
            .iter_mut()
            .rfind(|base| base.rows != BasedRows::NoRows)
        {
            // What no newer package speaks of is its own.
            oldest.rows = BasedRows::All;
        }
        Ok(bases)
    }

    /// Whether older packages would add nothing.
    fn is_enough(&self, line: &LineLedgers, newest: &SpooledText) -> bool {
        // Their ledgers do not say which columns they made.
        if !line.legacy_jobs.is_empty() {
            return false;
        }
        let (Ok(newest), Ok(older)) = (Checked::trusted(newest), self.packages()) else {
            return false;
        };
        speaks_of_all(&line.entries, &self.bases(&newest, &older))
    }

    /// The packages but for the newest, read.
    ///
    /// # Errors
    /// When what was checked cannot be read, which is a bug.
    pub fn packages(&self) -> Result<Vec<Checked<'_>>, NotChecked> {
        let texts = self.0.iter().filter_map(|base| base.text.as_ref());
        texts.map(|text| Checked::trusted(text)).collect()
    }

    /// They for the library, with the packages read.
    pub fn bases<'e>(&self, newest: &'e Checked<'e>, older: &'e [Checked<'e>]) -> Vec<RowBase<'e>> {
        let mut older = older.iter();
        let bases = self.0.iter().filter_map(|base| {
            let package = match base.text {
                None => Some(newest),
                Some(_) => older.next(),
            };
            Some(RowBase {
                package: package?,
                until: base.until,
                rows: base.rows.clone(),
            })
        });
        bases.collect()
    }
}

impl LineLedgers {
    /// The jobs whose packages speak of rows, or imported tables, oldest first.
    fn speaking(&self) -> Vec<(LedgerJob, BasedRows)> {
        let jobs = self.jobs.iter().filter_map(|job| {
            let rows = BasedRows::of_job(&self.entries, job.entries.clone(), job.compares)?;
            Some((job.clone(), rows))
        });
        jobs.collect()
    }

    /// The job that took over what people had set up by hand, and how many entries of the line were written when
    /// that was noted.
    fn adopted(&self) -> Option<(Uuid, usize)> {
        let mut entries = self.entries.iter();
        let is_adopted = |entry: &Entry| matches!(entry, Entry::Structure(done) if done.adopted);
        let until = entries.position(is_adopted)? + 1;
        let mut jobs = self.jobs.iter();
        let job = jobs.find(|job| job.entries.end >= until)?;
        Some((job.id, until))
    }
}
