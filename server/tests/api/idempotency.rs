//! `Idempotency-Key`: sent twice, done once.

use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use serde_json::json;
use tokio::sync::oneshot;
use tplkit_server::app::Config;
use tplkit_server::auth::Role;
use tplkit_server::store::{Scope, StoreError};

use super::client::{Client, Response};
use super::model::Model;
use super::world::World;
use crate::stores::{Place, on_both_stores, run};

on_both_stores!(
    what_is_sent_twice_is_done_once,
    a_key_stands_for_one_request,
    a_path_is_the_same_however_it_is_written,
    a_refusal_is_kept_too,
    what_was_not_there_is_not_there_under_its_key,
    a_body_of_another_type_is_kept_and_one_too_large_is_not,
    what_changes_nothing_keeps_nothing,
    what_became_forbidden_is_not_replayed,
    responses_are_kept_for_a_day,
    many_at_once_have_one_effect,
    secrets_are_never_kept,
    names_of_keys_are_checked,
);

fn post(client: &Client, path: &str, key: &str, body: &str) -> Response {
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", key),
    ];
    client.send("POST", path, &headers, Some(body.as_bytes()))
}

fn replayed(response: &Response) -> bool {
    response.header("idempotency-replayed") == Some("true")
}

async fn with_a_newcomer(place: Place) -> (World, Client, String, String) {
    let world = World::new(place).await;
    world.person("new@acme.test").await;
    let owner = world.as_user("owner@acme.test");
    let path = world.path("/members");
    let body = json!({"email": "new@acme.test", "role": "viewer"}).to_string();
    (world, owner, path, body)
}

async fn what_is_sent_twice_is_done_once(place: Place) {
    let (_world, owner, path, body) = with_a_newcomer(place).await;
    let first = post(&owner, &path, "k-1", &body).expect(201);
    assert!(!replayed(&first));
    // Without the key it would be a conflict.
    let second = post(&owner, &path, "\"k-1\"", &body).expect(201);
    assert!(replayed(&second));
    assert_eq!(first.body, second.body);
    post(&owner, &path, "k-2", &body).refused(409, "conflict");
}

async fn a_key_stands_for_one_request(place: Place) {
    let (world, owner, path, body) = with_a_newcomer(place).await;
    post(&owner, &path, "k", &body).expect(201);
    let other = body.replace("viewer", "editor");
    post(&owner, &path, "k", &other).refused(422, "idempotency_key_reused");
    // Nor does a body that cannot be read hide that.
    post(&owner, &path, "k", "{").refused(422, "idempotency_key_reused");
    // Another caller, another path: another key.
    let admin = world.as_user("admin@acme.test");
    post(&admin, &path, "k", &body).refused(409, "conflict");
}

async fn a_path_is_the_same_however_it_is_written(place: Place) {
    let (world, owner, path, body) = with_a_newcomer(place).await;
    let first = post(&owner, &path, "k", &body).expect(201);
    let id = world.acme.to_string();
    for other in [
        path.replace(&id, &id.to_uppercase()),
        path.replace("members", "%6Dembers"),
    ] {
        let again = post(&owner, &other, "k", &body).expect(201);
        assert!(replayed(&again), "{other}");
        assert_eq!(first.body, again.body);
        let another = body.replace("viewer", "editor");
        post(&owner, &other, "k", &another).refused(422, "idempotency_key_reused");
    }
}

async fn a_refusal_is_kept_too(place: Place) {
    let (world, owner, path, _) = with_a_newcomer(place).await;
    let body = json!({"email": "later@acme.test", "role": "viewer"}).to_string();
    let first = post(&owner, &path, "k", &body).refused(422, "validation_failed");
    world.person("later@acme.test").await;
    let second = post(&owner, &path, "k", &body).refused(422, "validation_failed");
    assert!(replayed(&second));
    assert_eq!(first.body, second.body);
    post(&owner, &path, "k-2", &body).expect(201);
}

/// What is asked of what is not there, with the path of something that is not.
fn missing(world: &World) -> Vec<(String, String)> {
    let id = world.context.id();
    let paths = [
        (format!("/v1/features/{id}/rows"), json!({"data": {}})),
        (
            format!("/v1/features/{id}/rows:batch"),
            json!({"rows": [{"data": {}}]}),
        ),
        (
            format!("/v1/features/{id}/columns"),
            json!({"label": "x", "type": "text"}),
        ),
        (
            "/v1/modules".to_owned(),
            json!({"workspace_id": id, "label": "x"}),
        ),
        (
            "/v1/workflows-v2".to_owned(),
            super::workflows::body(&id.to_string(), true),
        ),
        (format!("/v1/workflows-v2/{id}/apply"), json!({})),
        (format!("/v1/workflows-v2/{id}/versions"), json!({})),
        (
            format!("/v1/workflows-v2/{id}/runs"),
            json!({"dry_run": true}),
        ),
        (
            format!("/v1/organizations/{id}/members"),
            json!({"email": "a", "role": "viewer"}),
        ),
        (
            format!("/v1/templates/{id}/apply"),
            json!({"workspaceId": id}),
        ),
        (format!("/apply/templates/{id}"), json!({"workspaceId": id})),
        (
            format!("/v1/templates/import?organization_id={id}"),
            super::model::package("x"),
        ),
    ];
    let with_body = paths.map(|(path, body)| (path, body.to_string()));
    let mut all = with_body.to_vec();
    all.push((format!("/v1/template-jobs/{id}/undo"), String::new()));
    all
}

fn send(client: &Client, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
    let mut headers = headers.to_vec();
    if body.is_empty() {
        return client.send("POST", path, &headers, None);
    }
    headers.push(("content-type", "application/json"));
    client.send("POST", path, &headers, Some(body.as_bytes()))
}

async fn what_was_not_there_is_not_there_under_its_key(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    for (path, body) in missing(&world) {
        let key = [("idempotency-key", "k")];
        let first = send(&owner, &path, &key, &body).refused(404, "not_found");
        assert!(!replayed(&first), "{path}");
        let second = send(&owner, &path, &key, &body).refused(404, "not_found");
        assert!(replayed(&second), "{path} {second:?}");
        assert_eq!(first.body, second.body);
        // A key that is none hides nothing of a path that leads nowhere, and keeps nothing. What a body
        // or a query names is only known once the request was read.
        let named = path
            .split('?')
            .next()
            .is_some_and(|path| path.matches('-').count() >= 4);
        if !named {
            continue;
        }
        let bad = [("idempotency-key", "a b")];
        let refused = send(&owner, &path, &bad, &body).refused(404, "not_found");
        assert!(!replayed(&refused), "{path}");
    }
    // What was not there stays away from whoever asks again in the same words.
    world.person("new@acme.test").await;
    let there = world.as_user("new@acme.test");
    let path = world.path("/members");
    let body = json!({"email": "viewer@acme.test", "role": "viewer"}).to_string();
    let first = post(&there, &path, "k", &body).refused(404, "not_found");
    world.member(world.acme, "new@acme.test", Role::Owner).await;
    let second = post(&there, &path, "k", &body).refused(404, "not_found");
    assert!(replayed(&second), "{second:?}");
    assert_eq!(first.body, second.body);
    post(&there, &path, "k-2", &body).refused(409, "conflict");
}

async fn a_body_of_another_type_is_kept_and_one_too_large_is_not(place: Place) {
    let config = Config {
        max_body: 1000,
        rate: None,
        ..Config::default()
    };
    let world = World::with(place, config).await;
    let owner = world.as_user("owner@acme.test");
    let path = world.path("/members");
    let body = json!({"email": "nobody@acme.test", "role": "viewer"}).to_string();
    let send = |media_type: &str, coding: &str, key: &str, body: &str| {
        let headers = [
            ("content-type", media_type),
            ("content-encoding", coding),
            ("idempotency-key", key),
        ];
        owner.send("POST", &path, &headers, Some(body.as_bytes()))
    };
    for (at, (media_type, coding)) in [("text/plain", "identity"), ("application/json", "gzip")]
        .into_iter()
        .enumerate()
    {
        let key = format!("k-{at}");
        let first = send(media_type, coding, &key, &body).refused(415, "unsupported_media_type");
        assert!(!replayed(&first));
        // The content type does not make it another request.
        for (media_type, coding) in [(media_type, coding), ("application/json", "identity")] {
            let again = send(media_type, coding, &key, &body);
            let again = again.refused(415, "unsupported_media_type");
            assert!(replayed(&again), "{again:?}");
            assert_eq!(first.body, again.body);
        }
        let other = body.replace("viewer", "editor");
        send(media_type, coding, &key, &other).refused(422, "idempotency_key_reused");
    }
    // What is too large may be sent again when the limit is another one.
    let large = " ".repeat(2000);
    for _ in 0..2 {
        let refused = send("application/json", "identity", "large", &large);
        assert!(!replayed(&refused.refused(413, "payload_too_large")));
    }
    // Of a body that is not even read, nothing can be said.
    for _ in 0..2 {
        let refused = send("text/plain", "identity", "large", &large);
        assert!(!replayed(&refused.refused(415, "unsupported_media_type")));
    }
    send("application/json", "identity", "large", &body).refused(422, "validation_failed");
}

async fn what_changes_nothing_keeps_nothing(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let model = Model::new(&owner, world.acme).with_template(&owner, world.acme);
    let (workspace, template) = (&model.workspace, model.put_into("{template_id}"));
    let missing = world.context.id().to_string();
    for (path, body) in [
        (format!("/v1/workspaces/{workspace}/export"), json!({})),
        (
            format!("/v1/templates/{template}/plan"),
            json!({"workspaceId": workspace}),
        ),
        (
            "/v1/workflows-v2/validate".to_owned(),
            json!({"workspace_id": workspace}),
        ),
    ] {
        let body = body.to_string();
        for _ in 0..2 {
            assert!(!replayed(&post(&owner, &path, "k", &body).expect(200)));
        }
        // There is nothing that the key could stand for.
        let other = json!({"workspace_id": missing}).to_string();
        let other = post(&owner, &path, "k", &other);
        assert_ne!(other.status, 200, "{path}");
        assert_ne!(other.code(), "idempotency_key_reused", "{path}");
        assert!(!replayed(&other));
        // It is a key all the same.
        for bad in ["", "a b", &"k".repeat(256)] {
            let refused = post(&owner, &path, bad, &body).refused(422, "validation_failed");
            let at = &refused.json()["errors"][0]["path"];
            assert_eq!(at, "header.Idempotency-Key", "{path}");
        }
    }
    let kept: Result<_, StoreError> = world
        .store
        .read(&Scope::Operator, (), |tx, (): &()| {
            Box::pin(async move {
                tx.query(
                    "SELECT key FROM idempotency WHERE {caller caller_id} {across test}",
                    &[],
                )
                .await
            })
        })
        .await;
    assert_eq!(kept.expect("reads").len(), 0);
}

async fn what_became_forbidden_is_not_replayed(place: Place) {
    let (world, owner, path, body) = with_a_newcomer(place).await;
    let admin = world.as_user("admin@acme.test");
    post(&admin, &path, "k", &body).expect(201);
    let id = admin.get("/v1/me").json()["id"].as_str().map(str::to_owned);
    let member = format!("{path}/{}", id.expect("an id"));
    owner.patch(&member, &json!({"role": "viewer"})).expect(200);
    post(&admin, &path, "k", &body).refused(403, "forbidden");
    owner.delete(&member).expect(204);
    post(&admin, &path, "k", &body).refused(404, "not_found");
    world
        .member(world.acme, "admin@acme.test", Role::Admin)
        .await;
    assert!(replayed(&post(&admin, &path, "k", &body).expect(201)));
}

async fn responses_are_kept_for_a_day(place: Place) {
    let (world, _, path, body) = with_a_newcomer(place).await;
    let owner = || world.as_user("owner@acme.test");
    post(&owner(), &path, "k", &body).expect(201);
    world.wait(24 * 3600 - 60);
    assert!(replayed(&post(&owner(), &path, "k", &body).expect(201)));
    world.wait(120);
    post(&owner(), &path, "k", &body).refused(409, "conflict");
}

async fn many_at_once_have_one_effect(place: Place) {
    let (_world, owner, path, body) = with_a_newcomer(place).await;
    let responses: Vec<Response> = thread::scope(|scope| {
        let sent: Vec<_> = (0..50)
            .map(|_| scope.spawn(|| post(&owner, &path, "k", &body)))
            .collect();
        let responses = sent.into_iter().map(|sent| sent.join().expect("responds"));
        responses.collect()
    });
    let first: Vec<&Response> = responses
        .iter()
        .filter(|response| response.status == 201 && !replayed(response))
        .collect();
    assert_eq!(first.len(), 1, "{responses:?}");
    for response in &responses {
        match response.status {
            201 => assert_eq!(response.body, first[0].body),
            _ => {
                response.clone().refused(409, "idempotency_in_progress");
            }
        }
    }
}

/// Where a second writer gets as far as the claim while the first one is at work.
#[test]
fn who_comes_while_the_first_runs_is_refused() {
    run(Place::postgres(), |place| async {
        let (world, owner, path, body) = with_a_newcomer(place).await;
        // Whoever adds a member waits for the row of the organization.
        let (begins, begun) = oneshot::channel();
        let (ends, end) = oneshot::channel::<()>();
        let store = world.store.clone();
        let channels = Arc::new(Mutex::new(Some((begins, end))));
        let input = (world.acme, channels);
        let held = tokio::spawn(async move {
            let done: Result<(), StoreError> = store
                .write(&Scope::Operator, input, |tx, (organization, channels)| {
                    Box::pin(async move {
                        let sql = "SELECT id FROM organizations WHERE id = $1 {lock}";
                        tx.first(sql, &[(*organization).into()]).await?;
                        let channels = channels.lock().expect("nobody panics").take();
                        let (begins, end) = channels.expect("it runs once");
                        begins.send(()).expect("is awaited");
                        end.await.expect("is asked to end");
                        Ok(())
                    })
                })
                .await;
            done
        });
        begun.await.expect("it begins");
        thread::scope(|scope| {
            let (responses, received) = mpsc::channel();
            for _ in 0..2 {
                let responses = responses.clone();
                let send = || post(&owner, &path, "k", &body);
                scope.spawn(move || responses.send(send()).expect("is awaited"));
            }
            // One of them waits for the row, so this is the other one's.
            let response = received.recv().expect("a response");
            response.refused(409, "idempotency_in_progress");
            let other = body.replace("viewer", "editor");
            post(&owner, &path, "k", &other).refused(422, "idempotency_key_reused");
            ends.send(()).expect("is awaited");
            let first = received.recv().expect("a response").expect(201);
            assert!(!replayed(&first));
            let again = post(&owner, &path, "k", &body).expect(201);
            assert!(replayed(&again));
            assert_eq!(again.body, first.body);
        });
        held.await.expect("ends").expect("is done");
    });
}

async fn secrets_are_never_kept(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let body = json!({"organization_id": world.acme, "name": "k", "scopes": ["read"]}).to_string();
    let key = || post(&owner, "/v1/api-keys", "k", &body).expect(201).json()["key"].clone();
    assert_ne!(key(), key());
    let body = json!({"email": "owner@acme.test", "password": super::world::PASSWORD}).to_string();
    let token = || {
        let response = post(&world.nobody, "/v1/auth/token", "k", &body).expect(200);
        response.json()["access_token"].clone()
    };
    assert_ne!(token(), token());
}

async fn names_of_keys_are_checked(place: Place) {
    let (_world, owner, path, body) = with_a_newcomer(place).await;
    for bad in ["", "\"\"", "a b", &"k".repeat(256)] {
        post(&owner, &path, bad, &body).refused(422, "validation_failed");
    }
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", "a"),
        ("idempotency-key", "b"),
    ];
    owner
        .send("POST", &path, &headers, Some(body.as_bytes()))
        .refused(422, "validation_failed");
    post(&owner, &path, &"k".repeat(255), &body).expect(201);
}
