//! Values that somebody decided, and records that are refused once both sides are merged.

use serde_json::{Value, json};

use super::shop::{AppliedShop, Shop, applied, apply, named, rows, working, workspace};
use super::upgrade::args;
use crate::api::client::Client;
use crate::api::model::id;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_value_that_cannot_be_written_is_refused_before_there_is_a_job,
    what_is_refused_together_is_asked_and_decided,
    a_cell_that_its_column_cannot_hold_any_more_keeps_no_other_from_being_written,
);

/// The author changes a package of the catalog.
fn publish(admin: &Client, template: &str, change: impl FnOnce(&mut Value)) {
    let kept = format!("/v1/templates/{template}/package");
    let mut package = admin.get(&kept).expect(200).json();
    change(&mut package);
    admin.json("PUT", &kept, &package.to_string()).expect(200);
}

/// The ref of what a step creates.
fn reference(package: &Value, tool: &str, name: &str) -> String {
    let steps = package["manifest"]["plan"]["steps"].as_array();
    let mut steps = steps.expect("steps").iter();
    let step = steps.find(|step| step["tool"] == tool && step["args"]["name"] == name);
    let reference = step.expect("a step")["ref"].as_str();
    reference.expect("a ref").to_owned()
}

/// What the package says of a column of clients.
fn column<'p>(package: &'p mut Value, name: &str) -> &'p mut Value {
    let table = format!("${}", reference(package, "create_feature", "clients"));
    let steps = package["manifest"]["plan"]["steps"].as_array_mut();
    let mut steps = steps.expect("steps").iter_mut();
    let step = steps.find(|step| {
        step["tool"] == "create_column"
            && step["args"]["featureId"] == *table
            && step["args"]["name"] == name
    });
    &mut step.expect("a step")["args"]
}

async fn a_value_that_cannot_be_written_is_refused_before_there_is_a_job(place: Place) {
    let AppliedShop {
        editor,
        admin,
        template,
        there,
        ..
    } = &AppliedShop::new(place).await;
    let clients = named(editor, there, "clients").expect("a table");
    let (mut table, mut uid) = (String::new(), String::new());
    publish(admin, template, |package| {
        table = reference(package, "create_feature", "clients");
        args(package, "create_feature", "clients")["label"] = "Customers".into();
        column(package, "name")["order"] = (-1).into();
        for entry in package["payloads"].as_array_mut().expect("payloads") {
            for row in entry["rows"].as_array_mut().expect("rows") {
                if row["data"]["code"] == "a" {
                    row["uid"].as_str().expect("a uid").clone_into(&mut uid);
                    row["data"]["name"] = "New name".into();
                }
            }
        }
    });
    let body = |path: &str, value: &Value| {
        let decisions = json!({&table: {path: {"value": value}}});
        json!({"workspaceId": there, "upgrade": true, "decisions": decisions})
    };
    let cell = format!("rows.{uid}.name");
    let plan = format!("/v1/templates/{template}/plan");
    for (path, value) in [
        ("label", json!(5)),
        ("label", json!("")),
        // One of the columns alone, one of them twice, and one that is not there.
        ("order.columns", json!(["name"])),
        ("order.columns", json!(["name", "code", "id", "name"])),
        ("order.columns", json!(["name", "code", "nothing"])),
        (&*cell, json!(["A"])),
    ] {
        let place = format!("decisions.{table}.{path}");
        let refused = apply(editor, template, &body(path, &value));
        let refused = refused.refused(422, "validation_failed").json();
        assert_eq!(refused["errors"][0]["path"], *place, "{refused}");
        assert_eq!(refused["errors"][0]["code"], "validation_failed");
        let planned = editor.post(&plan, &body(path, &value));
        let planned = planned.refused(422, "validation_failed").json();
        assert_eq!(planned["errors"], refused["errors"]);
    }
    assert_eq!(editor.items("/v1/template-jobs").len(), 1, "no job");
    let decisions = json!({&table: {"label": {"value": "Third"}, cell: {"value": "Third"}}});
    let body = json!({"workspaceId": there, "upgrade": true, "decisions": decisions});
    applied(editor, template, &body).await;
    let feature = editor.get(&format!("/v1/features/{clients}"));
    assert_eq!(feature.expect(200).json()["label"], "Third");
    assert_eq!(rows(editor, &clients)[0]["name"], "Third");
}

const STEPS: [&str; 2] = ["stp_aaaaaaaaaaaa", "stp_bbbbbbbbbbbb"];

/// A step that reads orders, and one that writes a name.
fn graph(feature: &str, target: &str, value: &str) -> Value {
    let [first, second] = STEPS;
    let write = json!({"mode": "insert", "targetFeatureId": target,
        "bindings": [{"targetColumn": "title", "value": value}]});
    json!({"steps": [
        {"key": "feature.read", "id": first, "name": "Read", "config": {"featureId": feature}},
        {"key": "feature.write", "id": second, "config": write},
    ]})
}

async fn what_is_refused_together_is_asked_and_decided(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let flow = json!({"workspace_id": shop.workspace, "name": "Flow", "is_draft": false,
        "trigger_config": {"type": "manual"},
        "graph_config": graph(&shop.orders, &shop.orders, "x")});
    let made = editor.create("/v1/workflows-v2", &flow);
    let workflow = made["workflow_id"].as_str().expect("an id");
    assert!(world.switch(workflow, true).await);
    let template = shop.template(&editor, &admin, &json!({"rows": "none"}));
    let there = workspace(&editor, world.acme);
    applied(&editor, &template, &json!({"workspaceId": there})).await;
    // People take the first step out; in the package the second one takes what it found from now on.
    let versions = format!("/v1/workflows-v2?workspace_id={there}&limit=200");
    let own = editor.items(&versions)[0].clone();
    let mut graph = own["graph_config"].clone();
    graph["steps"].as_array_mut().expect("steps").remove(0);
    let path = format!(
        "/v1/workflows-v2/{}/versions",
        own["workflow_id"].as_str().expect("an id")
    );
    editor.create(&path, &json!({"graph_config": graph}));
    let publish_draft = path.replace("/versions", "/apply");
    editor.send("POST", &publish_draft, &[], None).expect(200);
    let mut flow = String::new();
    publish(&admin, &template, |package| {
        flow = reference(package, "create_workflow_v2", "Flow");
        let graph = &mut args(package, "create_workflow_v2", "Flow")["graphConfig"];
        let value = format!("{{{{vars.steps.{}.count}}}}", STEPS[0]);
        graph["steps"][1]["config"]["bindings"][0]["value"] = value.into();
    });
    let mut body = json!({"workspaceId": there, "upgrade": true});
    let plan = format!("/v1/templates/{template}/plan");
    let planned = editor.post(&plan, &body).expect(200).json();
    let conflict = &planned["conflicts"][0];
    assert_eq!(conflict["code"], "invalid_together", "{planned}");
    assert_eq!(
        (&conflict["ref"], &conflict["path"]),
        (&json!(flow), &Value::Null)
    );
    let leaf = format!("steps.{}.bindings", STEPS[1]);
    assert_eq!(conflict["leaves"], json!([leaf, "shape"]));
    let refused = apply(&editor, &template, &body);
    let refused = refused.refused(422, "upgrade_conflicts").json();
    assert_eq!(refused["conflicts"], planned["conflicts"]);
    body["decisions"] = json!({flow: {leaf: "ours"}});
    let job = applied(&editor, &template, &body).await;
    assert_eq!(job["report"]["decided"], 1, "{job}");
    let mut all = editor.items(&versions);
    all.sort_by_key(|one| one["version"].as_i64());
    let newest = all.last().expect("a version");
    let steps = newest["graph_config"]["steps"].as_array().expect("steps");
    assert_eq!((steps.len(), id(newest).is_empty()), (1, false));
}

async fn a_cell_that_its_column_cannot_hold_any_more_keeps_no_other_from_being_written(
    place: Place,
) {
    let AppliedShop {
        editor,
        admin,
        template,
        there,
        ..
    } = &AppliedShop::new(place).await;
    let clients = named(editor, there, "clients").expect("a table");
    let table = format!("/v1/features/{clients}");
    let columns = editor.get(&format!("{table}/columns")).expect(200).json();
    let mut columns = columns.as_array().expect("columns").iter();
    let name = columns.find(|column| column["name"] == "name");
    let name = id(name.expect("a column"));
    // People make numbers of the names, and migrate one.
    let number = json!({"type": "number"});
    editor
        .patch(&format!("{table}/columns/{name}"), &number)
        .expect(200);
    let stored = editor.items(&format!("{table}/rows"));
    let row = stored.iter().find(|row| row["data"]["code"] == "a");
    let path = format!("{table}/rows/{}", id(row.expect("a row")));
    let migrated = json!({"data": {"code": "a", "name": 5}});
    editor.patch(&path, &migrated).expect(200);
    let drift = format!("/v1/workspaces/{there}/templates/{template}/drift?rows=true");
    let drift = editor.get(&drift).expect(200).json();
    let cells = drift["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 1, "{drift}");
    assert_eq!(
        [&cells[0]["column"], &cells[0]["base"], &cells[0]["ours"]],
        [&json!("name"), &json!("N"), &json!(5)]
    );

    let upgrade = json!({"workspaceId": there, "upgrade": true});
    for (code, updated) in [("b", 0), ("bb", 1)] {
        publish(admin, template, |package| {
            let entries = package["payloads"].as_array_mut().expect("payloads");
            let rows = entries
                .iter_mut()
                .flat_map(|entry| entry["rows"].as_array_mut().expect("rows"));
            for row in rows.filter(|row| row["data"]["code"] == "b") {
                row["data"]["code"] = code.into();
            }
        });
        let job = applied(editor, template, &upgrade).await;
        let report = &job["report"]["rows"]["f_clients"];
        assert_eq!(
            (&report["updated"], &report["failed"]),
            (&json!(updated), &json!(0)),
            "{job}"
        );
    }
    let stored = rows(editor, &clients);
    let cells = |code: &str| {
        let row = stored.iter().find(|row| row["code"] == code);
        row.expect("a row")["name"].clone()
    };
    assert_eq!((cells("a"), cells("bb")), (json!(5), json!("N")));
}
