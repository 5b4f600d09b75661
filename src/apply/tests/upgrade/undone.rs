//! An upgrade taken back.

use serde_json::{Value as Json, json};

use super::{Line, args, client, config, label, v2, with};
use crate::workspace::RecordKind::{Feature, View};

/// Leaves, cells, an order and a new column.
pub(super) fn new() -> Json {
    v2(|package| {
        args(package, "f_clients")["label"] = "Clients".into();
        args(package, "m_m")["icon"] = "star".into();
        args(package, "v_orders")["config"] = json!([{"visibleColumns": ["$c_orders_client"]}]);
        args(package, "r_r")["order"] = 3.into();
        client(package, 0)["city"] = "Berlin".into();
        client(package, 1)["city"] = "Ulm".into();
        with(
            package,
            "create_column",
            "c_clients_tel",
            json!({"featureId": "$f_clients", "name": "tel", "label": "tel", "type": "text", "defaultComponent": "textfield", "order": 1}),
        );
    })
}

#[test]
fn everything_is_as_it_was_before() {
    let mut line = Line::new();
    line.edit(Feature, "orders", label("Ours"));
    line.cells(1, &json!({"note": "ours"}));
    let before = line.memory.state();
    line.upgrade(&new(), &Json::Null);
    assert_ne!(line.memory.state(), before);
    line.undo(false).expect("undone");
    assert_eq!(line.memory.state(), before);
}

#[test]
fn what_people_changed_since_refuses_and_stays_when_forced() {
    let mut line = Line::new();
    line.upgrade(&new(), &Json::Null);
    // Another leaf of the same record is not a loss.
    line.edit(View, "orders", config("theirs", &json!(1)));
    line.edit(Feature, "clients", label("Since"));
    line.cells(0, &json!({"city": "Since"}));
    let refused = line.undo(false).expect_err("refused");
    assert!(
        refused.contains("1 row edited") && refused.contains("1 leaf changed"),
        "{refused}"
    );
    // Nothing of that is lost when it is forced.
    let ends = "undo with force leaves that as people made it, and takes back the rest";
    assert!(refused.ends_with(ends), "{refused}");
    let left = line.undo(true).expect("undone");
    let places: Vec<_> = left
        .iter()
        .map(|one| {
            let place = one.path.as_ref().or(one.column.as_ref());
            (one.reference.as_str(), place.map(String::as_str))
        })
        .collect();
    // Rows go back before structure.
    let expected = [("f_clients", Some("city")), ("f_clients", Some("label"))];
    assert_eq!(places, expected);
    assert_eq!((left[0].kind, left[1].kind), (None, Some(Feature)));
    assert!(left[0].uid.is_some() && left[1].uid.is_none());
    assert_eq!(line.get(Feature, "clients").called(), "Since");
    assert!(line.clients()[0].contains("Since"));
    let view = line.get(View, "orders");
    assert_eq!(
        view.config.write(),
        r#"{"visibleColumns":["code","client"],"theirs":1}"#
    );
}

#[test]
fn cells_are_taken_back_although_others_edit_the_row_meanwhile() {
    for force in [false, true] {
        for (edits, stays) in [(3, 0), (u64::MAX, 1)] {
            let mut line = Line::new();
            let before = line.clients();
            let new = v2(|package| {
                client(package, 0)["city"] = "Berlin".into();
                client(package, 1)["city"] = "Ulm".into();
            });
            line.upgrade(&new, &Json::Null);
            let (_, row) = line.client_row(0);
            line.memory.edit_before(row, "note", edits);
            let left = line.undo(force).expect("undone");
            let columns: Vec<_> = left.iter().map(|leaf| leaf.column.as_deref()).collect();
            assert_eq!(columns, vec![Some("city"); stays], "{force} {edits}");
            let clients = line.clients();
            assert!(clients[0].contains("edit "), "{clients:?}");
            assert_eq!(clients[0].contains("Berlin"), stays == 1, "{clients:?}");
            assert_eq!(clients[1], before[1]);
        }
    }
}

#[test]
fn the_base_goes_with_the_job() {
    let mut line = Line::new();
    line.edit(Feature, "clients", label("Ours"));
    let new = new();
    line.upgrade(&new, &json!({"f_clients": "ours"}));
    line.undo(false).expect("undone");
    let plan = line.plan(&new, r#"{"upgrade": true}"#);
    assert_eq!(super::conflicts(&plan), [("changed", "f_clients", "label")]);
}
