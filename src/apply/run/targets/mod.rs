//! The targets of link cells that exist at the destination.
//!
//! It keeps only what links need: row ids of the target tables, and values of the columns that link
//! cells show.

mod values;

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

use crate::apply::row_refs::{RowRef, row_refs};
use crate::apply::uids::Uids;
use crate::apply::{Approved, ColumnWork, LinkedValue, RowStepWork, TableWork};
use crate::package::payload::{RawEntry, RawRow};
use crate::rows::{Text, members};
use crate::workspace::Id;

use values::Values;
pub(super) use values::WantedColumn;

/// How many rows are remembered, where they are in the text, between the two times that they are looked at.
const MAX_REMEMBERED_ROWS: usize = 50_000;

/// All tables of the package with what is known of their rows.
#[derive(Debug)]
pub(super) struct Targets<'a> {
    tables: Vec<TargetTable<'a>>,
    /// There is one for each row that something may point at, so they are small.
    by_uid: HashMap<[u64; 2], Packed, RandomState>,
    uids: Uids,
    /// By table, where its rows are in the text, until they enter; none of tables behind many rows, which
    /// are read again: this would be as large as their text.
    read: Vec<Option<Vec<RawRow<'a>>>>,
    /// Rows of all tables.
    pub(super) count: usize,
    /// Rows of which this job has changed values that links show, since somebody asked.
    changed: HashSet<RowLocation>,
}

/// A row of the package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct RowLocation {
    /// The position of its table.
    pub(super) table: usize,
    /// Its position among the known targets.
    row: usize,
}

/// The same, as it is kept.
#[derive(Debug, Clone, Copy)]
struct Packed([u32; 2]);

impl Packed {
    fn of(place: RowLocation) -> Packed {
        // More do not fit into a text.
        Packed([place.table, place.row].map(|at| u32::try_from(at).unwrap_or(u32::MAX)))
    }

    fn place(self) -> RowLocation {
        let [table, row] = self.0.map(|at| at as usize);
        RowLocation { table, row }
    }
}

/// A number in two parts, which take no room for being aligned.
fn halves(number: u128) -> [u64; 2] {
    const LOW: u128 = u64::MAX as u128;
    [number >> 64, number & LOW].map(|half| u64::try_from(half).unwrap_or_default())
}

#[derive(Debug)]
struct TargetTable<'a> {
    work: &'a TableWork,
    entry: Option<&'a RawEntry<'a>>,
    /// Whether anything points at its rows.
    wanted: bool,
    rows: Vec<TargetRow>,
    values: Vec<Values<'a>>,
    /// By row, the values of those that were read when the first link pointed at them.
    read: HashMap<usize, Vec<String>, RandomState>,
    /// By row, the values of those that this job has changed since.
    changed: HashMap<usize, Vec<String>, RandomState>,
    /// The tables that links of its rows point at.
    points_at: Vec<usize>,
}

/// A row that links may point at.
#[derive(Debug, Clone, Copy)]
struct TargetRow {
    /// Nil for one that is not at the destination.
    id: Id,
    /// Where it begins in the entry.
    start: u32,
    /// Whether an earlier job wrote it, and nobody has looked yet what it holds, or whether it is still there.
    unread: bool,
}

/// A row whose content is still to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UnreadRow {
    pub(super) table: usize,
    row: usize,
    pub(super) id: Id,
}

impl<'a> Targets<'a> {
    /// Looks through all links for what they will ask.
    pub(super) fn new(approved: &'a Approved, payloads: &'a [RawEntry<'a>]) -> Targets<'a> {
        let target = |work: &'a TableWork| TargetTable {
            work,
            entry: payloads.get(work.entry),
            wanted: false,
            rows: Vec::new(),
            values: Vec::new(),
            read: HashMap::default(),
            changed: HashMap::default(),
            points_at: Vec::new(),
        };
        let mut targets = Targets {
            tables: approved.tables.iter().map(target).collect(),
            by_uid: HashMap::default(),
            uids: Uids::default(),
            read: Vec::new(),
            count: 0,
            changed: HashSet::new(),
        };
        for step in &approved.row_steps {
            if let RowStepWork::Update { .. } = step.work {
                // A row may be named whatever its table is.
                targets
                    .tables
                    .iter_mut()
                    .for_each(|table| table.wanted = true);
            }
        }
        for (position, work) in approved.tables.iter().enumerate() {
            let rows = payloads.get(work.entry).map(RawEntry::rows);
            let as_packaged = |column: &ColumnWork| column.linked_value == LinkedValue::AsPackaged;
            let as_packaged = work.columns.iter().all(as_packaged);
            // Links of one table ask for few things again and again.
            let mut questions: Vec<(&str, Option<&str>, &LinkedValue)> = Vec::new();
            let mut read = Some(Vec::new());
            for row in rows.into_iter().flatten() {
                targets.count += 1;
                if targets.count > MAX_REMEMBERED_ROWS {
                    read = None;
                } else if let Some(read) = &mut read {
                    read.push(row);
                }
                let refs = row.refs.filter(|_| work.feature.is_some());
                for (key, refs) in refs.into_iter().flat_map(members) {
                    let mut columns = work.columns.iter().filter(|_| !as_packaged);
                    let column = columns.find(|column| key.is(&column.package_name));
                    let value = column.map_or(&LinkedValue::AsPackaged, |work| &work.linked_value);
                    for row in row_refs(refs) {
                        let column = row.column.map(|column| column.inner);
                        let asks = (row.written_table(), column, value);
                        if !questions.contains(&asks) {
                            questions.push(asks);
                            targets.want(position, row, value);
                        }
                    }
                }
            }
            targets.read.push(read);
        }
        targets
    }

    fn want(&mut self, by: usize, row: RowRef<'_>, value: &'a LinkedValue) {
        let mut tables = self.tables.iter();
        let Some(at) = tables.position(|table| row.is_in(&table.work.feature_ref)) else {
            return;
        };
        let points_at = &mut self.tables[by].points_at;
        if !points_at.contains(&at) {
            points_at.push(at);
        }
        let table = &mut self.tables[at];
        table.wanted = true;
        let mut columns = table.work.columns.iter().enumerate();
        let known = match (value, row.column) {
            (LinkedValue::AsPackaged, Some(column)) => {
                columns.find(|(_, work)| column.is(&work.package_name))
            }
            (LinkedValue::Column(name), _) => columns.find(|(_, work)| work.column.name == *name),
            (LinkedValue::AsPackaged, None) | (LinkedValue::Unknown, _) => return,
        };
        let column = match (known, value) {
            (Some((at, work)), _) => WantedColumn {
                name: &work.column.name,
                slot: Some(at),
            },
            (None, LinkedValue::Column(name)) => WantedColumn { name, slot: None },
            (None, _) => return,
        };
        if table.values.iter().all(|values| values.column != column) {
            table.values.push(Values {
                column,
                package_name: known.map_or("", |(_, work)| work.package_name.as_str()),
                text: String::new(),
                ends: Vec::new(),
            });
        }
    }

    /// The rows of a table, for the one time that they enter.
    pub(super) fn take_rows(&mut self, table: usize) -> Vec<RawRow<'a>> {
        let read = self.read.get_mut(table).and_then(Option::take);
        let entry = self.tables.get(table).and_then(|table| table.entry);
        read.unwrap_or_else(|| entry.into_iter().flat_map(RawEntry::rows).collect())
    }

    /// Whether anything points at rows of the table.
    pub(super) fn is_wanted(&self, table: usize) -> bool {
        self.tables[table].wanted
    }

    /// The tables that links of a table's rows point at.
    pub(super) fn points_at(&self, table: usize) -> &[usize] {
        &self.tables[table].points_at
    }

    /// The columns of a table that cells take their values from.
    pub(super) fn wanted_columns(
        &self,
        table: usize,
    ) -> impl Iterator<Item = WantedColumn<'a>> + '_ {
        self.tables[table].values.iter().map(|values| values.column)
    }

    /// Reports a row; of its values those of the wanted columns, as JSON. Nil says that the row
    /// is not at the destination.
    pub(super) fn enter<'v>(
        &mut self,
        table: usize,
        uid: Text<'_>,
        start: usize,
        id: Id,
        value: impl Fn(usize) -> Option<&'v str>,
    ) {
        self.push(table, uid, start, id, false);
        for (at, values) in self.tables[table].values.iter_mut().enumerate() {
            values.text.push_str(value(at).unwrap_or_default());
            values.ends.push(values.text.len());
        }
    }

    /// Reports a row that an earlier job wrote. What it holds is read once a link points at it.
    pub(super) fn enter_unread(&mut self, table: usize, uid: Text<'_>, start: usize, id: Id) {
        self.push(table, uid, start, id, true);
        for values in &mut self.tables[table].values {
            values.ends.push(values.text.len());
        }
    }

    fn push(&mut self, table: usize, uid: Text<'_>, start: usize, id: Id, unread: bool) {
        let number = self.uids.number(uid);
        let rows = &mut self.tables[table].rows;
        let place = Packed::of(RowLocation {
            table,
            row: rows.len(),
        });
        // More do not fit into a text.
        let start = u32::try_from(start).unwrap_or(u32::MAX);
        rows.push(TargetRow { id, start, unread });
        self.by_uid.insert(halves(number), place);
    }

    /// Those of these rows that are still to be read, each once, table by table.
    pub(super) fn unread(&self, places: impl Iterator<Item = RowLocation>) -> Vec<UnreadRow> {
        let unread = places.filter_map(|place| {
            let row = self.tables[place.table].rows.get(place.row)?;
            row.unread.then_some(UnreadRow {
                table: place.table,
                row: place.row,
                id: row.id,
            })
        });
        let mut unread: Vec<UnreadRow> = unread.collect();
        unread.sort_unstable();
        unread.dedup();
        unread
    }

    /// The table that rows are in, and what it calls the columns whose values links show.
    pub(super) fn shown_columns(&self, table: usize) -> (Option<Id>, Vec<&'a str>) {
        let TargetTable { work, values, .. } = &self.tables[table];
        let columns = values.iter().map(|values| values.column.name);
        (work.feature, columns.collect())
    }

    /// Notes what an unread row holds: the cells that links show, or nothing when it is not there any more.
    pub(super) fn note(&mut self, unread: UnreadRow, cells: Option<Vec<String>>) {
        let table = &mut self.tables[unread.table];
        let Some(row) = table.rows.get_mut(unread.row) else {
            return;
        };
        row.unread = false;
        match cells {
            Some(cells) if cells.is_empty() => {}
            Some(cells) => {
                table.read.insert(unread.row, cells);
            }
            None => row.id = Id::nil(),
        }
    }

    /// How many rows of a table are known as targets of links.
    pub(super) fn reported_rows(&self, table: usize) -> usize {
        self.tables[table].rows.len()
    }

    /// Takes back what was reported of a table's rows from that one on; they are reported again, in the same
    /// order.
    pub(super) fn take_back(&mut self, table: usize, from: usize) {
        let target = &mut self.tables[table];
        target.rows.truncate(from);
        target.read.retain(|row, _| *row < from);
        target.changed.retain(|row, _| *row < from);
        for values in &mut target.values {
            values.ends.truncate(from);
            values
                .text
                .truncate(values.ends.last().copied().unwrap_or_default());
        }
    }

    /// Makes room for as many more rows.
    pub(super) fn reserve(&mut self, rows: usize) {
        self.by_uid.reserve(rows);
    }

    /// The row that is pointed at, when it has entered the destination.
    pub(super) fn find(&self, row: RowRef<'_>) -> Option<RowLocation> {
        let place = self.named(row.row)?;
        row.is_in(&self.tables[place.table].work.feature_ref)
            .then_some(place)
    }

    /// The row of that uid, when it has entered the destination.
    pub(super) fn named(&self, uid: Text<'_>) -> Option<RowLocation> {
        let place = self.by_uid.get(&halves(self.uids.seen(uid)?))?.place();
        // What was taken back is not there until a later entry holds it again.
        let row = self.tables[place.table].rows.get(place.row)?;
        (!row.id.is_nil()).then_some(place)
    }

    /// The id of a row.
    pub(super) fn id(&self, place: RowLocation) -> Id {
        self.tables[place.table].rows[place.row].id
    }
}
