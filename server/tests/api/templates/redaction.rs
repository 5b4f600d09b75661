//! What a report of a job keeps from those who see only their own rows.

use serde_json::{Value, json};

use super::shop::{
    Shop, applied, apply, column, feature, finished, named, row, working, workspace,
};
use crate::api::client::Client;
use crate::api::model::id;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_report_tells_nothing_of_tables_whose_rows_are_hidden,
    a_report_tells_nothing_of_a_mapped_table_that_is_not_seen,
);

async fn a_report_tells_nothing_of_tables_whose_rows_are_hidden(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let admin = world.as_user("admin@acme.test");
    let editor = world.as_user("editor@acme.test");
    let viewer = world.as_user("viewer@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
    let there = workspace(&editor, world.acme);
    let body = json!({"workspaceId": there});
    let made = applied(&editor, &template, &body).await;
    let path = format!("/v1/template-jobs/{}", id(&made));
    let report = |client: &Client| client.get(&path).expect(200).json()["report"].clone();
    let refs = |report: &Value| {
        let rows = report["rows"].as_object().expect("an object");
        rows.keys().cloned().collect::<Vec<_>>()
    };
    let open = report(&viewer);
    assert_eq!(open, made["report"]);
    assert_eq!(refs(&open).len(), 2);
    // Bound by a job before it, and created by none of its own.
    let again = applied(&editor, &template, &body).await;
    let orders = named(&editor, &there, "orders").expect("a table");
    let own = json!({"config": {"rowAccess": "own"}});
    admin
        .patch(&format!("/v1/features/{orders}"), &own)
        .expect(200);
    let hidden = report(&viewer);
    let clients = refs(&hidden);
    assert_eq!(clients.len(), 1, "{hidden}");
    assert_eq!(hidden["rows"][&clients[0]], open["rows"][&clients[0]]);
    assert_eq!(
        report(&editor),
        open,
        "who asked for it saw what it reports"
    );
    assert_eq!(report(&admin), open);
    let list = format!("/v1/template-jobs?workspace_id={there}");
    let listed = viewer.items(&list);
    assert_eq!(listed[0]["report"], hidden);
    assert_eq!(listed[1]["id"], again["id"]);
    assert_eq!(refs(&listed[1]["report"]), clients);
}

/// A package with orders, and with rows for the clients that they link to, a table which does not travel.
fn orders_with_rows_of_clients(editor: &Client, workspace: &str) -> Value {
    let clients = feature(editor, workspace, "Clients");
    let code =
        json!({"label": "Code", "type": "text", "config": {"unique": true, "required": true}});
    column(editor, &clients, &code);
    for code in ["a", "b", "x", "y"] {
        row(editor, &clients, &json!({"code": code}));
    }
    let orders = feature(editor, workspace, "Orders");
    let link = json!({"linkedFeatureId": clients, "linkedValueColumn": "code"});
    let link = json!({"label": "Client", "type": "linked_select", "config": link});
    column(editor, &orders, &link);
    row(editor, &orders, &json!({"client": "a"}));
    let path = format!("/v1/workspaces/{workspace}/export");
    let export = |selection: &Value| editor.post(&path, selection).expect(200).json();
    let mut package = export(&json!({"features": [orders], "rows": "all"}));
    let whole = export(&json!({"rows": "all"}));
    let of = |list: &Value, name: &str, wanted: &Value| {
        let mut all = list.as_array().expect("a list").iter();
        let found = all.find(|one| one[name] == *wanted);
        found.expect("it is there").clone()
    };
    let mut entry = of(&whole["payloads"], "featureRef", &json!("f_clients"));
    let mut item = of(&whole["manifest"]["items"], "uid", &entry["itemUid"]);
    item.as_object_mut().expect("an item").remove("parent");
    entry["columns"] = json!(["code"]);
    entry["keyColumn"] = json!("code");
    entry["keyUnique"] = json!(true);
    let items = package["manifest"]["items"].as_array_mut();
    items.expect("items").push(item);
    let payloads = package["payloads"].as_array_mut();
    payloads.expect("payloads").push(entry);
    package
}

async fn a_report_tells_nothing_of_a_mapped_table_that_is_not_seen(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let owner = world.as_user("owner@acme.test");
    let editor = world.as_user("editor@acme.test");
    let package = orders_with_rows_of_clients(&editor, &workspace(&editor, world.acme));
    let template = id(&owner.create("/v1/templates/import", &package));
    let closed = workspace(&owner, world.acme);
    let people = feature(&owner, &closed, "People");
    let code =
        json!({"label": "Code", "type": "text", "config": {"unique": true, "required": true}});
    let code = column(&owner, &people, &code);
    for code in ["a", "b", "c"] {
        row(&owner, &people, &json!({"code": code}));
    }
    let shared = json!({"is_shared": true});
    owner
        .patch(&format!("/v1/features/{people}"), &shared)
        .expect(200);
    let closed = format!("/v1/workspaces/{closed}");
    let access = |access: &str| owner.patch(&closed, &json!({"access": access})).expect(200);
    access("members");
    let dependency = &package["manifest"]["dependencies"][0];
    let identity = dependency["identity"]["columns"][0]["ref"].as_str();
    let map = json!({"action": "map", "id": people,
        "columns": {identity.expect("a ref"): code}});
    // The first of them enters two rows; then all four are there.
    for mode in ["missingByKey", "all"] {
        let there = workspace(&editor, world.acme);
        let body = json!({"workspaceId": there, "resolutions": {"f_clients": map},
            "rowsModes": {"f_clients": mode}});
        let job = finished(&owner, apply(&owner, &template, &body)).await;
        let whole = &job["report"];
        let counts = &whole["rows"]["f_clients"];
        if mode == "all" {
            assert_eq!(counts["failed"], 4, "{job}");
            assert!(job.to_string().contains("unique_violation"), "{job}");
        } else {
            assert_eq!(counts["existing"], 2, "{job}");
        }
        let path = format!("/v1/template-jobs/{}", id(&job));
        let list = format!("/v1/template-jobs?workspace_id={there}");
        let report = |client: &Client| client.get(&path).expect(200).json()["report"].clone();
        let hidden = report(&editor);
        let rows = hidden["rows"].as_object().expect("an object");
        assert_eq!(rows.keys().collect::<Vec<_>>(), ["f_orders"], "{hidden}");
        assert_eq!(rows["f_orders"], whole["rows"]["f_orders"]);
        assert!(!hidden.to_string().contains("unique_violation"), "{hidden}");
        assert_eq!(editor.items(&list)[0]["report"], hidden);
        assert_eq!(report(&owner), *whole);
        assert_eq!(report(&world.as_user("admin@acme.test")), *whole);
        access("organization");
        assert_eq!(report(&editor), *whole, "it sees the table");
        access("members");
    }
}
