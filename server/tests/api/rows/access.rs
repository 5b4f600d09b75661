//! Who may write which rows: what is hidden cannot be distinguished from what is not there.

use serde_json::json;
use uuid::Uuid;

use super::seed::{COLUMNS, path, table_in, workspace};
use crate::api::client::Client;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    hidden_and_missing_are_the_same_bytes_for_every_method,
    own_rows_are_written_by_their_creators_alone,
    a_repeated_value_is_the_same_bytes_whether_its_row_is_seen,
    who_was_seen_a_moment_ago_is_checked_by_what_holds_now,
);

async fn hidden_and_missing_are_the_same_bytes_for_every_method(place: Place) {
    let world = World::new(place).await;
    let mut hidden: Vec<(Uuid, Client)> = Vec::new();
    let closed = workspace(&world, world.acme, "members").await;
    let feature = table_in(&world, (world.acme, closed), false, &COLUMNS).await;
    hidden.push((feature, world.as_user("editor@acme.test")));
    let open = workspace(&world, world.acme, "organization").await;
    let feature = table_in(&world, (world.acme, open), false, &COLUMNS).await;
    hidden.push((feature, world.as_user("stranger@other.test")));
    let owner = world.as_user("owner@acme.test");
    for (feature, client) in hidden {
        let row = json!({"data": {"name": "n"}});
        let created = owner.post(&path(feature, ""), &row).expect(201).json();
        let row_id = created["id"].as_str().expect("an id");
        let missing = world.context.id();
        let asks = |feature: Uuid| {
            let one = path(feature, &format!("/{row_id}"));
            let all = path(feature, "");
            let batch = path(feature, ":batch");
            let header = [("content-type", "application/json")];
            let bodies = [r#"{"data":{"name":"n"}}"#, "{", "[]", r#"{"id":1}"#];
            let mut responses = vec![client.get(&one), client.delete(&one)];
            for body in bodies {
                for (method, path) in [("POST", &all), ("POST", &batch), ("PATCH", &one)] {
                    let query = format!("{path}?validate=nonsense");
                    responses.push(client.json(method, path, body));
                    responses.push(client.json(method, &query, body));
                }
            }
            // Not even that the body is of another type.
            responses.push(client.send("POST", &all, &[], Some(b"x")));
            responses.push(client.send("PATCH", &one, &header, None));
            let bodies = responses.into_iter().map(|response| {
                let response = response.refused(404, "not_found");
                response.body.replace(&feature.to_string(), "F")
            });
            bodies.collect::<Vec<_>>()
        };
        assert_eq!(asks(feature), asks(missing));
        // And nothing was done.
        owner.get(&path(feature, &format!("/{row_id}"))).expect(200);
    }
}

async fn own_rows_are_written_by_their_creators_alone(place: Place) {
    let world = World::new(place).await;
    let open = workspace(&world, world.acme, "organization").await;
    let feature = table_in(&world, (world.acme, open), true, &COLUMNS).await;
    world.person("second@acme.test").await;
    world
        .member(
            world.acme,
            "second@acme.test",
            tplkit_server::auth::Role::Editor,
        )
        .await;
    let first = world.as_user("editor@acme.test");
    let second = world.as_user("second@acme.test");
    let admin = world.as_user("admin@acme.test");
    let create = |client: &Client| {
        let row = json!({"data": {"name": "n"}});
        let row = client.post(&path(feature, ""), &row).expect(201).json();
        path(feature, &format!("/{}", row["id"].as_str().expect("an id")))
    };
    let own = create(&second);
    for theirs in [
        create(&first),
        create(&admin),
        create(&world.as_key(&["write"])),
    ] {
        second.get(&theirs).refused(404, "not_found");
        second.delete(&theirs).refused(404, "not_found");
        second
            .patch(&theirs, &json!({"data": {"name": "m"}}))
            .refused(404, "not_found");
        admin.get(&theirs).expect(200);
    }
    second
        .patch(&own, &json!({"data": {"name": "m"}}))
        .expect(200);
    admin
        .patch(&own, &json!({"data": {"name": "o"}}))
        .expect(200);
    assert_eq!(second.get(&own).json()["data"]["name"], "o");
    second.delete(&own).expect(204);
}

async fn a_repeated_value_is_the_same_bytes_whether_its_row_is_seen(place: Place) {
    let world = World::new(place).await;
    let open = workspace(&world, world.acme, "organization").await;
    let feature = table_in(&world, (world.acme, open), true, &COLUMNS).await;
    let admin = world.as_user("admin@acme.test");
    let editor = world.as_user("editor@acme.test");
    let body = json!({"data": {"name": "n", "sku": "a"}});
    admin.post(&path(feature, ""), &body).expect(201);
    let seen = admin.post(&path(feature, ""), &body);
    let unseen = editor.post(&path(feature, ""), &body);
    assert_eq!(
        unseen.refused(409, "unique_violation").body,
        seen.refused(409, "unique_violation").body
    );
}

/// The server remembers whom it has seen; every step here follows a request that made it remember.
async fn who_was_seen_a_moment_ago_is_checked_by_what_holds_now(place: Place) {
    let world = World::new(place).await;
    let open = workspace(&world, world.acme, "organization").await;
    let feature = table_in(&world, (world.acme, open), true, &COLUMNS).await;
    let owner = world.as_user("owner@acme.test");
    let admin = world.as_user("admin@acme.test");
    let id = admin.get("/v1/me").expect(200).json()["id"].clone();
    let member = world.path(&format!("/members/{}", id.as_str().expect("an id")));
    let be = |role: &str| {
        let body = json!({"role": role});
        owner.patch(&member, &body).expect(200);
    };
    let all = path(feature, "");
    let row = json!({"data": {"name": "n"}});
    let created = owner.post(&all, &row).expect(201).json();
    let theirs = path(
        feature,
        &format!("/{}", created["id"].as_str().expect("an id")),
    );
    admin.get(&theirs).expect(200);
    be("editor");
    // Rows of others are kept from editors, also from one who was an administrator a moment ago.
    admin.get(&theirs).refused(404, "not_found");
    admin.post(&all, &row).expect(201);
    be("viewer");
    admin.post(&all, &row).refused(403, "forbidden");
    be("admin");
    admin.get(&theirs).expect(200);
    be("viewer");
    admin.get(&theirs).refused(404, "not_found");
    admin.get(&all).expect(200);
    let closed = json!({"access": "members"});
    owner
        .patch(&format!("/v1/workspaces/{open}"), &closed)
        .expect(200);
    admin.get(&all).refused(404, "not_found");
    be("admin");
    admin.get(&all).expect(200);
    owner.delete(&member).expect(204);
    admin.get(&all).refused(404, "not_found");
}
