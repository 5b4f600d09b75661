//! A package, and the next one in which one row of a hundred has another cell.

use tplkit::json::Value;
use tplkit::workspace::RowData;
use tplkit_testkit::packaged::{packaged, packaged_onto};
use tplkit_testkit::random::large;

/// Both texts.
pub(crate) struct Packages {
    pub(crate) base: String,
    pub(crate) new: String,
    /// How many rows differ that an upgrade writes.
    pub(crate) changed: u64,
}

/// One row of so many.
const EACH: usize = 100;

pub(crate) fn packages(tables: usize, rows: usize) -> Packages {
    let mut state = large(1, tables, rows);
    let base = packaged(state.clone()).expect("exports");
    // Tables that others link to are reference data; cells of the last one never change.
    let last = state.structure.features.last().map(|last| last.id);
    let mut changed = 0;
    for (feature, rows) in &mut state.rows {
        if Some(*feature) == last {
            continue;
        }
        for row in rows.iter_mut().step_by(EACH) {
            let Ok(Value::Object(mut cells)) = Value::parse(row.data.as_str()) else {
                continue;
            };
            cells.insert("notes".to_owned(), format!("changed {changed}").into());
            row.data = RowData::of(&cells);
            changed += 1;
        }
    }
    let new = packaged_onto(state, &base).expect("exports");
    Packages { base, new, changed }
}
