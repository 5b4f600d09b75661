//! What the package uses and does not carry.

use serde_json::json;
use tplkit::export::Selection;
use tplkit::workspace::Id;

use crate::exported::{exported, exported_by};
use crate::space::Space;

fn only(tables: &[Id]) -> Selection {
    Selection {
        features: Some(tables.to_vec()),
        modules: Some(Vec::new()),
        ..Selection::default()
    }
}

fn manual() -> serde_json::Value {
    json!({"type": "manual"})
}

#[test]
fn a_table_left_out_is_a_dependency_with_the_columns_that_are_used() {
    let mut space = Space::new();
    let (orders, clients) = (space.table("orders"), space.table("clients"));
    space.text(clients, "unused");
    space.text(clients, "name");
    space.text(clients, "code");
    space.link(orders, "client", clients, "code");
    space.link(orders, "payer", clients, "code");
    space.link(orders, "by_name", clients, "name");
    let package = exported(&space, &only(&[orders]));
    let table = package.dependency("f_clients");
    assert_eq!(table["form"], "uuid");
    assert_eq!(table["required"], true);
    assert_eq!(table["resolution"], "import");
    assert_eq!(table["detail"], "blueprint");
    assert_eq!(table["description"], "The table that the column links to.");
    let names: Vec<_> = table["identity"]["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["name"])
        .collect();
    assert_eq!(names, ["code", "name"]);
    let uses = table["usedBy"].as_array().unwrap();
    assert_eq!(uses.len(), 6);
    assert_eq!(uses[1]["path"], "config.linkedValueColumn");
    assert_eq!(
        uses[1]["reason"],
        "The column of the linked table whose value the cell holds."
    );
    assert_eq!(uses[2]["uid"], package.item("c_orders_payer")["uid"]);
    let steps = table["blueprint"]["steps"].as_array().unwrap();
    let tools: Vec<_> = steps
        .iter()
        .map(|step| (&step["tool"], &step["ref"], &step["args"]["order"]))
        .collect();
    assert_eq!(tools[0].1, "f_clients");
    assert_eq!(
        (tools[1].1, tools[1].2),
        (&json!("c_clients_code"), &json!(1))
    );
    assert_eq!(
        (tools[2].1, tools[2].2),
        (&json!("c_clients_name"), &json!(2))
    );
    assert_eq!(
        package.0["manifest"]["plan"]["externalRefs"],
        json!(["f_clients", "c_clients_code", "c_clients_name"])
    );
}

#[test]
fn an_identity_column_that_needs_a_config_leaves_no_blueprint() {
    for (kind, component, config) in [
        ("select", "selectfield", json!({"options": ["a"]})),
        ("number", "id", json!({"idType": "sequence"})),
    ] {
        let mut space = Space::new();
        let (orders, clients) = (space.table("orders"), space.table("clients"));
        space.column_as(clients, "code", kind, component, &config);
        space.link(orders, "client", clients, "code");
        let package = exported(&space, &only(&[orders]));
        let table = package.dependency("f_clients");
        assert!(table.get("blueprint").is_none(), "{kind}");
        assert_eq!(table["detail"], "identity");
        assert_eq!(table["resolution"], "map");
    }
}

#[test]
fn a_shared_table_is_a_dependency_too() {
    let mut space = Space::new();
    let orders = space.table("orders");
    let countries = space.shared_table("countries");
    space.text(countries, "iso");
    space.link(orders, "country", countries, "iso");
    let package = exported(&space, &Selection::default());
    assert_eq!(package.refs("create_feature"), ["f_orders"]);
    assert_eq!(package.dependency("f_countries")["kind"], "feature");
}

#[test]
fn a_channel_is_a_required_dependency_by_uuid() {
    let mut space = Space::new();
    let channel = space.channel(Some("Equipa de Vendas"));
    let steps = json!([{"key": "notify", "config": {"scopeType": "channel", "scopeId": channel, "body": "x"}}]);
    space.automation("notify", &manual(), &steps);
    let package = exported(&space, &Selection::default());
    let channel = package.dependency("m_equipa_de_vendas");
    assert_eq!(channel["form"], "uuid");
    assert_eq!(channel["required"], true);
    assert_eq!(channel["resolution"], "map");
    assert_eq!(channel["identity"]["name"], "Equipa de Vendas");
    assert_eq!(channel["identity"]["label"], "Somewhere to talk");
    let config = &package.created("w_notify")["graphConfig"]["steps"][0]["config"];
    assert_eq!(config["scopeId"], "$m_equipa_de_vendas");
}

#[test]
fn connections_and_timer_profiles_keep_their_names() {
    let mut space = Space::new();
    space.connection("Main ERP", "http");
    space.timer_profile("shift");
    let trigger = json!({"type": "cron", "config": {"mode": "profile", "timerProfile": "shift"}});
    space.automation(
        "sync",
        &trigger,
        &json!([{"key": "http.request", "config": {"connectionName": "Main ERP"}}]),
    );
    let package = exported(&space, &Selection::default());
    let args = package.created("w_sync");
    assert_eq!(
        args["graphConfig"]["steps"][0]["config"]["connectionName"],
        "Main ERP"
    );
    assert_eq!(args["triggerConfig"]["config"]["timerProfile"], "shift");
    for (reference, path) in [
        (
            "connection_main_erp",
            "graphConfig.steps.0.config.connectionName",
        ),
        ("timerprofile_shift", "triggerConfig.config.timerProfile"),
    ] {
        let one = package.dependency(reference);
        assert_eq!(
            (&one["form"], &one["resolution"]),
            (&json!("name"), &json!("map"))
        );
        assert_eq!(one["usedBy"][0]["path"], path);
    }
    assert_eq!(package.0["manifest"]["plan"]["externalRefs"], json!([]));
}

#[test]
fn without_the_list_a_connection_is_believed() {
    let mut space = Space::new();
    space.state.structure.organization.connections = None;
    space.automation(
        "sync",
        &manual(),
        &json!([{"key": "http.request", "config": {"connectionName": "erp"}}]),
    );
    let package = exported(&space, &Selection::default());
    assert_eq!(
        package.dependency("connection_erp")["identity"]["name"],
        "erp"
    );
}

#[test]
fn views_rails_modules_and_automations_left_out_are_dependencies() {
    let mut space = Space::new();
    let a = space.table("a");
    space.text(a, "x");
    let (list, form) = (
        space.view(a, "list", "table", &json!({})),
        space.view(a, "form", "form", &json!({})),
    );
    let (m, n) = (space.module("m", &json!({})), space.module("n", &json!({})));
    let away = space.rail(n, "away", &json!({}));
    space.rail(m, "here", &json!({"views": [list], "openModuleId": n}));
    space.table_mut(a).views[1].config = crate::space::object(&json!({"redirectRailId": away}));
    let notify = json!([{"key": "notify", "config": {"scopeType": "organization", "body": "x"}}]);
    let (later, earlier) = (
        space.automation("Later", &manual(), &notify),
        space.earlier_automation("Old"),
    );
    space.column(
        a,
        "go",
        "button",
        &json!({"workflowV2Id": later, "workflowId": earlier}),
    );
    let selection = Selection {
        views: Some(vec![form]),
        modules: Some(vec![m]),
        workflows: Some(Vec::new()),
        ..Selection::default()
    };
    let package = exported(&space, &selection);
    let kinds: Vec<_> = package
        .list("dependencies")
        .iter()
        .map(|one| (one["kind"].as_str().unwrap(), one["ref"].as_str().unwrap()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("workflow", "w_old"),
            ("workflowV2", "w_later"),
            ("rail", "r_away"),
            ("module", "m_n"),
            ("view", "v_a_list"),
        ]
    );
    assert_eq!(
        package.created("c_a_go")["config"],
        json!({"workflowId": "$w_old", "workflowV2Id": "$w_later"})
    );
    let view = package.dependency("v_a_list");
    assert_eq!(view["usedBy"][0]["path"], "config.0.views.0");
    assert_eq!(
        view["usedBy"][0]["reason"],
        "The views that the entry lists."
    );
    assert_eq!(view["resolution"], "map");
}

#[test]
fn columns_of_automations_follow_the_table_that_their_sibling_names() {
    let mut space = Space::new();
    let (a, b) = (space.table("a"), space.table("b"));
    space.text(a, "x");
    space.text(b, "x");
    space.text(b, "y");
    let rules = json!({"rules": [{"columnName": "y", "operator": "equals", "value": "{{vars.trigger.x}}"}]});
    let steps = json!([
        {"key": "feature.read", "config": {"featureId": b, "filterGroup": rules, "orderBy": {"column": "x"}}},
        {"key": "feature.write", "config": {"mode": "insert", "targetFeatureId": b, "bindings": [{"targetColumn": "y", "value": "{{record.x}}"}]}},
    ]);
    let trigger = json!({"type": "record.event", "config": {"featureId": a, "modes": ["created"], "watchedColumns": ["x"]}});
    space.automation("copy", &trigger, &steps);
    let package = exported(&space, &only(&[a]));
    let args = package.created("w_copy");
    assert_eq!(
        args["triggerConfig"]["config"]["watchedColumns"],
        json!(["$c_a_x"])
    );
    let read = &args["graphConfig"]["steps"][0]["config"];
    assert_eq!(read["filterGroup"]["rules"][0]["columnName"], "$c_b_y");
    assert_eq!(
        read["filterGroup"]["rules"][0]["value"],
        "{{vars.trigger.x}}"
    );
    assert_eq!(read["orderBy"]["column"], "$c_b_x");
    let write = &args["graphConfig"]["steps"][1]["config"];
    assert_eq!(
        write["bindings"][0],
        json!({"targetColumn": "$c_b_y", "value": "{{record.x}}"})
    );
    assert_eq!(
        package.dependency("f_b")["usedBy"]
            .as_array()
            .unwrap()
            .len(),
        5
    );
}

#[test]
fn a_dependency_is_dispensable_when_every_use_is_optional_and_has_a_default() {
    let mut space = Space::new();
    space.timer_profile("shift");
    let delay = json!({"key": "delay", "config": {"timerProfile": "shift"}});
    let notify = json!({"key": "notify", "config": {"scopeType": "organization", "body": "x"}});
    space.automation("Wait", &manual(), &json!([delay, notify]));
    let default = "/steps/delay/config/timerProfile/default";
    let required = |space: &Space| {
        let package = exported_by(space, &Selection::default(), default, json!("none"));
        package.dependency("timerprofile_shift")["required"].clone()
    };
    assert_eq!(required(&space), false);
    let package = exported(&space, &Selection::default());
    assert_eq!(package.dependency("timerprofile_shift")["required"], true);
    let trigger = json!({"type": "cron", "config": {"mode": "profile", "timerProfile": "shift"}});
    space.automation("Often", &trigger, &json!([notify]));
    assert_eq!(required(&space), true);
}

#[test]
fn the_description_is_that_of_the_first_use_by_id() {
    let mut space = Space::new();
    let (a, b) = (space.table("a"), space.table("b"));
    space.text(b, "x");
    let view = space.view(b, "list", "table", &json!({"visibleColumns": ["x"]}));
    space.automation(
        "Read",
        &manual(),
        &json!([
            {"key": "feature.read", "config": {"featureId": b}},
            {"key": "notify", "config": {"scopeType": "organization", "body": "x"}},
        ]),
    );
    let selection = Selection {
        features: Some(vec![a]),
        views: Some(vec![view]),
        ..Selection::default()
    };
    let package = exported(&space, &selection);
    let table = package.dependency("f_b");
    assert_eq!(table["usedBy"][0]["reason"], "The columns shown, in order.");
    assert_eq!(table["description"], "The table read.");
}

#[test]
fn names_of_dependencies_hold_no_ids() {
    let mut space = Space::new();
    let (a, b) = (space.table("a"), space.table("b"));
    let id = space.id();
    space.text(b, "x");
    space.link(a, "b", b, "x");
    space.table_mut(b).label = format!("B {id}");
    space.table_mut(b).columns[0].label = "$c_b_x".to_owned();
    let package = exported(&space, &only(&[a]));
    let table = package.dependency("f_b");
    assert_eq!(table["identity"]["label"], "B ");
    assert_eq!(table["identity"]["columns"][0]["label"], "c_b_x");
}
