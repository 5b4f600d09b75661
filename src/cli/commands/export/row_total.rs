//! How many rows an export reads, so that its progress has an end.

use tplkit::client::Client;
use tplkit::export::{RowsSelection, Selection};
use tplkit::workspace::{Id, Structure};

/// One pass for the manifest, one that writes.
const PASSES: u64 = 2;

/// The rows of all passes; nothing where the server does not count.
pub(super) fn rows_to_read(
    client: &Client,
    structure: &Structure,
    selection: &Selection,
) -> Option<u64> {
    let travels = |id: &Id| {
        let chosen = selection.features.as_ref();
        let with_rows = match &selection.rows {
            RowsSelection::None => false,
            RowsSelection::All => true,
            RowsSelection::Some(tables) => tables.contains(id),
        };
        with_rows && chosen.is_none_or(|chosen| chosen.contains(id))
    };
    let tables = structure.features.iter().map(|table| table.id);
    let counts = tables
        .filter(travels)
        .map(|id| client.count(&id.to_string()).ok());
    counts.sum::<Option<u64>>().map(|rows| rows * PASSES)
}
