//! The uids that the rows of a table had: by key, else by content (`upgrade` 1.1).

use std::collections::HashMap;

use foldhash::quality::RandomState;

use super::align::align;
use super::content::Contents;
use crate::package::payload::{RawEntry, RawRow};
use crate::rows::{Cell, hash, members};

/// The rows of a table, as the exporter has just read them.
pub(in crate::export) struct NewRows<'n> {
    /// The columns that may tell rows apart, the preferred one first: name, and the hash of each row's
    /// value, filled and distinct.
    pub(in crate::export) keys: Vec<(&'n str, &'n [u64])>,
    /// What hashes the values.
    pub(in crate::export) state: &'n RandomState,
    /// What each row holds.
    pub(in crate::export) contents: &'n [u128],
}

/// Rows with the uids that they had.
pub(in crate::export) struct MatchedRows {
    /// By row: the uid, as the earlier package writes it.
    pub(in crate::export) uids: Vec<Option<String>>,
    /// Whether all rows are those of the earlier package, in their order.
    pub(in crate::export) unchanged: bool,
}

/// Finds the rows in the entry that an earlier package has of their table.
pub(in crate::export) fn match_rows(
    earlier: &RawEntry<'_>,
    new: &NewRows<'_>,
    contents: &mut Contents,
) -> MatchedRows {
    let by_key = new.keys.iter().find_map(|(name, hashes)| {
        let earlier = keys(earlier, name, new.state)?;
        let by_key = hashes.iter().map(|key| earlier.get(key).copied());
        Some(by_key.collect::<Vec<_>>())
    });
    let earlier_contents: Vec<u128> = earlier.rows().map(|row| contents.row(row.data)).collect();
    let found = by_key.unwrap_or_else(|| align(&earlier_contents, new.contents));
    let in_place = found.iter().enumerate().all(|(at, old)| *old == Some(at));
    let uids: Vec<_> = earlier.rows().map(|row| row.uid).collect();
    MatchedRows {
        unchanged: in_place && earlier_contents == new.contents,
        uids: found
            .into_iter()
            .map(|old| Some(uids.get(old?)?.decoded().into_owned()))
            .collect(),
    }
}

/// The rows by their value in a column; nothing unless all are filled and distinct.
fn keys(earlier: &RawEntry<'_>, column: &str, state: &RandomState) -> Option<HashMap<u64, usize>> {
    let mut keys = HashMap::new();
    for (at, row) in earlier.rows().enumerate() {
        let cell = key(&row, column).map(Cell::new);
        let cell = cell.filter(|cell| !cell.is_empty())?;
        if keys.insert(hash(state, cell), at).is_some() {
            return None;
        }
    }
    Some(keys)
}

fn key<'t>(row: &RawRow<'t>, column: &str) -> Option<&'t str> {
    let mut cells = members(row.data);
    cells.find_map(|(name, raw)| name.is(column).then_some(raw))
}
