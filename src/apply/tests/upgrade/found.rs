//! What the laws on random triples have found, reduced to what it takes.

use serde_json::{Value as Json, json};

use super::super::world::cells;
use super::{Line, args, client, config, label, upgrade_body, v1, v2, with, without};
use crate::workspace::RecordKind::{Feature, Module};

/// A new column of transactional data, with a cell.
fn memo(package: &mut Json) {
    with(
        package,
        "create_column",
        "c_orders_memo",
        json!({"featureId": "$f_orders", "name": "memo", "label": "memo", "type": "text", "defaultComponent": "textfield", "order": 5}),
    );
    let entry = &mut package["payloads"][1];
    entry["rows"][0]["data"]["memo"] = "new".into();
    let columns = entry["columns"].as_array_mut().expect("columns");
    columns.push("memo".into());
}

#[test]
fn an_undo_brings_back_a_key_that_says_what_is_so_anyway() {
    let mut line = Line::of(&v2(|package| {
        args(package, "f_clients")["config"] = json!({"rowAccess": "all"});
    }));
    let before = line.memory.state();
    let new = v2(|package| args(package, "f_clients")["config"] = json!({"rowAccess": "own"}));
    line.upgrade(&new, &Json::Null);
    line.undo(false).expect("undone");
    assert_eq!(line.memory.state(), before);
    // What people changed next to it stays.
    line.upgrade(&new, &Json::Null);
    line.edit(Feature, "clients", config("icon", &json!("star")));
    line.undo(false).expect("undone");
    let config = line.get(Feature, "clients").config;
    assert_eq!(
        config.get("icon").and_then(|icon| icon.as_str()),
        Some("star")
    );
}

#[test]
fn a_column_of_which_the_package_has_no_cell_any_more_is_emptied() {
    let mut line = Line::new();
    let new = v2(|package| {
        for at in 0..3 {
            let data = client(package, at).as_object_mut().expect("cells");
            data.remove("note");
        }
        let columns = package["payloads"][0]["columns"].as_array_mut();
        columns.expect("columns").retain(|name| name != "note");
    });
    line.cells(1, &json!({"note": "ours"}));
    line.upgrade(&new, &json!({"f_clients": "ours"}));
    let clients = line.clients();
    let noted = clients.iter().filter(|row| row.contains("note"));
    assert_eq!(noted.count(), 1, "{clients:?}");
    assert!(clients[1].contains("ours"), "{clients:?}");
}

#[test]
fn an_upgrade_brings_the_cells_of_a_column_that_a_plain_apply_has_created() {
    let new = v2(memo);
    let mut line = Line::new();
    line.apply(&new, "{}");
    assert!(!cells(&line.memory, "orders")[0].contains("memo"));
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(plan.rows["f_orders"].update, 1, "{plan:#?}");
    line.upgrade(&new, &Json::Null);
    assert!(cells(&line.memory, "orders")[0].contains("new"));
    assert_eq!(
        line.plan(&new, &upgrade_body(&Json::Null)).rows["f_orders"].update,
        0
    );
}

#[test]
fn a_module_that_the_package_lacks_has_no_place_among_those_that_it_has() {
    let module = |name: &str| json!({"workspaceId": "$workspace", "name": name, "label": name, "icon": "box", "order": 1});
    let mut line = Line::new();
    let new = v2(|package| {
        for reference in ["r_r", "r_s", "m_m"] {
            without(package, reference);
        }
        let steps = package["manifest"]["plan"]["steps"].as_array_mut();
        steps
            .expect("steps")
            .retain(|step| step["tool"] != "update_workspace");
        with(package, "create_module", "m_a", module("a"));
    });
    line.upgrade(&new, &Json::Null);
    assert!(line.thing(Module, "m").is_some() && line.thing(Module, "a").is_some());
    let drift = line.drift(true);
    assert!(!drift.drift, "{drift:#?}");
}

#[test]
fn a_value_that_is_too_long_to_be_shown_is_guarded_by_its_digest() {
    let mut line = Line::new();
    line.edit(Feature, "orders", label(&"é".repeat(2000)));
    let new = v2(|package| args(package, "f_orders")["label"] = "Theirs".into());
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    let [conflict] = plan.conflicts.as_slice() else {
        panic!("{plan:#?}");
    };
    let ours = conflict.ours.as_str().expect("a text");
    let digest = conflict.ours_digest.as_deref().expect("a digest");
    assert!(
        ours.ends_with('…') && digest.starts_with("sha256:"),
        "{digest}"
    );
    let decided = upgrade_body(&json!({"f_orders": {"label": {"take": "theirs", "ours": digest}}}));
    assert_eq!(line.plan(&new, &decided).conflicts, []);
    line.edit(Feature, "orders", label(&"e".repeat(3000)));
    assert_eq!(line.plan(&new, &decided).conflicts.len(), 1);
    // A short one needs none.
    line.edit(Feature, "orders", label("Ours"));
    assert_eq!(line.plan(&new, &decided).conflicts[0].ours_digest, None);
}

#[test]
fn a_plan_tells_the_base_of_what_a_decision_writes() {
    let mut line = Line::new();
    line.edit(Feature, "orders", label("Ours"));
    let new = v2(|package| {
        args(package, "f_orders")["label"] = "Theirs".into();
        args(package, "f_clients")["label"] = "Theirs".into();
    });
    let plan = line.plan(
        &new,
        &upgrade_body(&json!({"f_orders": {"label": "theirs"}})),
    );
    let base = |reference: &str| {
        let update = plan.update.iter().find(|one| one.reference == reference);
        update.expect("an update").base.clone()
    };
    let before = args(&mut v1(), "f_orders")["label"]
        .as_str()
        .map(Into::into);
    assert_eq!((base("f_orders"), base("f_clients")), (before, None));
}
