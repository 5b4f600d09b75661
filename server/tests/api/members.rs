//! `/v1/organizations/{organization_id}/members`

use std::thread;

use serde_json::{Value, json};
use tplkit_server::auth::Role;

use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    people_become_members,
    only_owners_touch_owners_and_the_last_stays,
    a_removed_member_loses_everything_at_once,
    seats_are_counted_in_a_race,
    of_two_owners_who_leave_together_one_stays,
);

fn id_of(member: &Value) -> String {
    member["user_id"].as_str().expect("an id").to_owned()
}

async fn people_become_members(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let path = world.path("/members");
    let add = |email: &str, role: &str| admin.post(&path, &json!({"email": email, "role": role}));
    add("nobody@acme.test", "viewer").refused(422, "validation_failed");
    add("editor@acme.test", "viewer").refused(409, "conflict");
    add("stranger@other.test", "boss").refused(422, "validation_failed");
    add("stranger@other.test", "owner").refused(403, "forbidden");
    let member = add(" Stranger@Other.test", "viewer").expect(201).json();
    assert_eq!(member["email"], "stranger@other.test");
    assert_eq!(member["role"], "viewer");
    let listed = world
        .as_user("viewer@acme.test")
        .get(&path)
        .expect(200)
        .json();
    let items = listed["items"].as_array().expect("a list");
    assert_eq!(items.len(), 5);
    assert!(items.contains(&member), "{items:?}");
    let one = format!("{path}/{}", id_of(&member));
    let patched = admin
        .patch(&one, &json!({"role": "editor"}))
        .expect(200)
        .json();
    assert_eq!(patched["role"], "editor");
    assert_eq!(admin.patch(&one, &json!({})).expect(200).json(), patched);
    admin
        .patch(&one, &json!({"email": "x"}))
        .refused(403, "forbidden");
    for role in [json!(null), json!(""), json!("boss")] {
        let body = json!({ "role": role });
        admin.patch(&one, &body).refused(422, "validation_failed");
        let body = json!({"email": "owner@other.test", "role": role});
        admin.post(&path, &body).refused(422, "validation_failed");
    }
    let body = json!({"email": "owner@other.test"});
    admin.post(&path, &body).refused(422, "validation_failed");
    let unknown = format!("{path}/{}", world.context.id());
    admin
        .patch(&unknown, &json!({"role": "editor"}))
        .refused(404, "not_found");
    // Before what is wrong with the body.
    admin.json("PATCH", &unknown, "{").refused(404, "not_found");
    admin.json("PATCH", &one, "{").refused(422, "invalid_json");
    admin.delete(&unknown).refused(404, "not_found");
    world
        .as_user("viewer@acme.test")
        .delete(&unknown)
        .refused(404, "not_found");
    assert_eq!(admin.delete(&one).expect(204).body, "");
    admin.delete(&one).refused(404, "not_found");
}

async fn only_owners_touch_owners_and_the_last_stays(place: Place) {
    let world = World::new(place).await;
    let [owner, admin] = ["owner@acme.test", "admin@acme.test"].map(|email| world.as_user(email));
    let path = world.path("/members");
    let me = |client: &super::client::Client| {
        client.get("/v1/me").json()["id"]
            .as_str()
            .expect("an id")
            .to_owned()
    };
    let (first, second) = (
        format!("{path}/{}", me(&owner)),
        format!("{path}/{}", me(&admin)),
    );
    admin
        .patch(&first, &json!({"role": "viewer"}))
        .refused(403, "forbidden");
    admin.delete(&first).refused(403, "forbidden");
    admin
        .patch(&second, &json!({"role": "owner"}))
        .refused(403, "forbidden");
    owner
        .patch(&first, &json!({"role": "admin"}))
        .refused(409, "conflict");
    owner.delete(&first).refused(409, "conflict");
    owner.patch(&first, &json!({"role": "owner"})).expect(200);
    owner.patch(&second, &json!({"role": "owner"})).expect(200);
    owner.delete(&first).expect(204);
    admin.delete(&second).refused(409, "conflict");
}

async fn a_removed_member_loses_everything_at_once(place: Place) {
    let world = World::new(place).await;
    let [owner, editor] = ["owner@acme.test", "editor@acme.test"].map(|email| world.as_user(email));
    let id = editor.get("/v1/me").json()["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    editor.get(&world.path("")).expect(200);
    owner
        .delete(&world.path(&format!("/members/{id}")))
        .expect(204);
    editor.get(&world.path("")).refused(404, "not_found");
    assert_eq!(
        editor.get("/v1/me").expect(200).json()["organizations"],
        json!([])
    );
    assert_eq!(
        editor.get("/v1/organizations").expect(200).json()["items"],
        json!([])
    );
}

pub(super) async fn seats_are_counted_in_a_race(place: Place) {
    let world = World::new(place).await;
    let small = world.organization("Small", Some(3)).await;
    world.member(small, "owner@acme.test", Role::Owner).await;
    for number in 0..8 {
        world.person(&format!("p{number}@acme.test")).await;
    }
    let owner = world.as_user("owner@acme.test");
    let path = format!("/v1/organizations/{small}/members");
    let threads: Vec<_> = (0..8)
        .map(|number| {
            let (owner, path) = (owner.clone(), path.clone());
            let body = json!({"email": format!("p{number}@acme.test"), "role": "viewer"});
            thread::spawn(move || owner.post(&path, &body))
        })
        .collect();
    let responses: Vec<_> = threads
        .into_iter()
        .map(|thread| thread.join().expect("ends"))
        .collect();
    let count = |status| {
        responses
            .iter()
            .filter(|response| response.status == status)
            .count()
    };
    assert_eq!((count(201), count(409)), (2, 6), "{responses:?}");
    for response in responses
        .into_iter()
        .filter(|response| response.status == 409)
    {
        response.refused(409, "no_seats_available");
    }
}

pub(super) async fn of_two_owners_who_leave_together_one_stays(place: Place) {
    let world = World::new(place).await;
    let path = world.path("/members");
    for _ in 0..5 {
        let owner = world.as_user("owner@acme.test");
        let admin = world.as_user("admin@acme.test");
        let id = |client: &super::client::Client| {
            client.get("/v1/me").json()["id"]
                .as_str()
                .expect("an id")
                .to_owned()
        };
        let ids = [id(&owner), id(&admin)];
        owner
            .patch(&format!("{path}/{}", ids[1]), &json!({"role": "owner"}))
            .expect(200);
        let threads = [
            (owner.clone(), ids[0].clone()),
            (admin.clone(), ids[1].clone()),
        ]
        .map(|(client, id)| {
            let path = format!("{path}/{id}");
            thread::spawn(move || client.patch(&path, &json!({"role": "admin"})).status)
        });
        let mut statuses = threads.map(|thread| thread.join().expect("ends"));
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409]);
        // Back to where it began, by whoever is the owner now.
        let me = owner.get("/v1/me").json();
        if me["organizations"][0]["role"] == "admin" {
            admin
                .patch(&format!("{path}/{}", ids[0]), &json!({"role": "owner"}))
                .expect(200);
            owner
                .patch(&format!("{path}/{}", ids[1]), &json!({"role": "admin"}))
                .expect(200);
        }
    }
}
