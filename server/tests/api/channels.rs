//! `/v1/channels`

use serde_json::{Value, json};

use super::model::id;
use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    channels_are_created_renamed_and_removed,
    every_member_lists_them_and_administrators_change_them,
    what_makes_no_sense_is_refused,
);

const PATH: &str = "/v1/channels";

fn of(world: &World) -> String {
    format!("{PATH}?organization_id={}", world.acme)
}

async fn channels_are_created_renamed_and_removed(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let body = json!({"organization_id": world.acme, "name": "desk"});
    let first = admin.create(PATH, &body);
    let names: Vec<&String> = first.as_object().expect("a record").keys().collect();
    assert_eq!(names.len(), 4, "{names:?}");
    assert_eq!(
        (&first["name"], &first["organization_id"]),
        (&json!("desk"), &json!(world.acme))
    );
    assert!(first["created_at"].is_string());
    // The organization may stand in the query as well, and a name is not taken by another channel.
    let second = admin.create(&of(&world), &json!({"name": "desk"}));
    let both = json!({"organization_id": world.acme, "name": "Ação: {x}"});
    let third = admin.create(&of(&world), &both);
    assert_eq!(third["name"], "Ação: {x}");
    assert_eq!(
        admin.items(&of(&world)),
        [first.clone(), second.clone(), third]
    );
    let page = admin.get(&format!("{}&limit=2", of(&world))).expect(200);
    let cursor = page.json()["next_cursor"]
        .as_str()
        .expect("one more")
        .to_owned();
    let rest = admin.items(&format!("{}&cursor={cursor}", of(&world)));
    assert_eq!(rest.len(), 1);

    let one = format!("{PATH}/{}", id(&first));
    let renamed = admin
        .patch(&one, &json!({"name": "front desk"}))
        .expect(200);
    assert_eq!(renamed.json()["name"], "front desk");
    assert_eq!(renamed.json()["created_at"], first["created_at"]);
    let same = admin.patch(&one, &json!({})).expect(200);
    assert_eq!(same.json(), renamed.json());
    let gone = admin.delete(&one).expect(204);
    assert_eq!(gone.body, "");
    admin.delete(&one).refused(404, "not_found");
    admin
        .patch(&one, &json!({"name": "x"}))
        .refused(404, "not_found");
    assert_eq!(admin.items(&of(&world)).len(), 2);
}

async fn every_member_lists_them_and_administrators_change_them(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let body = json!({"organization_id": world.acme, "name": "desk"});
    let made = admin.create(PATH, &body);
    let one = format!("{PATH}/{}", id(&made));
    for reader in [
        world.as_user("viewer@acme.test"),
        world.as_user("editor@acme.test"),
        world.as_key(&["read"]),
    ] {
        assert_eq!(reader.items(&of(&world)), std::slice::from_ref(&made));
    }
    for role in ["viewer", "editor"] {
        let below = world.as_user(&format!("{role}@acme.test"));
        below.post(PATH, &body).refused(403, "forbidden");
        below
            .patch(&one, &json!({"name": "x"}))
            .refused(403, "forbidden");
        below.delete(&one).refused(403, "forbidden");
    }
    let key = world.as_key(&["write", "structure"]);
    key.get(&of(&world)).refused(403, "missing_scope");
    world
        .as_key(&["read", "write"])
        .post(PATH, &body)
        .refused(403, "missing_scope");
    let by_key = key.create(PATH, &body);
    key.patch(&format!("{PATH}/{}", id(&by_key)), &json!({"name": "k"}))
        .expect(200);
    key.delete(&format!("{PATH}/{}", id(&by_key))).expect(204);

    let stranger = world.as_user("stranger@other.test");
    stranger.get(&of(&world)).refused(404, "not_found");
    stranger.post(PATH, &body).refused(404, "not_found");
    stranger
        .post(&of(&world), &json!({"name": "x"}))
        .refused(404, "not_found");
    stranger
        .patch(&one, &json!({"name": "x"}))
        .refused(404, "not_found");
    stranger.delete(&one).refused(404, "not_found");
    assert_eq!(admin.items(&of(&world)), [made]);
}

async fn what_makes_no_sense_is_refused(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let pointer = |path: &str| path.to_owned();
    let refused = |body: &Value, path: &str| {
        let refused = admin.post(PATH, body).refused(422, "validation_failed");
        let errors = refused.json()["errors"].clone();
        assert_eq!(errors[0]["path"], pointer(path), "{errors}");
    };
    let acme = world.acme;
    refused(&json!({"name": "x"}), "organization_id");
    refused(&json!({"organization_id": acme}), "name");
    for name in [json!(""), json!("x".repeat(256)), json!(null), json!(1)] {
        refused(&json!({"organization_id": acme, "name": name}), "name");
    }
    refused(
        &json!({"organization_id": acme, "name": "x", "label": "y"}),
        "label",
    );
    let longest = json!({"organization_id": acme, "name": "é".repeat(255)});
    let made = admin.create(PATH, &longest);
    let other = json!({"organization_id": world.other, "name": "x"});
    admin
        .post(&of(&world), &other)
        .refused(422, "validation_failed");
    for query in [
        "",
        "?organization_id=",
        "?organization_id=x",
        &format!("?organization_id={acme}&organization_id={acme}"),
        &format!("?organization_id={acme}&kind=http"),
    ] {
        admin
            .get(&format!("{PATH}{query}"))
            .refused(422, "validation_failed");
    }
    let one = format!("{PATH}/{}", id(&made));
    for frozen in ["id", "organization_id", "created_at", "updated_at"] {
        admin
            .patch(&one, &json!({"name": "x", frozen: acme}))
            .refused(403, "forbidden");
    }
    for body in [json!({"name": ""}), json!({"name": null}), json!({"x": 1})] {
        admin.patch(&one, &body).refused(422, "validation_failed");
    }
    admin
        .patch(&format!("{PATH}/x"), &json!({}))
        .refused(422, "validation_failed");
    assert_eq!(admin.items(&of(&world)), [made]);
}
