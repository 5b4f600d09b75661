//! The result of a pass over an entry's rows: findings, and data for the links of other entries.

use super::index::Index;
use super::layout::Layout;
use crate::finding::{Finding, Place};
use crate::maps::HashSet;

/// What is known after an entry has been read.
#[derive(Debug, Default)]
pub(super) struct ScanResult {
    /// In order of appearance.
    pub(super) findings: Vec<Finding>,
    /// Places of tenant identifiers.
    pub(super) tenants: Vec<(Place, String)>,
    /// First byte of each row.
    pub(super) starts: Vec<usize>,
    /// Rows by hash of their uid.
    pub(super) uids: Index,
    /// A row's uid is missing, malformed or repeated: a ref that finds no row may mean it.
    pub(super) bad_uids: bool,
    /// Hashes of uids that appear twice: refs to them are not checked.
    pub(super) repeated_uids: HashSet<u64>,
    /// By column: whether any row has it.
    pub(super) carried: Vec<bool>,
    /// A row has no `data` that can be read: any column may be carried by it.
    pub(super) unread_data: bool,
    /// By column, when others link by it: hash of each row's value, 0 where there is none.
    pub(super) values: Vec<Vec<u64>>,
    /// By column, when it is a link: what is to be proved once all entries have been read.
    pub(super) links: Vec<Links>,
    /// Rows whose refs must be checked one by one, ascending, perhaps repeated.
    pub(super) doubtful: Vec<u32>,
}

/// Links of one column, as hashes. The first three lists run in parallel, an element per cell.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// The row whose cell it is.
    pub(super) rows: Vec<u32>,
    /// Hash of `rowUid`.
    pub(super) targets: Vec<u64>,
    /// Hash of the value that the cell holds.
    pub(super) values: Vec<u64>,
    /// Cells with a list and a list of refs.
    pub(super) lists: Vec<List>,
    /// Hashes of the `rowUid`s of all those cells, one after the other.
    pub(super) list_targets: Vec<u64>,
    /// Hashes of their elements.
    pub(super) list_values: Vec<u64>,
    /// Values without a ref, with their rows.
    pub(super) loose: Vec<(u64, u32)>,
}

/// A cell with a list: how much of the lists next to it is its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct List {
    /// The row whose cell it is.
    pub(super) row: u32,
    /// Number of refs.
    pub(super) targets: u32,
    /// Number of elements.
    pub(super) values: u32,
}

impl ScanResult {
    pub(super) fn new(layout: &Layout<'_>) -> ScanResult {
        let columns = layout.columns.len();
        ScanResult {
            carried: vec![false; columns],
            values: vec![Vec::new(); columns],
            links: (0..columns).map(|_| Links::default()).collect(),
            ..ScanResult::default()
        }
    }

    /// Number of rows.
    pub(super) fn count(&self) -> usize {
        self.starts.len()
    }

    /// Gives back what growing lists took in advance: harvests live until the last entry is read.
    pub(super) fn shrink(&mut self) {
        self.starts.shrink_to_fit();
        self.values.iter_mut().for_each(Vec::shrink_to_fit);
        for links in &mut self.links {
            links.rows.shrink_to_fit();
            links.targets.shrink_to_fit();
            links.values.shrink_to_fit();
            links.lists.shrink_to_fit();
            links.list_targets.shrink_to_fit();
            links.list_values.shrink_to_fit();
            links.loose.shrink_to_fit();
        }
    }
}
