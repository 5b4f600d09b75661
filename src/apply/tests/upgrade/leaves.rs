//! What people changed stays, what the package changed arrives, and both are asked.

use serde_json::{Value as Json, json};

use super::{
    Line, args, config, conflicts, kept, label, rowless, updates, upgrade_body, v1, v2, with,
    without,
};
use crate::workspace::RecordKind::{Column, Feature, Module, Rail, View, Workflow};
use crate::workspace::ledger::Entry;

#[test]
fn nothing_changes_from_a_version_to_itself() {
    let mut line = Line::new();
    let before = line.memory.state();
    let report = line.upgrade(&v1(), &Json::Null);
    assert_eq!(line.memory.state(), before);
    assert_eq!(report.structure_updated, 0);
    assert!(
        report
            .rows
            .values()
            .all(|rows| rows.updated == 0 && rows.inserted == 0)
    );
    assert_eq!(
        line.jobs[1].1,
        [Entry::Completed],
        "nothing is written down"
    );
}

#[test]
fn what_the_package_changed_arrives_and_what_people_changed_stays() {
    let mut line = Line::new();
    line.edit(Feature, "orders", label("Orders of ours"));
    line.edit(View, "orders", config("theirs", &json!(true)));
    let new = v2(|package| {
        args(package, "f_clients")["label"] = "Clients".into();
        args(package, "c_clients_city")["config"] = json!({"required": true});
        args(package, "m_m")["icon"] = "star".into();
        args(package, "r_r")["label"] = "Rail".into();
    });
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    let expected = [
        ("f_clients", "label"),
        ("c_clients_city", "config.required"),
        ("m_m", "icon"),
        ("r_r", "label"),
    ];
    assert_eq!(updates(&plan), expected);
    assert_eq!(kept(&plan), [("f_orders", "label")]);
    let report = line.upgrade(&new, &Json::Null);
    assert_eq!(report.structure_updated, 4);
    assert_eq!(line.get(Feature, "clients").called(), "Clients");
    assert_eq!(line.get(Feature, "orders").called(), "Orders of ours");
    assert_eq!(line.get(Module, "m").icon.as_deref(), Some("star"));
    // A key that neither side of the package knows stays.
    assert!(
        line.get(View, "orders")
            .object()
            .expect("an object")
            .contains_key("theirs")
    );
    // Once more there is nothing to do.
    assert_eq!(updates(&line.plan(&new, &upgrade_body(&Json::Null))), []);
}

#[test]
fn what_both_changed_is_asked_and_equal_changes_are_none() {
    let mut line = Line::new();
    line.edit(Feature, "clients", label("Ours"));
    line.edit(Feature, "orders", label("Both"));
    let new = v2(|package| {
        args(package, "f_clients")["label"] = "Theirs".into();
        args(package, "f_orders")["label"] = "Both".into();
    });
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), [("changed", "f_clients", "label")]);
    assert_eq!(super::codes(&plan.refusals), ["upgrade_conflicts"]);
    let conflict = serde_json::to_value(&plan.conflicts[0]).expect("JSON");
    assert_eq!(
        (&conflict["base"], &conflict["theirs"], &conflict["ours"]),
        (&json!("clients"), &json!("Theirs"), &json!("Ours"))
    );
    // Decided, it is silent until the package changes there again.
    line.upgrade(&new, &json!({"f_clients": {"label": "ours"}}));
    assert_eq!(line.get(Feature, "clients").called(), "Ours");
    assert_eq!(line.plan(&new, &upgrade_body(&Json::Null)).conflicts, []);
    let third = v2(|package| args(package, "f_clients")["label"] = "Third".into());
    let plan = line.plan(&third, &upgrade_body(&Json::Null));
    assert_eq!(
        conflicts(&plan),
        [
            ("changed", "f_clients", "label"),
            ("changed", "f_orders", "label")
        ][..1]
    );
}

#[test]
fn a_plain_apply_says_what_it_does_not_carry_and_an_upgrade_brings_it() {
    let mut line = Line::new();
    let new = v2(|package| {
        args(package, "f_clients")["label"] = "Clients".into();
        super::client(package, 0)["city"] = "Berlin".into();
        with(
            package,
            "create_column",
            "c_clients_tel",
            json!({"featureId": "$f_clients", "name": "tel", "label": "tel", "type": "text", "defaultComponent": "textfield", "order": 9}),
        );
    });
    let report = line.apply(&new, "{}");
    let shown: Vec<(&str, Option<&str>, Option<u64>)> = report
        .not_carried
        .iter()
        .map(|left| (left.reference.as_str(), left.path.as_deref(), left.count))
        .collect();
    let expected = [
        ("f_clients", Some("label"), None),
        ("f_clients", Some("rows[].data.city"), Some(1)),
    ];
    assert_eq!(shown, expected);
    assert!(line.thing(Column, "tel").is_some());
    assert_eq!(line.get(Feature, "clients").called(), "clients");
    // The base moved only for what was written.
    let report = line.upgrade(&new, &Json::Null);
    assert_eq!(report.structure_updated, 1);
    assert_eq!(line.get(Feature, "clients").called(), "Clients");
    assert!(line.clients()[0].contains("Berlin"), "{:?}", line.clients());
}

#[test]
fn lists_of_references_merge_by_element() {
    let mut line = Line::new();
    line.edit(View, "orders", config("visibleColumns", &json!(["client"])));
    let new = v2(|package| {
        with(
            package,
            "create_column",
            "c_orders_due",
            json!({"featureId": "$f_orders", "name": "due", "label": "due", "type": "text", "defaultComponent": "textfield", "order": 9}),
        );
        args(package, "v_orders")["config"] =
            json!([{"visibleColumns": ["$c_orders_code", "$c_orders_due", "$c_orders_client"]}]);
    });
    let report = line.upgrade(&new, &Json::Null);
    assert_eq!((report.structure_updated, report.decided), (1, 0));
    let view = line.get(View, "orders");
    assert_eq!(
        view.config.get("visibleColumns").expect("a list").write(),
        r#"["due","client"]"#
    );
}

#[test]
fn the_order_of_siblings_is_a_leaf_by_position() {
    let mut line = Line::new();
    // Other numbers, the same order: no change of theirs.
    line.edit(Column, "city", |thing| thing.order = Some(50));
    line.edit(Column, "note", |thing| thing.order = Some(60));
    let swapped = v2(|package| {
        args(package, "c_clients_name")["order"] = 30.into();
        args(package, "c_clients_city")["order"] = 10.into();
        args(package, "c_clients_note")["order"] = 20.into();
    });
    let plan = line.plan(&swapped, &upgrade_body(&Json::Null));
    assert_eq!(updates(&plan), [("f_clients", "order.columns")]);
    line.upgrade(&swapped, &Json::Null);
    let names = |line: &Line| {
        let structure = line.memory.state().structure;
        let feature = structure
            .features
            .iter()
            .find(|found| found.name == "clients");
        let columns = &feature.expect("a table").columns;
        columns
            .iter()
            .map(|column| column.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&line), ["city", "note", "name"]);
    // Both, each its own: asked.
    let mut line = Line::new();
    line.edit(Column, "note", |thing| thing.order = Some(-1));
    let plan = line.plan(&swapped, &upgrade_body(&Json::Null));
    assert_eq!(
        conflicts(&plan),
        [("changed", "f_clients", "order.columns")]
    );
    // What comes in takes its place.
    let mut line = Line::new();
    let new = v2(|package| {
        with(
            package,
            "create_column",
            "c_clients_tel",
            json!({"featureId": "$f_clients", "name": "tel", "label": "tel", "type": "text", "defaultComponent": "textfield", "order": 4}),
        );
        args(package, "c_clients_note")["order"] = 6.into();
    });
    line.upgrade(&new, &Json::Null);
    assert_eq!(
        names(&line),
        ["name", "city", "tel", "note"],
        "{:?}",
        line.memory.state().structure
    );
}

#[test]
fn steps_of_an_automation_are_leaves() {
    let mut line = Line::new();
    line.edit(Workflow, "Flow", |thing| {
        let text = thing.config.write().replace("\"Read\"", "\"Read ours\"");
        thing.config = crate::json::Value::parse(&text).expect("JSON");
    });
    let new = v2(|package| {
        let steps = &mut args(package, "w_flow")["graphConfig"]["steps"];
        steps[1]["config"]["mode"] = "update".into();
        steps[1]["config"]["matchColumn"] = "$c_clients_name".into();
        let delay = json!({"key": "delay", "id": "stp_cccccccccccc", "config": {"amount": 1, "unit": "minutes"}});
        if let Some(steps) = steps.as_array_mut() {
            steps.push(delay);
        }
        package["manifest"]["items"]
            .as_array_mut()
            .expect("items")
            .iter_mut()
            .filter(|item| item["ref"] == "w_flow")
            .for_each(|item| {
                item["stepIds"] =
                    json!(["stp_aaaaaaaaaaaa", "stp_bbbbbbbbbbbb", "stp_cccccccccccc"]);
            });
    });
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    let expected = [
        ("w_flow", "shape"),
        ("w_flow", "steps.stp_bbbbbbbbbbbb.matchColumn"),
        ("w_flow", "steps.stp_bbbbbbbbbbbb.mode"),
    ];
    assert_eq!(updates(&plan), expected);
    assert_eq!(kept(&plan), [("w_flow", "steps.stp_aaaaaaaaaaaa.name")]);
    line.upgrade(&new, &Json::Null);
    let text = line.get(Workflow, "Flow").config.write();
    assert!(
        text.contains("\"Read ours\"")
            && text.contains("\"update\"")
            && text.contains("stp_cccccccccccc"),
        "{text}"
    );
    // They took a step out that people changed: asked.
    let gone = v2(|package| {
        let steps = &mut args(package, "w_flow")["graphConfig"]["steps"];
        steps.as_array_mut().expect("steps").remove(0);
        package["manifest"]["items"]
            .as_array_mut()
            .expect("items")
            .iter_mut()
            .filter(|item| item["ref"] == "w_flow")
            .for_each(|item| {
                item["stepIds"] = json!(["stp_bbbbbbbbbbbb"]);
            });
    });
    let mut line = Line::new();
    line.edit(Workflow, "Flow", |thing| {
        let text = thing.config.write().replace("\"Read\"", "\"Read ours\"");
        thing.config = crate::json::Value::parse(&text).expect("JSON");
    });
    let plan = line.plan(&gone, &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), [("changed", "w_flow", "shape")]);
}

#[test]
fn a_link_and_its_column_are_one_leaf() {
    let mut line = Line::of(&rowless(v1()));
    let new = rowless(v2(|package| {
        args(package, "c_orders_client")["config"] =
            json!({"linkedFeatureId": "$f_orders", "linkedValueColumn": "$c_orders_code"});
    }));
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(
        updates(&plan),
        [("c_orders_client", "config.linkedFeatureId")]
    );
    let after = serde_json::to_value(&plan.update[0].after).expect("JSON");
    assert_eq!(after["linkedValueColumn"], "code");
    // With the same target each key is a leaf of its own.
    let new = v2(|package| {
        args(package, "c_orders_client")["config"] =
            json!({"linkedFeatureId": "$f_clients", "linkedValueColumn": "$c_clients_city"});
    });
    let new = rowless(new);
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(
        updates(&plan),
        [("c_orders_client", "config.linkedValueColumn")]
    );
    line.upgrade(&new, &Json::Null);
    assert_eq!(
        line.get(Column, "client")
            .config
            .get("linkedValueColumn")
            .expect("a name")
            .write(),
        "\"city\""
    );
}

#[test]
fn what_the_package_lost_is_left_and_a_rename_is_proposed() {
    let mut line = Line::new();
    let new = v2(|package| {
        without(package, "r_s");
        without(package, "c_clients_note");
        for row in 0..3 {
            super::client(package, row)
                .as_object_mut()
                .expect("cells")
                .remove("note");
        }
        package["payloads"][0]["columns"] = json!(["name", "city"]);
        with(
            package,
            "create_column",
            "c_clients_remark",
            json!({"featureId": "$f_clients", "name": "remark", "label": "remark", "type": "text", "defaultComponent": "textfield", "order": 9}),
        );
    });
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    let left: Vec<&str> = plan
        .left
        .iter()
        .map(|left| left.reference.as_str())
        .collect();
    assert_eq!(left, ["c_clients_note", "r_s"]);
    let rename = &plan.renames[0];
    assert_eq!(
        (rename.reference.as_str(), rename.from.as_str()),
        ("c_clients_remark", "c_clients_note")
    );
    let before = line.get(Column, "note").id;
    line.upgrade(
        &new,
        &json!({"c_clients_remark": "rename", "r_s": "delete"}),
    );
    assert_eq!(
        line.get(Column, "note").id,
        before,
        "the technical name stays"
    );
    assert_eq!(line.get(Column, "note").called(), "remark");
    assert!(line.thing(Column, "remark").is_none() && line.thing(Rail, "s").is_none());
    assert_eq!(line.plan(&new, &upgrade_body(&Json::Null)).left, []);
    // The undo brings back what went.
    line.undo(false).expect("undone");
    assert!(line.thing(Rail, "s").is_some());
    assert_eq!(line.get(Column, "note").called(), "note");
}
