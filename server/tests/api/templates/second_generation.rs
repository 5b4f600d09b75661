//! What was applied without something that it names is exported, imported and applied once more.

use serde_json::{Value, json};

use super::shop::{applied, feature, working, workspace};
use crate::api::client::Client;
use crate::api::model::id;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    an_automation_without_its_channel_travels_again,
    an_automation_without_its_table_travels_again,
    an_automation_that_does_not_name_its_table_travels_again,
);

/// The package of a workspace.
fn export(client: &Client, workspace: &str) -> Value {
    let path = format!("/v1/workspaces/{workspace}/export");
    client.post(&path, &json!({})).expect(200).json()
}

/// What lost its target, by path.
fn lost(package: &Value) -> Vec<(&Value, &Value)> {
    let unresolved = package["manifest"]["unresolved"].as_array();
    let unresolved = unresolved.expect("a list").iter();
    unresolved
        .map(|entry| (&entry["path"], &entry["reason"]))
        .collect()
}

/// Applies the package of a workspace to a new one.
async fn next(world: &World, by: &Client, from: &str, resolutions: &Value) -> String {
    let package = export(by, from);
    apply(world, by, &package, resolutions).await
}

/// Applies a package to a new workspace.
async fn apply(world: &World, by: &Client, package: &Value, resolutions: &Value) -> String {
    let admin = world.as_user("admin@acme.test");
    let made = admin.post("/v1/templates/import", package);
    let template = id(&made.expect(201).json());
    let there = workspace(by, world.acme);
    let body = json!({"workspaceId": there, "resolutions": resolutions});
    applied(by, &template, &body).await;
    there
}

fn is_draft(client: &Client, workspace: &str) -> bool {
    let path = format!("/v1/workflows-v2?workspace_id={workspace}");
    client.items(&path)[0]["is_draft"] == true
}

async fn an_automation_without_its_channel_travels_again(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let channel = json!({"organization_id": world.acme, "name": "team"});
    let channel = id(&world
        .as_user("admin@acme.test")
        .create("/v1/channels", &channel));
    let source = workspace(&editor, world.acme);
    let notify = json!({"key": "notify", "config": {"scopeType": "channel", "scopeId": channel, "title": "hi"}});
    let automation = json!({"workspace_id": source, "name": "Tell",
        "trigger_config": {"type": "manual"}, "graph_config": {"steps": [notify]}});
    editor.create("/v1/workflows-v2", &automation);
    let skip = json!({"m_team": {"action": "skip"}});
    let second = next(&world, &editor, &source, &skip).await;
    let path = json!("graphConfig.steps.0.config.scopeId");
    let reason = json!("inexistente");
    assert_eq!(lost(&export(&editor, &second)), [(&path, &reason)]);
    let third = next(&world, &editor, &second, &json!({})).await;
    assert!(is_draft(&editor, &third));
    assert_eq!(lost(&export(&editor, &third)), [(&path, &reason)]);
}

async fn an_automation_without_its_table_travels_again(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let source = workspace(&editor, world.acme);
    let table = feature(&editor, &source, "T");
    let notify = json!({"key": "notify", "config": {"scopeType": "organization", "title": "hi"}});
    let created =
        json!({"type": "record.event", "config": {"modes": ["created"], "featureId": table}});
    let automation = json!({"workspace_id": source, "name": "Tell",
        "trigger_config": created, "graph_config": {"steps": [notify]}});
    editor.create("/v1/workflows-v2", &automation);
    let path = format!("/v1/features/{table}?force=true");
    editor.delete(&path).expect(204);
    let path = json!("triggerConfig.config.featureId");
    let reason = json!("inexistente");
    let mut workspace = source;
    for _ in 0..3 {
        assert_eq!(lost(&export(&editor, &workspace)), [(&path, &reason)]);
        workspace = next(&world, &editor, &workspace, &json!({})).await;
        assert!(is_draft(&editor, &workspace));
    }
}

async fn an_automation_that_does_not_name_its_table_travels_again(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let source = workspace(&editor, world.acme);
    let table = feature(&editor, &source, "T");
    let automation = json!({"workspace_id": source, "name": "Read",
        "trigger_config": {"type": "manual"},
        "graph_config": {"steps": [{"key": "feature.read", "config": {"featureId": table}}]}});
    editor.create("/v1/workflows-v2", &automation);
    let path = format!("/v1/features/{table}?force=true");
    editor.delete(&path).expect(204);
    // A package may leave out what it reports as lost.
    let mut package = export(&editor, &source);
    let steps = package["manifest"]["plan"]["steps"].as_array_mut();
    let config = steps
        .expect("a list")
        .iter_mut()
        .find_map(|step| step.pointer_mut("/args/graphConfig/steps/0/config"));
    let config = config.and_then(Value::as_object_mut);
    config.expect("a config").remove("featureId");
    let path = json!("graphConfig.steps.0.config.featureId");
    let reason = json!("inexistente");
    for _ in 0..3 {
        assert_eq!(lost(&package), [(&path, &reason)]);
        let workspace = apply(&world, &editor, &package, &json!({})).await;
        assert!(is_draft(&editor, &workspace));
        package = export(&editor, &workspace);
    }
}
