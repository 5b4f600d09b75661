//! Cells that a column cannot hold any more, because people changed its options or its type: what is not written is
//! refused by nothing.

use serde_json::{Value as Json, json};

use super::{Line, args, client, config, upgrade_body, v2, with};
use crate::apply::Report;
use crate::workspace::RecordKind::Column;

/// Notes are one of three options.
pub(super) fn chosen(package: &mut Json) {
    let args = args(package, "c_clients_note");
    args["type"] = "select".into();
    args["defaultComponent"] = "selectfield".into();
    args["config"] = json!({"options": ["1", "2", "3"]});
}

/// People give the options other names.
pub(super) fn rename_options(line: &mut Line) {
    let options = json!(["one", "two", "three"]);
    line.edit(Column, "note", config("options", &options));
}

/// Notes are numbers.
pub(super) fn counted(package: &mut Json) {
    let args = args(package, "c_clients_note");
    args["type"] = "number".into();
    args["defaultComponent"] = "numberfield".into();
    for row in 0..3 {
        client(package, row)["note"] = (row + 1).into();
    }
}

/// People make texts of them.
pub(super) fn make_texts(line: &mut Line) {
    line.edit(Column, "note", |thing| {
        thing.own_type = Some("text".to_owned());
        thing.component = Some("textfield".to_owned());
    });
}

fn counts(report: &Report, table: &str) -> (u64, u64) {
    let rows = &report.rows[table];
    (rows.updated, rows.failed)
}

/// What the author changes in a package.
type Edit = fn(&mut Json);

/// What people change in a workspace.
type ByPeople = fn(&mut Line);

#[test]
fn they_keep_no_other_cell_from_being_written() {
    let ways: [(Edit, ByPeople); 2] = [(chosen, rename_options), (counted, make_texts)];
    for (first, people) in ways {
        let mut line = Line::of(&v2(first));
        people(&mut line);
        line.cells(0, &json!({"note": "one"}));
        let before = line.memory.state();
        let again = line.upgrade(&v2(first), &Json::Null);
        assert_eq!(counts(&again, "f_clients"), (0, 0));
        assert_eq!(line.memory.state(), before);
        let new = v2(|package| {
            first(package);
            client(package, 0)["city"] = "Ulm".into();
            client(package, 1)["city"] = "Hof".into();
        });
        let plan = line.plan(&new, &upgrade_body(&Json::Null));
        assert_eq!(plan.rows["f_clients"].update, 2);
        let report = line.upgrade(&new, &Json::Null);
        assert_eq!(counts(&report, "f_clients"), (2, 0), "{:?}", report.errors);
        let clients = line.clients();
        assert!(
            clients[0].contains("Ulm") && clients[0].contains(r#""note":"one""#),
            "{clients:?}"
        );
        assert!(clients[1].contains("Hof"), "{clients:?}");
        let drift = line.drift(true).cells.unwrap_or_default();
        let cells: Vec<&str> = drift.iter().map(|cell| cell.column.as_str()).collect();
        assert_eq!(cells, ["note"]);
        line.undo(false).expect("undone");
        assert_eq!(line.memory.state(), before);
    }
}

#[test]
fn one_that_the_package_changed_is_refused_with_its_row_and_comes_once_it_fits() {
    let new = v2(|package| {
        chosen(package);
        client(package, 1)["note"] = "3".into();
        client(package, 1)["city"] = "Hof".into();
    });
    let mut line = Line::of(&v2(chosen));
    rename_options(&mut line);
    for _ in 0..2 {
        let before = line.clients();
        let report = line.upgrade(&new, &Json::Null);
        assert_eq!(counts(&report, "f_clients"), (0, 1));
        assert_eq!(report.errors[0].column.as_deref(), Some("note"));
        assert_eq!(line.clients(), before);
    }
    let options = json!(["one", "two", "3"]);
    line.edit(Column, "note", config("options", &options));
    let report = line.upgrade(&new, &Json::Null);
    assert_eq!(counts(&report, "f_clients"), (1, 0), "{:?}", report.errors);
    let client = &line.clients()[1];
    assert!(
        client.contains("Hof") && client.contains(r#""note":"3""#),
        "{client}"
    );
}

#[test]
fn a_plain_apply_counts_none_that_the_package_did_not_change() {
    let new = v2(|package| {
        chosen(package);
        client(package, 1)["city"] = "Hof".into();
    });
    let mut line = Line::of(&v2(chosen));
    rename_options(&mut line);
    let report = line.apply(&new, "{}");
    let carried = report.not_carried.iter();
    let carried: Vec<_> = carried
        .map(|one| (one.path.as_deref(), one.count))
        .collect();
    assert_eq!(carried, [(Some("rows[].data.city"), Some(1))]);
}

/// Orders, which are transactional, have a state that is an option.
fn state(package: &mut Json) {
    let column = json!({"featureId": "$f_orders", "name": "state", "label": "state", "type": "select",
        "defaultComponent": "selectfield", "order": 8, "config": {"options": ["1"]}});
    with(package, "create_column", "c_orders_state", column);
    let orders = &mut package["payloads"][1];
    orders["columns"] = json!(["code", "client", "state"]);
    orders["rows"][0]["data"]["state"] = "1".into();
}

/// The same, and a new column says when they are due.
fn due(package: &mut Json) {
    state(package);
    let column = json!({"featureId": "$f_orders", "name": "due", "label": "due", "type": "text",
        "defaultComponent": "textfield", "order": 9});
    with(package, "create_column", "c_orders_due", column);
    let orders = &mut package["payloads"][1];
    orders["columns"] = json!(["code", "client", "state", "due"]);
    orders["rows"][0]["data"]["due"] = "soon".into();
}

#[test]
fn they_keep_no_new_column_from_being_filled() {
    let mut line = Line::of(&v2(state));
    line.edit(Column, "state", config("options", &json!(["one"])));
    let report = line.upgrade(&v2(due), &Json::Null);
    assert_eq!(counts(&report, "f_orders"), (1, 0), "{:?}", report.errors);
    assert!(line.order(0).contains("soon"));
}

#[test]
fn a_cell_of_a_new_column_that_it_cannot_hold_is_refused() {
    let mut line = Line::of(&v2(state));
    // A plain apply creates the column, and leaves it empty in rows that are there.
    line.apply(&v2(due), "{}");
    let become_type = |line: &mut Line, kind: &str| {
        line.edit(Column, "due", |thing| {
            thing.own_type = Some(kind.to_owned());
            thing.component = Some(format!("{kind}field"));
        });
    };
    become_type(&mut line, "number");
    let report = line.upgrade(&v2(due), &Json::Null);
    assert_eq!(counts(&report, "f_orders"), (0, 1));
    assert!(!line.order(0).contains("soon"));
    become_type(&mut line, "text");
    let report = line.upgrade(&v2(due), &Json::Null);
    assert_eq!(counts(&report, "f_orders"), (1, 0), "{:?}", report.errors);
    assert!(line.order(0).contains("soon"));
}
