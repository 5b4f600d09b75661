//! `POST /v1/files`

use std::io::Write as _;
use std::time::Duration;

use serde_json::json;
use tplkit_server::app::Config;
use tplkit_server::files::Files;
use tplkit_server::files::settings::UploadPace;

use super::{bytes_of, in_folder, made, of, put};
use crate::api::client::{Client, Response};
use crate::api::model::{Model, id};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_body_becomes_a_file_as_it_was_sent,
    a_form_has_one_part_and_that_is_the_file,
    a_form_is_read_to_the_end_of_its_body,
    names_and_types_are_checked_and_kept_as_they_are,
    what_is_too_large_leaves_nothing,
    what_breaks_off_or_stalls_leaves_nothing,
    what_was_half_written_is_removed,
    the_head_is_refused_before_the_body_is_asked_for,
    refusals_of_caller_key_and_place_come_before_the_body,
    who_may_not_write_any_more_when_the_bytes_have_come_is_refused,
    the_17th_upload_of_a_caller_is_refused_until_one_ends,
    a_large_file_arrives_whole,
    a_key_stands_for_the_bytes_and_is_free_when_they_break_off,
    a_key_stays_taken_in_every_process_until_the_response,
    an_upload_that_lost_its_key_makes_no_file,
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

fn form(client: &Client, path: &str, body: &str) -> Response {
    let headers = [("content-type", "multipart/form-data; boundary=XX")];
    client.send("POST", path, &headers, Some(body.as_bytes()))
}

async fn a_form_has_one_part_and_that_is_the_file(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let path = format!("/v1/files?workspace_id={workspace}");
    let part = |head: &str, content: &str| format!("--XX\r\n{head}\r\n\r\n{content}\r\n");
    let named = "Content-Disposition: form-data; name=\"f\"; filename=\"a%22b.png\"";
    let typed = format!("{named}\r\nContent-Type: image/png");
    let one = format!("{}--XX--\r\n", part(&typed, "bytes"));
    let file = form(&owner, &path, &one).expect(201).json();
    assert_eq!(
        (&file["name"], &file["content_type"], &file["size"]),
        (&json!("a\"b.png"), &json!("image/png"), &json!(5))
    );
    assert_eq!(owner.get(&bytes_of(&file)).expect(200).body, "bytes");
    // What the query says counts, and what nobody says is unknown.
    let untyped = format!("{}--XX--", part(named, "\r\n--X\r\n-"));
    let file = form(&owner, &format!("{path}&name=x"), &untyped)
        .expect(201)
        .json();
    assert_eq!(
        (&file["name"], &file["content_type"]),
        (&json!("x"), &json!("application/octet-stream"))
    );
    assert_eq!(owner.get(&bytes_of(&file)).expect(200).body, "\r\n--X\r\n-");
    let field = part("Content-Disposition: form-data; name=\"f\"", "x");
    let file = part(named, "x");
    let bad_name = part(
        "Content-Disposition: form-data; name=\"f\"; filename=\"a%0Ab\"",
        "x",
    );
    let bad_type = part(&format!("{named}\r\nContent-Type: nonsense"), "x");
    let empty = part(named, "");
    let long = part(&format!("X-Line: {}\r\n{named}", "x".repeat(40_000)), "x");
    for body in [
        format!("{field}--XX--"),
        format!("{field}{file}--XX--"),
        format!("{file}{field}--XX--"),
        format!("{file}{file}--XX--"),
        format!("{file}--XX--tail"),
        format!("{file}--XX-- tail\r\n"),
        format!("{bad_name}--XX--"),
        format!("{bad_type}--XX--"),
        format!("{empty}--XX--"),
        format!("{long}--XX--"),
        file.clone(),
        "--XX--".to_owned(),
        "--YY\r\n\r\nx\r\n--YY--".to_owned(),
        "nothing of the kind".to_owned(),
    ] {
        form(&owner, &path, &body).refused(422, "validation_failed");
    }
    let headers = [("content-type", "multipart/form-data")];
    owner
        .send("POST", &path, &headers, Some(b"x"))
        .refused(422, "validation_failed");
    // Blanks may stand before a parameter, and quotation marks around its value.
    let headers = [("content-type", "multipart/form-data ; boundary=\"XX\"")];
    owner
        .send("POST", &path, &headers, Some(one.as_bytes()))
        .expect(201);
    // Whether something follows the delimiter shows in the next chunk.
    let chunked = [
        ("content-type", "multipart/form-data; boundary=XX"),
        ("transfer-encoding", "chunked"),
    ];
    let sent = |rest: &str| {
        let first = format!("{file}--XX--");
        let body = format!(
            "{:x}\r\n{first}\r\n{:x}\r\n{rest}\r\n0\r\n\r\n",
            first.len(),
            rest.len()
        );
        owner.send_raw("POST", &path, &chunked, body.as_bytes())
    };
    sent("tail").refused(422, "validation_failed");
    sent(" \r\nwhat nobody reads").expect(201);
    assert_eq!(owner.ids(&path).len(), 4);
}

async fn a_form_is_read_to_the_end_of_its_body(place: Place) {
    let world = World::with(place, small(100_000)).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let path = format!("/v1/files?workspace_id={workspace}");
    let file = "--XX\r\nContent-Disposition: form-data; filename=\"a\"\r\n\r\nx\r\n--XX--\r\n";
    let chunk = format!("{:x}\r\n{file}\r\n", file.len());
    let longer = format!("content-length: {}", file.len() + 100);
    let chunked = "transfer-encoding: chunked";
    for (framing, sent) in [
        (&*longer, file),
        (chunked, &chunk),
        (chunked, &format!("{chunk}zz\r\n")),
    ] {
        let head = format!(
            "connection: close\r\ncontent-type: multipart/form-data; boundary=XX\r\n{framing}\r\n"
        );
        let begun = || {
            let mut stream = begin(&owner, &path, &head);
            stream.write_all(sent.as_bytes()).expect("sends");
            stream
        };
        let ended = begun();
        let shut = ended.shutdown(std::net::Shutdown::Write);
        shut.expect("a socket");
        crate::api::client::read(rest(ended).as_bytes()).refused(422, "validation_failed");
        drop(begun());
    }
    // One that stays, and sends nothing.
    let headers = [
        ("content-type", "multipart/form-data; boundary=XX"),
        ("content-length", "1000"),
    ];
    owner
        .send_raw("POST", &path, &headers, file.as_bytes())
        .refused(408, "upload_stalled");
    assert_eq!(objects(&world).await, 0);
    let ending = |length: usize| form(&owner, &path, &format!("{file}{}", "e".repeat(length)));
    ending(1 << 10).expect(201);
    ending(20 << 10).refused(422, "validation_failed");
    assert_eq!(objects(&world).await, 1);
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

/// Limits that tests reach.
pub(super) fn small(max_file: u64) -> Config {
    let pace = UploadPace {
        idle: Duration::from_millis(400),
        window: Duration::from_millis(700),
        least: 100,
    };
    Config {
        rate: None,
        files: Files {
            max_file,
            pace,
            ..Files::default()
        },
        ..Config::default()
    }
}

async fn objects(world: &World) -> usize {
    let sql = "SELECT id FROM files";
    world.sql(sql, vec![]).await.len()
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
struct Broken(std::net::TcpStream);

fn begin(client: &Client, path: &str, more: &str) -> std::net::TcpStream {
    let mut stream = std::net::TcpStream::connect(client.address()).expect("connects");
    let credential = client.credential().unwrap_or_default();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {credential}\r\n{more}\r\n"
    );
    stream.write_all(head.as_bytes()).expect("sends");
    stream
}

impl Broken {
    fn new(client: &Client, path: &str) -> Broken {
        let mut stream = begin(client, path, "content-length: 1000\r\n");
        stream.write_all(&[b'x'; 500]).expect("sends");
        Broken(stream)
    }

    fn wait(self) {
        use std::io::Read as _;
        self.0
            .shutdown(std::net::Shutdown::Write)
            .expect("a socket");
        let mut stream = self.0;
        let mut response = Vec::new();
        let _ = stream.read_to_end(&mut response);
        let response = String::from_utf8_lossy(&response);
        assert!(!response.contains(" 201 "), "{response}");
    }
}

/// An upload of a byte at a time.
struct Trickle(std::net::TcpStream);

impl Trickle {
    fn new(client: &Client, path: &str) -> Trickle {
        Trickle(begin(client, path, "content-length: 1000\r\n"))
    }

    fn status(mut self) -> u16 {
        use std::io::{Read as _, Write as _};
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

/// The response to a head alone, whose client waits to be asked for the body.
fn expecting(client: &Client, path: &str, more: &str) -> String {
    rest(begin(
        client,
        path,
        &format!("expect: 100-continue\r\n{more}"),
    ))
}

/// All that comes.
fn rest(mut stream: std::net::TcpStream) -> String {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8(bytes).expect("UTF-8")
}

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

/// Uploads wait for the test, however slow the machine is.
fn patient() -> Config {
    let mut config = small(1000);
    (config.files.pace.idle, config.files.pace.window) =
        (Duration::from_secs(3600), Duration::from_secs(3600));
    config
}

/// Waits until a key is reserved, and was last taken at that time.
async fn is_reserved(world: &World, at: i64) {
    let sql = "SELECT created_at FROM idempotency WHERE status = 0";
    for _ in 0..2400 {
        let rows = world.sql(sql, vec![]).await;
        let mut taken = rows.iter().map(|row| row.get::<i64>(0).expect("a time"));
        if taken.any(|taken| taken == at) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("no key is reserved at {at}");
}

const FIVE: &str = "connection: close\r\ncontent-length: 5\r\n";

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
        crate::api::client::read(rest(running).as_bytes()).refused(status, code);
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

/// Another process of the same store and place, and somebody there.
async fn second_process(world: &World, client: &Client) -> Client {
    let mut config = patient();
    config.files.place = world.app.files.place.clone();
    let store = world.place.open().await;
    let second = world.second_server(store, config).await;
    second.with(client.credential().expect("a token"))
}

const KEYED: &str = "connection: close\r\ncontent-length: 5\r\nidempotency-key: k\r\n";

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
    let first = crate::api::client::read(rest(running).as_bytes()).expect(201);
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
    crate::api::client::read(rest(lost).as_bytes()).refused(409, "idempotency_in_progress");
    assert_eq!(objects(&world).await, 0);
    let organization = owner.get(&world.path("")).expect(200).json();
    assert_eq!(organization["file_bytes"], 0);
    // What it gave back was not the key of the other one.
    is_reserved(&world, world.context.now()).await;
    running.write_all(b"12345").expect("sends");
    let first = crate::api::client::read(rest(running).as_bytes()).expect(201);
    let headers = [("idempotency-key", "k")];
    let again = owner.send("POST", &path, &headers, Some(b"12345"));
    assert_eq!(again.expect(201).body, first.body);
    assert_eq!(objects(&world).await, 1);
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
