//! What a package brings that no workspace takes as it is: refused before there is a job, or given another name.

use serde_json::{Value, json};

use super::shop::{applied, apply, column, feature, named, working, workspace};
use crate::api::client::Client;
use crate::api::model::id;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    what_no_workspace_takes_is_refused_before_there_is_a_job,
    what_arrives_under_another_name_may_be_changed,
);

/// The package of a table with a column, and of an automation.
fn package(client: &Client, world: &World) -> Value {
    let source = workspace(client, world.acme);
    let table = feature(client, &source, "T");
    column(client, &table, &json!({"label": "A", "type": "text"}));
    let automation = json!({"workspace_id": source, "name": "Tell",
        "trigger_config": {"type": "manual"}, "graph_config": {"steps": []}});
    client.create("/v1/workflows-v2", &automation);
    let path = format!("/v1/workspaces/{source}/export");
    client.post(&path, &json!({})).expect(200).json()
}

/// The args of the step that declares a ref.
fn args<'p>(package: &'p mut Value, reference: &str) -> &'p mut Value {
    let steps = package["manifest"]["plan"]["steps"].as_array_mut();
    let mut steps = steps.expect("steps").iter_mut();
    let step = steps.find(|step| step["ref"] == reference);
    &mut step.expect("a step")["args"]
}

fn import(world: &World, package: &Value) -> String {
    let admin = world.as_user("admin@acme.test");
    let made = admin.post("/v1/templates/import", package);
    id(&made.expect(201).json())
}

async fn what_no_workspace_takes_is_refused_before_there_is_a_job(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let good = package(&editor, &world);
    let mut number = good.clone();
    args(&mut number, "c_t_a")["defaultComponent"] = "id".into();
    args(&mut number, "c_t_a")["type"] = "number".into();
    let mut text = good.clone();
    args(&mut text, "c_t_a")["defaultComponent"] = "id".into();
    args(&mut text, "c_t_a")["config"] = json!({"idType": "sequence"});
    let mut long = good;
    args(&mut long, "w_tell")["name"] = "n".repeat(256).into();
    let there = workspace(&editor, world.acme);
    for (package, reference) in [(number, "c_t_a"), (text, "c_t_a"), (long, "w_tell")] {
        let template = import(&world, &package);
        let mut body = json!({"workspaceId": there});
        let path = format!("/v1/templates/{template}/plan");
        let plan = editor.post(&path, &body).expect(200).json();
        let refusals = plan["refusals"].as_array().expect("a list");
        assert_eq!(refusals.len(), 1, "{plan}");
        assert_eq!(refusals[0]["code"], "validation_failed");
        assert_eq!(refusals[0]["ref"], reference);
        for digest in [None, Some(&plan["digest"])] {
            if let Some(digest) = digest {
                body["plan"] = digest.clone();
            }
            let refused = apply(&editor, &template, &body).refused(422, "validation_failed");
            let refused = refused.json();
            assert_eq!(refused["ref"], reference);
            assert_eq!(refused["errors"][0]["path"], reference);
        }
        let refused = editor.post(&format!("/apply/templates/{template}"), &body);
        let refused = refused.expect(422).json();
        assert_eq!(
            (&refused["error"], &refused["ref"]),
            (&json!("validation_failed"), &json!(reference))
        );
    }
    assert_eq!(editor.items("/v1/template-jobs").len(), 0);
}

async fn what_arrives_under_another_name_may_be_changed(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let mut package = package(&editor, &world);
    args(&mut package, "f_t")["label"] = "".into();
    args(&mut package, "c_t_a")["label"] = "".into();
    args(&mut package, "c_t_a")["name"] = "created_at".into();
    args(&mut package, "w_tell")["name"] = "".into();
    let template = import(&world, &package);
    let there = workspace(&editor, world.acme);
    let job = applied(&editor, &template, &json!({"workspaceId": there})).await;
    let renamed = |kind: &str, reference: &str, from: &str, to: &str| json!({"kind": kind, "ref": reference, "from": from, "to": to});
    assert_eq!(
        job["report"]["renamed"],
        json!([
            renamed("column", "c_t_a", "created_at", "created_at_2"),
            renamed("workflow", "w_tell", "", "tell"),
        ])
    );
    let table = named(&editor, &there, "t").expect("a table");
    let column = &editor
        .get(&format!("/v1/features/{table}/columns"))
        .expect(200)
        .json()[0];
    assert_eq!(
        (&column["name"], &column["label"]),
        (&json!("created_at_2"), &json!("created_at"))
    );
    let automations = editor.items(&format!("/v1/workflows-v2?workspace_id={there}"));
    assert_eq!(automations[0]["name"], "tell");
    // Nobody is refused what is there already.
    let table = format!("/v1/features/{table}");
    let known = editor.get(&table).expect(200).json();
    assert_eq!(known["label"], "t");
    let label = json!({"label": known["label"]});
    editor.patch(&table, &label).expect(200);
    let label = json!({"label": column["label"]});
    let path = format!("{table}/columns/{}", id(column));
    editor.patch(&path, &label).expect(200);
    let row = json!({"data": {"created_at_2": "hello"}});
    editor.create(&format!("{table}/rows"), &row);
    let found = editor.items(&format!("{table}/rows?filter=created_at_2:eq:hello"));
    assert_eq!(found.len(), 1);
}
