//! Values that appear twice: I002 for uids, R009 for keys, R018 for unique columns.
//!
//! Equal values share a hash, so only rows with a shared hash are compared, and compared exactly: a
//! collision is never a finding.

use super::index::Index;
use super::layout::{Layout, Slot};
use super::row_text::RowText;
use super::scan_result::ScanResult;
use crate::finding::catalog::{I002, R009, R018};
use crate::finding::suggest::short_value;
use crate::finding::{Finding, Place, Related};
use crate::rows::{Cell, equal};

/// I002.
pub(super) fn uids(text: &str, layout: &Layout<'_>, index: &Index, result: &mut ScanResult) {
    index.for_each_pair(|hash, earlier, later| {
        let rows = [earlier, later]
            .map(|row| RowText::new(text, layout, result.starts[row as usize], row));
        let [Some(earlier), Some(later)] = &rows else {
            return false;
        };
        let [Some(one), Some(other)] = [earlier, later].map(|row| row.root().get("uid")) else {
            return false;
        };
        if one.as_str() != other.as_str() {
            return false;
        }
        let message = format!(
            "the uid {} appears twice among the rows",
            short_value(other.raw())
        );
        let finding = repeated(
            Finding::new(&I002, later.place(other), message),
            earlier.place(one),
        );
        result.findings.push(finding);
        result.bad_uids = true;
        result.repeated_uids.insert(hash);
        true
    });
}

/// R009 and R018 of one column.
pub(super) fn values(
    text: &str,
    layout: &Layout<'_>,
    slot: &Slot<'_>,
    index: &Index,
    result: &mut ScanResult,
) {
    index.for_each_pair(|_, earlier, later| {
        let rows = [earlier, later]
            .map(|row| RowText::new(text, layout, result.starts[row as usize], row));
        let [Some(earlier), Some(later)] = &rows else {
            return false;
        };
        let cells =
            [earlier, later].map(|row| row.root().get("data").and_then(|data| data.get(slot.name)));
        let [Some(one), Some(other)] = cells else {
            return false;
        };
        if !equal(one.raw(), other.raw()) {
            return false;
        }
        let value = short_value(other.raw());
        // An empty key has been reported as empty.
        let empty = matches!(Cell::new(other.raw()), Cell::String(text) if text.inner.is_empty());
        if slot.key && !empty {
            let message = format!("the key {value} appears twice in `{}`", slot.name);
            let finding = Finding::new(&R009, later.place(other), message);
            result.findings.push(repeated(finding, earlier.place(one)));
        }
        if slot.unique {
            let message = format!("{value} appears twice in the unique column `{}`", slot.name);
            let finding = Finding::new(&R018, later.place(other), message);
            result.findings.push(repeated(finding, earlier.place(one)));
        }
        true
    });
}

fn repeated(mut finding: Finding, first: Place) -> Finding {
    finding.related.push(Related {
        place: first,
        message: "it stands here first".to_owned(),
    });
    finding
}
