//! Refusals: one form, one order, never 400.

use serde_json::json;
use tplkit_server::app::Config;

use super::model::Model;
use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    every_refusal_is_a_problem,
    bodies_are_json_that_can_be_read_one_way,
    refusals_come_in_order,
    a_refusal_is_short_however_long_a_name_is,
);

async fn every_refusal_is_a_problem(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let unknown = world
        .nobody
        .get("/v1/nothing?x=1")
        .refused(404, "not_found");
    assert_eq!(unknown.json()["instance"], "/v1/nothing");
    let method = owner.send("PUT", &world.path(""), &[], None);
    let method = method.refused(405, "method_not_allowed");
    assert_eq!(method.header("allow"), Some("GET, HEAD, PATCH"));
    let credential = world.nobody.get("/v1/me").refused(401, "unauthenticated");
    assert_eq!(credential.header("www-authenticate"), Some("Bearer"));
    for no_id in ["no-uuid", "%ff", "a%c3"] {
        let path = format!("/v1/organizations/{no_id}");
        owner.get(&path).refused(422, "validation_failed");
        world.nobody.get(&path).refused(401, "unauthenticated");
    }
    owner.get("/v1/%ff").refused(404, "not_found");
    for query in [
        "limit=0",
        "limit=201",
        "limit=x",
        "limit=",
        "limit=1&limit=1",
        "other=1",
        "cursor=",
    ] {
        let refused = owner.get(&format!("/v1/organizations?{query}"));
        let name = query.split('=').next().expect("a name");
        let problem = refused.refused(422, "validation_failed").json();
        assert_eq!(
            problem["errors"][0]["path"],
            format!("query.{name}"),
            "{query}"
        );
    }
    owner
        .get("/v1/organizations?cursor=nonsense")
        .refused(422, "invalid_cursor");
    // Every response, refusals too, can be named when asking for help.
    assert_ne!(
        unknown.header("x-request-id"),
        method.header("x-request-id")
    );
}

async fn bodies_are_json_that_can_be_read_one_way(place: Place) {
    let config = Config {
        max_body: 1000,
        rate: None,
        ..Config::default()
    };
    let world = World::with(place, config).await;
    let owner = world.as_user("owner@acme.test");
    let path = world.path("");
    for body in [
        "{\"label\":\"a\",\"label\":\"b\"}",
        "{\"label\":\"\\u0000\"}",
        "{\"config\":{\"a\":{\"b\":1,\"\\u0062\":2}}}",
        "{\"label\":",
        "",
        &format!(
            "{{\"config\":{{\"a\":{}{}}}}}",
            "[".repeat(200),
            "]".repeat(200)
        ),
    ] {
        owner
            .json("PATCH", &path, body)
            .refused(422, "invalid_json");
    }
    let json = [("content-type", "application/json")];
    let utf8 = owner.send("PATCH", &path, &json, Some(b"{\"label\":\"\xff\"}"));
    utf8.refused(422, "invalid_json");
    for body in [
        "[]",
        "1",
        r#"{"label":1}"#,
        r#"{"label":null}"#,
        r#"{"config":null}"#,
        r#"{"config":[]}"#,
        r#"{"other":1}"#,
    ] {
        owner
            .json("PATCH", &path, body)
            .refused(422, "validation_failed");
    }
    let body = Some(&br#"{"label":"x"}"#[..]);
    for media_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "text/json",
    ] {
        let typed = owner.send("PATCH", &path, &[("content-type", media_type)], body);
        typed.refused(415, "unsupported_media_type");
    }
    owner
        .send("PATCH", &path, &[], body)
        .refused(415, "unsupported_media_type");
    let merge = [(
        "content-type",
        "application/merge-patch+json; charset=utf-8",
    )];
    owner.send("PATCH", &path, &merge, body).expect(200);
    let large = json!({"label": "x".repeat(1000)}).to_string();
    owner
        .json("PATCH", &path, &large)
        .refused(413, "payload_too_large");
    // Without a length, too.
    let chunked = [
        ("content-type", "application/json"),
        ("transfer-encoding", "chunked"),
    ];
    let text = format!("{:x}\r\n{large}\r\n0\r\n\r\n", large.len());
    let streamed = owner.send_raw("PATCH", &path, &chunked, text.as_bytes());
    streamed.refused(413, "payload_too_large");
    // In chunks that are compressed, too.
    let coded = [
        ("content-type", "application/json"),
        ("transfer-encoding", "gzip, chunked"),
    ];
    owner
        .send_raw("PATCH", &path, &coded, b"2\r\n{}\r\n0\r\n\r\n")
        .refused(415, "unsupported_media_type");
}

async fn refusals_come_in_order(place: Place) {
    let config = Config {
        max_body: 100,
        rate: None,
        ..Config::default()
    };
    let world = World::with(place, config).await;
    let bad = "{".repeat(200);
    let text = [("content-type", "text/plain")];
    let send = |client: &super::client::Client, path: &str, headers: &[(&str, &str)]| {
        client.send("PATCH", path, headers, Some(bad.as_bytes()))
    };
    let [owner, viewer, stranger] = ["owner@acme.test", "viewer@acme.test", "stranger@other.test"]
        .map(|email| world.as_user(email));
    let path = world.path("?nonsense=1");
    send(&world.nobody, &path, &text).refused(401, "unauthenticated");
    send(&world.nobody, "/v1/organizations/no-uuid", &text).refused(401, "unauthenticated");
    send(&world.as_key(&["read"]), &path, &text).refused(403, "missing_scope");
    send(&stranger, &path, &text).refused(404, "not_found");
    send(&viewer, &path, &text).refused(403, "forbidden");
    send(&owner, &path, &text).refused(415, "unsupported_media_type");
    send(&owner, "/v1/organizations/no-uuid", &text).refused(415, "unsupported_media_type");
    let json = [("content-type", "application/json")];
    send(&owner, &path, &json).refused(413, "payload_too_large");
    owner
        .json("PATCH", &path, "{")
        .refused(422, "validation_failed");
    owner
        .json("PATCH", &world.path(""), "{")
        .refused(422, "invalid_json");
}

async fn a_refusal_is_short_however_long_a_name_is(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let model = Model::new(&owner, world.acme).with_template(&owner, world.acme);
    let name = "k".repeat(1 << 20);
    let unknown = format!(r#"{{"{name}":1}}"#);
    let cell = format!(r#"{{"data":{unknown}}}"#);
    let applied = format!(r#"{{"workspaceId":"{}","{name}":1}}"#, model.workspace);
    let created = format!(r#"{{"organization_id":"{}","{name}":1}}"#, world.acme);
    let rows = format!("/v1/features/{}/rows", model.feature);
    let template = format!("templates/{}", model.template);
    for (method, path, body) in [
        ("PATCH", world.path(""), &unknown),
        ("POST", rows.clone(), &unknown),
        ("POST", format!("{rows}?validate=strict"), &cell),
        ("POST", "/v1/templates".to_owned(), &created),
        ("POST", format!("/v1/{template}/plan"), &applied),
        ("POST", format!("/v1/{template}/apply"), &applied),
        ("POST", format!("/apply/{template}"), &applied),
        (
            "POST",
            format!("/v1/workspaces/{}/export", model.workspace),
            &unknown,
        ),
    ] {
        let response = owner.json(method, &path, body).expect(422);
        assert!(
            response.body.len() < 4096,
            "{path}: {}",
            response.body.len()
        );
        let fault = &response.json()["errors"][0];
        let names = |member: &str| {
            fault[member]
                .as_str()
                .is_some_and(|text| text.contains("kkk"))
        };
        assert!(names("path") || names("message"), "{path}: {fault}");
    }
}
