//! Secrets of steps belong to a step and to where it sends them.

use serde_json::{Value, json};

use super::integrations::settings;
use super::{Stage, ended};
use crate::api::model::id;
use crate::api::workflows::graph;
use crate::sinks::HttpSink;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_masked_secret_stays_with_its_step_and_connection,
    a_secret_never_reaches_another_server_than_the_one_it_was_entered_for,
    a_secret_below_an_unknown_key_is_never_shown,
);

const MASK: &str = "********";

fn step(number: u8, connection: &str, secret: &str) -> Value {
    json!({"key": "http.request", "id": format!("stp_{number:012}"),
        "config": {"connectionName": connection, "bearerToken": secret}})
}

fn ask(connection: &str, secret: &str) -> Value {
    json!({"key": "agent.route", "id": "stp_0000000000aa", "config": {"prompt": "?",
        "connectionName": connection, "apiKey": secret, "routes": [{"name": "r", "steps": []}]}})
}

fn inside(step: &Value) -> Value {
    json!({"key": "ifElse", "id": "stp_0000000000bb", "config": {
        "condition": {"subject": "expression", "expression": "x", "op": "isNotEmpty"},
        "then": [step]}})
}

/// The validator warns of such a key, no more.
async fn a_secret_below_an_unknown_key_is_never_shown(place: Place) {
    let stage = Stage::new(place).await;
    let notify =
        json!({"key": "notify", "config": {"scopeType": "organization", "title": "hello"}});
    let switch = json!({"key": "switch", "id": "stp_0000000000cc", "config": {"subject": "x",
        "routes": [{"value": "a", "steps": [notify]}], "else": [step(1, "api", "canary9")]}});
    let workspace = &stage.model.workspace;
    let body = json!({"workspace_id": workspace, "name": "Route", "trigger_config": {"type": "manual"},
        "graph_config": graph(&json!([switch]))});
    let made = stage.editor.post(crate::api::workflows::PATH, &body);
    let made = made.expect(201).body;
    assert!(made.contains(MASK) && !made.contains("canary9"), "{made}");
    let export = format!("/v1/workspaces/{workspace}/export");
    let package = stage.editor.post(&export, &json!({})).expect(200).body;
    assert!(package.contains("Route"), "{package}");
    for leak in ["canary9", "sealed:", "plain:"] {
        assert!(!package.contains(leak), "{package}");
    }
}

async fn a_masked_secret_stays_with_its_step_and_connection(place: Place) {
    let stage = Stage::new(place).await;
    let (ours, theirs) = (
        HttpSink::start("200 OK", "{}"),
        HttpSink::start("200 OK", "{}"),
    );
    stage.connection("api", "http", &ours.url, None).await;
    stage.connection("evil", "http", &theirs.url, None).await;
    stage.connection("brain", "llm", &ours.url, None).await;
    let steps = |steps: &[Value]| json!(steps);
    let begun = steps(&[step(1, "api", "canary1"), inside(&ask("brain", "canary2"))]);
    let it = stage.fires(&json!({"type": "manual"}), &begun).await;
    let versions = |steps: &Value| {
        let body = json!({"graph_config": graph(steps)});
        stage.editor.post_to(&it, "/versions", &body)
    };
    let nested = "graph_config.steps[1].config.then[0].config.apiKey";
    let first = "graph_config.steps[0].config.bearerToken";
    for (changed, paths) in [
        // Another connection, at the top, within a branch, and both.
        (
            steps(&[step(1, "evil", MASK), inside(&ask("brain", MASK))]),
            vec![first],
        ),
        (
            steps(&[step(1, "api", MASK), inside(&ask("evil", MASK))]),
            vec![nested],
        ),
        (
            steps(&[step(1, "evil", MASK), inside(&ask("api", MASK))]),
            vec![first, nested],
        ),
        // One that is not there, and names that are nearly the same.
        (steps(&[step(1, "nowhere", MASK)]), vec![first]),
        (steps(&[step(1, "API", MASK)]), vec![first]),
        (steps(&[step(1, "api ", MASK)]), vec![first]),
        // Another step; the secret of one for the other.
        (steps(&[step(2, "api", MASK)]), vec![first]),
        (
            steps(&[step(1, "evil", "x"), step(2, "api", MASK)]),
            vec!["graph_config.steps[1].config.bearerToken"],
        ),
    ] {
        let refused = versions(&changed).refused(422, "secret_required").json();
        let errors = refused["errors"].as_array().expect("a list");
        let found: Vec<&str> = errors
            .iter()
            .filter_map(|one| one["path"].as_str())
            .collect();
        assert_eq!(found, paths, "{changed}");
        assert!(errors.iter().all(|one| one["code"] == "secret_required"));
    }
    // A new automation has nothing that the mask could stand for.
    let copy = json!({"workspace_id": stage.model.workspace, "name": "copy",
        "trigger_config": {"type": "manual"}, "graph_config": graph(&steps(&[step(1, "api", MASK)]))});
    stage
        .editor
        .post(crate::api::workflows::PATH, &copy)
        .refused(422, "secret_required");
    // Moved within the chain it is the same step; entered anew it may go elsewhere.
    let moved = steps(&[
        inside(&ask("brain", MASK)),
        inside_too(&step(1, "api", MASK)),
    ]);
    versions(&moved).expect(201);
    versions(&steps(&[
        step(1, "evil", "n3w"),
        inside(&ask("brain", MASK)),
    ]))
    .expect(201);
    // That draft is not in force: what counts is the version that is.
    versions(&steps(&[step(1, "evil", MASK)])).refused(422, "secret_required");
    stage.editor.post_to(&it, "/apply", &json!({})).expect(200);
    versions(&steps(&[step(1, "evil", MASK)])).expect(201);
    versions(&steps(&[step(1, "api", MASK)])).refused(422, "secret_required");
    stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
    stage
        .executor_with(settings())
        .run_due()
        .await
        .expect("runs");
    let heads: Vec<String> = theirs
        .received()
        .iter()
        .map(|one| one.head.clone())
        .collect();
    assert!(heads.concat().contains("Bearer n3w"), "{heads:?}");
    assert!(!heads.concat().contains("canary"), "{heads:?}");
}

fn inside_too(step: &Value) -> Value {
    let mut outer = inside(step);
    outer["id"] = json!("stp_0000000000cc");
    outer
}

async fn a_secret_never_reaches_another_server_than_the_one_it_was_entered_for(place: Place) {
    let stage = Stage::new(place).await;
    let admin = stage.world.as_user("admin@acme.test");
    let (ours, theirs) = (
        HttpSink::start("200 OK", "{}"),
        HttpSink::start("200 OK", "{}"),
    );
    let connection = |name: &str, url: &str| {
        let body =
            json!({"organization_id": stage.world.acme, "name": name, "kind": "http", "url": url});
        format!(
            "/v1/connections/{}",
            id(&admin.create("/v1/connections", &body))
        )
    };
    let api = connection("api", &ours.url);
    let steps = json!([step(1, "api", "canary")]);
    let it = stage.fires(&json!({"type": "manual"}), &steps).await;
    let run = async || {
        let begun = stage
            .editor
            .post_to(&it, "/runs", &json!({}))
            .expect(202)
            .json();
        stage
            .executor_with(settings())
            .run_due()
            .await
            .expect("runs");
        let path = format!("/v1/workflow-runs/{}", id(&begun));
        stage.editor.get(&path).expect(200).json()
    };
    assert_eq!(ended(&run().await).0, "succeeded");
    // Another path of the same server is the same server.
    let other_path = json!({"url": format!("{}/more", ours.url)});
    admin.patch(&api, &other_path).expect(200);
    assert_eq!(ended(&run().await).0, "succeeded");
    let elsewhere = json!({"url": theirs.url});
    admin.patch(&api, &elsewhere).expect(200);
    let refused = run().await;
    assert_eq!(ended(&refused).0, "failed");
    assert!(refused.to_string().contains("another server"), "{refused}");
    // Under the name of one that was renamed or removed there may be another server.
    for remove in [false, true] {
        let name = json!({"name": format!("old {remove}"), "url": ours.url});
        admin.patch(&api, &name).expect(200);
        if remove {
            admin.delete(&api).expect(204);
        }
        let evil = connection("api", &theirs.url);
        assert_eq!(ended(&run().await).0, "failed");
        admin.delete(&evil).expect(204);
    }
    assert!(theirs.received().is_empty(), "{:?}", theirs.received());
    assert_eq!(ours.received().len(), 2);
}
