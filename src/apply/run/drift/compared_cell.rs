//! A cell of a row with what it held when it was applied.
//!
//! In: what packages say of it, what the ledger says instead, what steps of the plan made of it. Out: whether it holds
//! that.

use std::collections::HashMap;

use crate::apply::run::columns::Slot;
use crate::apply::run::table_base::BaseCell;
use crate::apply::run::untouched_links::{WrittenCell, is_link};
use crate::apply::{RowStep, RowStepWork};
use crate::rows::{equal, members};
use crate::workspace::RowData;

/// What a step of the plan made of a row.
pub(super) struct DriftUpdate<'u> {
    data: &'u str,
    merge: bool,
}

/// What steps of the plan made of rows, by their uids.
pub(super) fn updates(steps: &[RowStep]) -> HashMap<&str, Vec<DriftUpdate<'_>>> {
    let mut updates: HashMap<&str, Vec<DriftUpdate<'_>>> = HashMap::new();
    for step in steps {
        if let RowStepWork::Update { rows, merge, .. } = &step.work {
            for (uid, data) in rows {
                let of = updates.entry(uid).or_default();
                of.push(DriftUpdate {
                    data,
                    merge: *merge,
                });
            }
        }
    }
    updates
}

/// A cell with what it held when it was applied, as far as that is known.
pub(super) struct ComparedCell<'c> {
    pub(super) slot: &'c Slot<'c>,
    /// What the package says, as the destination holds it; nothing where that is not known.
    applied: Option<&'c str>,
    /// What the package says.
    raw: Option<&'c str>,
    /// What the ledger says instead.
    kept: Option<&'c str>,
    /// What it held.
    pub(super) base: &'c str,
}

impl<'c> ComparedCell<'c> {
    /// Of a column, by what packages, the ledger and steps of the plan say of it.
    pub(super) fn of(
        slot: &'c Slot<'c>,
        based: Option<&'c BaseCell<'c>>,
        stays: Option<&'c RowData>,
        updates: &[DriftUpdate<'c>],
    ) -> ComparedCell<'c> {
        let applied = match based.map(|based| &based.cell) {
            None => Some("null"),
            Some(Ok(cell)) => Some(cell.as_str()),
            // It was applied by the column as it was then: a row whose cell does not fit does not enter.
            Some(Err(_)) => {
                let raw = based.and_then(|based| based.raw);
                raw.filter(|raw| !slot.work.is_emptied(raw))
            }
        };
        let kept = stays.and_then(|stays| stays.cell(&slot.work.column.name));
        let base = kept.unwrap_or_else(|| {
            let applied = applied.unwrap_or("null");
            let updated = updated(updates, &slot.work.package_name, applied);
            slot.rule.without_file(updated)
        });
        ComparedCell {
            slot,
            applied,
            raw: based.and_then(|based| based.raw),
            kept,
            base,
        }
    }

    /// Whether the package brings it, and it is known what it held.
    pub(super) fn is_compared(&self) -> bool {
        let work = self.slot.work;
        // What the column would show of the row is not known.
        let unknown = || {
            let raw = self.raw.filter(|_| self.applied == Some("null"));
            raw.is_some_and(|raw| work.is_unknown(raw))
        };
        self.applied.is_some()
            && self.slot.rule.identity.is_none()
            && !work.package_name.is_empty()
            && !unknown()
    }

    /// Whether it holds what it held. Where the row is gone that a link points at, its value alone is left.
    pub(super) fn is_same(&self, ours: &str) -> bool {
        // An identity of the source was never written.
        let is_link = is_link(self.slot) && !self.slot.work.source_identities;
        let raw = self.raw.filter(|_| is_link);
        equal(self.base, ours) || self.kept.is_none() && raw.is_some_and(|raw| equal(raw, ours))
    }

    /// What is known of it when the row was written last.
    pub(super) fn written(&self, stored: &'c RowData) -> (&'c str, WrittenCell<'c>) {
        let column = self.slot.work.column.name.as_str();
        let ours = stored.cell(column).unwrap_or("null");
        let cell = match self.applied {
            Some(_) => WrittenCell::of(self.slot, self.base, ours),
            None => WrittenCell::Uncertain(self.base),
        };
        (column, cell)
    }
}

/// What steps of the plan made of a cell.
fn updated<'c>(updates: &[DriftUpdate<'c>], column: &str, applied_cell: &'c str) -> &'c str {
    updates.iter().fold(applied_cell, |applied_cell, update| {
        let mut cells = members(update.data);
        let cell = cells.find_map(|(key, cell)| key.is(column).then_some(cell));
        cell.unwrap_or(if update.merge { applied_cell } else { "null" })
    })
}
