//! `POST /v1/files`

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use serde_json::json;
use tplkit_server::app::Config;
use tplkit_server::files::Files;

use super::raw_upload::{begin, form, objects, small};
use super::{bytes_of, in_folder, made, of, put};
use crate::api::client::Client;
use crate::api::model::Model;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_body_becomes_a_file_as_it_was_sent,
    names_and_types_are_checked_and_kept_as_they_are,
    what_is_too_large_leaves_nothing,
    what_breaks_off_or_stalls_leaves_nothing,
    what_was_half_written_is_removed,
    a_large_file_arrives_whole,
    a_server_without_a_place_says_so,
);

async fn a_body_becomes_a_file_as_it_was_sent(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let path = format!("/v1/files?workspace_id={workspace}&name=a%20b.txt");
    let headers = [("content-type", "Text/Plain; charset=utf-8")];
    let file = owner
        .send("POST", &path, &headers, Some(b"hello"))
        .expect(201)
        .json();
    let me = owner.get("/v1/me").json()["id"].clone();
    assert_eq!(
        file,
        json!({"id": file["id"], "organization_id": world.acme, "workspace_id": workspace, "name": "a b.txt",
            "content_type": "Text/Plain; charset=utf-8", "size": 5,
            "sha256": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
            "created_at": file["created_at"], "created_by": me})
    );
    assert_eq!(owner.get(&of(&file)).expect(200).json(), file);
    assert_eq!(owner.get(&bytes_of(&file)).expect(200).body, "hello");
    // Of a type that nobody names, and in chunks.
    let chunked = [("transfer-encoding", "chunked")];
    let chunks = b"3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n";
    let second = owner
        .send_raw("POST", &path, &chunked, chunks)
        .expect(201)
        .json();
    assert_eq!(second["content_type"], "application/octet-stream");
    assert_eq!(second["sha256"], file["sha256"]);
    assert_ne!(second["id"], file["id"]);
    // Both have the same bytes; one goes, and the other stays.
    owner.delete(&of(&file)).expect(204);
    owner.get(&of(&file)).refused(404, "not_found");
    owner.get(&bytes_of(&file)).refused(404, "not_found");
    assert_eq!(owner.get(&bytes_of(&second)).expect(200).body, "hello");
}

async fn names_and_types_are_checked_and_kept_as_they_are(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    for (sent, name) in [
        ("%F0%9F%98%80%22.txt", "😀\".txt"),
        ("...", "..."),
        (&"%C3%A9".repeat(255), &*"é".repeat(255)),
    ] {
        let file = made(&owner, &workspace, sent, b"x");
        assert_eq!(file["name"], name);
        let header = owner.get(&bytes_of(&file)).expect(200);
        let header = header
            .header("content-disposition")
            .expect("a name")
            .to_owned();
        assert!(
            header.is_ascii() && header.starts_with("attachment; filename=\""),
            "{header}"
        );
    }
    for name in [
        "",
        "..",
        "a%2Fb",
        "a%5Cb",
        "a%00",
        "a%0Ab",
        "%C2%85",
        "%E2%80%AE",
        "%E2%80%A8",
        "%20",
        &"x".repeat(256),
    ] {
        put(&owner, &workspace, name, b"x").refused(422, "validation_failed");
    }
    let path = format!("/v1/files?workspace_id={workspace}&name=x");
    for media_type in ["nonsense", "*/*", "text/plain, text/html", "a/b;c"] {
        let headers = [("content-type", media_type)];
        owner
            .send("POST", &path, &headers, Some(b"x"))
            .refused(422, "validation_failed");
    }
    owner
        .send("POST", &path, &[("content-encoding", "gzip")], Some(b"x"))
        .refused(415, "unsupported_media_type");
    // Chunks may be compressed, too: what comes out of them is not the file.
    owner
        .send_raw(
            "POST",
            &path,
            &[("transfer-encoding", "gzip, chunked")],
            b"1\r\nx\r\n0\r\n\r\n",
        )
        .refused(415, "unsupported_media_type");
    let nameless = format!("/v1/files?workspace_id={workspace}");
    owner
        .send("POST", &nameless, &[], Some(b"x"))
        .refused(422, "validation_failed");
    owner
        .send("POST", "/v1/files?name=x", &[], Some(b"x"))
        .refused(422, "validation_failed");
    // An empty file is none, whatever its framing.
    owner
        .send("POST", &path, &[], Some(b""))
        .refused(422, "validation_failed");
    owner
        .send("POST", &path, &[], None)
        .refused(422, "validation_failed");
    owner
        .send_raw(
            "POST",
            &path,
            &[("transfer-encoding", "chunked")],
            b"0\r\n\r\n",
        )
        .refused(422, "validation_failed");
    world
        .as_user("viewer@acme.test")
        .send("POST", &path, &[], Some(b"x"))
        .refused(403, "forbidden");
    world
        .as_user("stranger@other.test")
        .send("POST", &path, &[], Some(b"x"))
        .refused(404, "not_found");
}

async fn what_is_too_large_leaves_nothing(place: Place) {
    let world = World::with(place, small(1000)).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    made(&owner, &workspace, "fits", &[b'x'; 1000]);
    put(&owner, &workspace, "long", &[b'x'; 1001]).refused(413, "payload_too_large");
    // Nobody says how long it is.
    let path = format!("/v1/files?workspace_id={workspace}&name=x");
    let chunk = format!("3E9\r\n{}\r\n0\r\n\r\n", "x".repeat(1001));
    let chunked = [("transfer-encoding", "chunked")];
    owner
        .send_raw("POST", &path, &chunked, chunk.as_bytes())
        .refused(413, "payload_too_large");
    let head = "--XX\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a\"\r\n\r\n";
    let fits = format!("{head}{}\r\n--XX--", "x".repeat(1000));
    form(&owner, &path, &fits).expect(201);
    let long = format!("{head}{}\r\n--XX--", "x".repeat(1001));
    form(&owner, &path, &long).refused(413, "payload_too_large");
    assert_eq!(objects(&world).await, 2);
}

async fn what_breaks_off_or_stalls_leaves_nothing(place: Place) {
    let world = World::with(place, small(1000)).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let path = format!("/v1/files?workspace_id={workspace}&name=x");
    let announced = [("content-length", "10")];
    owner
        .send_raw("POST", &path, &announced, b"12345")
        .refused(408, "upload_stalled");
    owner
        .send_raw("POST", &path, &announced, b"")
        .refused(408, "upload_stalled");
    // A client that goes before the end.
    let broken = Broken::new(&owner, &path);
    broken.wait();
    assert_eq!(objects(&world).await, 0);
    // One that brings a byte now and then.
    assert_eq!(Trickle::new(&owner, &path).status(), 408);
    assert_eq!(objects(&world).await, 0);
}

/// From half a MiB on bytes are in the folder before the last one has come.
async fn what_was_half_written_is_removed(place: Place) {
    let folder = tempfile::tempdir().expect("a folder");
    let world = in_folder(place, folder.path()).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let path = format!("/v1/files?workspace_id={workspace}&name=x");
    let uploads = || {
        let names = std::fs::read_dir(folder.path().join("uploads"));
        names.map_or(0, Iterator::count)
    };
    let waits_for = |count: usize| {
        let found = (0..1200).any(|_| {
            std::thread::sleep(Duration::from_millis(25));
            uploads() == count
        });
        assert!(found, "{} uploads, not {count}", uploads());
    };
    let mut broken = begin(&owner, &path, "content-length: 2000000\r\n");
    broken.write_all(&vec![b'x'; 1_200_000]).expect("sends");
    waits_for(1);
    drop(broken);
    waits_for(0);
    // A form ends behind its file, and so it is known to be wrong when the file is written.
    let two = format!(
        "--XX\r\nContent-Disposition: form-data; filename=\"a\"\r\n\r\n{}\r\n--XX\r\n\
         Content-Disposition: form-data; name=\"b\"\r\n\r\nb\r\n--XX--\r\n",
        "x".repeat(1_200_000)
    );
    form(&owner, &path, &two).refused(422, "validation_failed");
    waits_for(0);
    assert_eq!(objects(&world).await, 0);
}

/// An upload that its client gives up.
struct Broken(TcpStream);

impl Broken {
    fn new(client: &Client, path: &str) -> Broken {
        let mut stream = begin(client, path, "content-length: 1000\r\n");
        stream.write_all(&[b'x'; 500]).expect("sends");
        Broken(stream)
    }

    fn wait(self) {
        self.0.shutdown(Shutdown::Write).expect("a socket");
        let mut stream = self.0;
        let mut response = Vec::new();
        let _ = stream.read_to_end(&mut response);
        let response = String::from_utf8_lossy(&response);
        assert!(!response.contains(" 201 "), "{response}");
    }
}

/// An upload of a byte at a time.
struct Trickle(TcpStream);

impl Trickle {
    fn new(client: &Client, path: &str) -> Trickle {
        Trickle(begin(client, path, "content-length: 1000\r\n"))
    }

    fn status(mut self) -> u16 {
        for _ in 0..40 {
            if self.0.write_all(b"x").is_err() {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let mut response = Vec::new();
        let _ = self.0.read_to_end(&mut response);
        crate::api::client::read(&response).status
    }
}

async fn a_large_file_arrives_whole(place: Place) {
    let folder = tempfile::tempdir().expect("a folder");
    let world = in_folder(place, folder.path()).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let bytes: Vec<u8> = (0..3_000_000_u32)
        .map(|n| b'a' + u8::try_from(n % 23).unwrap_or(0))
        .collect();
    let file = made(&owner, &workspace, "large", &bytes);
    let read = owner.get(&bytes_of(&file)).expect(200);
    assert_eq!(read.header("content-length"), Some("3000000"));
    assert!(read.body.as_bytes() == bytes, "other bytes");
    let part = owner.send(
        "GET",
        &bytes_of(&file),
        &[("range", "bytes=1999999-2000001")],
        None,
    );
    assert_eq!(
        part.expect(206).body.as_bytes(),
        &bytes[1_999_999..2_000_002]
    );
    // Nothing of the way there is left.
    let left = std::fs::read_dir(folder.path().join("uploads"))
        .expect("a folder")
        .count();
    assert_eq!(left, 0);
}

async fn a_server_without_a_place_says_so(place: Place) {
    let config = Config {
        rate: None,
        files: Files::in_place(None),
        ..Config::default()
    };
    let world = World::with(place, config).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let refused = put(&owner, &workspace, "x", b"x").refused(503, "store_unavailable");
    assert!(refused.body.contains("--files"), "{refused:?}");
    assert_eq!(owner.ids("/v1/files"), [""; 0]);
}
