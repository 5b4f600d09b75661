//! What people removed, and what people made under a name that the package brings.

use serde_json::{Value as Json, json};

use super::super::world::person;
use super::{Line, args, asked, conflicts, kept, v1, v2, with};
use crate::apply::test_packages::id;
use crate::workspace::RecordKind::{Column, Feature, View};
use crate::workspace::{Change, New};

#[test]
fn what_people_removed_stays_removed_where_the_package_did_not_change_it() {
    let mut line = Line::new();
    line.remove(Column, "city");
    line.remove(View, "orders");
    let new = v2(|package| args(package, "f_clients")["label"] = "Clients".into());
    let plan = line.plan(&new, &asked(&Json::Null));
    assert_eq!(kept(&plan), [("c_clients_city", ""), ("v_orders", "")]);
    line.upgrade(&new, &Json::Null);
    assert!(line.thing(Column, "city").is_none() && line.thing(View, "orders").is_none());
}

#[test]
fn what_the_package_changed_meanwhile_is_asked() {
    let changed = v2(|package| args(package, "c_clients_city")["label"] = "City".into());
    let mut line = Line::new();
    line.remove(Column, "city");
    let plan = line.plan(&changed, &asked(&Json::Null));
    assert_eq!(conflicts(&plan), [("removed_here", "c_clients_city", "")]);
    // The narrower words decide, the wider ones do not.
    let plan = line.plan(&changed, r#"{"upgrade": true, "conflicts": "ours"}"#);
    assert_eq!(conflicts(&plan).len(), 1);
    let report = line.upgrade(&changed, &json!({"c_clients_city": "leave"}));
    assert_eq!(report.not_carried[0].path.as_deref(), Some("label"));
    assert!(line.thing(Column, "city").is_none());
    // Decided, it is silent.
    assert_eq!(line.plan(&changed, &asked(&Json::Null)).conflicts, []);
    let mut line = Line::new();
    line.remove(Column, "city");
    let plan = line.plan(&changed, &asked(&json!({"c_clients_city": "create"})));
    assert!(plan.create[0].again, "{plan:#?}");
    line.upgrade(&changed, &json!({"c_clients_city": "create"}));
    assert_eq!(line.get(Column, "city").called(), "City");
    line.undo(false).expect("undone");
    assert!(line.thing(Column, "city").is_none());
}

#[test]
fn a_list_loses_what_is_not_there() {
    let mut line = Line::new();
    line.remove(Column, "code");
    let new = v2(|package| {
        let config = json!([{"visibleColumns": ["$c_orders_client", "$c_orders_code"], "sort": {"column": "$c_orders_code"}}]);
        args(package, "v_orders")["config"] = config;
    });
    let plan = line.plan(&new, &asked(&Json::Null));
    assert_eq!(conflicts(&plan), [("removed_here", "c_orders_code", "")]);
    let report = line.upgrade(&new, &json!({"c_orders_code": "leave"}));
    let told: Vec<&str> = report
        .not_carried
        .iter()
        .filter_map(|left| left.path.as_deref())
        .collect();
    assert_eq!(told, ["config.sort"]);
    assert!(line.get(View, "orders").config.get("sort").is_none());
}

#[test]
fn a_table_that_went_is_one_entry() {
    let mut line = Line::new();
    line.remove(Feature, "orders");
    let plan = line.plan(&v1(), &asked(&Json::Null));
    assert_eq!(
        (kept(&plan), plan.conflicts.len()),
        (vec![("f_orders", "")], 0)
    );
    let new = v2(|package| {
        with(
            package,
            "create_column",
            "c_orders_due",
            json!({"featureId": "$f_orders", "name": "due", "label": "due", "type": "text", "defaultComponent": "textfield", "order": 9}),
        );
    });
    let plan = line.plan(&new, &asked(&Json::Null));
    assert_eq!(conflicts(&plan), [("removed_here", "f_orders", "")]);
    let mut again = Line::new();
    again.remove(Feature, "orders");
    again.upgrade(&new, &json!({"f_orders": "create"}));
    assert!(again.thing(Column, "due").is_some() && again.thing(View, "orders").is_some());
    assert_eq!(super::super::world::cells(&again.memory, "orders").len(), 1);
    line.upgrade(&new, &json!({"f_orders": "leave"}));
    assert!(line.thing(Feature, "orders").is_none());
}

#[test]
fn a_name_that_people_gave_is_asked() {
    let tel = |label: &str| json!({"featureId": "$f_clients", "name": "tel", "label": label, "type": "text", "defaultComponent": "textfield", "order": 9});
    let new = v2(|package| with(package, "create_column", "c_clients_tel", tel("Telephone")));
    let made = || {
        let mut line = Line::new();
        let feature = line.get(Feature, "clients").id;
        let structure = line.memory.state().structure;
        let table = structure.feature(feature).expect("a table");
        let column = crate::workspace::Column {
            id: id(77),
            name: "tel".to_owned(),
            label: "Ours".to_owned(),
            ..table.column_named("note").expect("a column").clone()
        };
        person(
            &mut line.memory,
            vec![Change::Create(New::Column { feature, column })],
        );
        line
    };
    let line = made();
    let plan = line.plan(&new, &asked(&Json::Null));
    assert_eq!(conflicts(&plan), [("name_taken", "c_clients_tel", "")]);
    assert_eq!(plan.conflicts[0].id, Some(id(77)));
    let mut line = made();
    line.upgrade(&new, &json!({"c_clients_tel": "adopt"}));
    assert_eq!(line.get(Column, "tel").called(), "Ours");
    assert!(line.thing(Column, "tel_2").is_none());
    // Its base is the package's from now on, and it is known by its ref.
    let third = v2(|package| with(package, "create_column", "c_clients_tel", tel("Third")));
    assert_eq!(
        conflicts(&line.plan(&third, &asked(&Json::Null))),
        [("changed", "c_clients_tel", "label")]
    );
    line.undo(false).expect("undone");
    assert!(line.thing(Column, "tel").is_some(), "undo only forgets it");
    let mut line = made();
    line.upgrade(&new, &json!({"c_clients_tel": "create"}));
    assert_eq!(line.get(Column, "tel_2").called(), "Telephone");
}
