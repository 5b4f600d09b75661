//! Rows that are refused stay out, alone; the plan says which before, and the report after.

use serde_json::{Value, json};

use super::shop::{Shop, applied, apply, named, row, rows, working, workspace};
use crate::api::client::Client;
use crate::api::rows::ask;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_taken_value_costs_its_row_and_the_links_to_it,
    a_value_in_a_hidden_row_is_foreseen_too,
    a_quota_ends_at_its_exact_row_as_the_plan_says,
);

/// A template whose structure is in a workspace already, without its rows.
struct Scene {
    template: String,
    there: String,
    clients: String,
    orders: String,
    /// The refs of clients and orders.
    refs: Vec<String>,
}

impl Scene {
    async fn new(world: &World) -> Scene {
        let editor = world.as_user("editor@acme.test");
        let admin = world.as_user("admin@acme.test");
        let shop = Shop::new(&editor, world.acme);
        let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
        let package = editor
            .get(&format!("/v1/templates/{template}/package"))
            .json();
        let payloads = package["payloads"].as_array().expect("payloads");
        let refs = payloads.iter().map(|entry| entry["featureRef"].as_str());
        let refs: Vec<String> = refs.map(|one| one.expect("a ref").to_owned()).collect();
        let there = workspace(&editor, world.acme);
        let none = json!({refs[0].as_str(): "none", refs[1].as_str(): "none"});
        applied(
            &editor,
            &template,
            &json!({"workspaceId": there, "rowsModes": none}),
        )
        .await;
        Scene {
            clients: named(&editor, &there, "clients").expect("a table"),
            orders: named(&editor, &there, "orders").expect("a table"),
            template,
            there,
            refs,
        }
    }

    fn body(&self) -> Value {
        json!({"workspaceId": self.there})
    }

    fn plan(&self, client: &Client) -> Value {
        let path = format!("/v1/templates/{}/plan", self.template);
        client.post(&path, &self.body()).expect(200).json()
    }
}

/// Plan and report say the same of every table.
fn agree(plan: &Value, report: &Value) {
    let tables = plan["rows"].as_object().expect("tables");
    assert_eq!(
        tables.len(),
        report["rows"].as_object().expect("tables").len()
    );
    for (table, said) in tables {
        let done = &report["rows"][table];
        let said_counts = ["insert", "existing", "skipped", "failed"].map(|name| &said[name]);
        let done_counts = ["inserted", "existing", "skipped", "failed"].map(|name| &done[name]);
        assert_eq!(said_counts, done_counts, "{table}");
    }
}

async fn a_taken_value_costs_its_row_and_the_links_to_it(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let scene = Scene::new(&world).await;
    let (clients, orders) = (scene.refs[0].as_str(), scene.refs[1].as_str());
    row(
        &editor,
        &scene.clients,
        &json!({"code": "b", "name": "here"}),
    );
    let plan = scene.plan(&editor);
    let said = &plan["rows"][clients];
    assert_eq!((&said["insert"], &said["failed"]), (&json!(1), &json!(1)));
    let reasons = json!([{"code": "unique_violation", "column": "code", "count": 1}]);
    assert_eq!(said["reasons"], reasons);
    assert_eq!(plan["rows"][orders]["dropped_links"], 1);
    assert_eq!(plan["rows"][orders]["reasons"], json!([]));
    let job = applied(&editor, &scene.template, &scene.body()).await;
    let report = &job["report"];
    agree(&plan, report);
    let error = &report["errors"][0];
    assert_eq!(report["errors"].as_array().map(Vec::len), Some(1));
    let place = [
        &error["ref"],
        &error["first"],
        &error["last"],
        &error["code"],
        &error["column"],
    ];
    let expected = [
        &json!(clients),
        &json!(1),
        &json!(1),
        &json!("unique_violation"),
        &json!("code"),
    ];
    assert_eq!(place, expected);
    let message = error["message"].as_str().expect("text");
    assert!(message.starts_with("rows[1].data.code: "), "{message}");
    assert!(
        error["rowUid"]
            .as_str()
            .is_some_and(|uid| uid.starts_with("u_")),
        "{error}"
    );
    assert_eq!(report["rows"][clients]["errors_more"], 0);
    assert_eq!(report["rows"][orders]["failed"], 0);
    let linked: Vec<bool> = rows(&editor, &scene.orders)
        .iter()
        .map(|row| row["client"].is_string())
        .collect();
    assert_eq!(linked, [true, false, true]);
    let dropped = report["unresolved"].as_array().expect("a list").iter();
    let mut dropped = dropped.filter(|entry| entry["reason"] == "row_ref_dropped");
    assert_eq!(dropped.next().map(|entry| &entry["count"]), Some(&json!(1)));
    // What was refused is tried again by the next pass, and nothing else.
    let again = applied(&editor, &scene.template, &scene.body()).await;
    let counts = &again["report"]["rows"][clients];
    assert_eq!(
        (&counts["failed"], &counts["skipped"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(rows(&editor, &scene.clients).len(), 2);
}

async fn a_value_in_a_hidden_row_is_foreseen_too(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let scene = Scene::new(&world).await;
    let own = json!({"config": {"rowAccess": "own"}});
    admin
        .patch(&format!("/v1/features/{}", scene.clients), &own)
        .expect(200);
    row(
        &admin,
        &scene.clients,
        &json!({"code": "a", "name": "hidden"}),
    );
    assert_eq!(rows(&editor, &scene.clients).len(), 0);
    let plan = scene.plan(&editor);
    assert_eq!(plan["rows"][scene.refs[0].as_str()]["failed"], 1);
    let job = applied(&editor, &scene.template, &scene.body()).await;
    agree(&plan, &job["report"]);
    assert_eq!(rows(&editor, &scene.clients).len(), 1);
}

async fn a_quota_ends_at_its_exact_row_as_the_plan_says(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let scene = Scene::new(&world).await;
    // Five rows stand at the source. One more client enters here, and no order.
    let sql = "UPDATE main.organizations SET row_quota = $2 WHERE id = $1";
    ask(&world, sql, vec![world.acme.into(), 6_i64.into()]).await;
    let plan = scene.plan(&editor);
    let job = applied(&editor, &scene.template, &scene.body()).await;
    agree(&plan, &job["report"]);
    for (at, failed) in [(0, 1), (1, 3)] {
        let said = &plan["rows"][scene.refs[at].as_str()];
        let reasons = json!([{"code": "quota_exceeded", "count": failed}]);
        assert_eq!(said["reasons"], reasons);
    }
    let errors = job["report"]["errors"].as_array().expect("a list");
    let places: Vec<_> = errors
        .iter()
        .map(|error| (&error["ref"], &error["first"], &error["last"]))
        .collect();
    let refs = scene.refs.iter().map(|one| json!(one)).collect::<Vec<_>>();
    assert_eq!(
        places,
        [
            (&refs[0], &json!(1), &json!(1)),
            (&refs[1], &json!(0), &json!(2))
        ]
    );
    assert_eq!(rows(&editor, &scene.clients).len(), 1);
    assert_eq!(rows(&editor, &scene.orders).len(), 0);
    let refused = apply(
        &editor,
        &scene.template,
        &json!({"workspaceId": scene.there, "plan": plan["digest"]}),
    );
    refused.refused(409, "plan_stale");
}
