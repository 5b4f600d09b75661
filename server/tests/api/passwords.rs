//! Changing one's password.

use serde_json::{Value, json};
use tplkit_server::app::Config;

use super::client::{Client, Response};
use super::world::{PASSWORD, World};
use crate::stores::{Place, on_both_stores, run};

on_both_stores!(
    a_new_password_ends_every_other_session,
    a_password_has_its_bounds,
    guesses_are_counted_as_sign_ins,
    a_change_that_is_sent_again_gets_the_same_response,
    a_lost_response_is_made_up_for,
);

const NEXT: &str = "battery staple";

fn change(client: &Client, current: &str, new: &str) -> Response {
    let body = json!({"current": current, "new": new});
    client.post("/v1/me/password", &body)
}

fn session(world: &World) -> (Value, Client) {
    let tokens = world.token("editor@acme.test", PASSWORD).expect(200).json();
    let client = world
        .nobody
        .with(tokens["access_token"].as_str().expect("a token"));
    (tokens, client)
}

async fn a_new_password_ends_every_other_session(place: Place) {
    let world = World::new(place).await;
    let (others, other) = session(&world);
    let (own, client) = session(&world);
    let somebody = world.as_user("viewer@acme.test");
    // Seen before, so that it is remembered.
    other.get("/v1/features/x/rows");
    change(&client, "another one", NEXT).refused(403, "forbidden");
    other.get("/v1/me").expect(200);
    assert_eq!(change(&client, PASSWORD, NEXT).expect(204).body, "");
    client.get("/v1/me").expect(200);
    other.get("/v1/me").refused(401, "unauthenticated");
    other
        .get("/v1/features/x/rows")
        .refused(401, "unauthenticated");
    somebody.get("/v1/me").expect(200);
    let refresh = |tokens: &Value| {
        let body = json!({"refresh_token": tokens["refresh_token"]});
        world.nobody.post("/v1/auth/refresh", &body)
    };
    refresh(&others).refused(401, "unauthenticated");
    refresh(&own).expect(200);
    world
        .token("editor@acme.test", PASSWORD)
        .refused(401, "unauthenticated");
    world.token("editor@acme.test", NEXT).expect(200);
    world.token("viewer@acme.test", PASSWORD).expect(200);
    // The old one is none any more.
    change(&client, PASSWORD, NEXT).refused(403, "forbidden");
    // It is not for keys, whatever they may do.
    let key = world.as_key(&["read", "write", "structure"]);
    change(&key, NEXT, PASSWORD).refused(403, "forbidden");
    let body = json!({"current": PASSWORD, "new": NEXT});
    world
        .nobody
        .post("/v1/me/password", &body)
        .refused(401, "unauthenticated");
}

async fn a_password_has_its_bounds(place: Place) {
    let world = World::new(place).await;
    let (_, client) = session(&world);
    let long = "x".repeat(1025);
    for new in ["", "a", "123456789", "ééééééééé", &long] {
        let refused = change(&client, PASSWORD, new).refused(422, "validation_failed");
        assert_eq!(refused.json()["errors"][0]["path"], "new", "{new}");
        assert_eq!(refused.json()["errors"].as_array().map(Vec::len), Some(1));
    }
    for body in [
        json!({"current": PASSWORD}),
        json!({"new": NEXT}),
        json!({"current": 1, "new": NEXT}),
        json!({"current": PASSWORD, "new": null}),
        json!({"current": PASSWORD, "new": NEXT, "email": "x"}),
    ] {
        let refused = client.post("/v1/me/password", &body);
        assert_eq!(
            refused.refused(422, "validation_failed").json()["errors"]
                .as_array()
                .map(Vec::len),
            Some(1)
        );
    }
    change(&client, PASSWORD, &long[..1024]).expect(204);
    change(&client, &long[..1024], "éééééééééé").expect(204);
    world.token("editor@acme.test", "éééééééééé").expect(200);
}

async fn guesses_are_counted_as_sign_ins(place: Place) {
    let world = World::with(place, Config::default()).await;
    let (_, client) = session(&world);
    // The sign-in was one. Who knows the password may change it as often as they like.
    for _ in 0..6 {
        change(&client, PASSWORD, PASSWORD).expect(204);
    }
    for _ in 0..9 {
        change(&client, "a wrong one", NEXT).refused(403, "forbidden");
    }
    let refused = change(&client, PASSWORD, NEXT).refused(429, "rate_limited");
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    assert_eq!(refused.header("ratelimit-limit"), Some("10"));
    assert_eq!(refused.header("ratelimit-remaining"), Some("0"));
    // Nor may anybody go on guessing elsewhere, or the other way round.
    world
        .token("editor@acme.test", PASSWORD)
        .refused(429, "rate_limited");
    world.wait(60);
    change(&client, PASSWORD, NEXT).expect(204);
}

async fn a_change_that_is_sent_again_gets_the_same_response(place: Place) {
    let world = World::new(place).await;
    let (_, client) = session(&world);
    let send = |key: &str, current: &str, new: &str| {
        let headers = [
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        let body = json!({"current": current, "new": new}).to_string();
        client.send("POST", "/v1/me/password", &headers, Some(body.as_bytes()))
    };
    // A guess is not kept.
    for _ in 0..2 {
        let refused = send("k", "a wrong one", NEXT).refused(403, "forbidden");
        assert_eq!(refused.header("idempotency-replayed"), None);
    }
    send("k", PASSWORD, NEXT).expect(204);
    let again = send("k", PASSWORD, NEXT).expect(204);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    send("k", PASSWORD, "something else").refused(422, "idempotency_key_reused");
    world.token("editor@acme.test", NEXT).expect(200);
}

async fn a_lost_response_is_made_up_for(place: Place) {
    let world = World::new(place).await;
    let (_, client) = session(&world);
    let send = |key: &str, current: &str, new: &str| {
        let headers = [
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        let body = json!({"current": current, "new": new}).to_string();
        client.send("POST", "/v1/me/password", &headers, Some(body.as_bytes()))
    };
    send("k", PASSWORD, NEXT).expect(204);
    // As if the process had died before it kept its response.
    world
        .place
        .execute("UPDATE main.idempotency SET status = 0");
    // Nobody knows that the first one runs no more.
    send("k", PASSWORD, NEXT).refused(409, "idempotency_in_progress");
    world.wait(61);
    // Whoever sends another request has to know the password of today.
    send("l", PASSWORD, NEXT).refused(403, "forbidden");
    send("k", PASSWORD, "something else").refused(403, "forbidden");
    let again = send("k", PASSWORD, NEXT).expect(204);
    assert_eq!(again.header("idempotency-replayed"), None);
    let replayed = send("k", PASSWORD, NEXT).expect(204);
    assert_eq!(replayed.header("idempotency-replayed"), Some("true"));
    client.get("/v1/me").expect(200);
    world.token("editor@acme.test", NEXT).expect(200);
    // Neither fits any more: somebody has changed it since.
    world
        .place
        .execute("UPDATE main.idempotency SET status = 0");
    send("m", NEXT, "something else").expect(204);
    world.wait(61);
    send("k", PASSWORD, NEXT).refused(403, "forbidden");
}

async fn a_change_that_came_to_nothing_is_done_by_the_next(place: Place) {
    let world = World::new(place).await;
    let (_, client) = session(&world);
    let send = || {
        let headers = [
            ("content-type", "application/json"),
            ("idempotency-key", "k"),
        ];
        let body = json!({"current": PASSWORD, "new": NEXT}).to_string();
        client.send("POST", "/v1/me/password", &headers, Some(body.as_bytes()))
    };
    world.place.refuse("UPDATE", "users");
    let refused = send();
    assert!(refused.status >= 500, "{refused:?}");
    world.place.admit("users");
    let done = send().expect(204);
    assert_eq!(done.header("idempotency-replayed"), None);
    world.token("editor@acme.test", NEXT).expect(200);
}

#[test]
fn a_change_that_came_to_nothing_is_done_by_the_next_on_sqlite() {
    run(
        Some(Place::sqlite()),
        a_change_that_came_to_nothing_is_done_by_the_next,
    );
}

#[cfg(unix)]
#[test]
fn a_change_that_came_to_nothing_is_done_by_the_next_on_postgres() {
    run(
        Place::plain_postgres(),
        a_change_that_came_to_nothing_is_done_by_the_next,
    );
}
