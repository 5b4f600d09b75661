//! What the package and the base say of a cell: the same says who means the same, however it is laid out.

use crate::apply::LinkWork;
use crate::apply::row_refs::{row_refs, same_rows};
use crate::apply::run::columns::Columns;
use crate::package::payload::RawRow;
use crate::rows::{Cell, EntryFault, elements, equal, members};

use super::is_null;
use super::row::{Candidate, MergedTable};

/// Whether the package links a row to the same rows as the base does, or both by a value that stands for none here.
pub(super) fn same_link(table: &MergedTable<'_>, row: Candidate<'_>, at: usize) -> bool {
    let theirs = packaged_cell(&table.columns, row.theirs, at);
    let work = table.columns.all[at].work;
    let links = theirs.refs.is_some() || theirs.cell.is_some_and(|cell| work.is_emptied(cell));
    links && same_cell(table, row, at)
}

/// What a package says of a cell.
struct PackagedCell<'r> {
    /// The cell, unless a row is named for all of it: what that holds may change, and the link is the same.
    cell: Option<&'r str>,
    refs: Option<&'r str>,
}

impl PackagedCell<'_> {
    fn says_the_same(&self, other: &PackagedCell<'_>) -> bool {
        same(self.refs, other.refs, same_rows) && same(self.cell, other.cell, equal)
    }
}

/// Whether two texts mean the same. Mostly they are the same, which is seen without reading them.
fn same(one: Option<&str>, other: Option<&str>, means_the_same: fn(&str, &str) -> bool) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one == other || means_the_same(one, other),
        (None, None) => true,
        _ => false,
    }
}

fn packaged_cell<'r>(columns: &Columns<'_>, row: RawRow<'r>, at: usize) -> PackagedCell<'r> {
    let mut refs = row.refs.into_iter().flat_map(members);
    let refs = refs.find(|(key, _)| key.is(columns.all[at].name));
    let refs = refs.map(|(_, refs)| refs);
    let whole = |cell: &&str| {
        let named = row_refs(refs.unwrap_or("{}")).count();
        match Cell::new(cell) {
            Cell::List(list) => elements(list).count() == named,
            _ => named == 1,
        }
    };
    let cell = columns.cell(row.data, at);
    PackagedCell {
        cell: cell.filter(|cell| refs.is_none() || !whole(cell)),
        refs,
    }
}

/// A cell that the row as a whole would lack: such a row is not changed in part.
pub(super) fn missing(
    table: &MergedTable<'_>,
    row: Candidate<'_>,
    theirs: &[String],
) -> Option<EntryFault> {
    let cells = table.columns.all.iter().zip(theirs).enumerate();
    let mut missing = cells.filter(|(at, (slot, theirs))| {
        matches!(slot.work.link, LinkWork::Data)
            && slot.rule.identity.is_none()
            && !slot.work.package_name.is_empty()
            && Cell::new(theirs).is_empty()
            && !same_cell(table, row, *at)
    });
    missing.find_map(|(_, (slot, _))| slot.rule.missing())
}

/// Whether the package links a row to one that is not at the destination. To write that would take away the link that
/// is there, and the next upgrade would not know that it is still to be brought.
pub(super) fn lacks_target(
    table: &MergedTable<'_>,
    row: Candidate<'_>,
    at: usize,
    theirs: &str,
) -> bool {
    let work = table.columns.all[at].work;
    let cell = table.columns.cell(row.theirs.data, at).unwrap_or("null");
    let is_link = match work.link {
        LinkWork::Refs | LinkWork::Identity { .. } => true,
        LinkWork::Data => work.is_unknown(cell),
        LinkWork::Skipped { .. } | LinkWork::Absent => false,
    };
    is_link && is_null(theirs) && !Cell::new(cell).is_empty()
}

/// Whether the package names a file in a cell, and the base does not name the same.
pub(super) fn brings_file(table: &MergedTable<'_>, row: Candidate<'_>, at: usize) -> bool {
    let slot = &table.columns.all[at];
    let names_file = || {
        let cell = table.columns.cell(row.theirs.data, at);
        cell.is_some_and(|cell| slot.rule.file_id(cell).is_some())
    };
    slot.rule.file && names_file() && !same_cell(table, row, at)
}

/// Whether the package says of a cell what the base says, its link included.
pub(super) fn same_cell(table: &MergedTable<'_>, row: Candidate<'_>, at: usize) -> bool {
    let base = table.base.row_with_column(row.id, at);
    base.is_some_and(|base| {
        let theirs = packaged_cell(&table.columns, row.theirs, at);
        theirs.says_the_same(&packaged_cell(table.base.columns(base), base.row, at))
    })
}
