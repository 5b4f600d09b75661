//! What the packages of a line say of the rows of a table: for each row the newest package that speaks of it, and
//! older ones for columns that this does not have (`upgrade` 3.1.2).

use std::collections::hash_map::Entry as Place;
use std::collections::{HashMap, HashSet};

use super::Run;
use super::columns::Columns;
use super::target_value::Moment;
use crate::apply::{ApplyError, ColumnWork, JobHistory};
use crate::package::payload::{RawEntry, RawRow};
use crate::rows::{EntryFault, members};
use crate::workspace::{Id, Target};

/// The rows of a package that was applied.
pub(super) struct BasePayloads<'a> {
    payloads: &'a [RawEntry<'a>],
    /// By table the rows that the package speaks of; nothing where these are all.
    written: Option<HashMap<Id, HashSet<Id>>>,
}

impl<'a> BasePayloads<'a> {
    /// Those of a line, newest first.
    pub(super) fn read(past: JobHistory<'a>) -> Vec<BasePayloads<'a>> {
        let bases = past.row_bases();
        let payloads = bases.iter().map(|base| BasePayloads {
            payloads: &base.package.payloads,
            written: base.rows.written(past.entries),
        });
        payloads.collect()
    }

    fn speaks_of(&self, feature: Id) -> impl Fn(&Id) -> bool + '_ {
        let written = self.written.as_ref().map(|tables| tables.get(&feature));
        move |id| match written {
            None => true,
            Some(rows) => rows.is_some_and(|rows| rows.contains(id)),
        }
    }
}

/// What the packages say of the rows of a table. There is one place for each row, so rows are read when it is
/// their turn.
pub(super) struct TableBase<'a> {
    packages: Vec<PackageColumns<'a>>,
    entries: Vec<(usize, &'a RawEntry<'a>)>,
    /// The entry, and where in it the row begins.
    newest: HashMap<Id, [u32; 2]>,
    /// The same in older packages, of rows in packages that do not have all columns.
    older: HashMap<Id, Vec<[u32; 2]>>,
}

struct PackageColumns<'a> {
    /// As the rows of the package call them.
    columns: Columns<'a>,
    /// Whether some of those that are compared are missing.
    partial: bool,
}

/// What a package says of a row.
#[derive(Clone, Copy)]
pub(super) struct BaseRow<'a> {
    /// Which of the packages, from the newest on.
    pub(super) package: usize,
    pub(super) row: RawRow<'a>,
}

/// What the base says of a cell.
pub(super) struct BaseCell<'a> {
    /// As the destination holds it.
    pub(super) cell: Result<String, EntryFault>,
    /// As the package has it.
    pub(super) raw: Option<&'a str>,
    pub(super) row: BaseRow<'a>,
}

impl<'a> TableBase<'a> {
    /// Adds an entry of a package; packages come newest first.
    fn add(
        &mut self,
        package: usize,
        entry: &'a RawEntry<'a>,
        known: Vec<Option<Id>>,
        speaks_of: impl Fn(&Id) -> bool,
    ) {
        // More do not fit into a text.
        let short = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let at = short(self.entries.len());
        self.entries.push((package, entry));
        let rows = entry.rows().zip(known);
        for (row, id) in rows.filter_map(|(row, id)| Some((row, id.filter(&speaks_of)?))) {
            let place = [at, short(row.start)];
            match self.newest.entry(id) {
                Place::Vacant(free) => {
                    free.insert(place);
                }
                Place::Occupied(newer) => {
                    let [entry, _] = *newer.get();
                    let newer = self.entries.get(entry as usize);
                    if newer.is_some_and(|(package, _)| self.packages[*package].partial) {
                        self.older.entry(id).or_default().push(place);
                    }
                }
            }
        }
    }

    fn at(&self, [entry, start]: [u32; 2]) -> Option<BaseRow<'a>> {
        let (package, entry) = self.entries.get(entry as usize)?;
        Some(BaseRow {
            package: *package,
            row: entry.row(start as usize)?,
        })
    }

    /// What the newest package says that speaks of a row.
    pub(super) fn row(&self, id: Id) -> Option<BaseRow<'a>> {
        self.at(*self.newest.get(&id)?)
    }

    /// What older ones say, newest first, where that one does not have all columns.
    pub(super) fn older(&self, id: Id) -> impl Iterator<Item = BaseRow<'a>> + '_ {
        let places = self.older.get(&id).into_iter().flatten();
        places.filter_map(|place| self.at(*place))
    }

    /// How many rows there are.
    pub(super) fn count(&self) -> usize {
        self.newest.len()
    }

    /// The columns as the package of a row calls them.
    pub(super) fn columns(&self, row: BaseRow<'a>) -> &Columns<'a> {
        &self.packages[row.package].columns
    }

    /// What is said of one cell: by the newest package that has the column.
    pub(super) fn row_with_column(&self, id: Id, at: usize) -> Option<BaseRow<'a>> {
        let mut rows = self.row(id).into_iter().chain(self.older(id));
        rows.find(|row| self.columns(*row).has(at))
    }

    /// Whether a package says of a row what the base says, in the same words. Where it does not, cells are compared.
    pub(super) fn says_the_same(&self, id: Id, row: RawRow<'_>) -> bool {
        self.row(id).is_some_and(|base| {
            base.row.data == row.data && base.row.refs == row.refs && !self.older.contains_key(&id)
        })
    }
}

impl<'a, T: Target> Run<'_, 'a, T> {
    /// What the line says of the rows of a table.
    pub(super) fn table_base(&self, feature: Id, compared: &'a [ColumnWork]) -> TableBase<'a> {
        let approved = self.approved;
        let packages = &approved.base_rows.packages;
        let columns = packages.iter().map(|package| {
            let columns = Columns::of_base(compared, self.definitions, &package.columns);
            PackageColumns {
                partial: columns.is_partial(),
                columns,
            }
        });
        let mut base = TableBase {
            packages: columns.collect(),
            entries: Vec::new(),
            newest: HashMap::new(),
            older: HashMap::new(),
        };
        for (at, (package, rows)) in packages.iter().zip(&self.base).enumerate() {
            let tables = package.tables.iter().filter(|(_, table)| *table == feature);
            for (reference, _) in tables {
                let entries = rows.payloads.iter();
                for entry in entries.filter(|entry| entry.feature_ref == *reference) {
                    let known = self.ledger_state.known_in(entry, feature);
                    base.add(at, entry, known, rows.speaks_of(feature));
                }
            }
        }
        base
    }

    /// What the base says of the cells of a row, by column; nothing of columns that no package has.
    pub(super) async fn based_cells(
        &mut self,
        base: &TableBase<'a>,
        id: Id,
    ) -> Result<Vec<Option<BaseCell<'a>>>, ApplyError<T::Error>> {
        let mut cells: Vec<Option<BaseCell<'a>>> = Vec::new();
        for row in base.row(id).into_iter().chain(base.older(id)) {
            let columns = base.columns(row);
            cells.resize_with(columns.all.len(), || None);
            let fitting = self.fitting_cells(columns, row.row, Moment::Before).await?;
            for (at, cell) in fitting.into_iter().enumerate() {
                if cells[at].is_none() && columns.has(at) {
                    cells[at] = Some(BaseCell {
                        cell,
                        raw: columns.cell(row.row.data, at),
                        row,
                    });
                }
            }
        }
        Ok(cells)
    }
}

impl<'a> BaseRow<'a> {
    /// The refs of a cell.
    pub(super) fn refs(&self, columns: &Columns<'_>, at: usize) -> Option<&'a str> {
        let mut refs = self.row.refs.into_iter().flat_map(members);
        let found = refs.find(|(key, _)| key.is(columns.all[at].name));
        found.map(|(_, refs)| refs)
    }
}
