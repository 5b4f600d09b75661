//! What an apply would do, and that it does that and nothing else.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tplkit_server::context::Stopwatch;

use super::shop::{Shop, applied, apply, named, row, rows, working, workspace};
use crate::api::client::Client;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_plan_says_what_is_done_and_does_nothing,
    a_plan_goes_stale,
    a_key_of_megabytes_holds_nobody_up,
);

fn plan(client: &Client, template: &str, body: &Value) -> Value {
    let path = format!("/v1/templates/{template}/plan");
    client.post(&path, body).expect(200).json()
}

async fn a_plan_says_what_is_done_and_does_nothing(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let admin = world.as_user("admin@acme.test");
    let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
    let there = workspace(&editor, world.acme);
    super::shop::feature(&editor, &there, "Clients");
    let body = json!({"workspaceId": there});
    let before = world.counts().await;
    let planned = plan(&world.as_user("viewer@acme.test"), &template, &body);
    assert_eq!(world.counts().await, before);
    assert_eq!(editor.items("/v1/template-jobs").len(), 0);
    let members: Vec<&String> = planned.as_object().expect("an object").keys().collect();
    assert_eq!(
        members,
        [
            "digest",
            "refusals",
            "create",
            "bind",
            "rename",
            "replaced_configs",
            "dropped_keys",
            "rows",
            "go_live",
            "stays_draft",
            "not_carried",
            "redacted",
            "base",
            "update",
            "conflicts",
            "kept",
            "left",
            "renames",
            "unused"
        ]
    );
    assert_eq!(planned["refusals"], json!([]));
    let created = planned["create"].as_array().expect("a list");
    let tables: Vec<&Value> = created
        .iter()
        .filter(|one| one["kind"] == "feature")
        .map(|one| &one["name"])
        .collect();
    assert_eq!(tables, ["clients_2", "orders"]);
    assert_eq!(planned["rename"][0]["to"], "clients_2");
    let counts: Vec<&Value> = planned["rows"]
        .as_object()
        .expect("tables")
        .values()
        .map(|rows| &rows["insert"])
        .collect();
    assert_eq!(counts, [2, 3]);
    let _working = working(&world);
    let job = applied(&editor, &template, &body).await;
    for (table, counts) in planned["rows"].as_object().expect("tables") {
        assert_eq!(job["report"]["rows"][table]["inserted"], counts["insert"]);
    }
    assert_eq!(job["report"]["renamed"], planned["rename"]);
    assert_eq!(
        rows(
            &editor,
            &named(&editor, &there, "clients_2").expect("a table")
        )
        .len(),
        2
    );
    // Then there is nothing left to do.
    let again = plan(&editor, &template, &body);
    assert_eq!(
        (&again["create"], &again["rename"]),
        (&json!([]), &json!([]))
    );
    assert_eq!(
        again["bind"].as_array().map(Vec::len),
        planned["create"].as_array().map(Vec::len)
    );
    for counts in again["rows"].as_object().expect("tables").values() {
        assert_eq!(counts["insert"], 0);
    }
    let same = json!({"workspaceId": there, "jobId": job["id"]});
    assert_eq!(plan(&editor, &template, &same)["create"], json!([]));
}

async fn a_plan_goes_stale(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
    let there = workspace(&editor, world.acme);
    let body = json!({"workspaceId": there});
    let digest = || plan(&editor, &template, &body)["digest"].clone();
    let with = |digest: &Value| {
        let body = json!({"workspaceId": there, "plan": digest});
        apply(&editor, &template, &body)
    };
    let first = digest();
    assert_eq!(first, digest());
    // Another body, another package, another destination.
    let fewer = json!({"workspaceId": there, "includeRows": false, "plan": first});
    apply(&editor, &template, &fewer).refused(409, "plan_stale");
    admin
        .patch(
            &format!("/v1/templates/{template}"),
            &json!({"label": "Other"}),
        )
        .expect(200);
    with(&first).refused(409, "plan_stale");
    let second = digest();
    super::shop::feature(&editor, &there, "Clients");
    with(&second).refused(409, "plan_stale");
    let response = editor.post(
        &format!("/apply/templates/{template}"),
        &json!({"workspaceId": there, "plan": second}),
    );
    response.refused(409, "plan_stale");
    let stale = plan(
        &editor,
        &template,
        &json!({"workspaceId": there, "plan": second}),
    );
    assert_eq!(stale["refusals"][0]["code"], "plan_stale");
    let third = digest();
    // What the response does not rest on changes nothing.
    row(&editor, &shop.clients, &json!({"code": "z"}));
    assert_eq!(editor.items("/v1/template-jobs").len(), 0);
    with(&third).expect(202);
}

/// What is nearly the name of a member is told apart from it, but nobody waits until that is done with megabytes.
async fn a_key_of_megabytes_holds_nobody_up(place: Place) {
    const MAX_WAIT: Duration = Duration::from_secs(3);
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let admin = world.as_user("admin@acme.test");
    let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
    let there = workspace(&editor, world.acme);
    let viewer = world.as_user("viewer@acme.test");
    let path = format!("/v1/templates/{template}/plan");
    let key = "k".repeat(4 << 20);
    let body = format!(r#"{{"workspaceId":"{there}","{key}":1}}"#);
    let slowest = thread::scope(|scope| {
        let plan = || {
            let response = viewer.json("POST", &path, &body);
            response.refused(422, "validation_failed")
        };
        let plans: Vec<_> = (0..4).map(|_| scope.spawn(plan)).collect();
        let mut slowest = Duration::ZERO;
        while plans.iter().any(|plan| !plan.is_finished()) {
            let watch = Stopwatch::start();
            world.nobody.get("/v1/health").expect(200);
            slowest = slowest.max(watch.elapsed());
        }
        slowest
    });
    assert!(slowest < MAX_WAIT, "{slowest:?}");
    let misspelt = json!({"workspaceId": there, "includeRow": true});
    let refused = viewer.post(&path, &misspelt);
    let refused = refused.refused(422, "validation_failed").json();
    let detail = refused["detail"].as_str().expect("a text");
    assert!(detail.contains("Did you mean `includeRows`?"), "{detail}");
}
