//! What people removed, and what people made under a name that the package brings.

use serde_json::{Value as Json, json};

use super::super::world::person;
use super::{Line, args, codes, conflicts, kept, uid, upgrade_body, v1, v2, with};
use crate::apply::test_packages::id;
use crate::json::Value;
use crate::workspace::RecordKind::{Column, Feature, Rail, View};
use crate::workspace::{Change, New};

#[test]
fn what_people_removed_stays_removed_where_the_package_did_not_change_it() {
    let mut line = Line::new();
    line.remove(Column, "city");
    line.remove(View, "orders");
    let new = v2(|package| args(package, "f_clients")["label"] = "Clients".into());
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(kept(&plan), [("c_clients_city", ""), ("v_orders", "")]);
    line.upgrade(&new, &Json::Null);
    assert!(line.thing(Column, "city").is_none() && line.thing(View, "orders").is_none());
}

/// Whoever looked at a plan sends its digest back.
#[test]
fn a_plan_has_one_digest_however_many_tables_lost_a_column() {
    let mut line = Line::new();
    line.remove(Column, "city");
    line.remove(Column, "code");
    let new = v2(|package| args(package, "f_clients")["label"] = "Clients".into());
    let plan = || line.plan(&new, &upgrade_body(&Json::Null));
    let first = plan();
    assert_eq!((kept(&first).len(), codes(&first.refusals)), (2, vec![]));
    for _ in 0..20 {
        assert_eq!(plan().digest, first.digest);
    }
}

#[test]
fn what_the_package_changed_meanwhile_is_asked() {
    let changed = v2(|package| args(package, "c_clients_city")["label"] = "City".into());
    let mut line = Line::new();
    line.remove(Column, "city");
    let plan = line.plan(&changed, &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), [("removed_here", "c_clients_city", "")]);
    for word in ["adopt", "rename", "delete"] {
        let plan = line.plan(&changed, &upgrade_body(&json!({"c_clients_city": word})));
        let codes = codes(&plan.refusals);
        assert!(
            codes.contains(&"unknown_resolution_ref"),
            "{word}: {codes:?}"
        );
    }
    // The narrower words decide, the wider ones do not.
    let plan = line.plan(&changed, r#"{"upgrade": true, "conflicts": "ours"}"#);
    assert_eq!(conflicts(&plan).len(), 1);
    let report = line.upgrade(&changed, &json!({"c_clients_city": "leave"}));
    assert_eq!(report.not_carried[0].path.as_deref(), Some("label"));
    assert!(line.thing(Column, "city").is_none());
    // Decided, it is silent.
    assert_eq!(
        line.plan(&changed, &upgrade_body(&Json::Null)).conflicts,
        []
    );
    let mut line = Line::new();
    line.remove(Column, "city");
    let plan = line.plan(
        &changed,
        &upgrade_body(&json!({"c_clients_city": "create"})),
    );
    assert!(plan.create[0].again, "{plan:#?}");
    line.upgrade(&changed, &json!({"c_clients_city": "create"}));
    assert_eq!(line.get(Column, "city").called(), "City");
    line.undo(false).expect("undone");
    assert!(line.thing(Column, "city").is_none());
}

#[test]
fn rows_bring_no_cells_for_a_column_that_stays_away() {
    let new = v2(|package| {
        args(package, "c_clients_city")["label"] = "City".into();
        let rows = package["payloads"][0]["rows"].as_array_mut().expect("rows");
        rows.push(json!({"uid": uid(6500), "data": {"name": "D", "city": "Ulm", "note": "4"}}));
        package["payloads"][0]["count"] = 4.into();
        let items = package["manifest"]["items"].as_array_mut().expect("items");
        let item = items.iter_mut().find(|item| item["kind"] == "rows");
        item.expect("an item")["count"] = 4.into();
    });
    let mut line = Line::new();
    line.remove(Column, "city");
    // People call a column of theirs so.
    let feature = line.get(Feature, "clients").id;
    let structure = line.memory.state().structure;
    let table = structure.feature(feature).expect("a table");
    let column = crate::workspace::Column {
        id: id(77),
        name: "city".to_owned(),
        column_type: "number".to_owned(),
        default_component: "numberfield".to_owned(),
        ..table.column_named("note").expect("a column").clone()
    };
    person(
        &mut line.memory,
        vec![Change::Create(New::Column { feature, column })],
    );
    line.upgrade(&new, &json!({"c_clients_city": "leave"}));
    assert_eq!(line.clients()[3], r#"{"name":"D","note":"4"}"#);
    // Created after all, it has the cells of every row.
    let report = line.upgrade(&new, &json!({"c_clients_city": "create"}));
    assert_eq!(report.rows["f_clients"].updated, 4);
    let clients = line.clients();
    let has = |row: usize, city: &str| clients[row].contains(&format!(r#""city_2":"{city}""#));
    assert!(has(0, "Bonn") && has(3, "Ulm"), "{clients:?}");
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(
        (plan.rows["f_clients"].update, plan.conflicts.len()),
        (0, 0)
    );
}

#[test]
fn a_column_created_again_has_its_cells_in_transactional_data_too() {
    let mut line = Line::new();
    line.remove(Column, "code");
    let people = crate::workspace::Column {
        id: id(77),
        name: "code".to_owned(),
        ..line.get(Column, "client").as_column().expect("a column")
    };
    let feature = line.get(Feature, "orders").id;
    let column = crate::workspace::Column {
        column_type: "text".to_owned(),
        default_component: "textfield".to_owned(),
        config: crate::json::Object::new(),
        ..people
    };
    person(
        &mut line.memory,
        vec![Change::Create(New::Column { feature, column })],
    );
    line.upgrade(&v1(), &json!({"c_orders_code": "create"}));
    let orders = super::super::world::cells(&line.memory, "orders");
    assert!(orders[0].contains(r#""code_2":"1""#), "{orders:?}");
}

#[test]
fn a_list_loses_what_is_not_there() {
    let mut line = Line::new();
    line.remove(Column, "code");
    let new = v2(|package| {
        let config = json!([{"visibleColumns": ["$c_orders_client", "$c_orders_code"], "sort": {"column": "$c_orders_code"}}]);
        args(package, "v_orders")["config"] = config;
    });
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), [("removed_here", "c_orders_code", "")]);
    let report = line.upgrade(&new, &json!({"c_orders_code": "leave"}));
    let shown: Vec<&str> = report
        .not_carried
        .iter()
        .filter_map(|left| left.path.as_deref())
        .collect();
    assert_eq!(shown, ["config.sort"]);
    assert!(line.get(View, "orders").config.get("sort").is_none());
}

#[test]
fn a_table_that_went_is_one_entry() {
    let mut line = Line::new();
    line.remove(Feature, "orders");
    let plan = line.plan(&v1(), &upgrade_body(&Json::Null));
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
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), [("removed_here", "f_orders", "")]);
    let mut again = Line::new();
    again.remove(Feature, "orders");
    again.upgrade(&new, &json!({"f_orders": "create"}));
    assert!(again.thing(Column, "due").is_some() && again.thing(View, "orders").is_some());
    assert_eq!(super::super::world::cells(&again.memory, "orders").len(), 1);
    line.upgrade(&new, &json!({"f_orders": "leave"}));
    assert!(line.thing(Feature, "orders").is_none());
    // Decided, it is silent, what was new in it too.
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!((plan.conflicts, plan.create), (vec![], vec![]));
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
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), [("name_taken", "c_clients_tel", "")]);
    assert_eq!(plan.conflicts[0].id, Some(id(77)));
    let mut line = made();
    line.upgrade(&new, &json!({"c_clients_tel": "adopt"}));
    assert_eq!(line.get(Column, "tel").called(), "Ours");
    assert!(line.thing(Column, "tel_2").is_none());
    // Its base is the package's from now on, and it is known by its ref.
    let third = v2(|package| with(package, "create_column", "c_clients_tel", tel("Third")));
    assert_eq!(
        conflicts(&line.plan(&third, &upgrade_body(&Json::Null))),
        [("changed", "c_clients_tel", "label")]
    );
    line.undo(false).expect("undone");
    assert!(line.thing(Column, "tel").is_some(), "undo only forgets it");
    let mut line = made();
    line.upgrade(&new, &json!({"c_clients_tel": "create"}));
    assert_eq!(line.get(Column, "tel_2").called(), "Telephone");
}

#[test]
fn a_new_record_that_names_what_people_removed_is_asked_and_arrives_without_it() {
    let new = v2(|package| {
        let config = json!([{"visibleColumns": ["$c_orders_client", "$c_orders_code"], "sort": {"column": "$c_orders_code"}}]);
        with(
            package,
            "create_view",
            "v_more",
            json!({"featureId": "$f_orders", "name": "more", "label": "More", "type": "table", "config": config}),
        );
    });
    let removed = || {
        let mut line = Line::new();
        line.remove(Column, "code");
        line
    };
    let mut line = removed();
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), [("removed_here", "c_orders_code", "")]);
    let leave = json!({"c_orders_code": "leave"});
    let report = line.upgrade(&new, &leave);
    let shown: Vec<_> = report
        .not_carried
        .iter()
        .map(|left| {
            (
                left.reference.as_str(),
                left.path.as_deref(),
                left.base.is_some(),
            )
        })
        .collect();
    let expected = [
        ("v_more", Some("config.visibleColumns"), false),
        ("v_more", Some("config.sort"), false),
    ];
    assert_eq!(shown, expected);
    assert_eq!(report.decided, 1);
    let config = line.get(View, "more").config.write();
    assert_eq!(config, r#"{"visibleColumns":["client"],"sort":{}}"#);
    // Decided, its base is what the package says: nothing is asked any more.
    assert_eq!(line.plan(&new, &upgrade_body(&Json::Null)).conflicts, []);
    let mut line = removed();
    line.upgrade(&new, &json!({"c_orders_code": "create"}));
    let config = line.get(View, "more").config.write();
    assert!(config.contains(r#"["client","code"]"#), "{config}");
}

#[test]
fn what_people_removed_may_be_created_although_nothing_of_it_changed() {
    let mut line = Line::new();
    line.remove(Column, "city");
    line.cells(1, &json!({"city": null}));
    let before = line.memory.state();
    let create = json!({"c_clients_city": "create"});
    let plan = line.plan(&v1(), &upgrade_body(&create));
    assert_eq!((plan.create.len(), plan.create[0].again), (1, true));
    line.upgrade(&v1(), &create);
    // Cells are written where the row has none under that name.
    let clients = line.clients();
    assert!(clients[1].contains("Kiel"), "{clients:?}");
    line.undo(false).expect("undone");
    assert!(line.memory.state() == before);
}

#[test]
fn a_table_created_again_gets_its_rows_and_what_pointed_at_it_stays_without_it() {
    let mut line = Line::new();
    line.remove(Feature, "clients");
    let new = v2(|package| args(package, "f_clients")["label"] = "Clients".into());
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), [("removed_here", "f_clients", "")]);
    let link = line.get(Column, "client").config;
    line.upgrade(&new, &json!({"f_clients": "create"}));
    assert_eq!(line.clients().len(), 3);
    assert_eq!(line.get(Column, "client").config, link);
}

#[test]
fn a_record_that_went_with_its_parent_is_no_entry_and_one_that_came_since_is() {
    let mut line = Line::new();
    line.remove(Feature, "orders");
    let changed = v2(|package| args(package, "c_orders_code")["label"] = "Code".into());
    let plan = line.plan(&changed, &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), [("removed_here", "f_orders", "")]);
    let report = line.upgrade(&changed, &json!({"f_orders": "leave"}));
    let shown: Vec<_> = report
        .not_carried
        .iter()
        .map(|left| (left.reference.as_str(), left.path.as_deref()))
        .collect();
    assert_eq!(shown, [("c_orders_code", Some("label"))]);
}

#[test]
fn a_record_that_cannot_be_without_what_is_left_away_is_not_created() {
    let new = v2(|package| {
        let lanes = json!({"featureId": "$f_orders", "name": "lanes", "label": "Lanes", "type": "kanban", "config": [{"groupByColumn": "$c_orders_code"}]});
        with(package, "create_view", "v_lanes", lanes);
        let rail = json!({"moduleId": "$m_m", "name": "t", "label": "t", "order": 9, "config": [{"views": ["$v_orders", "$v_lanes"]}]});
        with(package, "create_rail", "r_t", rail);
    });
    let mut line = Line::new();
    line.remove(Column, "code");
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), [("removed_here", "c_orders_code", "")]);
    let report = line.upgrade(&new, &json!({"c_orders_code": "leave"}));
    let views = report.not_carried.iter();
    let views = views.filter(|left| left.reference == "r_t");
    let views: Vec<_> = views.filter_map(|left| left.theirs.as_ref()).collect();
    let id = line.get(View, "orders").id.to_string();
    assert_eq!(views[0].write(), json!([id, "(new) lanes"]).to_string());
    let shown: Vec<_> = report
        .not_carried
        .iter()
        .map(|left| {
            let theirs = left.theirs.as_ref().and_then(|theirs| theirs.as_str());
            (left.reference.as_str(), left.path.as_deref(), theirs)
        })
        .collect();
    assert!(
        shown.contains(&("v_lanes", None, Some("Lanes"))),
        "{shown:?}"
    );
    assert!(
        shown.contains(&("r_t", Some("config.views"), None)),
        "{shown:?}"
    );
    assert_eq!((shown.len(), report.unused.len()), (2, 0), "{shown:?}");
    let mut left = report.not_carried.iter();
    let lanes = left.find(|left| left.reference == "v_lanes");
    assert_eq!(lanes.and_then(|left| left.base.clone()), Some(Value::Null));
    assert!(line.thing(View, "lanes").is_none());
    let views = line.get(crate::workspace::RecordKind::Rail, "t").config;
    let id = line.get(View, "orders").id;
    assert_eq!(views.write(), format!(r#"[{{"views":["{id}"]}}]"#));
    // Decided, it is silent.
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!((plan.conflicts, plan.create), (vec![], vec![]));
}

#[test]
fn what_names_several_records_that_stay_away_is_listed_once() {
    let mut line = Line::new();
    line.remove(Feature, "clients");
    let new = v2(|package| {
        let steps = &mut args(package, "w_flow")["graphConfig"]["steps"];
        let bindings = steps[1]["config"]["bindings"].as_array_mut();
        let city = json!({"targetColumn": "$c_clients_city", "value": "y"});
        bindings.expect("bindings").push(city);
    });
    let report = line.upgrade(&new, &json!({"f_clients": "leave"}));
    let flow = report.not_carried.iter();
    let flow = flow.filter(|left| left.reference == "w_flow");
    assert_eq!(flow.count(), 1, "{:#?}", report.not_carried);
}

#[test]
fn a_list_that_merges_loses_what_is_gone_also_where_that_is_created_again() {
    let mut line = Line::new();
    line.remove(Feature, "orders");
    let before = line.memory.state();
    let new = v2(|package| {
        args(package, "f_orders")["label"] = "New orders".into();
        let more = json!({"featureId": "$f_clients", "name": "more", "label": "More", "type": "table",
            "config": [{"visibleColumns": ["$c_clients_name"]}]});
        with(package, "create_view", "v_more", more);
        args(package, "r_r")["config"] = json!([{"views": ["$v_orders", "$v_more"]}]);
    });
    line.upgrade(&new, &json!({"f_orders": "create"}));
    let more = line.get(View, "more").id;
    let config = line.get(Rail, "r").config.write();
    assert!(
        config.contains(&format!(r#""views":["{more}"]"#)),
        "{config}"
    );
    line.undo(false).expect("undone");
    assert!(line.memory.state() == before);
}
