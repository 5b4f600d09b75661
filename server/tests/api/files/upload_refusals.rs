//! Uploads that are refused for their head, their caller, or how many there are.

use std::io::Write as _;
use std::time::Duration;

use serde_json::json;

use super::raw_upload::{begin, expecting, is_reserved, patient, rest, small};
use super::{made, put};
use crate::api::client::{Client, Response, read};
use crate::api::model::{Model, id};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    the_head_is_refused_before_the_body_is_asked_for,
    refusals_of_caller_key_and_place_come_before_the_body,
    who_may_not_write_any_more_when_the_bytes_have_come_is_refused,
    the_17th_upload_of_a_caller_is_refused_until_one_ends,
);

const FIVE: &str = "connection: close\r\ncontent-length: 5\r\n";

async fn the_head_is_refused_before_the_body_is_asked_for(place: Place) {
    let world = World::with(place, small(1000)).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let path = format!("/v1/files?workspace_id={workspace}&name=x");
    let expecting = |path: &str, more: &str| expecting(&owner, path, more);
    for (path, more, status) in [
        (&*path, "content-length: 1001\r\n", "413"),
        (
            &path,
            "content-length: 5\r\ncontent-encoding: br\r\n",
            "415",
        ),
        (&path, "content-length: 5\r\ncontent-type: x\r\n", "422"),
        (&format!("{path}&y=1"), "content-length: 5\r\n", "422"),
        (
            &path.replace(&workspace, &world.acme.to_string()),
            "content-length: 5\r\n",
            "404",
        ),
    ] {
        let response = expecting(path, more);
        assert!(
            response.starts_with(&format!("HTTP/1.1 {status} ")),
            "{response}"
        );
    }
    let sql = "UPDATE main.organizations SET file_quota = 4 WHERE id = $1";
    world.sql(sql, vec![world.acme.into()]).await;
    let response = expecting(&path, "content-length: 5\r\n");
    assert!(response.starts_with("HTTP/1.1 409 "), "{response}");
    // What may come is asked for.
    let response = expecting(&path, "content-length: 4\r\n");
    assert!(
        response.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 408 "),
        "{response}"
    );
}

async fn refusals_of_caller_key_and_place_come_before_the_body(place: Place) {
    let nowhere = place.another();
    let world = World::with(place, patient()).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let path = format!("/v1/files?workspace_id={workspace}&name=x");
    let refused = |client: &Client, more: &str, status: &str, code: &str| {
        let response = expecting(client, &path, more);
        assert!(
            response.starts_with(&format!("HTTP/1.1 {status} ")),
            "{response}"
        );
        assert!(response.contains(&format!("\"{code}\"")), "{response}");
    };
    let viewer = world.as_user("viewer@acme.test");
    refused(&viewer, FIVE, "403", "forbidden");
    refused(&world.as_key(&["read"]), FIVE, "403", "missing_scope");
    let keyed = format!("{FIVE}idempotency-key: k\r\n");
    let running = begin(&owner, &path, &keyed);
    is_reserved(&world, world.context.now()).await;
    refused(&owner, &keyed, "409", "idempotency_in_progress");
    drop(running);
    let mut config = patient();
    config.files.place = None;
    let world = World::with(nowhere, config).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let path = format!("/v1/files?workspace_id={workspace}&name=x");
    let response = expecting(&owner, &path, FIVE);
    assert!(response.starts_with("HTTP/1.1 503 "), "{response}");
    assert!(response.contains("\"store_unavailable\""), "{response}");
}

async fn who_may_not_write_any_more_when_the_bytes_have_come_is_refused(place: Place) {
    let world = World::with(place, patient()).await;
    let [owner, editor] = ["owner@acme.test", "editor@acme.test"].map(|email| world.as_user(email));
    let workspace = Model::new(&owner, world.acme).workspace;
    let path = format!("/v1/files?workspace_id={workspace}&name=x");
    let member = id(&editor.get("/v1/me").expect(200).json());
    let member = world.path(&format!("/members/{member}"));
    let become_a = |role: &str| owner.patch(&member, &json!({"role": role})).expect(200);
    let demote = || become_a("viewer");
    let remove = || owner.delete(&member).expect(204);
    let changes: [(&str, &dyn Fn() -> Response, u16, &str); 2] = [
        ("demoted", &demote, 403, "forbidden"),
        ("removed", &remove, 404, "not_found"),
    ];
    for (key, change, status, code) in changes {
        let head = format!("{FIVE}idempotency-key: {key}\r\n");
        let mut running = begin(&editor, &path, &head);
        is_reserved(&world, world.context.now()).await;
        change();
        running.write_all(b"12345").expect("sends");
        read(rest(running).as_bytes()).refused(status, code);
        // Nothing was put in place for it.
        let held = world.sql("SELECT id FROM file_objects", vec![]).await;
        assert_eq!(held.len(), 0, "{key}");
        if key == "demoted" {
            become_a("editor");
        }
    }
}

async fn the_17th_upload_of_a_caller_is_refused_until_one_ends(place: Place) {
    let world = World::with(place, patient()).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let path = format!("/v1/files?workspace_id={workspace}&name=x");
    let heads = (0..16).map(|number| format!("{FIVE}idempotency-key: k{number}\r\n"));
    let mut running: Vec<_> = heads.map(|head| begin(&owner, &path, &head)).collect();
    // Each has its key once it counts.
    let reserved = async || {
        let sql = "SELECT key FROM idempotency WHERE status = 0";
        world.sql(sql, vec![]).await.len()
    };
    for _ in 0..2400 {
        if reserved().await == running.len() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert_eq!(reserved().await, running.len());
    let refused = put(&owner, &workspace, "x", b"12345").refused(429, "busy");
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    let response = expecting(&owner, &path, FIVE);
    assert!(response.starts_with("HTTP/1.1 429 "), "{response}");
    // Others of the organization have room, and so has the caller once one of theirs breaks off.
    made(&world.as_user("admin@acme.test"), &workspace, "x", b"12345");
    running.pop();
    let room = (0..2400).any(|at| {
        if at > 0 {
            std::thread::sleep(Duration::from_millis(25));
        }
        put(&owner, &workspace, "x", b"12345").status == 201
    });
    assert!(room, "the one that broke off still counts");
    // Those that were there go on.
    let mut first = running.remove(0);
    first.write_all(b"12345").expect("sends");
    let response = rest(first);
    assert!(response.starts_with("HTTP/1.1 201 "), "{response}");
}
