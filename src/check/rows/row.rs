//! One row, as far as the [`reader`](super::reader) has read it: where its cells are, and what it refers to.

use std::ops::Range;

use super::form;
use crate::json::scan::StrToken;
use crate::rows::{Cell, Text};

/// A value where it is. A `mark` other than the current row's means that there is none.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ByteRange {
    pub(super) mark: u32,
    /// Bits of [`form`].
    pub(super) form: u16,
    /// First byte.
    pub(super) start: usize,
    /// Byte after it.
    pub(super) end: usize,
}

impl ByteRange {
    /// How the value is written.
    #[inline]
    pub(super) fn raw(self, text: &str) -> &str {
        &text[self.start..self.end]
    }

    /// The value, distinguished without looking at its text again.
    #[inline]
    pub(super) fn cell(self, text: &str) -> Cell<'_> {
        if self.form & (form::STRING | form::EMPTY_STRING) != 0 {
            let inner = &text[self.start + 1..self.end - 1];
            return Cell::String(Text {
                inner,
                escaped: self.form & form::ESCAPED != 0,
            });
        }
        Cell::new(self.raw(text))
    }
}

/// What `refs` says about a cell.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RefSpot {
    pub(super) mark: u32,
    /// Whether it has a list of triples.
    pub(super) many: bool,
    /// Whether each triple is complete, names the linked table and its value column, and nothing
    /// else: what an exporter writes.
    pub(super) plain: bool,
    /// Its `rowUid`s among [`Row::targets`].
    pub(super) first: u32,
    pub(super) count: u32,
}

/// One row, as far as it was read. Used again and again.
#[derive(Debug, Default)]
pub(super) struct Row {
    /// First byte.
    pub(super) start: usize,
    /// The string under `uid`.
    pub(super) uid: Option<StrToken>,
    /// Whether `data` is an object.
    pub(super) has_data: bool,
    /// Bytes of `data`.
    pub(super) data: Range<usize>,
    /// Whether the row is read again as a tree, because of something in it.
    pub(super) needs_reparse: bool,
    pub(super) mark: u32,
    pub(super) cells: Vec<ByteRange>,
    pub(super) refs: Vec<RefSpot>,
    /// Columns that `refs` names, in order.
    pub(super) referring: Vec<u32>,
    pub(super) targets: Vec<StrToken>,
}

impl Row {
    /// The cell of a column.
    #[inline]
    pub(super) fn cell(&self, slot: usize) -> Option<ByteRange> {
        self.cells
            .get(slot)
            .copied()
            .filter(|spot| spot.mark == self.mark && self.has_data)
    }

    /// All columns: the cell, or `None` for one that the row does not have.
    #[inline]
    pub(super) fn cells(&self) -> impl Iterator<Item = Option<&ByteRange>> + '_ {
        let mark = self.mark;
        self.cells
            .iter()
            .map(move |spot| (spot.mark == mark).then_some(spot))
    }

    /// What `refs` says about a column.
    #[inline]
    pub(super) fn reference(&self, slot: usize) -> Option<RefSpot> {
        self.refs
            .get(slot)
            .copied()
            .filter(|spot| spot.mark == self.mark)
    }

    /// A field stands a second time: what the first one held does not count.
    pub(super) fn forget(&mut self, field: usize) {
        self.needs_reparse = true;
        match field {
            0 => self.uid = None,
            1 => {
                self.has_data = false;
                self.cells.fill(ByteRange::default());
            }
            _ => {
                self.referring.clear();
                self.refs.fill(RefSpot::default());
            }
        }
    }

    /// The `rowUid`s of a plain ref.
    pub(super) fn targets(&self, spot: RefSpot) -> &[StrToken] {
        let first = spot.first as usize;
        self.targets
            .get(first..first + spot.count as usize)
            .unwrap_or_default()
    }
}
