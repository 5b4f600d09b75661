//! Records and configs: names, positions, updates, records without a place.

use serde_json::json;

use crate::apply::test_packages::{
    Pack, apply, empty, feature, furnished, id, minter, uid, value, view,
};
use crate::json::Value;
use crate::workspace::{Change, Module, New, RecordKind};

fn module(number: u128, name: &str, order: i64) -> Module {
    Module {
        id: id(number),
        name: name.to_owned(),
        label: name.to_owned(),
        icon: None,
        order,
        config: crate::json::Object::new(),
        rails: Vec::new(),
    }
}

#[test]
fn taken_names_are_numbered_and_configs_follow() {
    let pack = Pack::new()
        .table("clients")
        .table("clients_2")
        .column("clients", "name", "text", json!(null))
        .view("clients", json!({"visibleColumns": ["$c_clients_name"]}));
    let approved = apply(&pack, "{}", &furnished()).expect("approved");
    let renamed: Vec<_> = approved
        .renamed
        .iter()
        .map(|r| (r.kind, r.reference.as_str(), r.from.as_str(), r.to.as_str()))
        .collect();
    assert_eq!(
        renamed,
        [(RecordKind::Feature, "f_clients", "clients", "clients_3")]
    );
    let names: Vec<_> = approved
        .structure
        .entry
        .created
        .iter()
        .map(|made| made.name.as_str())
        .collect();
    assert_eq!(names, ["clients_3", "clients_2", "name", "clients"]);
}

#[test]
fn a_column_in_a_mapped_table_is_renamed_and_its_rows_with_it() {
    let args = json!({"featureId": "$f_clients", "name": "name", "label": "Name", "type": "text", "defaultComponent": "textfield", "order": 7});
    let mut pack = Pack::new().create("create_column", "c_new", args).step(
        "update_feature",
        json!({"featureId": "$f_clients", "config": {"titleColumn": "$c_new"}}),
    );
    pack.external = vec!["f_clients"];
    let pack = pack.far_table("clients", &[], false, &[(1000, "featureId")]);
    let body = json!({"resolutions": {"f_clients": {"action": "map", "id": id(10)}}}).to_string();
    let approved = apply(&pack, &body, &furnished()).expect("approved");
    let Change::Create(New::Column { feature, column }) = &approved.structure.changes[0] else {
        panic!("a column");
    };
    assert_eq!(
        (*feature, column.name.as_str(), column.order),
        (id(10), "name_2", 7)
    );
    let replaced = &approved.structure.entry.replaced[0];
    assert_eq!(
        (replaced.reference.as_str(), replaced.kind, replaced.id),
        ("f_clients", RecordKind::Feature, id(10))
    );
    assert_eq!(
        (&replaced.before, &replaced.after),
        (&value(json!({})), &value(json!({"titleColumn": "name_2"})))
    );
    let expected = Change::Configure {
        kind: RecordKind::Feature,
        id: id(10),
        config: replaced.after.clone(),
    };
    assert_eq!(approved.structure.changes[1], expected);
}

#[test]
fn ids_are_minted_by_create_step_and_positions_come_after_the_highest() {
    let named = |name: &str, order: Option<i64>| {
        let mut args =
            json!({"workspaceId": "$workspace", "name": name, "label": name, "icon": "home"});
        if let Some(order) = order {
            args["order"] = order.into();
        }
        args
    };
    let pack = Pack::new()
        .create("create_module", "m_a", named("a", None))
        .create("create_module", "m_b", named("b", Some(3)))
        .create("create_module", "m_c", named("c", None))
        .create(
            "create_rail",
            "r_a",
            json!({"moduleId": "$m_a", "name": "r", "label": "r", "config": [{}, {}]}),
        );
    let mut destination = empty();
    destination.modules.push(module(40, "x", 9));
    let approved = apply(&pack, "{}", &destination).expect("approved");
    let orders: Vec<_> = approved
        .structure
        .changes
        .iter()
        .map(|change| match change {
            Change::Create(New::Module(module)) => {
                (module.id, module.order, module.icon.as_deref())
            }
            Change::Create(New::Rail { module, rail }) => (
                *module,
                rail.order,
                Some(if rail.config.len() == 2 { "two" } else { "" }),
            ),
            other => panic!("{other:?}"),
        })
        .collect();
    let minted = |ordinal| minter().id(ordinal);
    assert_eq!(
        orders,
        [
            (minted(0), 10, Some("home")),
            (minted(1), 3, Some("home")),
            (minted(2), 11, Some("home")),
            (minted(0), 1, Some("two"))
        ]
    );
}

#[test]
fn a_view_in_a_mapped_table_comes_after_those_that_are_there() {
    let args = json!({"featureId": "$f_clients", "name": "all", "label": "All", "type": "table", "config": [{}]});
    let mut pack = Pack::new().create("create_view", "v_all", args);
    pack.external = vec!["f_clients"];
    let pack = pack.far_table("clients", &[], false, &[(1000, "featureId")]);
    let mut destination = furnished();
    destination.features[0].views.push(view(50, "all"));
    let body = json!({"resolutions": {"f_clients": {"action": "map", "id": id(10)}}}).to_string();
    let approved = apply(&pack, &body, &destination).expect("approved");
    let Change::Create(New::View { view, .. }) = &approved.structure.changes[0] else {
        panic!("a view");
    };
    assert_eq!((view.name.as_str(), view.order), ("all_2", 5));
}

#[test]
fn updates_of_new_records_follow_and_leave_nothing_to_restore() {
    let pack = Pack::new()
        .table("t")
        .column("t", "a", "text", json!(null))
        .step(
            "update_feature",
            json!({"featureId": "$f_t", "config": {"titleColumn": "$c_t_a"}}),
        );
    let approved = apply(&pack, "{}", &empty()).expect("approved");
    let expected = Change::Configure {
        kind: RecordKind::Feature,
        id: minter().id(0),
        config: value(json!({"titleColumn": "a"})),
    };
    assert_eq!(approved.structure.changes.last(), Some(&expected));
    assert!(approved.structure.entry.replaced.is_empty());
}

#[test]
fn the_workspace_config_is_replaced_whole_and_remembered() {
    let args = json!({"workspaceId": "$workspace", "name": "m", "label": "m"});
    let pack = Pack::new().create("create_module", "m_m", args).step(
        "update_workspace",
        json!({"workspaceId": "$workspace", "config": {"defaultModuleId": "$m_m"}}),
    );
    let mut destination = empty();
    destination
        .workspace
        .config
        .insert("defaultModuleId".to_owned(), Value::from("x"));
    let approved = apply(&pack, "{}", &destination).expect("approved");
    let replaced = &approved.structure.entry.replaced[0];
    assert_eq!(
        (replaced.reference.as_str(), replaced.kind, replaced.id),
        ("workspace", RecordKind::Workspace, id(2))
    );
    assert_eq!(replaced.before, value(json!({"defaultModuleId": "x"})));
    assert_eq!(
        replaced.after,
        value(json!({"defaultModuleId": minter().id(0)}))
    );
}

#[test]
fn a_record_in_a_skipped_table_cannot_be_and_its_uses_are_empty() {
    let module = json!({"workspaceId": "$workspace", "name": "m", "label": "m"});
    let board = json!({"featureId": "$f_clients", "name": "b", "label": "b", "type": "table", "config": [{}]});
    let rail =
        json!({"moduleId": "$m_m", "name": "r", "label": "r", "config": [{"views": ["$v_b"]}]});
    let mut pack = Pack::new()
        .create("create_view", "v_b", board)
        .create("create_module", "m_m", module)
        .create("create_rail", "r_r", rail)
        .step("update_view", json!({"viewId": "$v_b", "config": [{}]}));
    pack.external = vec!["f_clients"];
    let pack = pack.far_table("clients", &[], false, &[(1000, "featureId")]);
    let body = r#"{"resolutions": {"f_clients": {"action": "skip"}}}"#;
    let approved = apply(&pack, body, &furnished()).expect("approved");
    let kinds: Vec<_> = approved
        .structure
        .entry
        .created
        .iter()
        .map(|made| made.kind)
        .collect();
    assert_eq!(kinds, [RecordKind::Module, RecordKind::Rail]);
    let reported: Vec<_> = approved
        .unresolved
        .iter()
        .map(|e| {
            (
                e.uid.as_str(),
                e.path.as_str(),
                e.reason.as_str(),
                e.reference.as_deref(),
            )
        })
        .collect();
    let skipped = "dependencia_saltada";
    assert_eq!(
        reported,
        [
            (uid(1000).as_str(), "featureId", skipped, Some("f_clients")),
            (
                uid(1002).as_str(),
                "config.0.views.0",
                skipped,
                Some("f_clients")
            )
        ]
    );
}

#[test]
fn a_parent_that_the_package_leaves_empty_is_reported_once() {
    let board =
        json!({"featureId": "", "name": "b", "label": "b", "type": "table", "config": [{}]});
    let mut pack = Pack::new().create("create_view", "v_b", board);
    pack.unresolved.push(json!({"uid": uid(1000), "path": "featureId", "kind": "feature", "form": "uuid", "reason": "fora_da_selecao", "action": "chave esvaziada"}));
    let approved = apply(&pack, "{}", &empty()).expect("approved");
    assert!(approved.structure.changes.is_empty());
    let reported: Vec<_> = approved
        .unresolved
        .iter()
        .map(|e| (e.path.as_str(), e.source.as_deref()))
        .collect();
    assert_eq!(reported, [("featureId", Some("package"))]);
}

#[test]
fn a_plan_written_by_hand_may_create_a_workspace() {
    let pack = Pack::new()
        .create(
            "create_workspace",
            "w_new",
            json!({"name": "here", "label": "New"}),
        )
        .table("t");
    let approved = apply(&pack, "{}", &empty()).expect("approved");
    let Change::Create(New::Workspace { name, label, .. }) = &approved.structure.changes[0] else {
        panic!("a workspace");
    };
    assert_eq!((name.as_str(), label.as_str()), ("here_2", "New"));
}

#[test]
fn version_1_applies() {
    let mut pack = Pack::new().table("t").column("t", "a", "text", json!(null));
    pack.version = 1;
    pack.items.clear();
    let pack = pack.rows("t", Some("a"), &[(json!({"a": "x"}), json!(null))]);
    let mut destination = empty();
    destination.features.push(feature(60, "t", &[]));
    let approved = apply(&pack, "{}", &destination).expect("approved");
    assert_eq!(approved.structure.entry.created[0].name, "t_2");
    assert_eq!(approved.tables[0].feature, Some(minter().id(0)));
    assert!(approved.unresolved.is_empty());
}
