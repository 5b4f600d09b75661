//! `/v1/organizations`

use serde_json::json;
use tplkit_server::auth::Role;

use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_page_holds_what_the_caller_belongs_to,
    an_organization_is_patched,
    what_never_changes_is_403,
);

async fn a_page_holds_what_the_caller_belongs_to(place: Place) {
    let world = World::new(place).await;
    let mut ids = vec![world.acme.to_string()];
    for number in 0..4 {
        let id = world.organization(&format!("o{number}"), None).await;
        world.member(id, "owner@acme.test", Role::Viewer).await;
        ids.push(id.to_string());
    }
    let owner = world.as_user("owner@acme.test");
    let walk = |limit: usize| {
        let mut found = Vec::new();
        let mut pages = 0;
        let mut cursor = String::new();
        loop {
            let page = owner
                .get(&format!("/v1/organizations?limit={limit}{cursor}"))
                .expect(200)
                .json();
            let items = page["items"].as_array().expect("a list").clone();
            found.extend(
                items
                    .iter()
                    .map(|item| item["id"].as_str().expect("an id").to_owned()),
            );
            pages += 1;
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        (found, pages)
    };
    assert_eq!(walk(2), (ids.clone(), 3));
    // A last page that is exactly full is the last.
    assert_eq!(walk(5), (ids.clone(), 1));
    assert_eq!(walk(1), (ids.clone(), 5));
    assert_eq!(walk(200), (ids, 1));
    // A cursor belongs to its route and its caller.
    let page = owner.get("/v1/organizations?limit=1").json();
    let cursor = page["next_cursor"].as_str().expect("a cursor");
    let members = world.path(&format!("/members?cursor={cursor}"));
    owner.get(&members).refused(422, "invalid_cursor");
    let path = format!("/v1/organizations?cursor={cursor}");
    world
        .as_user("viewer@acme.test")
        .get(&path)
        .refused(422, "invalid_cursor");
    owner.get(&format!("{path}&limit=3")).expect(200);
    owner
        .get(&path[..path.len() - 1])
        .refused(422, "invalid_cursor");
    let one = world
        .as_key(&["read"])
        .get("/v1/organizations")
        .expect(200)
        .json();
    assert_eq!(one["items"].as_array().map(Vec::len), Some(1));
}

async fn an_organization_is_patched(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let path = world.path("");
    let before = admin.get(&path).expect(200).json();
    assert_eq!(before["id"], world.acme.to_string());
    assert_eq!(before["config"], json!({}));
    assert_eq!(before["seats"], json!(null));
    assert_eq!(before["created_at"], before["updated_at"]);
    world.wait(1);
    assert_eq!(admin.patch(&path, &json!({})).expect(200).json(), before);
    assert_eq!(admin.get(&path).json(), before);
    let body = r#"{"config": {"a": {"b": [1.10, 1e2, 12345678901234567890.5]}, "é": "\u00e9"}}"#;
    let patched = admin.json("PATCH", &path, body).expect(200);
    let config = r#""config":{"a":{"b":[1.1,100,12345678901234567890.5]},"é":"é"}"#;
    assert!(patched.body.contains(config), "{patched:?}");
    assert_eq!(patched.json()["label"], "Acme");
    assert_ne!(patched.json()["updated_at"], before["updated_at"]);
    assert_eq!(patched.json()["created_at"], before["created_at"]);
    assert_eq!(admin.get(&path).body, patched.body);
    // The whole config is replaced.
    let key = world.as_key(&["write"]);
    let patched = key
        .patch(&path, &json!({"config": {"c": 1}, "label": "New"}))
        .expect(200)
        .json();
    assert_eq!(patched["config"], json!({"c": 1}));
    assert_eq!(patched["label"], "New");
    key.get(&path).refused(403, "missing_scope");
    admin
        .json("PATCH", &path, r#"{"config":{"n":1e400}}"#)
        .refused(422, "validation_failed");
}

async fn what_never_changes_is_403(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let path = world.path("");
    let before = owner.get(&path).body;
    for field in [
        "id",
        "organization_id",
        "created_at",
        "updated_at",
        "created_by",
        "seats",
        "row_quota",
    ] {
        let body = json!({field: 1, "label": "x"});
        owner.patch(&path, &body).refused(403, "forbidden");
    }
    assert_eq!(owner.get(&path).body, before);
}
