//! `PATCH /v1/templates/{template_id}`

use serde_json::{Value, json};

use crate::api::model::{id, package};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    what_changes_stands_in_the_manifest,
    nothing_to_change_changes_nothing,
    what_cannot_be_changed_is_reported,
    what_becomes_public_is_seen_by_everybody_until_it_is_not,
);

async fn what_changes_stands_in_the_manifest(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let made = admin.create("/v1/templates/import", &package("Notes"));
    let path = format!("/v1/templates/{}", id(&made));
    world.wait(5);
    let change = json!({
        "name": "other", "label": "O \"quoted\"\n", "description": "d", "category": "c",
        "tags": ["b", "a"], "visibility": "public",
    });
    let changed = admin.patch(&path, &change).expect(200).json();
    assert!(changed.get("manifest").is_none(), "{changed}");
    let read = admin.get(&path).expect(200).json();
    for (field, value) in change.as_object().expect("an object") {
        assert_eq!(&changed[field], value, "{field}");
        assert_eq!(&read[field], value, "{field}");
        assert_eq!(&read["manifest"][field], value, "{field}");
    }
    assert_ne!(changed["updated_at"], made["updated_at"]);
    let mut given = package("Notes")["manifest"].clone();
    for (field, value) in change.as_object().expect("an object") {
        given[field] = value.clone();
    }
    assert_eq!(read["manifest"], given);
    let package = admin.get(&format!("{path}/package")).expect(200).json();
    assert_eq!(package["manifest"], given);
    let change = json!({"description": null, "category": null});
    let changed = admin.patch(&path, &change).expect(200).json();
    assert_eq!(
        (&changed["description"], &changed["category"]),
        (&Value::Null, &Value::Null)
    );
    let read = admin.get(&path).expect(200).json();
    assert!(read["manifest"].get("description").is_none(), "{read}");
}

async fn nothing_to_change_changes_nothing(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let made = admin.create("/v1/templates/import", &package("Notes"));
    let path = format!("/v1/templates/{}", id(&made));
    world.wait(5);
    assert_eq!(admin.patch(&path, &json!({})).expect(200).json(), made);
}

async fn what_cannot_be_changed_is_reported(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let made = admin.create("/v1/templates/import", &package("Notes"));
    let path = format!("/v1/templates/{}", id(&made));
    for frozen in [
        "id",
        "organization_id",
        "created_at",
        "updated_at",
        "created_by",
    ] {
        admin
            .patch(&path, &json!({frozen: "x"}))
            .refused(403, "forbidden");
    }
    for (body, message) in [
        (json!({"manifest": {}}), "manifest"),
        (json!({"scope": "module"}), "scope"),
        (json!({"visibility": "secret"}), "visibility"),
        (json!({"visibility": null}), "visibility"),
        (json!({"label": null}), "label"),
        (json!({"name": 1}), "name"),
        (json!({"tags": ["a", 1]}), "tags"),
        (json!({"tags": null}), "tags"),
        // What may not travel may not be written later either.
        (
            json!({"label": "0198a5ba-0000-7000-8000-000000000001"}),
            "X001",
        ),
    ] {
        let refused = admin.patch(&path, &body).refused(422, "validation_failed");
        assert!(refused.body.contains(message), "{refused:?}");
    }
    admin.json("PATCH", &path, "{").refused(422, "invalid_json");
    let editor = world.as_user("editor@acme.test");
    editor
        .patch(&path, &json!({"nonsense": 1}))
        .refused(403, "forbidden");
    editor
        .patch(&path, &json!({"visibility": "public"}))
        .refused(403, "forbidden");
    assert_eq!(admin.get(&path).json()["updated_at"], made["updated_at"]);
}

async fn what_becomes_public_is_seen_by_everybody_until_it_is_not(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let made = admin.create("/v1/templates/import", &package("Notes"));
    let path = format!("/v1/templates/{}", id(&made));
    let stranger = world.as_user("stranger@other.test");
    for (visibility, status) in [("public", 200), ("org", 404), ("public", 200)] {
        admin
            .patch(&path, &json!({"visibility": visibility}))
            .expect(200);
        for tail in ["", "/package", "/payloads"] {
            let response = stranger.get(&format!("{path}{tail}")).expect(status);
            assert!(
                status != 200 || response.body.contains("Notes"),
                "{response:?}"
            );
        }
    }
}
