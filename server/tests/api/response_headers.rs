//! What responses say of themselves to browsers and caches, and which pages may read them.

use tplkit_server::app::Config;
use tplkit_server::http::cors::Origins;

use super::client::{Client, Response};
use super::world::{PASSWORD, World};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    every_response_is_what_it_says_it_is,
    what_belongs_to_somebody_is_stored_nowhere,
    without_origins_no_header_names_them,
    the_origin_that_asks_is_named,
    every_origin_may_be_allowed,
    the_address_alone_leads_to_the_documentation,
    bodies_come_as_they_are,
);

const PAGE: &str = "https://app.example.org";

async fn every_response_is_what_it_says_it_is(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let nobody = &world.nobody;
    for response in [
        nobody.get("/v1/health"),
        nobody.get("/docs"),
        nobody.get("/v1/nothing"),
        nobody.get("/v1/me"),
        nobody.get("/"),
        nobody.send("PUT", "/v1/health", &[], None),
        nobody.send("OPTIONS", "/v1/health", &[], None),
        nobody.send("HEAD", "/v1/health", &[], None),
        nobody.send("GET", "/v1/health", &[("host", "b")], None),
        owner.get("/v1/me"),
        owner.delete("/v1/workspaces/x"),
    ] {
        let value = response.header("x-content-type-options");
        assert_eq!(value, Some("nosniff"), "{response:?}");
    }
}

async fn what_belongs_to_somebody_is_stored_nowhere(place: Place) {
    let world = World::new(place).await;
    let key = world.as_key(&["read"]);
    let owner = world.as_user("owner@acme.test");
    let wrong = world.nobody.with("nonsense");
    let private = |response: &Response| response.header("cache-control") == Some("no-store");
    for response in [
        world.token("owner@acme.test", PASSWORD).expect(200),
        world.token("owner@acme.test", "wrong").expect(401),
        owner.get("/v1/me").expect(200),
        owner.get("/v1/nothing").expect(404),
        owner.get("/v1/health").expect(200),
        owner
            .post("/v1/workspaces", &serde_json::json!({}))
            .expect(422),
        key.get("/v1/workspaces").expect(200),
        key.post("/v1/workspaces", &serde_json::json!({}))
            .expect(403),
        wrong.get("/v1/me").expect(401),
    ] {
        assert!(private(&response), "{response:?}");
    }
    for path in ["/v1/health", "/docs", "/v1/openapi.json"] {
        assert!(!private(&world.nobody.get(path)), "{path}");
    }
}

fn from(client: &Client, origin: &str, method: &str, path: &str) -> Response {
    client.send(method, path, &[("origin", origin)], None)
}

fn preflight(client: &Client, origin: &str, path: &str) -> Response {
    let headers = [
        ("origin", origin),
        ("access-control-request-method", "POST"),
        (
            "access-control-request-headers",
            "authorization,content-type",
        ),
    ];
    client.send("OPTIONS", path, &headers, None)
}

async fn world(place: Place, origins: &[&str]) -> World {
    let config = Config {
        cors: Origins::parse(origins.iter().copied()).expect("origins"),
        rate: None,
        ..Config::default()
    };
    World::with(place, config).await
}

async fn without_origins_no_header_names_them(place: Place) {
    let world = world(place, &[]).await;
    let served = from(&world.nobody, PAGE, "GET", "/v1/health").expect(200);
    let refused = preflight(&world.nobody, PAGE, "/v1/workspaces");
    let refused = refused.refused(405, "method_not_allowed");
    for response in [served, refused] {
        assert!(!response.says("access-control-"), "{response:?}");
        assert_eq!(response.header("vary"), None);
    }
}

async fn the_origin_that_asks_is_named(place: Place) {
    let world = world(place, &["https://other.example.org", PAGE]).await;
    let owner = world.as_user("owner@acme.test");
    for response in [
        from(&world.nobody, PAGE, "GET", "/v1/health").expect(200),
        from(&world.nobody, PAGE, "GET", "/v1/me").expect(401),
        from(&world.nobody, PAGE, "GET", "/v1/nothing").expect(404),
        from(&owner, PAGE, "GET", "/v1/me").expect(200),
        preflight(&world.nobody, PAGE, "/v1/workspaces").expect(204),
    ] {
        assert_eq!(response.header("access-control-allow-origin"), Some(PAGE));
        assert_eq!(response.header("vary"), Some("Origin"));
        assert_eq!(response.header("access-control-allow-credentials"), None);
        let exposed = response.header("access-control-expose-headers");
        let exposed: Vec<&str> = exposed.expect("a list").split(", ").collect();
        for name in [
            "X-Request-Id",
            "Retry-After",
            "RateLimit-Limit",
            "RateLimit-Remaining",
            "RateLimit-Reset",
            "X-Unknown-Columns",
            "Idempotency-Replayed",
            "ETag",
            "Location",
        ] {
            assert!(exposed.contains(&name), "{name}");
        }
    }
    // Whoever asks before asking needs no credential, on every route.
    for operation in &tplkit_server::api::operations::OPERATIONS {
        let response = preflight(&world.nobody, PAGE, operation.path).expect(204);
        let methods = response.header("access-control-allow-methods");
        let methods: Vec<&str> = methods.expect("a list").split(", ").collect();
        assert!(methods.contains(&operation.method), "{operation:?}");
        let headers = response.header("access-control-allow-headers");
        let headers = headers.expect("a list").to_lowercase();
        for name in ["authorization", "content-type", "idempotency-key"] {
            assert!(headers.contains(name), "{name}");
        }
        assert_eq!(response.body, "");
    }
    preflight(&world.nobody, PAGE, "/v1/nothing").refused(404, "not_found");
    // Without what makes it a preflight it is a method like any other.
    from(&world.nobody, PAGE, "OPTIONS", "/v1/health").refused(405, "method_not_allowed");
    for origin in [
        "https://app.example.org:8443",
        "http://app.example.org",
        "null",
        "",
    ] {
        let response = from(&owner, origin, "GET", "/v1/me").expect(200);
        assert!(!response.says("access-control-"), "{response:?}");
        let refused = preflight(&world.nobody, origin, "/v1/workspaces");
        let refused = refused.refused(405, "method_not_allowed");
        assert!(!refused.says("access-control-"), "{refused:?}");
    }
    let response = owner.get("/v1/me").expect(200);
    assert!(!response.says("access-control-"), "{response:?}");
}

async fn every_origin_may_be_allowed(place: Place) {
    let world = world(place, &["*"]).await;
    for response in [
        from(&world.nobody, PAGE, "GET", "/v1/health").expect(200),
        preflight(&world.nobody, "http://localhost:5173", "/v1/workspaces").expect(204),
    ] {
        assert_eq!(response.header("access-control-allow-origin"), Some("*"));
        assert_eq!(response.header("access-control-allow-credentials"), None);
        assert_eq!(response.header("vary"), None);
    }
}

async fn the_address_alone_leads_to_the_documentation(place: Place) {
    let world = World::new(place).await;
    let nobody = &world.nobody;
    for (method, accept) in [
        ("GET", "text/html"),
        ("GET", "application/json"),
        ("HEAD", "*/*"),
    ] {
        let response = nobody.send(method, "/", &[("accept", accept)], None);
        assert_eq!(response.expect(307).header("location"), Some("/docs"));
    }
    let refused = nobody.send("POST", "/", &[], None);
    let refused = refused.refused(405, "method_not_allowed");
    assert_eq!(refused.header("allow"), Some("GET, HEAD"));
}

async fn bodies_come_as_they_are(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let body = serde_json::json!({"organization_id": world.acme, "label": "x"}).to_string();
    let send = |coding: &str| {
        let headers = [
            ("content-type", "application/json"),
            ("content-encoding", coding),
        ];
        owner.send("POST", "/v1/workspaces", &headers, Some(body.as_bytes()))
    };
    for coding in ["gzip", "GZIP", "br", "identity, gzip", "x"] {
        send(coding).refused(415, "unsupported_media_type");
    }
    for coding in ["identity", "Identity"] {
        send(coding).expect(201);
    }
    let headers = [
        ("content-type", "application/json"),
        ("content-encoding", "identity"),
        ("content-encoding", "deflate"),
    ];
    let refused = owner.send("PATCH", &world.path(""), &headers, Some(b"{}"));
    refused.refused(415, "unsupported_media_type");
}
