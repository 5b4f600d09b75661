//! Uploads under an `Idempotency-Key`.

use std::io::Write as _;
use std::time::Duration;

use super::of;
use super::raw_upload::{begin, is_reserved, objects, patient, rest, small};
use crate::api::client::{Client, read};
use crate::api::model::Model;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_key_stands_for_the_bytes_and_is_free_when_they_break_off,
    a_key_stays_taken_in_every_process_until_the_response,
    an_upload_that_lost_its_key_makes_no_file,
    a_refusal_of_the_head_keeps_no_key,
);

/// Another process of the same store and place, and somebody there.
async fn second_process(world: &World, client: &Client) -> Client {
    let mut config = patient();
    config.files.place = world.app.files.place.clone();
    let store = world.place.open().await;
    let second = world.second_server(store, config).await;
    second.with(client.credential().expect("a token"))
}

const KEYED: &str = "connection: close\r\ncontent-length: 5\r\nidempotency-key: k\r\n";

async fn a_key_stands_for_the_bytes_and_is_free_when_they_break_off(place: Place) {
    let mut config = small(1000);
    (config.files.pace.idle, config.files.pace.window) =
        (Duration::from_secs(3), Duration::from_secs(60));
    let world = World::with(place, config).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let send = |name: &str, media_type: &str, bytes: &[u8]| {
        let path = format!("/v1/files?workspace_id={workspace}&name={name}");
        let headers = [("idempotency-key", "k"), ("content-type", media_type)];
        owner.send("POST", &path, &headers, Some(bytes))
    };
    // What is refused before the end keeps nothing.
    send("a", "text/plain", &[b'x'; 1001]).refused(413, "payload_too_large");
    let path = format!("/v1/files?workspace_id={workspace}&name=a");
    let headers = [("idempotency-key", "k"), ("content-length", "10")];
    owner
        .send_raw("POST", &path, &headers, b"12")
        .refused(408, "upload_stalled");
    let first = send("a", "text/plain", b"bytes").expect(201);
    let again = send("a", "text/plain", b"bytes").expect(201);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(first.body, again.body);
    for (name, media_type, bytes) in [
        ("b", "text/plain", &b"bytes"[..]),
        ("a", "text/html", b"bytes"),
        ("a", "text/plain", b"other"),
    ] {
        send(name, media_type, bytes).refused(422, "idempotency_key_reused");
    }
    assert_eq!(objects(&world).await, 1);
    // While one is running, whoever comes with its key waits.
    let (running, refused, name) = (0..10)
        .find_map(|number| {
            let name = format!("other{number}");
            let head = format!("content-length: 5\r\nidempotency-key: {name}\r\n");
            let mut running = begin(&owner, &path, &head);
            running.write_all(b"1").expect("sends");
            std::thread::sleep(Duration::from_millis(200));
            let headers = [("idempotency-key", &*name)];
            let response = owner.send("POST", &path, &headers, Some(b"12345"));
            // Who comes first is not for this test to say.
            (response.status != 201).then_some((running, response, name))
        })
        .expect("one comes first");
    let headers = [("idempotency-key", &*name)];
    refused.refused(409, "idempotency_in_progress");
    drop(running);
    // It broke off, and its key is free.
    let free = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        owner.send("POST", &path, &headers, Some(b"12345")).status == 201
    });
    assert!(free, "the key is still taken");
    // A replay whose file is gone is not found.
    owner.delete(&of(&first.json())).expect(204);
    send("a", "text/plain", b"bytes").refused(404, "not_found");
}

async fn a_key_stays_taken_in_every_process_until_the_response(place: Place) {
    let world = World::with(place, patient()).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let there = second_process(&world, &owner).await;
    let path = format!("/v1/files?workspace_id={workspace}&name=x");
    let headers = [("idempotency-key", "k")];
    let mut running = begin(&owner, &path, KEYED);
    is_reserved(&world, world.context.now()).await;
    // Nothing comes for longer than the key of a process that is gone is taken.
    for _ in 0..4 {
        world.wait(25);
        is_reserved(&world, world.context.now()).await;
        for client in [&there, &owner] {
            client
                .send("POST", &path, &headers, Some(b"12345"))
                .refused(409, "idempotency_in_progress");
        }
    }
    running.write_all(b"12345").expect("sends");
    let first = read(rest(running).as_bytes()).expect(201);
    for client in [&there, &owner] {
        let again = client.send("POST", &path, &headers, Some(b"12345"));
        let again = again.expect(201);
        assert_eq!(again.header("idempotency-replayed"), Some("true"));
        assert_eq!(again.body, first.body);
    }
    assert_eq!(objects(&world).await, 1);
}

async fn an_upload_that_lost_its_key_makes_no_file(place: Place) {
    let world = World::with(place, patient()).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let there = second_process(&world, &owner).await;
    let path = format!("/v1/files?workspace_id={workspace}&name=x");
    let mut lost = begin(&owner, &path, KEYED);
    is_reserved(&world, world.context.now()).await;
    // As if it could not be taken for longer, and has lapsed.
    world.sql("DELETE FROM main.idempotency", vec![]).await;
    let mut running = begin(&there, &path, KEYED);
    is_reserved(&world, world.context.now()).await;
    lost.write_all(b"12345").expect("sends");
    read(rest(lost).as_bytes()).refused(409, "idempotency_in_progress");
    assert_eq!(objects(&world).await, 0);
    let organization = owner.get(&world.path("")).expect(200).json();
    assert_eq!(organization["file_bytes"], 0);
    // What it gave back was not the key of the other one.
    is_reserved(&world, world.context.now()).await;
    running.write_all(b"12345").expect("sends");
    let first = read(rest(running).as_bytes()).expect(201);
    let headers = [("idempotency-key", "k")];
    let again = owner.send("POST", &path, &headers, Some(b"12345"));
    assert_eq!(again.expect(201).body, first.body);
    assert_eq!(objects(&world).await, 1);
}

async fn a_refusal_of_the_head_keeps_no_key(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let limit = async |bytes: i64| {
        let sql = "UPDATE main.organizations SET file_quota = $2 WHERE id = $1";
        world.sql(sql, vec![world.acme.into(), bytes.into()]).await;
    };
    let path = format!("/v1/files?workspace_id={workspace}&name=x");
    let headers = [("idempotency-key", "k")];
    let send = |bytes: &[u8]| owner.send("POST", &path, &headers, Some(bytes));
    limit(4).await;
    send(b"12345").refused(409, "quota_exceeded");
    limit(100).await;
    // Neither the refusal nor what it was for is remembered.
    let other = send(b"others").expect(201);
    assert_eq!(other.header("idempotency-replayed"), None);
    assert_eq!(other.json()["size"], 6);
}
