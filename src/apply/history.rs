//! What an apply starts from.

use std::borrow::Cow;
use std::ops::Range;

use indexmap::IndexMap;

use super::{BasedRows, Request, Resolution, Resolutions, RowBase};
use crate::check::Checked;
use crate::package::model::Dependency;
use crate::workspace::ledger::Entry;
use crate::workspace::{Id, Structure};

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
    /// The packages that say what cells of rows are compared with, and those that imported tables with a dependency,
    /// newest first. None that speaks of rows: the package itself says it of every row.
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
    /// What was decided about dependencies before and is known to a package under other refs: in the words of that, and
    /// without what is decided anew. Whoever keeps what was decided keeps it, too: the upgrade after this one knows
    /// dependencies by the refs of this package.
    pub fn renamed_resolutions(
        &self,
        request: &Request,
        package: &Checked<'_>,
        destination: &Structure,
    ) -> Resolutions {
        let completed = self.completed(request, package, destination);
        let is_known = |reference: &str| {
            let mut before = self.package.manifest.dependencies().iter();
            request.resolutions.contains_key(reference)
                || before.any(|one| one.reference == reference)
        };
        let resolutions = completed.resolutions.into_iter();
        resolutions
            .filter(|(reference, _)| !is_known(reference))
            .collect()
    }

    /// What is asked of an upgrade, with what was decided about dependencies that the new package still
    /// has, unless it is decided anew.
    pub fn completed(
        &self,
        request: &Request,
        package: &Checked<'_>,
        destination: &Structure,
    ) -> Request {
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
                of.or_insert_with(|| handed_on(resolution, before, now, destination));
            }
        }
        completed
    }
}

/// What was decided about a dependency, in the words of the package that has it now. A column that it does not use any
/// more, and one that the destination has lost, are left out: nobody has sent them, so nobody is refused for them.
fn handed_on(
    resolution: &Resolution,
    before: &Dependency,
    now: &Dependency,
    destination: &Structure,
) -> Resolution {
    let Resolution::Map {
        id,
        columns,
        leave_empty,
    } = resolution
    else {
        return resolution.clone();
    };
    let used = || now.identity.columns.iter().flatten();
    let is_used = |reference: &str| used().any(|column| column.reference == reference);
    let by_name = |reference: &str| {
        let mut old = before.identity.columns.iter().flatten();
        let old = old.find(|column| column.reference == reference)?;
        used().find(|column| column.name == old.name)
    };
    let by_ref = columns.iter().filter(|(reference, _)| is_used(reference));
    let mut handed: IndexMap<String, Id> = by_ref
        .map(|(reference, column)| (reference.clone(), *column))
        .collect();
    for (reference, column) in columns {
        if !is_used(reference)
            && let Some(found) = by_name(reference)
        {
            let of = handed.entry(found.reference.clone());
            of.or_insert(*column);
        }
    }
    let table = Id::try_parse(id).ok();
    let table = table.and_then(|id| destination.feature(id));
    if let Some(table) = table {
        handed.retain(|_, column| table.columns.iter().any(|one| one.id == *column));
    }
    let is_there = |name: &&String| {
        table.is_none_or(|table| table.columns.iter().any(|column| column.name == **name))
    };
    Resolution::Map {
        id: id.clone(),
        columns: handed,
        leave_empty: leave_empty.iter().filter(is_there).cloned().collect(),
    }
}

impl<'e> JobHistory<'e> {
    /// The packages that say what cells of rows are compared with, newest first.
    pub(super) fn row_bases(&self) -> Cow<'e, [RowBase<'e>]> {
        let Some(base) = self.base else {
            return Cow::Borrowed(&[]);
        };
        if base.rows.iter().all(RowBase::speaks_of_rows) && !base.rows.is_empty() {
            return Cow::Borrowed(base.rows);
        }
        let speaking = base.rows.iter().filter(|base| base.speaks_of_rows());
        let mut speaking: Vec<RowBase<'e>> = speaking.cloned().collect();
        if speaking.is_empty() {
            speaking.push(RowBase {
                package: base.package,
                until: usize::MAX,
                rows: BasedRows::All,
            });
        }
        Cow::Owned(speaking)
    }

    /// The packages that may have imported tables with a dependency, newest first, each with the ledgers as they were
    /// when it was applied.
    pub(super) fn importing(self) -> impl Iterator<Item = (&'e Checked<'e>, &'e [Entry])> {
        let newest = self.base.map(|base| (base.package, self.entries));
        let rows = self.base.map_or(&[][..], |base| base.rows).iter();
        let older = rows.map(move |base| (base.package, self.until(base.until).entries));
        newest.into_iter().chain(older)
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
