//! Rows that are merged: what the package and the base say of them, what stands at the destination, and what
//! becomes of their cells.

use std::collections::{HashMap, HashSet};

use crate::apply::run::columns::Columns;
use crate::apply::{TableWork, UpgradeWork};
use crate::json::Value;
use crate::package::payload::{RawEntry, RawRow};
use crate::workspace::ledger::RowDigest;
use crate::workspace::{Id, StoredRow};

/// A row that may change.
#[derive(Clone, Copy)]
pub(super) struct Candidate<'a> {
    pub(super) position: usize,
    pub(super) id: Id,
    /// What it held when the ledger last knew that as its base.
    pub(super) digest: RowDigest,
    pub(super) theirs: RawRow<'a>,
    pub(super) base: Option<RawRow<'a>>,
}

/// What a table is merged with.
pub(super) struct Table<'a> {
    pub(super) work: &'a TableWork,
    pub(super) feature: Id,
    pub(super) columns: Columns<'a>,
    /// The same, as rows of the base call them.
    pub(super) base_columns: Columns<'a>,
    pub(super) upgrade: Option<&'a UpgradeWork>,
    /// Whether all cells are compared; else those of new columns alone.
    pub(super) whole: bool,
    /// Columns that this job creates, or has created before it was stopped.
    pub(super) fresh: HashSet<Id>,
}

impl Table<'_> {
    pub(super) fn is_fresh(&self, column: Id) -> bool {
        self.fresh.contains(&column)
    }
}

/// Where rows of the base stand in its text, by the rows that they became: there is one for each, so each is
/// read when it is its turn.
#[derive(Default)]
pub(super) struct BaseRows<'a> {
    pub(super) entries: Vec<&'a RawEntry<'a>>,
    pub(super) places: HashMap<Id, [u32; 2]>,
}

impl<'a> BaseRows<'a> {
    /// Adds those of an entry; of several that are one row the last counts.
    pub(super) fn add(&mut self, entry: &'a RawEntry<'a>, known: Vec<Option<Id>>) {
        // More do not fit into a text.
        let short = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let at = short(self.entries.len());
        self.entries.push(entry);
        let rows = entry.rows().zip(known);
        let rows = rows.filter_map(|(row, id)| Some((id?, [at, short(row.start)])));
        self.places.extend(rows);
    }

    /// What it says of a row.
    pub(super) fn take(&mut self, row: Id) -> Option<RawRow<'a>> {
        let [entry, start] = self.places.remove(&row)?;
        self.entries.get(entry as usize)?.row(start as usize)
    }
}

/// A row as it is at the destination.
#[derive(Clone, Copy)]
pub(super) struct Here<'s> {
    pub(super) stored: &'s StoredRow,
    /// Whether people have changed it.
    pub(super) edited: bool,
    /// Whether whoever the job is for does not see it.
    pub(super) hidden: bool,
}

/// What becomes of the cells of a row.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Whether whoever the job is for does not see the row.
    pub(super) hidden: bool,
    /// Cells that are written: name, before, after.
    pub(super) written: Vec<(String, String, String)>,
    /// Cells whose base is not what the package says: name, base.
    pub(super) stays: Vec<(String, String)>,
    /// Columns that keep a file where the package brings another text: a file is never written over.
    pub(super) files: Vec<usize>,
    /// Columns that become null because the package names a file there.
    pub(super) emptied: Vec<usize>,
    pub(super) kept: u64,
    pub(super) decided: u64,
    pub(super) conflicts: Vec<(String, [Value; 3])>,
}
