//! `/v1/api-keys`

use serde_json::json;
use tplkit_server::store::{Row, Scope, StoreError};

use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_key_is_shown_once_and_works_until_it_is_deleted,
    keys_make_sense_or_are_refused,
    keys_expire,
    keys_expire_at_any_instant_of_rfc_3339,
    secrets_are_not_in_the_store,
);

async fn a_key_is_shown_once_and_works_until_it_is_deleted(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let body =
        json!({"organization_id": world.acme, "name": "ci", "scopes": ["structure", "write"]});
    let response = admin.post("/v1/api-keys", &body).expect(201);
    assert_eq!(response.header("cache-control"), Some("no-store"));
    let mut created = response.json();
    let key = created["key"].as_str().expect("a key").to_owned();
    assert!(key.starts_with("platform_sk_"));
    assert!(key.starts_with(created["prefix"].as_str().expect("a prefix")));
    assert_eq!(created["scopes"], json!(["write", "structure"]));
    assert_eq!(created["expires_at"], json!(null));
    created.as_object_mut().expect("an object").remove("key");
    let list = format!("/v1/api-keys?organization_id={}", world.acme);
    assert_eq!(
        admin.get(&list).expect(200).json()["items"],
        json!([created])
    );
    let machine = world.nobody.with(&key);
    machine.get("/v1/me").refused(403, "missing_scope");
    machine
        .patch(&world.path(""), &json!({"label": "by a key"}))
        .expect(200);
    let used = admin.get(&list).json()["items"][0]["last_used_at"].clone();
    assert!(used.is_string(), "{used}");
    let one = format!("/v1/api-keys/{}", created["id"].as_str().expect("an id"));
    world
        .as_user("stranger@other.test")
        .delete(&one)
        .refused(404, "not_found");
    world
        .as_user("viewer@acme.test")
        .delete(&one)
        .refused(403, "forbidden");
    machine.delete(&one).refused(403, "forbidden");
    admin.delete(&one).expect(204);
    admin.delete(&one).refused(404, "not_found");
    machine.get("/v1/me").refused(401, "unauthenticated");
    // Minting never happens from memory.
    let header = [
        ("content-type", "application/json"),
        ("idempotency-key", "same"),
    ];
    let mint = || {
        admin.send(
            "POST",
            "/v1/api-keys",
            &header,
            Some(body.to_string().as_bytes()),
        )
    };
    assert_ne!(
        mint().expect(201).json()["key"],
        mint().expect(201).json()["key"]
    );
}

async fn keys_make_sense_or_are_refused(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let past = "2023-11-14T22:13:19Z";
    for (field, value) in [
        ("scopes", json!([])),
        ("scopes", json!(["admin"])),
        ("scopes", json!(["structure"])),
        ("scopes", json!(["read", "structure"])),
        ("scopes", json!("read")),
        ("scopes", json!([1])),
        ("expires_at", json!(past)),
        ("expires_at", json!("tomorrow")),
        ("expires_at", json!("20300630T120000Z")),
        ("expires_at", json!("2030-06-30T12:00:00Z[UTC]")),
        ("expires_at", json!("2030-06-30T12:00:00+01")),
        ("expires_at", json!("2030-06-30 12:00:00Z")),
        ("expires_at", json!("9999-12-31T23:59:59-01:00")),
        ("name", json!(null)),
        ("organization_id", json!("x")),
        ("other", json!(1)),
    ] {
        let mut body = json!({"organization_id": world.acme, "name": "k", "scopes": ["read"]});
        body[field] = value;
        let problem = owner
            .post("/v1/api-keys", &body)
            .refused(422, "validation_failed")
            .json();
        assert_eq!(problem["errors"][0]["path"], field, "{problem}");
    }
    let foreign = json!({"organization_id": world.other, "name": "k", "scopes": ["read"]});
    owner
        .post("/v1/api-keys", &foreign)
        .refused(404, "not_found");
    owner.get("/v1/api-keys").refused(422, "validation_failed");
    let key = world.as_key(&["read"]);
    let me = key.get("/v1/me").expect(200).json();
    assert_eq!(me["kind"], "api_key");
    assert_eq!(me["scopes"], json!(["read"]));
    assert_eq!(
        me["organizations"],
        json!([{"id": world.acme, "label": "Acme", "role": "admin"}])
    );
    assert!(me.get("email").is_none());
}

async fn keys_expire(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let body = json!({
        "organization_id": world.acme, "name": "k", "scopes": ["read"],
        "expires_at": "2023-11-14T22:14:20Z",
    });
    let created = owner.post("/v1/api-keys", &body).expect(201).json();
    assert_eq!(created["expires_at"], "2023-11-14T22:14:20.000000Z");
    let key = world.nobody.with(created["key"].as_str().expect("a key"));
    world.wait(59);
    key.get("/v1/me").expect(200);
    world.wait(1);
    key.get("/v1/me").refused(401, "unauthenticated");
}

async fn keys_expire_at_any_instant_of_rfc_3339(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    for (written, read) in [
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000000Z"),
        ("2030-06-30t12:00:00z", "2030-06-30T12:00:00.000000Z"),
        (
            "2030-06-30T12:00:00.123456789123+01:00",
            "2030-06-30T11:00:00.123456Z",
        ),
    ] {
        let body = json!({
            "organization_id": world.acme, "name": "k", "scopes": ["read"],
            "expires_at": written,
        });
        let created = owner.post("/v1/api-keys", &body).expect(201).json();
        assert_eq!(created["expires_at"], read);
        let key = world.nobody.with(created["key"].as_str().expect("a key"));
        key.get("/v1/me").expect(200);
    }
}

async fn secrets_are_not_in_the_store(place: Place) {
    let world = World::new(place).await;
    let tokens = world
        .token("owner@acme.test", super::world::PASSWORD)
        .json();
    let body = json!({"organization_id": world.acme, "name": "k", "scopes": ["read"]});
    let key = world
        .as_user("owner@acme.test")
        .post("/v1/api-keys", &body)
        .json();
    // What is stored of a key besides its hash.
    let rows: Result<Vec<Row>, StoreError> = world
        .store
        .read(&Scope::Authentication, (), |tx, ()| {
            Box::pin(tx.query(
                "SELECT name, scopes, prefix FROM api_keys {across test}",
                &[],
            ))
        })
        .await;
    let secret = key["key"].as_str().expect("a key");
    for row in rows.expect("reads") {
        for column in 0..3 {
            assert!(!row.get::<String>(column).expect("text").contains(secret));
        }
    }
    if let Some(file) = world.place.url.strip_prefix("sqlite:") {
        let mut bytes = std::fs::read(file).expect("a file");
        bytes.extend(std::fs::read(format!("{file}-wal")).unwrap_or_default());
        let holds = |text: &str| {
            bytes
                .windows(text.len())
                .any(|window| window == text.as_bytes())
        };
        assert!(
            holds("owner@acme.test"),
            "the test looks in the right place"
        );
        for secret in [
            &tokens["access_token"],
            &tokens["refresh_token"],
            &key["key"],
        ] {
            assert!(!holds(secret.as_str().expect("a text")));
        }
        assert!(!holds(super::world::PASSWORD));
    }
}
