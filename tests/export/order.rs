//! The order of steps, and keys that point forward.

use serde_json::json;
use tplkit::export::{RowsSelection, Selection};

use crate::exported::exported;
use crate::space::Space;

#[test]
fn a_link_column_comes_after_the_column_it_refers_to() {
    let mut space = Space::new();
    let (a, b) = (space.table("a"), space.table("b"));
    space.link(a, "to_b", b, "via");
    space.link(b, "via", a, "code");
    space.text(a, "code");
    let package = exported(&space, &Selection::default());
    assert_eq!(
        package.refs("create_column"),
        ["c_a_code", "c_b_via", "c_a_to_b"]
    );
    assert_eq!(package.refs("update_column"), Vec::<&str>::new());
    assert_eq!(
        package.created("c_a_to_b")["config"]["linkedValueColumn"],
        "$c_b_via"
    );
    assert_eq!(package.created("c_a_to_b")["order"], 1);
}

#[test]
fn a_cycle_of_columns_is_completed_by_an_update_with_the_whole_config() {
    let mut space = Space::new();
    let (a, b) = (space.table("a"), space.table("b"));
    space.link(a, "x", b, "y");
    space.link(b, "y", a, "x");
    space.table_mut(b).columns[0]
        .config
        .insert("required".to_owned(), true.into());
    let package = exported(&space, &Selection::default());
    assert_eq!(package.refs("create_column"), ["c_b_y", "c_a_x"]);
    let created = json!({"linkedFeatureId": "$f_a", "required": true});
    assert_eq!(package.created("c_b_y")["config"], created);
    let whole = json!({"linkedFeatureId": "$f_a", "linkedValueColumn": "$c_a_x", "required": true});
    assert_eq!(package.updated("c_b_y"), Some(&whole));
    assert_eq!(package.updated("c_a_x"), None);
}

#[test]
fn a_column_may_refer_to_itself() {
    let mut space = Space::new();
    let a = space.table("a");
    space.link(a, "peer", a, "peer");
    let package = exported(&space, &Selection::default());
    assert_eq!(
        package.created("c_a_peer")["config"]["linkedValueColumn"],
        "$c_a_peer"
    );
    assert_eq!(package.updated("c_a_peer"), None);
}

#[test]
fn forward_keys_travel_in_updates_of_tables_columns_views_modules_and_the_workspace() {
    let mut space = Space::new();
    let a = space.table("a");
    space.text(a, "name");
    let run = space.automation("Run", &json!({"type": "manual"}), &json!([{"key": "delay", "config": {"seconds": 1}}, {"key": "notify", "config": {"scopeType": "organization", "body": "x"}}]));
    space.column(
        a,
        "go",
        "button",
        &json!({"buttonLabel": "Go", "workflowV2Id": run}),
    );
    space.table_mut(a).config = crate::space::object(&json!({"icon": "x", "titleColumn": "name"}));
    space.view(a, "form", "form", &json!({"visibleColumns": ["name"]}));
    let list = space.view(a, "list", "table", &json!({}));
    let module = space.module("m", &json!({"color": "red"}));
    let rail = space.rail(
        module,
        "r",
        &json!({"views": [list], "defaultViewId": list, "openModuleId": module}),
    );
    space
        .module_mut(module)
        .config
        .insert("defaultRailId".to_owned(), rail.to_string().into());
    let form = json!({"redirectViewId": list, "redirectRailId": rail, "visibleColumns": ["name"]});
    space.table_mut(a).views[0].config = crate::space::object(&form);
    space.state.structure.workspace.config =
        crate::space::object(&json!({"theme": "dark", "defaultModuleId": module}));
    let package = exported(&space, &Selection::default());
    assert_eq!(package.created("f_a")["config"], json!({"icon": "x"}));
    assert_eq!(
        package.updated("f_a"),
        Some(&json!({"icon": "x", "titleColumn": "$c_a_name"}))
    );
    assert_eq!(
        package.created("c_a_go")["config"],
        json!({"buttonLabel": "Go"})
    );
    assert_eq!(
        package.updated("c_a_go"),
        Some(&json!({"buttonLabel": "Go", "workflowV2Id": "$w_run"}))
    );
    assert_eq!(
        package.created("v_a_form")["config"],
        json!([{"visibleColumns": ["$c_a_name"]}])
    );
    let form = json!([{"redirectRailId": "$r_r", "redirectViewId": "$v_a_list", "visibleColumns": ["$c_a_name"]}]);
    assert_eq!(package.updated("v_a_form"), Some(&form));
    assert_eq!(package.created("m_m")["config"], json!({"color": "red"}));
    assert_eq!(
        package.updated("m_m"),
        Some(&json!({"color": "red", "defaultRailId": "$r_r"}))
    );
    assert_eq!(
        package.created("r_r")["config"],
        json!([{"defaultViewId": "$v_a_list", "openModuleId": "$m_m", "views": ["$v_a_list"]}])
    );
    assert_eq!(
        package.updated("workspace"),
        Some(&json!({"defaultModuleId": "$m_m", "theme": "dark"}))
    );
    let tools: Vec<_> = package
        .steps()
        .iter()
        .map(|step| step["tool"].as_str().unwrap())
        .collect();
    assert_eq!(
        tools[8..],
        [
            "update_module",
            "update_workspace",
            "update_feature",
            "update_column",
            "update_view"
        ]
    );
    assert!(package.unresolved().is_empty());
}

#[test]
fn an_update_exists_only_when_a_key_points_forward() {
    let mut space = Space::new();
    let a = space.table("a");
    space.text(a, "name");
    space.view(a, "list", "table", &json!({"visibleColumns": ["name"]}));
    space.module("m", &json!({"color": "red"}));
    let package = exported(&space, &Selection::default());
    assert!(
        package
            .steps()
            .iter()
            .all(|step| step["tool"].as_str().unwrap().starts_with("create_"))
    );
    assert!(package.created("f_a").get("config").is_none());
    assert_eq!(package.created("m_m")["config"], json!({"color": "red"}));
}

#[test]
fn the_config_of_the_workspace_travels_unless_something_is_chosen() {
    let mut space = Space::new();
    let a = space.table("a");
    space.state.structure.workspace.config = crate::space::object(&json!({"theme": "dark"}));
    let rows = Selection {
        rows: RowsSelection::All,
        ..Selection::default()
    };
    for whole in [Selection::default(), rows] {
        let package = exported(&space, &whole);
        assert_eq!(
            package.updated("workspace"),
            Some(&json!({"theme": "dark"}))
        );
    }
    let features = Selection {
        features: Some(vec![a]),
        ..Selection::default()
    };
    let workflows = Selection {
        workflows: Some(Vec::new()),
        ..Selection::default()
    };
    for chosen in [features, workflows] {
        assert_eq!(exported(&space, &chosen).updated("workspace"), None);
    }
}
