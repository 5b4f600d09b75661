//! Signing in, refreshing, and the limits on both.

use std::thread;

use serde_json::{Value, json};
use tplkit_server::app::Config;
use tplkit_server::http::rate_limit::Rate;

use super::client::{Client, Response};
use super::world::{PASSWORD, World};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_person_signs_in,
    failures_tell_nothing,
    a_refresh_rotates,
    a_refresh_token_that_comes_again_ends_the_family_unless_it_lost_a_race,
    of_many_refreshes_one_wins,
    sessions_expire,
    a_sign_out_ends_the_family,
    sign_in_is_limited_whatever_the_tricks,
    limits_are_per_route_and_caller,
);

fn refresh(client: &Client, token: &Value) -> Response {
    client.post("/v1/auth/refresh", &json!({"refresh_token": token}))
}

fn access(world: &World, tokens: &Value) -> Response {
    let token = tokens["access_token"].as_str().expect("a token");
    world.nobody.with(token).get("/v1/me")
}

async fn a_person_signs_in(place: Place) {
    let world = World::new(place).await;
    let response = world.token(" Owner@ACME.test ", PASSWORD).expect(200);
    assert_eq!(response.header("cache-control"), Some("no-store"));
    let tokens = response.json();
    assert_eq!(tokens["token_type"], "bearer");
    assert_eq!(tokens["expires_in"], 3600);
    let me = access(&world, &tokens).expect(200).json();
    assert_eq!(me["kind"], "user");
    assert_eq!(me["email"], "owner@acme.test");
    assert_eq!(
        me["organizations"],
        json!([{"id": world.acme, "label": "Acme", "role": "owner"}])
    );
    assert!(me.get("scopes").is_none());
    // A refresh token opens nothing, and the scheme's case does not matter.
    let token = tokens["refresh_token"].as_str().expect("a token");
    world
        .nobody
        .with(token)
        .get("/v1/me")
        .refused(401, "unauthenticated");
    let header = format!(
        "bEaReR {}",
        tokens["access_token"].as_str().expect("a token")
    );
    world
        .nobody
        .send("GET", "/v1/me", &[("authorization", &header)], None)
        .expect(200);
}

async fn failures_tell_nothing(place: Place) {
    let world = World::new(place).await;
    let wrong = world
        .token("owner@acme.test", "wrong")
        .refused(401, "unauthenticated");
    let unknown = world
        .token("nobody@acme.test", "wrong")
        .refused(401, "unauthenticated");
    assert_eq!(wrong.body, unknown.body);
    // The same work was done for everybody, also for what cannot be a password.
    let long = "x".repeat(100_000);
    for (email, password) in [
        ("owner@acme.test", "wrong"),
        ("nobody@acme.test", "wrong"),
        ("owner@acme.test", &long),
        ("nobody@acme.test", ""),
    ] {
        let before = world.app.passwords.verified().get();
        let refused = world.token(email, password).refused(401, "unauthenticated");
        assert_eq!(refused.body, wrong.body);
        assert_eq!(world.app.passwords.verified().get(), before + 1, "{email}");
    }
    assert_eq!(wrong.header("www-authenticate"), Some("Bearer"));
    for body in [
        json!({}),
        json!({"email": "a"}),
        json!({"email": 1, "password": "x"}),
        json!({"email": "a", "password": null}),
    ] {
        world
            .nobody
            .post("/v1/auth/token", &body)
            .refused(422, "validation_failed");
    }
    let garbage = refresh(&world.nobody, &json!("garbage")).refused(401, "unauthenticated");
    let tokens = world.token("owner@acme.test", PASSWORD).json();
    refresh(&world.nobody, &tokens["refresh_token"]).expect(200);
    world.wait(60);
    let used = refresh(&world.nobody, &tokens["refresh_token"]).refused(401, "unauthenticated");
    assert_eq!(used.body, garbage.body);
    let tokens = world.token("owner@acme.test", PASSWORD).json();
    world.wait(30 * 24 * 3600);
    let expired = refresh(&world.nobody, &tokens["refresh_token"]).refused(401, "unauthenticated");
    assert_eq!(expired.body, garbage.body);
    refresh(&world.nobody, &json!(7)).refused(422, "validation_failed");
}

async fn a_refresh_rotates(place: Place) {
    let world = World::new(place).await;
    let mut tokens = world.token("owner@acme.test", PASSWORD).json();
    for _ in 0..3 {
        let next = refresh(&world.nobody, &tokens["refresh_token"])
            .expect(200)
            .json();
        assert_ne!(next["refresh_token"], tokens["refresh_token"]);
        assert_ne!(next["access_token"], tokens["access_token"]);
        access(&world, &next).expect(200);
        tokens = next;
        world.wait(1000);
    }
}

async fn a_refresh_token_that_comes_again_ends_the_family_unless_it_lost_a_race(place: Place) {
    let world = World::new(place).await;
    let other = world.token("owner@acme.test", PASSWORD).json();
    let first = world.token("owner@acme.test", PASSWORD).json();
    let second = refresh(&world.nobody, &first["refresh_token"])
        .expect(200)
        .json();
    world.wait(10);
    refresh(&world.nobody, &first["refresh_token"]).refused(401, "unauthenticated");
    access(&world, &second).expect(200);
    let third = refresh(&world.nobody, &second["refresh_token"])
        .expect(200)
        .json();
    world.wait(11);
    refresh(&world.nobody, &first["refresh_token"]).refused(401, "unauthenticated");
    for tokens in [&first, &second, &third] {
        access(&world, tokens).refused(401, "unauthenticated");
        refresh(&world.nobody, &tokens["refresh_token"]).refused(401, "unauthenticated");
    }
    // Another session of the same person goes on.
    access(&world, &other).expect(200);
    refresh(&world.nobody, &other["refresh_token"]).expect(200);
}

async fn of_many_refreshes_one_wins(place: Place) {
    let world = World::new(place).await;
    let tokens = world.token("owner@acme.test", PASSWORD).json();
    let threads: Vec<_> = (0..50)
        .map(|_| {
            let (client, token) = (world.nobody.clone(), tokens["refresh_token"].clone());
            thread::spawn(move || refresh(&client, &token))
        })
        .collect();
    let responses: Vec<Response> = threads
        .into_iter()
        .map(|thread| thread.join().expect("ends"))
        .collect();
    let won: Vec<&Response> = responses
        .iter()
        .filter(|response| response.status == 200)
        .collect();
    assert_eq!(won.len(), 1, "{responses:?}");
    assert_eq!(
        responses
            .iter()
            .filter(|response| response.status == 401)
            .count(),
        49
    );
    let next = won[0].json();
    access(&world, &next).expect(200);
    refresh(&world.nobody, &next["refresh_token"]).expect(200);
}

async fn sessions_expire(place: Place) {
    let world = World::new(place).await;
    let tokens = world.token("owner@acme.test", PASSWORD).json();
    world.wait(3599);
    access(&world, &tokens).expect(200);
    world.wait(1);
    access(&world, &tokens).refused(401, "unauthenticated");
    refresh(&world.nobody, &tokens["refresh_token"]).expect(200);
}

async fn a_sign_out_ends_the_family(place: Place) {
    let world = World::new(place).await;
    let other = world.token("owner@acme.test", PASSWORD).json();
    let leave = |token: &Value| {
        let body = json!({"refresh_token": token});
        world.nobody.post("/v1/auth/logout", &body).expect(204)
    };
    // By its newest token, by one that was used up, and once more.
    for newest in [true, false] {
        let first = world.token("owner@acme.test", PASSWORD).json();
        let second = refresh(&world.nobody, &first["refresh_token"]).json();
        let token = if newest { &second } else { &first };
        for _ in 0..2 {
            assert_eq!(leave(&token["refresh_token"]).body, "");
        }
        for tokens in [&first, &second] {
            access(&world, tokens).refused(401, "unauthenticated");
            refresh(&world.nobody, &tokens["refresh_token"]).refused(401, "unauthenticated");
        }
    }
    // Whatever the token is, nothing is reported; an access token ends nothing.
    leave(&json!("garbage"));
    leave(&other["access_token"]);
    access(&world, &other).expect(200);
    // Nor does it take a credential, or care about one.
    let signed_in = world.nobody.with("nonsense");
    let body = json!({"refresh_token": "x"});
    signed_in.post("/v1/auth/logout", &body).expect(204);
    for body in [
        json!({}),
        json!({"refresh_token": 7}),
        json!({"refresh_token": "x", "a": 1}),
    ] {
        let refused = world.nobody.post("/v1/auth/logout", &body);
        refused.refused(422, "validation_failed");
    }
}

async fn sign_in_is_limited_whatever_the_tricks(place: Place) {
    let world = World::with(
        place,
        Config {
            trust_proxy: true,
            ..Config::default()
        },
    )
    .await;
    let attempt = |email: &str, from: &str| {
        let body = json!({"email": email, "password": "wrong"}).to_string();
        let headers = [
            ("content-type", "application/json"),
            ("x-forwarded-for", from),
        ];
        world
            .nobody
            .send("POST", "/v1/auth/token", &headers, Some(body.as_bytes()))
    };
    // One address guesses at many people.
    for number in 0..10 {
        let response = attempt(&format!("p{number}@acme.test"), "10.0.0.1");
        let response = response.refused(401, "unauthenticated");
        assert_eq!(
            response.header("ratelimit-remaining"),
            Some((9 - number).to_string().as_str())
        );
    }
    // What the client claims before the proxy's own entry counts for nothing.
    let refused = attempt("p11@acme.test", "1.2.3.4, 10.0.0.1").refused(429, "rate_limited");
    let wait: i64 = refused
        .header("retry-after")
        .and_then(|wait| wait.parse().ok())
        .expect("a number");
    assert!(wait >= 1, "{refused:?}");
    world.wait(wait);
    attempt("p12@acme.test", "10.0.0.1").refused(401, "unauthenticated");
    // Many addresses guess at one person, in every spelling.
    for number in 0..10 {
        let email = if number % 2 == 0 {
            "owner@acme.test"
        } else {
            " OWNER@acme.TEST"
        };
        attempt(email, &format!("10.0.1.{number}")).refused(401, "unauthenticated");
    }
    let refused = attempt("Owner@acme.test", "10.0.2.1").refused(429, "rate_limited");
    // It says when the person may be tried again, not how much is left to the address.
    for (header, value) in [
        ("retry-after", "6"),
        ("ratelimit-limit", "10"),
        ("ratelimit-remaining", "0"),
        ("ratelimit-reset", "60"),
    ] {
        assert_eq!(refused.header(header), Some(value), "{header}");
    }
    world.wait(60);
    attempt("Owner@acme.test", "10.0.2.1").refused(401, "unauthenticated");
}

async fn limits_are_per_route_and_caller(place: Place) {
    let config = Config {
        rate: Some(Rate::per_second(3)),
        ..Config::default()
    };
    let world = World::with(place, config).await;
    let [owner, viewer] = ["owner@acme.test", "viewer@acme.test"].map(|email| world.as_user(email));
    for left in ["2", "1", "0"] {
        let response = owner.get("/v1/me").expect(200);
        assert_eq!(response.header("ratelimit-limit"), Some("3"));
        assert_eq!(response.header("ratelimit-remaining"), Some(left));
        assert_eq!(response.header("ratelimit-reset"), Some("1"));
    }
    // What is open to everybody has limits, too; but whether the server runs may be asked at any time.
    for path in ["/v1/openapi.json", "/docs"] {
        for _ in 0..3 {
            world.nobody.get(path).expect(200);
        }
        world.nobody.get(path).refused(429, "rate_limited");
    }
    for _ in 0..9 {
        world.nobody.get("/v1/health").expect(200);
        world.nobody.get("/v1/ready").expect(200);
    }
    // A token is exchanged as often as other things are asked, not as seldom as passwords.
    let exchange = || {
        let body = json!({"refresh_token": "x"});
        world.nobody.post("/v1/auth/refresh", &body)
    };
    for _ in 0..3 {
        exchange().refused(401, "unauthenticated");
    }
    exchange().refused(429, "rate_limited");
    let refused = owner.get("/v1/me").refused(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(refused.json()["retry_after"], 1);
    viewer.get("/v1/me").expect(200);
    owner.get("/v1/organizations").expect(200);
    world.wait(1);
    owner.get("/v1/me").expect(200);
}
