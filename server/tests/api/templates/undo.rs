//! What a job wrote is taken back.

use std::time::Duration;

use serde_json::json;
use tplkit_server::app::Config;

use super::shop::{Shop, applied, feature, named, row, rows, working, workspace};
use crate::api::client::{Client, Response};
use crate::api::model::uuid;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_job_is_taken_back_once,
    what_people_did_since_is_not_lost_by_accident,
    each_job_takes_back_its_own,
    who_may_undo,
    an_undo_that_takes_long_goes_on_without_whoever_asked,
    an_unfinished_apply_is_in_the_way_of_an_undo,
    what_somebody_does_not_see_is_counted_and_not_named,
);

fn undo(client: &Client, job: &serde_json::Value, query: &str) -> Response {
    let path = format!(
        "/v1/template-jobs/{}/undo{query}",
        job["id"].as_str().expect("an id")
    );
    client.send("POST", &path, &[], None)
}

fn scene(world: &World, client: &Client) -> (String, String) {
    let shop = Shop::new(client, world.acme);
    let admin = world.as_user("admin@acme.test");
    let template = shop.template(client, &admin, &json!({"rows": "all"}));
    (template, workspace(client, world.acme))
}

async fn a_job_is_taken_back_once(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let (template, there) = scene(&world, &editor);
    feature(&editor, &there, "Mine");
    let before = world.counts().await;
    let job = applied(&editor, &template, &json!({"workspaceId": there})).await;
    assert_ne!(world.counts().await, before);
    let undone = undo(&editor, &job, "").expect(200).json();
    assert_eq!(
        (&undone["id"], &undone["status"]),
        (&job["id"], &json!("undone"))
    );
    assert_eq!(
        (&undone["report"], &undone["locked_until"]),
        (&job["report"], &json!(null))
    );
    assert_eq!(world.counts().await, before);
    undo(&editor, &job, "").refused(409, "conflict");
    undo(&editor, &job, "?force=true").refused(409, "conflict");
    // Under a key the response is the same again.
    let job = applied(&editor, &template, &json!({"workspaceId": there})).await;
    let path = format!(
        "/v1/template-jobs/{}/undo",
        job["id"].as_str().expect("an id")
    );
    let send = || {
        editor
            .send("POST", &path, &[("idempotency-key", "k")], None)
            .expect(200)
    };
    let (first, second) = (send(), send());
    assert_eq!(first.body, second.body);
    assert_eq!(second.header("idempotency-replayed"), Some("true"));
}

async fn what_people_did_since_is_not_lost_by_accident(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let (template, there) = scene(&world, &editor);
    let job = applied(&editor, &template, &json!({"workspaceId": there})).await;
    let clients = named(&editor, &there, "clients").expect("a table");
    row(&editor, &clients, &json!({"code": "mine"}));
    let refused = undo(&editor, &job, "").refused(409, "not_empty");
    assert!(
        refused.json()["detail"]
            .as_str()
            .expect("text")
            .contains("clients"),
        "{refused:?}"
    );
    assert_eq!(rows(&editor, &clients).len(), 3);
    // The job is as it was, and free.
    let path = format!("/v1/template-jobs/{}", job["id"].as_str().expect("an id"));
    assert_eq!(editor.get(&path).expect(200).json(), job);
    undo(&editor, &job, "?force=true").expect(200);
    assert!(named(&editor, &there, "clients").is_none());
    // A row that somebody edited is somebody's, too.
    let job = applied(&editor, &template, &json!({"workspaceId": there})).await;
    let orders = named(&editor, &there, "orders").expect("a table");
    let first = editor.items(&format!("/v1/features/{orders}/rows"))[0]["id"].clone();
    let path = format!(
        "/v1/features/{orders}/rows/{}?merge=true",
        first.as_str().expect("an id")
    );
    editor
        .patch(&path, &json!({"data": {"title": "edited"}}))
        .expect(200);
    undo(&editor, &job, "").refused(409, "not_empty");
    undo(&editor, &job, "?force=true").expect(200);
}

async fn each_job_takes_back_its_own(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let (template, there) = scene(&world, &editor);
    let none = json!({"workspaceId": there, "includeRows": false});
    let first = applied(&editor, &template, &none).await;
    let second = applied(&editor, &template, &json!({"workspaceId": there})).await;
    let clients = named(&editor, &there, "clients").expect("a table");
    assert_eq!(rows(&editor, &clients).len(), 2);
    undo(&editor, &second, "").expect(200);
    assert_eq!(rows(&editor, &clients).len(), 0);
    undo(&editor, &first, "").expect(200);
    assert!(named(&editor, &there, "clients").is_none());
}

async fn who_may_undo(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let (template, there) = scene(&world, &editor);
    let job = applied(&editor, &template, &json!({"workspaceId": there})).await;
    undo(&world.as_user("viewer@acme.test"), &job, "").refused(403, "forbidden");
    undo(&world.as_user("stranger@other.test"), &job, "").refused(404, "not_found");
    undo(&world.as_key(&["read", "write"]), &job, "").refused(403, "missing_scope");
    let path = format!(
        "/v1/template-jobs/{}/undo",
        job["id"].as_str().expect("an id")
    );
    editor
        .post(&path, &json!({}))
        .refused(422, "validation_failed");
    for query in ["?force=yes", "?force=true&force=true", "?x=1"] {
        undo(&editor, &job, query).refused(422, "validation_failed");
    }
    let missing = format!("/v1/template-jobs/{}/undo", world.context.id());
    editor
        .send("POST", &missing, &[], None)
        .refused(404, "not_found");
    // Whoever may, whoever asked for the job.
    undo(&world.as_key(&["write", "structure"]), &job, "").expect(200);
}

/// A server that waits for no second unit of an undo.
async fn impatient(place: Place) -> World {
    let config = Config {
        rate: None,
        undo_wait: Duration::ZERO,
        ..Config::default()
    };
    World::with(place, config).await
}

fn path_of(job: &serde_json::Value, verb: &str) -> String {
    let id = job["id"].as_str().expect("an id");
    format!("/v1/template-jobs/{id}{verb}")
}

async fn an_undo_that_takes_long_goes_on_without_whoever_asked(place: Place) {
    let world = impatient(place).await;
    let workers = working(&world);
    let editor = world.as_user("editor@acme.test");
    let (template, there) = scene(&world, &editor);
    let none = json!({"workspaceId": there, "includeRows": false});
    let first = applied(&editor, &template, &none).await;
    let second = applied(&editor, &template, &json!({"workspaceId": there})).await;
    workers.ends();
    world
        .has_written(uuid(second["id"].as_str().expect("an id")), 3000)
        .await;

    let accepted = undo(&editor, &second, "").expect(202).json();
    assert_eq!(accepted["id"], second["id"]);
    assert_eq!(
        (
            &accepted["status"],
            &accepted["locked_until"],
            &accepted["error"]
        ),
        (&json!("undoing"), &json!(null), &json!(null))
    );
    let progress = &accepted["progress"];
    assert_eq!(
        (&progress["phase"], &progress["done"]),
        (&json!("undo"), &json!(2000))
    );
    assert!(progress["total"].as_u64() > Some(3000), "{progress}");
    // It is in the way of everything else of the template in the workspace.
    let body = json!({"workspaceId": there});
    let with = json!({"workspaceId": there, "jobId": second["id"]});
    for body in [&body, &with] {
        let path = format!("/v1/templates/{template}/apply");
        let refused = editor.post(&path, body).refused(409, "job_active").json();
        assert_eq!(refused["job_id"], second["id"]);
        let detail = refused["detail"].as_str().expect("text");
        assert!(detail.contains("is being undone"), "{detail}");
        let path = format!("/v1/templates/{template}/plan");
        let plan = editor.post(&path, body).expect(200).json();
        assert_eq!(plan["refusals"][0]["code"], "job_active", "{plan}");
    }
    for (job, verb) in [(&first, "/undo"), (&second, "/undo"), (&second, "/cancel")] {
        let response = editor.send("POST", &path_of(job, verb), &[], None);
        let refused = response.refused(409, "job_active").json();
        assert_eq!(refused["job_id"], second["id"], "{verb}");
    }
    assert_eq!(
        editor.get(&path_of(&first, "")).expect(200).json()["status"],
        "completed"
    );
    // Elsewhere it is in nobody's way.
    let elsewhere = workspace(&editor, world.acme);
    let path = format!("/v1/templates/{template}/apply");
    let other = editor
        .post(&path, &json!({"workspaceId": elsewhere}))
        .expect(202)
        .json();
    let other = json!({"id": other["jobId"]});
    editor
        .send("POST", &path_of(&other, "/cancel"), &[], None)
        .expect(202);

    let workers = working(&world);
    let ended = loop {
        let job = editor.get(&path_of(&second, "")).expect(200).json();
        if job["status"] != "undoing" {
            break job;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(
        (&ended["status"], &ended["locked_until"], &ended["report"]),
        (&json!("undone"), &json!(null), &second["report"])
    );
    assert_eq!(ended["progress"]["done"], ended["progress"]["total"]);
    undo(&editor, &second, "").refused(409, "conflict");
    let clients = named(&editor, &there, "clients").expect("a table");
    assert_eq!(rows(&editor, &clients).len(), 0);
    undo(&editor, &first, "").expect(200);
    workers.ends();
    assert_eq!(named(&editor, &there, "clients"), None);
}

async fn an_unfinished_apply_is_in_the_way_of_an_undo(place: Place) {
    let world = World::new(place).await;
    let workers = working(&world);
    let editor = world.as_user("editor@acme.test");
    let (template, there) = scene(&world, &editor);
    let first = applied(&editor, &template, &json!({"workspaceId": there})).await;
    workers.ends();
    let path = format!("/v1/templates/{template}/apply");
    let second = editor.post(&path, &json!({"workspaceId": there}));
    let second = json!({"id": second.expect(202).json()["jobId"]});
    for (job, query) in [(&first, ""), (&first, "?force=true"), (&second, "")] {
        let refused = undo(&editor, job, query).refused(409, "job_active").json();
        assert_eq!(refused["job_id"], second["id"]);
        assert!(!refused["detail"].as_str().expect("text").is_empty());
    }
    assert_eq!(editor.get(&path_of(&first, "")).expect(200).json(), first);
    // One that has failed is in nobody's way.
    editor
        .send("POST", &path_of(&second, "/cancel"), &[], None)
        .expect(202);
    undo(&editor, &first, "").expect(200);
    undo(&editor, &second, "").expect(200);
}

/// Rows that others keep to themselves refuse an undo like all others; forced they go.
async fn what_somebody_does_not_see_is_counted_and_not_named(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let (template, there) = scene(&world, &editor);
    let job = applied(&editor, &template, &json!({"workspaceId": there})).await;
    let clients = named(&editor, &there, "clients").expect("a table");
    let own = json!({"config": {"rowAccess": "own"}});
    admin
        .patch(&format!("/v1/features/{clients}"), &own)
        .expect(200);
    row(
        &admin,
        &clients,
        &json!({"code": "secret", "name": "hidden"}),
    );
    let refused = undo(&editor, &job, "").refused(409, "not_empty");
    let text = refused.json()["detail"].as_str().expect("text").to_owned();
    assert!(
        text.contains("1 row of others") && !text.contains("secret"),
        "{text}"
    );
    undo(&editor, &job, "?force=true").expect(200);
    assert!(named(&editor, &there, "clients").is_none());
}
