//! A package, and the next one in which one row of a hundred has another cell.

use tplkit::check::Checked;
use tplkit::context::{Fixed, Seeded};
use tplkit::definitions::Definitions;
use tplkit::export::{ExportBase, PreviousPackage, RowsSelection, Selection, export, export_onto};
use tplkit::json::Value;
use tplkit::workspace::memory::{Memory, State};
use tplkit::workspace::{RowData, ready};
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
    let base = exported(&state, None);
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
    let new = exported(&state, Some(&base));
    Packages { base, new, changed }
}

fn exported(state: &State, onto: Option<&str>) -> String {
    let selection = Selection {
        rows: RowsSelection::All,
        ..Selection::default()
    };
    let source = Memory::new(state.clone());
    let now = Fixed("2026-03-01T09:30:00Z".parse().expect("a time"));
    let definitions = Definitions::embedded();
    let made = match onto {
        None => ready(export(
            &source,
            &selection,
            &now,
            &mut Seeded::new(1),
            definitions,
        )),
        Some(old) => {
            let previous = PreviousPackage::new(old, Checked::trusted(old).expect("reads"));
            let onto = ExportBase {
                previous: &previous,
                selects: false,
            };
            let mut ids = Seeded::new(2);
            let made = export_onto(&source, &selection, Some(onto), &now, &mut ids, definitions);
            ready(made)
        }
    };
    made.expect("exports").text
}
