//! A job is stopped by somebody.

use serde_json::{Value, json};
use tplkit_server::jobs;

use super::shop::{Shop, applied, apply, finished, named, working, workspace};
use crate::api::client::{Client, Response};
use crate::api::model::uuid;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    one_that_waits_ends_at_once_and_can_go_on,
    one_that_is_worked_on_writes_no_more,
    one_that_has_ended_is_left_alone,
    who_may_cancel,
);

fn scene(world: &World, client: &Client) -> (String, String) {
    let shop = Shop::new(client, world.acme);
    let admin = world.as_user("admin@acme.test");
    let template = shop.template(client, &admin, &json!({"rows": "all"}));
    (template, workspace(client, world.acme))
}

fn cancel(client: &Client, job: &Value) -> Response {
    let id = job.as_str().expect("an id");
    client.send("POST", &format!("/v1/template-jobs/{id}/cancel"), &[], None)
}

fn undo(client: &Client, job: &Value) -> Response {
    let id = job.as_str().expect("an id");
    client.send("POST", &format!("/v1/template-jobs/{id}/undo"), &[], None)
}

fn begun(client: &Client, template: &str, there: &str) -> Value {
    let response = apply(client, template, &json!({"workspaceId": there}));
    response.expect(202).json()["jobId"].clone()
}

#[track_caller]
fn is_cancelled(job: &Value) {
    assert_eq!(
        (&job["status"], &job["error"]["code"], &job["locked_until"]),
        (&json!("failed"), &json!("cancelled"), &json!(null)),
        "{job}"
    );
    assert!(
        job["error"]["detail"]
            .as_str()
            .is_some_and(|text| text.len() > 20)
    );
}

async fn one_that_waits_ends_at_once_and_can_go_on(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let (template, there) = scene(&world, &editor);
    let job = begun(&editor, &template, &there);
    let stopped = cancel(&editor, &job).expect(202).json();
    assert_eq!(stopped["id"], job);
    is_cancelled(&stopped);
    cancel(&editor, &job).refused(409, "conflict");
    let workers = working(&world);
    // Nobody takes it up by themselves, and it is in nobody's way.
    let other = apply(&editor, &template, &json!({"workspaceId": there}));
    let other = finished(&editor, other).await;
    assert_eq!(other["status"], "completed");
    undo(&editor, &other["id"]).expect(200);
    let path = format!("/v1/template-jobs/{}", job.as_str().expect("an id"));
    is_cancelled(&editor.get(&path).expect(200).json());
    let again = apply(
        &editor,
        &template,
        &json!({"workspaceId": there, "jobId": job}),
    );
    let done = finished(&editor, again).await;
    assert_eq!(
        (&done["status"], &done["error"]),
        (&json!("completed"), &json!(null))
    );
    workers.ends();
}

async fn one_that_is_worked_on_writes_no_more(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let (template, there) = scene(&world, &editor);
    let job = begun(&editor, &template, &there);
    let before = world.counts().await;
    let (store, context) = (&world.store, &world.context);
    let taken = jobs::take_any(store, context, 60_000_000).await;
    let (held, lease) = taken.expect("the store works").expect("is free");
    assert_eq!(held.id, uuid(job.as_str().expect("an id")));
    is_cancelled(&cancel(&editor, &job).expect(202).json());
    // Whoever worked on it has lost it.
    assert!(!lease.renew(store, context).await.expect("the store works"));
    lease
        .fail(store, context, "{}".to_owned())
        .await
        .expect("the store works");
    let path = format!("/v1/template-jobs/{}", job.as_str().expect("an id"));
    is_cancelled(&editor.get(&path).expect(200).json());
    assert_eq!(world.counts().await, before);
    undo(&editor, &job).expect(200);
    cancel(&editor, &job).refused(409, "conflict");
}

async fn one_that_has_ended_is_left_alone(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let (template, there) = scene(&world, &editor);
    let job = applied(&editor, &template, &json!({"workspaceId": there})).await;
    cancel(&editor, &job["id"]).refused(409, "conflict");
    let path = format!("/v1/template-jobs/{}", job["id"].as_str().expect("an id"));
    assert_eq!(editor.get(&path).expect(200).json(), job);
    assert!(named(&editor, &there, "clients").is_some());
}

async fn who_may_cancel(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let (template, there) = scene(&world, &editor);
    let job = begun(&editor, &template, &there);
    cancel(&world.as_user("viewer@acme.test"), &job).refused(403, "forbidden");
    cancel(&world.as_user("stranger@other.test"), &job).refused(404, "not_found");
    cancel(&world.as_key(&["read", "write"]), &job).refused(403, "missing_scope");
    let path = format!("/v1/template-jobs/{}/cancel", job.as_str().expect("an id"));
    editor
        .post(&path, &json!({}))
        .refused(422, "validation_failed");
    editor
        .send("POST", &format!("{path}?x=1"), &[], None)
        .refused(422, "validation_failed");
    let missing = json!(world.context.id());
    cancel(&editor, &missing).refused(404, "not_found");
    // Whoever may, whoever asked for the job; under a key the response is the same again.
    let key = world.as_key(&["write", "structure"]);
    let headers = [("idempotency-key", "k")];
    let first = key.send("POST", &path, &headers, None).expect(202);
    let second = key.send("POST", &path, &headers, None).expect(202);
    assert_eq!(first.body, second.body);
}
