//! Rows under an `Idempotency-Key`.

use serde_json::json;

use super::seed::{COLUMNS, ask, number, path, table};
use crate::api::client::{Client, Response};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_repeated_request_gets_the_same_response_and_is_done_once,
    what_is_not_longer_seen_is_not_replayed,
    a_revoked_key_replays_nothing,
);

fn keyed(client: &Client, path: &str, body: &str) -> Response {
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", "once"),
    ];
    client.send("POST", path, &headers, Some(body.as_bytes()))
}

async fn a_repeated_request_gets_the_same_response_and_is_done_once(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let body = r#"{"data":{"name":"n","sku":"a"}}"#;
    let first = keyed(&editor, &path(feature, ""), body).expect(201);
    let again = keyed(&editor, &path(feature, ""), body).expect(201);
    assert_eq!(first.body, again.body);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(first.header("idempotency-replayed"), None);
    // The mode belongs to the query.
    keyed(&editor, &path(feature, "?validate=off"), body).refused(422, "idempotency_key_reused");
    // Refusals are kept, too: also when they would go through today.
    let batch = r#"{"rows":[{"data":{"name":"n","sku":"a"}}]}"#;
    let refused = keyed(&editor, &path(feature, ":batch"), batch);
    let refused = refused.refused(409, "unique_violation");
    let one = first.json()["id"].as_str().expect("an id").to_owned();
    editor
        .delete(&path(feature, &format!("/{one}")))
        .expect(204);
    let again = keyed(&editor, &path(feature, ":batch"), batch);
    assert_eq!(again.body, refused.body);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(number(&world, "SELECT count(*) FROM rows", vec![]).await, 0);
    // A deleted row is not created again.
    let again = keyed(&editor, &path(feature, ""), body).expect(201);
    assert_eq!(again.body, first.body);
    assert_eq!(number(&world, "SELECT count(*) FROM rows", vec![]).await, 0);
}

async fn what_is_not_longer_seen_is_not_replayed(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let body = r#"{"data":{"name":"n"}}"#;
    keyed(&editor, &path(feature, ""), body).expect(201);
    let owner = world.as_user("owner@acme.test");
    let members = owner.get(&world.path("/members")).json();
    let me = editor.get("/v1/me").json()["id"].clone();
    assert!(members["items"].as_array().is_some());
    let member = world.path(&format!("/members/{}", me.as_str().expect("an id")));
    owner.patch(&member, &json!({"role": "viewer"})).expect(200);
    keyed(&editor, &path(feature, ""), body).refused(403, "forbidden");
    owner.patch(&member, &json!({"role": "editor"})).expect(200);
    keyed(&editor, &path(feature, ""), body).expect(201);
    let close = "UPDATE main.workspaces SET access = 'members'";
    ask(&world, close, vec![]).await;
    keyed(&editor, &path(feature, ""), body).refused(404, "not_found");
}

async fn a_revoked_key_replays_nothing(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let owner = world.as_user("owner@acme.test");
    let new = json!({"organization_id": world.acme, "name": "k", "scopes": ["write"]});
    let new = owner.post("/v1/api-keys", &new).expect(201).json();
    let machine = world.nobody.with(new["key"].as_str().expect("a key"));
    let body = r#"{"data":{"name":"n"}}"#;
    keyed(&machine, &path(feature, ""), body).expect(201);
    keyed(&machine, &path(feature, ""), body).expect(201);
    let key = format!("/v1/api-keys/{}", new["id"].as_str().expect("an id"));
    owner.delete(&key).expect(204);
    keyed(&machine, &path(feature, ""), body).refused(401, "unauthenticated");
    // Nor does another caller get the response.
    let mine = keyed(&owner, &path(feature, ""), body).expect(201);
    assert_eq!(mine.header("idempotency-replayed"), None);
}
