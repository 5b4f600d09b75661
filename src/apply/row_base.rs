//! What cells of rows are compared with: the base moves cell by cell (`upgrade` 3.1.2).
//!
//! The base of a cell is what the newest package says that wrote its row or compared it, and that has the row and
//! the column. An upgrade with rows compares every row, a plain apply none: it speaks of the rows that it wrote.
//! Where a job left a cell as it was although its package says another value, its ledger holds the base
//! ([`CellsOf::stays`](crate::workspace::ledger::CellsOf::stays)).
//!
//! A package that imported tables with a dependency comes along, too: no ledger holds what their blueprints said
//! (`upgrade` 3.1.4).

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::ledger_rows::LedgerRows;
use crate::check::Checked;
use crate::package::Tool;
use crate::workspace::ledger::{Created, Entry, WrittenStructure};
use crate::workspace::{Id, RecordKind};

/// A package that says what cells of rows are compared with.
#[derive(Debug, Clone)]
pub struct RowBase<'e> {
    /// The package.
    pub package: &'e Checked<'e>,
    /// How many entries of the line were written when its job ended: they say what its refs stand for.
    pub until: usize,
    /// The rows that it speaks of.
    pub rows: BasedRows,
}

/// A job of a line, as far as the base of rows goes.
#[derive(Debug, Clone)]
pub struct LineJob<'e> {
    /// What it applied.
    pub package: &'e Checked<'e>,
    /// Its entries among those of the line.
    pub entries: Range<usize>,
    /// Whether it is an upgrade with rows.
    pub compares_rows: bool,
}

/// Rows that a package speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BasedRows {
    /// Every row that it has: its job compared them all, or none was written before it.
    All,
    /// Those that its job wrote: the entries of its ledger among those of the line.
    Written(Range<usize>),
    /// None: the package says what blueprints imported, no more.
    NoRows,
}

impl<'e> RowBase<'e> {
    /// Those of a line with these jobs, oldest first; the bases come newest first.
    pub fn of_line(
        entries: &[Entry],
        jobs: impl IntoIterator<Item = LineJob<'e>>,
    ) -> Vec<RowBase<'e>> {
        let mut bases: Vec<RowBase<'e>> = Vec::new();
        for job in jobs {
            let until = job.entries.end;
            let rows = BasedRows::of_job(entries, job.entries, job.compares_rows);
            bases.extend(rows.map(|rows| RowBase {
                package: job.package,
                until,
                rows,
            }));
        }
        bases.reverse();
        if let Some(oldest) = bases.iter_mut().rfind(|base| base.speaks_of_rows()) {
            // What no newer package speaks of is its own.
            oldest.rows = BasedRows::All;
        }
        bases
    }

    /// Whether cells of rows are compared with what the package says.
    pub fn speaks_of_rows(&self) -> bool {
        self.rows != BasedRows::NoRows
    }
}

impl BasedRows {
    /// The rows that the package of a job speaks of; nothing when it speaks of none and imported nothing. `own` are the
    /// job's entries among those of the line; `compares` says whether it is an upgrade with rows.
    pub fn of_job(entries: &[Entry], own: Range<usize>, compares: bool) -> Option<BasedRows> {
        if compares {
            return Some(BasedRows::All);
        }
        let written = entries.get(own.clone()).unwrap_or_default();
        if written.iter().any(|entry| matches!(entry, Entry::Rows(_))) {
            return Some(BasedRows::Written(own));
        }
        let imports = |entry: &Entry| matches!(entry, Entry::Structure(structure) if of_blueprints(structure).next().is_some());
        written.iter().any(imports).then_some(BasedRows::NoRows)
    }

    /// By table the rows that are meant; nothing where all are.
    pub(super) fn written(&self, entries: &[Entry]) -> Option<HashMap<Id, HashSet<Id>>> {
        let own = match self {
            BasedRows::All => return None,
            BasedRows::Written(own) => own.clone(),
            BasedRows::NoRows => 0..0,
        };
        let mut written: HashMap<Id, HashSet<Id>> = HashMap::new();
        for entry in entries.get(own).unwrap_or_default() {
            if let Entry::Rows(rows) = entry {
                let ids = rows.rows.iter().map(|row| row.id);
                written.entry(rows.feature).or_default().extend(ids);
            }
        }
        Some(written)
    }
}

/// Tables and columns that blueprints made: of everything else that a job creates its ledger holds the base.
fn of_blueprints(structure: &WrittenStructure) -> impl Iterator<Item = &Created> {
    let noted: HashSet<Id> = structure.base.iter().map(|based| based.record.id).collect();
    let created = structure.created.iter();
    created.filter(move |made| {
        matches!(made.kind, RecordKind::Feature | RecordKind::Column) && !noted.contains(&made.id)
    })
}

/// Whether these packages, the newest of a line, speak of every row and column that its ledgers know, and of what
/// blueprints imported: then older ones add nothing.
pub fn speaks_of_all(entries: &[Entry], bases: &[RowBase<'_>]) -> bool {
    let mut whole = bases.iter().filter(|base| base.rows == BasedRows::All);
    let Some(newest) = whole.next() else {
        return false;
    };
    let records = KnownRecords::read(entries);
    records.columns_in(newest.package)
        && records.imports_in(bases)
        && records.rows_in(entries, bases)
}

/// Records of a line by its ledgers.
#[derive(Default)]
struct KnownRecords<'e> {
    /// The refs of columns, by id.
    columns: HashMap<Id, &'e str>,
    /// Tables by the refs that they ever had.
    tables: HashMap<&'e str, HashSet<Id>>,
    /// Tables that an upgrade took away.
    deleted: HashSet<Id>,
    /// The refs of what blueprints made and no item stands for yet, by id.
    imported: HashMap<Id, &'e str>,
}

impl<'e> KnownRecords<'e> {
    fn read(entries: &'e [Entry]) -> KnownRecords<'e> {
        let mut known = KnownRecords::default();
        for entry in entries {
            let Entry::Structure(structure) = entry else {
                continue;
            };
            for deleted in &structure.deleted {
                known.columns.remove(&deleted.record.id);
                known.imported.remove(&deleted.record.id);
                known.deleted.insert(deleted.record.id);
            }
            let imported = of_blueprints(structure);
            known
                .imported
                .extend(imported.map(|made| (made.id, made.reference.as_str())));
            for based in &structure.base {
                let (reference, id) = (based.reference.as_str(), based.record.id);
                known.imported.remove(&id);
                match based.record.kind {
                    RecordKind::Column => {
                        known.columns.insert(id, reference);
                    }
                    RecordKind::Feature => {
                        known.deleted.remove(&id);
                        known.tables.entry(reference).or_default().insert(id);
                    }
                    _ => {}
                }
            }
        }
        known
    }

    /// Whether a package has every column.
    fn columns_in(&self, package: &Checked<'_>) -> bool {
        let steps = package.manifest.plan.steps.iter();
        let columns = steps.filter(|step| step.tool == Tool::CreateColumn);
        let refs: HashSet<&str> = columns
            .filter_map(|step| step.reference.as_deref())
            .collect();
        let gone = |reference: &&str| !refs.contains(reference);
        !self.columns.values().any(gone)
    }

    /// Whether packages say what blueprints made.
    fn imports_in(&self, bases: &[RowBase<'_>]) -> bool {
        let mut refs: HashSet<&str> = HashSet::new();
        for base in bases {
            let dependencies = base.package.manifest.dependencies().iter();
            let blueprints = dependencies.filter_map(|one| one.blueprint.as_ref());
            let steps = blueprints.flat_map(|blueprint| &blueprint.steps);
            refs.extend(steps.filter_map(|step| step.reference.as_deref()));
        }
        let mut imported = self.imported.values();
        imported.all(|reference| refs.contains(reference))
    }

    /// Whether packages have every row that ledgers know by a name.
    fn rows_in(&self, entries: &[Entry], bases: &[RowBase<'_>]) -> bool {
        let ledger = LedgerRows::read(entries);
        let mut missing = ledger.named();
        missing.retain(|feature, _| !self.deleted.contains(feature));
        for base in bases {
            let written = base.rows.written(entries);
            for entry in &base.package.payloads {
                // A table of a dependency is in no ledger.
                let named = self.tables.get(entry.feature_ref.as_str());
                let here = |feature: &Id| named.is_none_or(|named| named.contains(feature));
                for (feature, missing) in missing.iter_mut().filter(|(id, _)| here(id)) {
                    let spoken = written.as_ref().map(|tables| tables.get(feature));
                    let spoken = |id: &Id| match spoken {
                        None => true,
                        Some(rows) => rows.is_some_and(|rows| rows.contains(id)),
                    };
                    let known = ledger.recognise(*feature, entry, &[]).into_iter().flatten();
                    for row in known.filter(|row| spoken(&row.id)) {
                        missing.remove(&row.id);
                    }
                }
            }
        }
        missing.values().all(HashSet::is_empty)
    }
}
