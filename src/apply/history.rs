//! What an apply starts from.

use std::borrow::Cow;
use std::ops::Range;

use super::{BasedRows, Request, Resolutions, RowBase};
use crate::check::Checked;
use crate::package::model::Dependency;
use crate::workspace::Id;
use crate::workspace::ledger::Entry;

/// What the line wrote that an apply continues.
#[derive(Debug, Clone, Copy, Default)]
pub struct JobHistory<'e> {
    /// The ledgers of its completed, not undone jobs, oldest first, and that of the job itself as far as
    /// it got.
    pub entries: &'e [Entry],
    /// The newest of these packages. Without it rows are not compared.
    pub base: Option<BasePackage<'e>>,
}

/// The package that an upgrade starts from.
#[derive(Debug, Clone, Copy)]
pub struct BasePackage<'e> {
    /// The job that applied it; nothing when somebody gave it.
    pub job: Option<Id>,
    /// The package.
    pub package: &'e Checked<'e>,
    /// What was decided about dependencies so far: it holds on.
    pub resolutions: &'e Resolutions,
    /// Jobs of the line whose ledgers were written before ledgers held the base, oldest first.
    pub legacy_jobs: &'e [LegacyJob<'e>],
    /// The packages that say what cells of rows are compared with, newest first. None: the package itself says it
    /// of every row.
    pub rows: &'e [RowBase<'e>],
}

/// A job whose ledger was written before ledgers held the base of what was written: its package says it.
#[derive(Debug, Clone)]
pub struct LegacyJob<'e> {
    /// Its entries among those of the line.
    pub entries: Range<usize>,
    /// Its package; its rows do not matter.
    pub package: Checked<'e>,
    /// What was decided about dependencies in it.
    pub resolutions: &'e Resolutions,
}

impl BasePackage<'_> {
    /// What is asked of an upgrade, with what was decided about dependencies that the new package still
    /// has, unless it is decided anew.
    pub(super) fn completed(&self, request: &Request, package: &Checked<'_>) -> Request {
        let mut completed = request.clone();
        for before in self.package.manifest.dependencies() {
            let Some(resolution) = self.resolutions.get(&before.reference) else {
                continue;
            };
            let all = || package.manifest.dependencies().iter();
            let same = |one: &&Dependency| {
                one.kind == before.kind && one.identity.name == before.identity.name
            };
            let by_ref = all().find(|one| one.reference == before.reference);
            if let Some(now) = by_ref.or_else(|| all().find(same)) {
                let resolutions = &mut completed.resolutions;
                let of = resolutions.entry(now.reference.clone());
                of.or_insert_with(|| resolution.clone());
            }
        }
        completed
    }
}

impl<'e> JobHistory<'e> {
    /// The packages that say what cells of rows are compared with, newest first.
    pub(super) fn row_bases(&self) -> Cow<'e, [RowBase<'e>]> {
        match self.base {
            None => Cow::Borrowed(&[]),
            Some(base) if base.rows.is_empty() => Cow::Owned(vec![RowBase {
                package: base.package,
                until: usize::MAX,
                rows: BasedRows::All,
            }]),
            Some(base) => Cow::Borrowed(base.rows),
        }
    }

    /// The history as it was when so many entries were written.
    pub(super) fn until(self, entries: usize) -> JobHistory<'e> {
        JobHistory {
            entries: self.entries.get(..entries).unwrap_or(self.entries),
            ..self
        }
    }

    /// The history in these ledgers.
    pub fn of(entries: &'e [Entry]) -> JobHistory<'e> {
        JobHistory {
            entries,
            base: None,
        }
    }
}
