//! Only what is whole goes live, and the config of the workspace comes along.

use serde_json::{Value, json};

use super::shop::{applied, apply, working, workspace};
use crate::api::client::Client;
use crate::api::model::id;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    an_automation_without_its_secret_stays_a_draft,
    the_config_of_a_workspace_travels_and_is_taken_back,
    a_link_into_an_imported_table_holds_no_foreign_identity,
    a_plan_whose_target_went_is_stale,
);

fn export(client: &Client, workspace: &str, body: &Value) -> String {
    let path = format!("/v1/workspaces/{workspace}/export");
    client.post(&path, body).expect(200).body
}

fn import(client: &Client, package: &str) -> String {
    let made = client.json("POST", "/v1/templates/import", package);
    id(&made.expect(201).json())
}

fn plan(client: &Client, template: &str, body: &Value) -> Value {
    let path = format!("/v1/templates/{template}/plan");
    client.post(&path, body).expect(200).json()
}

/// An automation that fires, with that config of its only step.
async fn live(
    world: &World,
    client: &Client,
    workspace: &str,
    name: &str,
    config: Value,
) -> String {
    let body = json!({"workspace_id": workspace, "name": name, "is_draft": false,
        "trigger_config": {"type": "manual"},
        "graph_config": {"steps": [{"key": "http.request", "config": config}]}});
    let made = client.create("/v1/workflows-v2", &body);
    let workflow = made["workflow_id"].as_str().expect("an id").to_owned();
    assert!(world.switch(&workflow, true).await);
    workflow
}

async fn an_automation_without_its_secret_stays_a_draft(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let from = workspace(&admin, world.acme);
    let open = json!({"connectionName": "erp", "path": "/"});
    let mut closed = open.clone();
    closed["bearerToken"] = json!("hush");
    live(&world, &admin, &from, "Closed", closed).await;
    live(&world, &admin, &from, "Open", open).await;
    let package = export(&admin, &from, &json!({}));
    let template = import(&admin, &package);
    let there = workspace(&admin, world.acme);
    let mut body = json!({"workspaceId": there, "resolutions": {}});
    for dependency in
        serde_json::from_str::<Value>(&package).expect("JSON")["manifest"]["dependencies"]
            .as_array()
            .expect("a list")
    {
        let reference = dependency["ref"].as_str().expect("a ref");
        body["resolutions"][reference] = json!({"action": "map", "id": "erp"});
    }
    world
        .sql(
            "INSERT INTO main.connections {into $1} (organization_id, id, name, kind, url, \
             created_at, updated_at) VALUES ($1, $2, 'erp', 'http', 'https://example.test', 0, 0)",
            vec![world.acme.into(), world.context.id().into()],
        )
        .await;
    let planned = plan(&admin, &template, &body);
    let path = "graphConfig.steps.0.config.bearerToken";
    let reference = planned["stays_draft"][0]["ref"].clone();
    assert_eq!(
        planned["stays_draft"],
        json!([{"ref": reference, "name": "Closed",
            "because": [{"path": path, "reason": "redacted"}]}]),
        "{planned}"
    );
    assert_eq!(planned["go_live"][0]["name"], "Open");
    assert_eq!(planned["not_carried"], json!([]));
    let redacted = &planned["redacted"][0];
    assert_eq!(
        (&redacted["ref"], &redacted["name"], &redacted["path"]),
        (&reference, &json!("Closed"), &json!(path))
    );
    let _working = working(&world);
    let job = applied(&admin, &template, &body).await;
    assert_eq!(job["report"]["published"], 1, "{job}");
    assert_eq!(job["report"]["not_published"], planned["stays_draft"]);
    let state = || {
        let all = admin.items(&format!("/v1/workflows-v2?workspace_id={there}"));
        let one = all.into_iter().find(|one| one["name"] == "Closed");
        let one = one.expect("an automation");
        (one["is_draft"].clone(), one["is_active"].clone())
    };
    assert_eq!(state(), (json!(true), json!(false)));
    // Nothing publishes it later, and it is still said.
    let again = applied(&admin, &template, &body).await;
    assert_eq!(again["report"]["published"], 0, "{again}");
    assert_eq!(again["report"]["not_published"], planned["stays_draft"]);
    assert_eq!(state(), (json!(true), json!(false)));
}

async fn the_config_of_a_workspace_travels_and_is_taken_back(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let from = workspace(&editor, world.acme);
    let module = json!({"workspace_id": from, "label": "Sales"});
    let module = id(&editor.create("/v1/modules", &module));
    let dark = json!({"config": {"theme": "dark", "defaultModuleId": module}});
    editor
        .patch(&format!("/v1/workspaces/{from}"), &dark)
        .expect(200);
    let template = import(&admin, &export(&editor, &from, &json!({})));
    let there = workspace(&editor, world.acme);
    let path = format!("/v1/workspaces/{there}");
    let before = json!({"theme": "light"});
    editor.patch(&path, &json!({"config": before})).expect(200);
    let body = json!({"workspaceId": there});
    let planned = plan(&editor, &template, &body);
    let after = json!({"theme": "dark", "defaultModuleId": "(new) sales"});
    assert_eq!(
        planned["replaced_configs"],
        json!([{"kind": "workspace", "ref": "workspace", "id": there,
            "before": before, "after": after}])
    );
    let _working = working(&world);
    let job = applied(&editor, &template, &body).await;
    let config = || editor.get(&path).expect(200).json()["config"].clone();
    assert_eq!(config()["theme"], "dark");
    assert!(config()["defaultModuleId"].is_string());
    let undo = format!(
        "/v1/template-jobs/{}/undo",
        job["id"].as_str().expect("an id")
    );
    editor.send("POST", &undo, &[], None).expect(200);
    assert_eq!(config(), before);
    // What was chosen travels, and nothing besides.
    let chosen: Value =
        serde_json::from_str(&export(&editor, &from, &json!({"modules": [module]}))).expect("JSON");
    let steps = chosen["manifest"]["plan"]["steps"]
        .as_array()
        .expect("steps");
    assert!(steps.iter().all(|step| step["tool"] != "update_workspace"));
}

async fn a_link_into_an_imported_table_holds_no_foreign_identity(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let shop = super::shop::Shop::new(&editor, world.acme);
    let by_code = json!({"label": "Code", "name": "by_code", "type": "linked_select",
        "config": {"linkedFeatureId": shop.clients, "linkedValueColumn": "code"}});
    super::shop::column(&editor, &shop.orders, &by_code);
    super::shop::row(
        &editor,
        &shop.orders,
        &json!({"title": "four", "by_code": "a"}),
    );
    let body = json!({"features": [shop.orders], "modules": [], "workflows": [], "rows": "all"});
    let package = export(&editor, &shop.workspace, &body);
    let template = import(&admin, &package);
    let there = workspace(&editor, world.acme);
    let body = json!({"workspaceId": there});
    let planned = plan(&editor, &template, &body);
    let rows = &planned["rows"]["f_orders"];
    assert_eq!(
        (&rows["insert"], &rows["dropped_links"]),
        (&json!(4), &json!(3)),
        "{planned}"
    );
    let _working = working(&world);
    let job = applied(&editor, &template, &body).await;
    let unresolved = job["report"]["unresolved"].as_array().expect("a list");
    let lost: Vec<&Value> = unresolved
        .iter()
        .filter(|one| one["reason"] == "row_ref_dropped")
        .collect();
    assert_eq!(lost.len(), 1, "{job}");
    assert_eq!(
        (&lost[0]["path"], &lost[0]["count"], &lost[0]["action"]),
        (
            &json!("rows[].data.client"),
            &json!(3),
            &json!("chave esvaziada")
        )
    );
    let orders = super::shop::named(&editor, &there, "orders").expect("a table");
    for data in super::shop::rows(&editor, &orders) {
        assert!(data.get("client").is_none_or(Value::is_null), "{data}");
        let code = if data["title"] == "four" {
            json!("a")
        } else {
            Value::Null
        };
        assert_eq!(data["by_code"], code, "{data}");
    }
}

async fn a_plan_whose_target_went_is_stale(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let shop = super::shop::Shop::new(&editor, world.acme);
    let body = json!({"features": [shop.orders], "modules": [], "workflows": []});
    let template = import(&admin, &export(&editor, &shop.workspace, &body));
    let there = workspace(&editor, world.acme);
    let target = super::shop::feature(&editor, &there, "People");
    let no = json!({"label": "No", "name": "no", "type": "text", "default_component": "id"});
    let no = super::shop::column(&editor, &target, &no);
    let map = json!({"action": "map", "id": target, "columns": {"c_clients_id": no}});
    let mut body = json!({"workspaceId": there, "resolutions": {"f_clients": map}});
    let digest = plan(&editor, &template, &body)["digest"].clone();
    editor.delete(&format!("/v1/features/{target}")).expect(204);
    apply(&editor, &template, &body).refused(422, "mapping_feature_not_found");
    body["plan"] = digest;
    apply(&editor, &template, &body).refused(409, "plan_stale");
    // A plan that was refused for it is not stale.
    body.as_object_mut().expect("an object").remove("plan");
    let refused = plan(&editor, &template, &body);
    assert_eq!(refused["refusals"][0]["code"], "mapping_feature_not_found");
    body["plan"] = refused["digest"].clone();
    apply(&editor, &template, &body).refused(422, "mapping_feature_not_found");
    // What is wrong with the body stays wrong, whatever the plan.
    body["plan"] = json!("0".repeat(64));
    body["resolutions"] = json!({"f_gone": {"action": "skip"}});
    apply(&editor, &template, &body).refused(422, "unknown_resolution_ref");
}
