//! Exports that go on from an earlier package.

use serde_json::{Value, json};
use tplkit::check::Checked;
use tplkit::context::{FixedClock, Seeded};
use tplkit::definitions::Definitions;
use tplkit::export::onto::{MissingItem, to_version_2};
use tplkit::export::{ExportBase, PreviousPackage, Selection, export_onto};
use tplkit::package::canonical;
use tplkit::workspace::ready;

use crate::exported::{Exported, exported, with_rows};
use crate::space::{Space, object};

const LATER: &str = "2026-04-05T06:07:08Z";

/// The workspace, exported onto a package; without a selection what that holds.
fn text_onto(space: &Space, selection: Option<&Selection>, old: &str) -> String {
    let old = to_version_2(old, Definitions::embedded(), &mut Seeded::new(9)).unwrap();
    let previous = PreviousPackage::new(&old, Checked::trusted(&old).unwrap());
    let onto = ExportBase {
        previous: &previous,
        selects: selection.is_none(),
    };
    let nothing = Selection::default();
    let made = ready(export_onto(
        &space.memory(),
        selection.unwrap_or(&nothing),
        Some(onto),
        &FixedClock(LATER.parse().unwrap()),
        &mut Seeded::new(77),
        Definitions::embedded(),
    ));
    let text = made.unwrap().text;
    assert_eq!(canonical::write(&text).unwrap(), text);
    text
}

fn onto(space: &Space, old: &Value) -> Exported {
    Exported(serde_json::from_str(&text_onto(space, None, &old.to_string())).unwrap())
}

fn missing(space: &Space, old: &Value) -> Vec<String> {
    let text = old.to_string();
    let previous = PreviousPackage::new(&text, Checked::trusted(&text).unwrap());
    let missing = previous.missing(&space.state.structure);
    let text = |one: MissingItem| format!("{} {}", one.kind, one.name);
    missing.into_iter().map(text).collect()
}

fn uids(package: &Exported, reference: &str) -> Vec<Value> {
    let rows = package.payload(reference)["rows"].as_array().unwrap();
    rows.iter().map(|row| row["uid"].clone()).collect()
}

/// A table without a key, and its rows.
fn listed(values: &[&str]) -> (Space, tplkit::workspace::Id) {
    let mut space = Space::new();
    let table = space.table("things");
    space.text(table, "name");
    space.text(table, "note");
    for value in values {
        // The empty cell keeps the column from being a key.
        space.row(table, &json!({"name": value, "note": ""}));
    }
    (space, table)
}

#[test]
fn the_catalog_layer_stays_unless_it_is_given_anew() {
    let (mut space, _) = listed(&["a", "a"]);
    let mut old = exported(&space, &with_rows()).0;
    let manifest = old["manifest"].as_object_mut().unwrap();
    for (key, value) in [
        ("id", json!("sales-crm")),
        ("name", json!("crm")),
        ("label", json!("CRM")),
        ("visibility", json!("public")),
        ("tags", json!(["a"])),
        ("semver", json!("1.0.0")),
        ("x-vendor", json!({"b": 1, "a": [2]})),
    ] {
        manifest.insert(key.to_owned(), value);
    }
    space.state.structure.workspace.label = "Other".to_owned();
    let new = onto(&space, &old).0;
    for key in [
        "id",
        "name",
        "label",
        "visibility",
        "tags",
        "semver",
        "x-vendor",
    ] {
        assert_eq!(new["manifest"][key], old["manifest"][key], "{key}");
    }
    assert_eq!(new["manifest"]["plan"]["id"], old["manifest"]["plan"]["id"]);
    let source = &new["manifest"]["source"];
    assert_eq!(source["workspaceName"], "Other");
    assert_ne!(
        source["generatedAt"],
        old["manifest"]["source"]["generatedAt"]
    );

    let mut said = with_rows();
    said.identity.label = Some("Anew".to_owned());
    said.identity.semver = Some("1.1.0".to_owned());
    let new = text_onto(&space, Some(&said), &old.to_string());
    let new: Value = serde_json::from_str(&new).unwrap();
    assert_eq!(new["manifest"]["label"], "Anew");
    assert_eq!(new["manifest"]["semver"], "1.1.0");
    assert_eq!(new["manifest"]["name"], "crm");
}

#[test]
fn things_keep_their_identity_by_kind_parent_and_name() {
    let mut space = Space::new();
    let orders = space.table("orders");
    space.text(orders, "code");
    space.view(orders, "all", "table", &json!({"visibleColumns": ["code"]}));
    let module = space.module("main", &json!({}));
    space.rail(module, "start", &json!({}));
    let steps = json!([{"key": "notify", "config": {"scopeType": "channel", "body": "x"}}]);
    space.automation("Same", &json!({"type": "manual"}), &steps);
    space.automation("Same", &json!({"type": "manual"}), &json!([]));
    space.state.structure.workspace.config = object(&json!({"theme": "dark"}));
    let first = crate::exported::try_export(&space, &with_rows()).unwrap();
    // Refs written by hand are kept like any other.
    let old = first
        .replace("f_orders", "f_my-orders")
        .replace("w_same", "w_job");
    assert_eq!(text_onto(&space, None, &old), old);

    // A table that is new, whose ref stands for another thing; one that was renamed is new, too.
    let old = first.replace("m_main", "m_next");
    let mut old: Value = serde_json::from_str(&old).unwrap();
    space.module("next", &json!({}));
    let table = space.table_mut(orders);
    table.columns[0].name = "number".to_owned();
    table.views[0].config = object(&json!({}));
    let mut all = with_rows();
    let new = text_onto(&space, Some(&all), &old.to_string());
    let new = Exported(serde_json::from_str(&new).unwrap());
    assert_eq!(new.refs("create_module"), ["m_next", "m_next_2"]);
    assert_eq!(new.refs("create_column"), ["c_orders_number"]);
    let before = Exported(old.clone());
    assert_eq!(
        new.item("v_orders_all")["uid"],
        before.item("v_orders_all")["uid"]
    );
    assert_ne!(
        new.item("c_orders_number")["uid"],
        before.item("c_orders_code")["uid"]
    );
    assert_eq!(missing(&space, &old), ["column orders.code"]);
    // Without a selection the new module stays behind.
    let new = onto(&space, &old);
    assert_eq!(new.refs("create_module"), ["m_next"]);
    assert!(new.updated("workspace").is_some());

    // What is gone is gone, and named once.
    space.state.structure.features.clear();
    space.state.structure.automations.remove(0);
    assert_eq!(missing(&space, &old), ["feature orders", "workflow Same"]);
    all.features = Some(Vec::new());
    // The config of the workspace travels when it did.
    let steps = old["manifest"]["plan"]["steps"].as_array_mut().unwrap();
    steps.retain(|step| step["tool"] != "update_workspace");
    assert!(onto(&space, &old).updated("workspace").is_none());
}

#[test]
fn dependencies_keep_their_identity_and_their_ref_when_they_travel() {
    let mut space = Space::new();
    let people = space.table("people");
    space.text(people, "name");
    let orders = space.table("orders");
    space.link(orders, "of", people, "name");
    let only = Selection {
        features: Some(vec![orders]),
        ..Selection::default()
    };
    let first = crate::exported::try_export(&space, &only).unwrap();
    let old = first
        .replace("f_people", "f_staff")
        .replace("c_people_name", "c_staff");
    let old = canonical::write(&old).unwrap();
    assert_eq!(text_onto(&space, Some(&only), &old), old);
    assert_eq!(text_onto(&space, None, &old), old);
    let all = text_onto(&space, Some(&Selection::default()), &old);
    let all = Exported(serde_json::from_str(&all).unwrap());
    assert_eq!(all.refs("create_feature"), ["f_staff", "f_orders"]);
    assert_eq!(all.refs("create_column"), ["c_staff", "c_orders_of"]);
    assert!(all.list("dependencies").is_empty());
}

#[test]
fn rows_are_known_by_their_key() {
    let mut space = Space::new();
    let table = space.table("things");
    space.column(table, "code", "text", &json!({"required": true}));
    space.text(table, "sku");
    for (code, sku) in [("a", "1"), ("b", "2"), ("c", "3")] {
        space.row(table, &json!({"code": code, "sku": sku}));
    }
    let mut old = exported(&space, &with_rows()).0;
    assert_eq!(old["payloads"][0]["keyColumn"], "code");
    // The key of the earlier package counts while it holds, though another would be preferred.
    old["payloads"][0]["keyColumn"] = json!("sku");
    let before = uids(&Exported(old.clone()), "f_things");
    let rows = space.state.rows.get_mut(&table).unwrap();
    rows.remove(0);
    space.row(table, &json!({"code": "d", "sku": "1"}));
    let new = onto(&space, &old);
    assert_eq!(new.payload("f_things")["keyColumn"], "sku");
    assert_eq!(
        uids(&new, "f_things"),
        [before[1].clone(), before[2].clone(), before[0].clone()]
    );
    // It holds no more: then that of the new package counts.
    space.row(table, &json!({"code": "b2", "sku": "1"}));
    let new = onto(&space, &old);
    assert_eq!(new.payload("f_things")["keyColumn"], "code");
    let now = uids(&new, "f_things");
    assert_eq!(now[..2], before[1..]);
    assert!(!before.contains(&now[2]) && !before.contains(&now[3]));
}

#[test]
fn rows_without_a_key_are_known_by_content_and_neighbours() {
    let (mut space, table) = listed(&["a", "b", "b", "c"]);
    let old = exported(&space, &with_rows()).0;
    let before = uids(&Exported(old.clone()), "f_things");
    let rows = space.state.rows.get_mut(&table).unwrap();
    rows[1].data = tplkit::workspace::RowData::trusted(r#"{"name":"x","note":""}"#);
    assert_eq!(uids(&onto(&space, &old), "f_things"), before);
    space.row(table, &json!({"name": "new", "note": ""}));
    let now = uids(&onto(&space, &old), "f_things");
    assert_eq!(now[..1], before[..1]);
    assert_eq!(now[3], before[3]);
    assert!(!before.contains(&now[4]));
}

#[test]
fn a_package_of_version_1_is_read_as_it_is_migrated() {
    let (space, _) = listed(&["a", "a"]);
    let mut old = exported(&space, &with_rows()).0;
    let manifest = old["manifest"].as_object_mut().unwrap();
    manifest.insert("templateVersion".to_owned(), json!(1));
    for layer in ["source", "items", "dependencies", "unresolved", "redacted"] {
        manifest.shift_remove(layer);
    }
    let new = onto(&space, &old);
    let steps = |package: &Value| package["manifest"]["plan"]["steps"].clone();
    assert_eq!(steps(&new.0), steps(&old));
    assert_eq!(uids(&new, "f_things"), uids(&Exported(old), "f_things"));
}

#[test]
fn an_unchanged_export_keeps_generated_at() {
    let (mut space, table) = listed(&["a", "b", "b"]);
    let old = crate::exported::try_export(&space, &with_rows()).unwrap();
    // However the earlier file is laid out.
    let laid_out: Value = serde_json::from_str(&old).unwrap();
    assert_eq!(text_onto(&space, None, &laid_out.to_string()), old);
    let label = "changed".to_owned();
    space.table_mut(table).label = label;
    let new = text_onto(&space, None, &old);
    assert!(
        !old.contains(LATER) && new.matches(LATER).count() == 2,
        "{new}"
    );
}

#[test]
fn files_leave_no_trace_in_what_is_compared() {
    let mut space = Space::new();
    let table = space.table("things");
    space.text(table, "name");
    space.column(table, "photo", "file", &json!({}));
    let first = "3f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0a11";
    space.row(table, &json!({"name": "a", "photo": first}));
    space.row(table, &json!({"name": "a", "photo": "scan.pdf"}));
    let old = exported(&space, &with_rows()).0.to_string();
    let again = text_onto(&space, None, &old);
    let same: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(same, serde_json::from_str::<Value>(&old).unwrap());
}
