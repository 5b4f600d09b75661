//! A row whose links into its own table are written after all rows.

use crate::workspace::Id;
use crate::workspace::ledger::RowDigest;

/// A row with cells that point at rows of its own table.
#[derive(Debug, Clone, Copy)]
pub(super) struct PendingLinks {
    /// Its position in the entry.
    pub(super) position: usize,
    /// Where it begins there.
    pub(super) start: usize,
    /// Its id.
    pub(super) id: Id,
    /// What it held when it was written, without these cells.
    pub(super) digest: RowDigest,
    /// Whether the cells were written before: then those that have lost their row are taken away.
    pub(super) again: bool,
}
