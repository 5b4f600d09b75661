//! Leaves of configs (`upgrade` 3.3): what counts on its own, what counts whole, and what is none.

use serde_json::{Value as Json, json};

use super::{
    Line, args, codes, config, conflicts, kept, label, rowless, updates, upgrade_body, v1, v2, with,
};
use crate::workspace::RecordKind::{Column, Feature, Module, Rail, View};
use crate::workspace::{Change, Id, New};

fn plan(line: &Line, package: &Json) -> crate::apply::Preview {
    line.plan(package, &upgrade_body(&Json::Null))
}

#[test]
fn objects_of_a_navigation_entry_are_matched_by_position() {
    let rail = |views: Json| v2(|package| args(package, "r_r")["config"] = views);
    let two = |first: &Json, second: &Json| rail(json!([{"views": first}, {"views": second}]));
    let orders = json!(["$v_orders"]);
    let mut line = Line::of(&two(&orders, &json!([])));
    let new = two(&json!([]), &orders);
    let expected = [("r_r", "config.0.views"), ("r_r", "config.1.views")];
    assert_eq!(updates(&plan(&line, &new)), expected);
    line.upgrade(&new, &Json::Null);
    let id = line.get(View, "orders").id;
    let expected = format!(r#"[{{"views":[]}},{{"views":["{id}"]}}]"#);
    assert_eq!(line.get(Rail, "r").config.write(), expected);
    // Another number of objects: the whole config is one leaf.
    let new = rail(json!([{"views": orders}]));
    assert_eq!(updates(&plan(&line, &new)), [("r_r", "config")]);
    line.edit(Rail, "r", |thing| {
        thing.config = crate::json::Value::parse("[{},{},{}]").expect("JSON");
    });
    assert_eq!(
        conflicts(&plan(&line, &new)),
        [("changed", "r_r", "config")]
    );
}

#[test]
fn other_lists_and_objects_count_whole() {
    let select = |options: &Json| {
        let mut package = rowless(v1());
        with(
            &mut package,
            "create_column",
            "c_clients_kind",
            json!({"featureId": "$f_clients", "name": "kind", "label": "kind", "type": "select", "defaultComponent": "selectfield", "order": 9, "config": {"options": options}}),
        );
        package
    };
    let mut line = Line::of(&select(&json!(["a", "b"])));
    line.edit(
        Column,
        "kind",
        config("options", &json!(["a", "b", "ours"])),
    );
    let new = select(&json!(["a", "b", "theirs"]));
    assert_eq!(
        conflicts(&plan(&line, &new)),
        [("changed", "c_clients_kind", "config.options")]
    );
}

#[test]
fn absent_null_and_default_are_one_and_what_the_package_lost_is_taken_out() {
    let city = |config: Json| v2(|package| args(package, "c_clients_city")["config"] = config);
    // The base says `false`, which is the default.
    let mut line = Line::new();
    assert_eq!(updates(&plan(&line, &city(json!({})))), []);
    line.edit(Column, "city", |thing| {
        thing.config = crate::json::Object::new().into();
    });
    assert_eq!(kept(&plan(&line, &v1())), []);
    let mut line = Line::of(&city(json!({"required": true})));
    line.edit(Column, "city", config("unique", &json!(true)));
    let new = city(json!({}));
    assert_eq!(
        updates(&plan(&line, &new)),
        [("c_clients_city", "config.required")]
    );
    line.upgrade(&new, &Json::Null);
    let config = line.get(Column, "city").config;
    assert!(config.get("required").is_none() && config.get("unique").is_some());
}

#[test]
fn what_the_package_does_not_give_is_no_leaf() {
    let mut line = Line::new();
    let without = v2(|package| {
        let module = args(package, "m_m").as_object_mut().expect("args");
        module.remove("icon");
        for rail in ["r_r", "r_s"] {
            let args = args(package, rail).as_object_mut().expect("args");
            args.remove("order");
        }
    });
    line.edit(Rail, "r", |thing| thing.order = Some(50));
    let planned = plan(&line, &without);
    assert_eq!((updates(&planned), kept(&planned)), (vec![], vec![]));
    line.upgrade(&without, &Json::Null);
    assert_eq!(line.get(Module, "m").icon.as_deref(), Some("box"));
    assert_eq!(line.get(Rail, "r").order, Some(50));
}

#[test]
fn a_type_goes_with_its_component_and_with_what_it_alone_declares() {
    let mut line = Line::of(&rowless(v1()));
    let new = rowless(v2(|package| {
        let args = args(package, "c_clients_note");
        args["type"] = "select".into();
        args["defaultComponent"] = "selectfield".into();
        args["config"] = json!({"options": ["1", "2"]});
    }));
    let planned = plan(&line, &new);
    assert_eq!(updates(&planned), [("c_clients_note", "type")]);
    let after = serde_json::to_value(&planned.update[0].after).expect("JSON");
    assert_eq!(
        after,
        json!({"type": "select", "component": "selectfield", "options": ["1", "2"]})
    );
    line.edit(Column, "note", |thing| {
        thing.own_type = Some("long_text".to_owned());
        thing.component = Some("textarea".to_owned());
    });
    assert_eq!(
        conflicts(&plan(&line, &new)),
        [("changed", "c_clients_note", "type")]
    );
    line.upgrade(&new, &json!({"c_clients_note": {"type": "theirs"}}));
    let column = line.get(Column, "note");
    let types = (column.own_type.as_deref(), column.component.as_deref());
    assert_eq!(types, (Some("select"), Some("selectfield")));
    assert!(column.config.get("options").is_some());
}

#[test]
fn identity_cells_are_no_leaves() {
    let identity = |cell: &Json| {
        let mut package = v1();
        with(
            &mut package,
            "create_column",
            "c_clients_no",
            json!({"featureId": "$f_clients", "name": "no", "label": "no", "type": "number", "defaultComponent": "id", "order": 9, "config": {"idType": "sequence"}}),
        );
        package["payloads"][0]["columns"] = json!(["name", "city", "note", "no"]);
        super::client(&mut package, 0)["no"] = cell.clone();
        package
    };
    let mut line = Line::of(&identity(&json!(7)));
    let before = line.clients();
    let planned = plan(&line, &identity(&json!(8)));
    assert_eq!(planned.rows["f_clients"].update, 0);
    assert_eq!(codes(&planned.refusals), <[&str; 0]>::default());
    line.upgrade(&identity(&json!(8)), &Json::Null);
    assert_eq!(line.clients(), before);
}

#[test]
fn people_s_own_siblings_are_renumbered_without_a_change_of_theirs() {
    let mut line = Line::new();
    let feature = line.get(Feature, "clients").id;
    let note = line.get(Column, "note");
    let column = crate::workspace::Column {
        id: Id::from_u128(0x99),
        name: "own".to_owned(),
        label: "own".to_owned(),
        column_type: "text".to_owned(),
        default_component: "textfield".to_owned(),
        order: note.order.expect("a position"),
        config: crate::json::Object::new(),
    };
    let create = Change::Create(New::Column { feature, column });
    super::super::world::person(&mut line.memory, vec![create]);
    line.edit(Column, "own", label("Own"));
    let before = line.memory.state();
    // In front of everything of people.
    let new = v2(|package| args(package, "c_clients_name")["order"] = 8.into());
    line.upgrade(&new, &Json::Null);
    let planned = plan(&line, &new);
    assert_eq!((updates(&planned), kept(&planned)), (vec![], vec![]));
    assert_eq!(line.get(Column, "own").called(), "Own");
    line.undo(false).expect("undone");
    assert!(line.memory.state() == before);
}

#[test]
fn a_plain_apply_does_not_replace_what_an_upgrade_merged() {
    let without_config = v2(|package| {
        let steps = package["manifest"]["plan"]["steps"].as_array_mut();
        let steps = steps.expect("steps");
        steps.retain(|step| step["tool"] != "update_workspace");
    });
    let mut line = Line::of(&without_config);
    line.edit_workspace(config("theirs", &json!(1)));
    line.upgrade(&v1(), &Json::Null);
    let merged = line.memory.state().structure.workspace.config;
    assert!(merged.contains_key("theirs") && merged.contains_key("defaultModuleId"));
    line.apply(&v1(), "{}");
    assert_eq!(line.memory.state().structure.workspace.config, merged);
    // What the upgrade wrote goes with it, and the next one writes it again.
    line.undo_at(1);
    assert!(
        !line
            .memory
            .state()
            .structure
            .workspace
            .config
            .contains_key("defaultModuleId")
    );
    assert_eq!(
        updates(&plan(&line, &v1())),
        [("workspace", "config.defaultModuleId")]
    );
}
