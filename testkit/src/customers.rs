//! A workspace of plain tables: texts, an amount, a day, a tick, and one link to the table before.

use tplkit::context::{Ids as _, Seeded};
use tplkit::json::{Object, Value};
use tplkit::workspace::memory::State;
use tplkit::workspace::{Column, Feature, Id, RowData, StoredRow};

/// That many tables of that many rows.
pub fn customers(tables: usize, rows: usize) -> State {
    let mut ids = Seeded::new(5);
    let mut id = || Id::parse_str(&ids.uuid()).unwrap_or_default();
    let mut state = State::empty(id(), id(), "customers", "Customers");
    let mut before: Option<(Id, Vec<Id>)> = None;
    for table in 0..tables {
        let feature = id();
        let linked = before.as_ref().map(|(linked, _)| *linked);
        let columns = planned(linked).into_iter().zip(1..);
        state.structure.features.push(Feature {
            id: feature,
            name: format!("table_{table:02}"),
            label: format!("Table {table}"),
            config: Object::new(),
            is_shared: false,
            columns: columns
                .map(|((name, kind, component, config), order)| Column {
                    id: id(),
                    name: name.to_owned(),
                    label: name.to_owned(),
                    column_type: kind.to_owned(),
                    default_component: component.to_owned(),
                    order,
                    config: match Value::parse(&config) {
                        Ok(Value::Object(config)) => config,
                        _ => Object::new(),
                    },
                })
                .collect(),
            views: Vec::new(),
        });
        let own: Vec<Id> = (0..rows).map(|_| id()).collect();
        let stored = own.iter().enumerate().map(|(row, own)| StoredRow {
            id: *own,
            data: cells(
                table,
                row,
                *own,
                before.as_ref().map(|(_, rows)| rows.as_slice()),
            ),
        });
        let mut stored: Vec<StoredRow> = stored.collect();
        stored.sort_by_key(|row| row.id);
        state.rows.insert(feature, stored);
        before = Some((feature, own));
    }
    state
}

type Planned = (&'static str, &'static str, &'static str, String);

fn planned(linked: Option<Id>) -> Vec<Planned> {
    let plain = |name, kind, component, config: &str| (name, kind, component, config.to_owned());
    let mut columns = vec![
        plain("id", "text", "id", "{}"),
        plain(
            "code",
            "text",
            "textfield",
            r#"{"unique":true,"required":true}"#,
        ),
        plain("name", "text", "textfield", r#"{"required":true}"#),
        plain("amount", "currency", "currencyfield", "{}"),
        plain("since", "date", "datepicker", "{}"),
        plain("active", "boolean", "checkbox", "{}"),
    ];
    if let Some(linked) = linked {
        let config = format!(r#"{{"linkedFeatureId":"{linked}","linkedValueColumn":"id"}}"#);
        columns.push(("owner", "linked_select", "linkfield", config));
    }
    columns.push(plain("note", "long_text", "textarea", "{}"));
    columns
}

fn cells(table: usize, row: usize, own: Id, before: Option<&[Id]>) -> RowData {
    let owner = before.and_then(|rows| rows.get(row * 7919 % rows.len()));
    let owner = owner.map_or_else(String::new, |owner| format!(r#""owner":"{owner}","#));
    RowData::trusted(&format!(
        r#"{{"id":"{own}","code":"C-{row:06}","name":"Customer number {row} of table {table}","amount":{}.{:02},"since":"20{:02}-0{}-1{}","active":{},{owner}"note":"Called on Monday; wants an offer for {row} pieces, délai 14 jours"}}"#,
        row * 37 % 9000,
        row % 99 + 1,
        row % 25,
        row % 9 + 1,
        row % 9,
        row.is_multiple_of(3),
    ))
}
