//! Cells that a template job leaves empty: the empty text where a column does not take it, and columns that
//! somebody lists under `leaveEmpty`.

use serde_json::{Value, json};

use super::shop::{applied, apply, column, feature, named, row, rows, working, workspace};
use crate::api::client::Client;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    an_empty_text_becomes_null_where_it_is_no_value,
    columns_that_may_stay_empty_hold_null,
    options_that_do_not_travel_leave_their_cells_empty,
);

/// The package of a workspace, with all rows.
fn export(client: &Client, workspace: &str, selection: &Value) -> Value {
    let path = format!("/v1/workspaces/{workspace}/export");
    client.post(&path, selection).expect(200).json()
}

fn import(client: &Client, package: &Value) -> String {
    let made = client.post("/v1/templates/import", package).expect(201);
    made.json()["id"].as_str().expect("an id").to_owned()
}

fn plan(client: &Client, template: &str, body: &Value) -> Value {
    let path = format!("/v1/templates/{template}/plan");
    client.post(&path, body).expect(200).json()
}

async fn an_empty_text_becomes_null_where_it_is_no_value(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let there = workspace(&editor, world.acme);
    let other = feature(&editor, &there, "Others");
    column(&editor, &other, &json!({"label": "Code", "type": "text"}));
    let table = feature(&editor, &there, "Things");
    let link = json!({"linkedFeatureId": other, "linkedValueColumn": "code"});
    let many =
        json!({"linkedFeatureId": other, "linkedValueColumn": "code", "isMultiSelect": true});
    let kinds = [
        ("text", json!({}), json!("x")),
        ("json", json!({}), json!([1])),
        ("number", json!({}), json!(1)),
        ("currency", json!({}), json!(1)),
        ("boolean", json!({}), json!(true)),
        ("date", json!({}), json!("2026-01-02")),
        ("datetime", json!({}), json!("2026-01-02T12:00:00Z")),
        ("select", json!({"options": ["", "a"]}), json!("a")),
        ("multi_select", json!({"options": ["", "a"]}), json!(["a"])),
        ("linked_select", link, json!("c")),
        ("auto_match", many, json!(["c"])),
    ];
    let mut data = json!({});
    for (kind, config, value) in &kinds {
        let body = json!({"label": kind, "name": kind, "type": kind, "config": config});
        column(&editor, &table, &body);
        data[*kind] = value.clone();
    }
    row(&editor, &table, &data);
    let mut package = export(&editor, &there, &json!({"rows": [table]}));
    let entry = &mut package["payloads"][0];
    // A key is filled.
    entry["keyColumn"] = Value::Null;
    entry["keyUnique"] = json!(false);
    for (kind, _, _) in &kinds {
        entry["rows"][0]["data"][*kind] = json!("");
    }
    let template = import(&world.as_user("admin@acme.test"), &package);
    let into = workspace(&editor, world.acme);
    let body = json!({"workspaceId": into});
    let said = &plan(&editor, &template, &body)["rows"]["f_things"];
    assert_eq!((&said["insert"], &said["failed"]), (&json!(1), &json!(0)));
    let _working = working(&world);
    let job = applied(&editor, &template, &body).await;
    assert_eq!(job["report"]["errors"], json!([]));
    let things = named(&editor, &into, "things").expect("a table");
    let stored = rows(&editor, &things);
    let cells = stored[0].as_object().expect("cells");
    for (kind, _, _) in &kinds {
        let expected = match *kind {
            "text" | "json" => json!(""),
            _ => Value::Null,
        };
        assert_eq!(cells.get(*kind), Some(&expected), "{kind}: {stored:?}");
    }
}

/// Orders that link to clients, which do not travel but for two rows.
fn clients_by_hand(editor: &Client, there: &str) -> Value {
    let clients = feature(editor, there, "Clients");
    column(editor, &clients, &json!({"label": "Code", "type": "text"}));
    let orders = feature(editor, there, "Orders");
    let link = json!({"linkedFeatureId": clients, "linkedValueColumn": "code"});
    let client = json!({"label": "Client", "type": "linked_select", "config": link});
    column(editor, &orders, &client);
    let mut package = export(editor, there, &json!({"features": [orders]}));
    let uid = "u_0198c0de-0000-4000-8000-000000000001";
    let item = json!({"uid": uid, "kind": "rows", "label": "Clients", "count": 2,
        "dataClass": "reference"});
    let items = package["manifest"]["items"].as_array_mut();
    items.expect("items").push(item);
    let line = |number: u32, data: Value| json!({"uid": format!("u_0198c0de-0000-4000-8000-00000000010{number}"), "data": data});
    package["payloads"] = json!([{
        "featureRef": "f_clients", "itemUid": uid, "count": 2, "keyColumn": null, "keyUnique": false,
        "columns": ["code"], "rows": [line(1, json!({"code": "a"})), line(2, json!({}))],
    }]);
    package
}

async fn columns_that_may_stay_empty_hold_null(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let package = clients_by_hand(&editor, &workspace(&editor, world.acme));
    let template = import(&world.as_user("admin@acme.test"), &package);
    let there = workspace(&editor, world.acme);
    let people = feature(&editor, &there, "People");
    let required = |label: &str| {
        let body = json!({"label": label, "type": "text", "config": {"required": true}});
        column(&editor, &people, &body)
    };
    let (code, _phone) = (required("Kode"), required("Phone"));
    column(&editor, &people, &json!({"label": "Note", "type": "text"}));
    let body = |left: Value| {
        let map = json!({"action": "map", "id": people, "columns": {"c_clients_code": code},
            "leaveEmpty": left});
        json!({"workspaceId": there, "resolutions": {"f_clients": map}})
    };
    for wanted in [json!([]), json!(["phone"]), json!(["kode"])] {
        let refused = apply(&editor, &template, &body(wanted));
        let refused = refused.refused(422, "mapping_required").json();
        assert_eq!(refused["ref"], "f_clients");
    }
    assert_eq!(editor.items("/v1/template-jobs").len(), 0);
    let body = body(json!(["phone", "kode"]));
    let said = &plan(&editor, &template, &body)["rows"]["f_clients"];
    assert_eq!((&said["insert"], &said["failed"]), (&json!(2), &json!(0)));
    let _working = working(&world);
    let job = applied(&editor, &template, &body).await;
    // What nobody listed is not touched.
    let stored = [
        json!({"kode": "a", "phone": null}),
        json!({"kode": null, "phone": null}),
    ];
    assert_eq!(rows(&editor, &people), stored);
    // As they were written they may be taken back.
    let path = format!(
        "/v1/template-jobs/{}/undo",
        job["id"].as_str().expect("an id")
    );
    editor.send("POST", &path, &[], None).expect(200);
    assert_eq!(rows(&editor, &people).len(), 0);
}

async fn options_that_do_not_travel_leave_their_cells_empty(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let source = workspace(&editor, world.acme);
    let table = feature(&editor, &source, "Things");
    let id = "3f2b0d5c-8a51-4c1b-9d9e-0123456789ab";
    let options = json!({"options": [id, "b"]});
    for kind in ["select", "multi_select"] {
        let body = json!({"label": kind, "name": kind, "type": kind, "config": options});
        column(&editor, &table, &body);
    }
    row(
        &editor,
        &table,
        &json!({"select": id, "multi_select": ["b", id]}),
    );
    row(
        &editor,
        &table,
        &json!({"select": "b", "multi_select": [id]}),
    );
    let package = export(&editor, &source, &json!({"rows": "all"}));
    let unresolved = package["manifest"]["unresolved"].as_array();
    let unresolved = unresolved.expect("a list").iter();
    let cells = unresolved.filter(|entry| entry["kind"] == "rows");
    let cells: Vec<_> = cells
        .map(|entry| (&entry["path"], &entry["count"]))
        .collect();
    let (select, several) = (
        json!("rows[].data.select"),
        json!("rows[].data.multi_select"),
    );
    assert_eq!(cells, [(&select, &json!(1)), (&several, &json!(2))]);
    let template = import(&world.as_user("admin@acme.test"), &package);
    let into = workspace(&editor, world.acme);
    let job = applied(&editor, &template, &json!({"workspaceId": into})).await;
    assert_eq!(job["report"]["errors"], json!([]));
    let things = named(&editor, &into, "things").expect("a table");
    let stored = [
        json!({"select": null, "multi_select": ["b"]}),
        json!({"select": "b", "multi_select": []}),
    ];
    assert_eq!(rows(&editor, &things), stored);
}
