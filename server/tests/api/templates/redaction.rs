//! What a report of a job keeps from those who see only their own rows.

use serde_json::{Value, json};

use super::shop::{Shop, applied, named, working, workspace};
use crate::api::client::Client;
use crate::api::model::id;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(a_report_tells_nothing_of_tables_whose_rows_are_hidden);

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
