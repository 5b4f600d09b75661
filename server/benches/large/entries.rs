//! A workspace of narrow tables: two short cells and a number a row.

use tplkit::context::{Ids as _, Seeded};
use tplkit::json::Object;
use tplkit::workspace::memory::State;
use tplkit::workspace::{Column, Feature, Id, RowData, StoredRow};

/// That many tables of that many rows.
pub(crate) fn entries(tables: usize, rows: usize) -> State {
    let mut ids = Seeded::new(5);
    let mut id = || Id::parse_str(&ids.uuid()).unwrap_or_default();
    let mut state = State::empty(id(), id(), "entries", "Entries");
    for table in 0..tables {
        let feature = id();
        let columns = [
            ("name", "text", "textfield"),
            ("amount", "number", "numberfield"),
            ("state", "text", "textfield"),
        ];
        state.structure.features.push(Feature {
            id: feature,
            name: format!("table_{table:03}"),
            label: format!("Table {table}"),
            config: Object::new(),
            is_shared: false,
            columns: (1..)
                .zip(columns)
                .map(|(order, (name, kind, component))| Column {
                    id: id(),
                    name: name.to_owned(),
                    label: name.to_owned(),
                    column_type: kind.to_owned(),
                    default_component: component.to_owned(),
                    order,
                    config: Object::new(),
                })
                .collect(),
            views: Vec::new(),
        });
        let mut stored: Vec<StoredRow> = (0..rows)
            .map(|row| StoredRow {
                id: id(),
                data: RowData::trusted(&format!(
                    r#"{{"name":"Entry {row}","amount":{},"state":"open"}}"#,
                    row * 37 % 9000
                )),
            })
            .collect();
        stored.sort_by_key(|row| row.id);
        state.rows.insert(feature, stored);
    }
    state
}
