//! The OpenAPI document and its page are public and whole.

use tplkit_server::api::operations::OPERATIONS;

use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    the_document_knows_every_operation_and_nothing_else,
    what_needs_no_credential_lists_all_of_its_statuses,
);

async fn the_document_knows_every_operation_and_nothing_else(place: Place) {
    let world = World::new(place).await;
    let response = world.nobody.get("/v1/openapi.json").expect(200);
    assert_eq!(response.header("content-type"), Some("application/json"));
    let document = response.json();
    assert_eq!(document["openapi"], "3.1.0");
    let mut reported = 0;
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for method in methods.as_object().expect("methods").keys() {
            let method = method.to_uppercase();
            let known = OPERATIONS
                .iter()
                .filter(|operation| operation.is_documented())
                .any(|operation| operation.path == path && operation.method == method);
            assert!(known, "{method} {path}");
            reported += 1;
        }
    }
    let documented = OPERATIONS.iter().filter(|one| one.is_documented());
    assert_eq!(reported, documented.count());
    // The address of a page is not an operation of the API.
    assert!(document["paths"].get("/").is_none());
    let root = world.nobody.get("/").expect(307);
    assert_eq!(root.header("location"), Some("/docs"));
    let page = world.nobody.get("/docs").expect(200);
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    assert!(page.body.starts_with("<!DOCTYPE html>"));
    world
        .nobody
        .get("/docs?x=1")
        .refused(422, "validation_failed");
}

/// What nothing but the table of operations says: the client fails where that does not list the status.
async fn what_needs_no_credential_lists_all_of_its_statuses(place: Place) {
    let world = World::new(place).await;
    let document = world.nobody.get("/v1/openapi.json").expect(200).json();
    let lists = |path: &str, status: &str| {
        let responses = &document["paths"][path]["get"]["responses"];
        responses.get(status).is_some()
    };
    let known = [("if-none-match", "*")];
    world.nobody.send("GET", "/docs", &known, None).expect(304);
    assert!(lists("/docs", "304"));
    let line = "x".repeat(70_000);
    let large = [("x-line", line.as_str())];
    for path in ["/v1/health", "/v1/ready", "/v1/openapi.json", "/docs"] {
        let response = world.nobody.send("GET", path, &large, None);
        response.refused(413, "payload_too_large");
        assert!(lists(path, "413"), "{path}");
    }
    assert!(lists("/v1/file-links/{file_id}", "413"));
}
