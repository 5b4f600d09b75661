//! A bucket that is away, slow, or breaks off: each request says so, nothing is half there, and nothing is lost.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Buckets, started};
use crate::kill::{Wire, signed_in};
use crate::process::{Serving, command, database, owner};
use crate::stores::Place;

/// Everything passes.
const OPEN: usize = 0;
/// Nobody is there.
const AWAY: usize = 1;
/// Somebody is there and says nothing.
const STALLED: usize = 2;
/// Responses end after [`CARRIED`] bytes. With a number added, so often, and then everything passes.
const BREAKING: usize = 3;
const CARRIED: usize = 100_000;
/// More than two parts of an upload.
const LARGE: usize = 12_000_000;
pub(super) const PLACE: [&str; 2] = ["--files", "s3://files/of/a-store"];

/// A proxy between a server and its bucket, which fails as its mode says.
struct FaultyProxy {
    address: String,
    mode: Arc<AtomicUsize>,
}

impl FaultyProxy {
    fn new(buckets: &Buckets) -> FaultyProxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
        let address = listener.local_addr().expect("an address").to_string();
        let mode = Arc::new(AtomicUsize::new(OPEN));
        let (shared, to) = (mode.clone(), buckets.address.clone());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if shared.load(Ordering::SeqCst) == AWAY {
                    continue;
                }
                let Ok(server) = TcpStream::connect(&to) else {
                    continue;
                };
                carry(&client, &server, &shared, false);
                carry(&server, &client, &shared, true);
            }
        });
        FaultyProxy { address, mode }
    }

    fn set_mode(&self, mode: usize) {
        self.mode.store(mode, Ordering::SeqCst);
    }
}

/// Passes on what comes, as far as the proxy lets it.
fn carry(from: &TcpStream, to: &TcpStream, mode: &Arc<AtomicUsize>, is_response: bool) {
    let mut from = from.try_clone().expect("a socket");
    let mut to = to.try_clone().expect("a socket");
    let mode = mode.clone();
    thread::spawn(move || {
        let (mut buffer, mut carried) = (vec![0; 64 << 10], 0);
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            let passes = loop {
                match mode.load(Ordering::SeqCst) {
                    STALLED => thread::sleep(Duration::from_millis(20)),
                    AWAY => break false,
                    breaking @ BREAKING.. => {
                        let passes = !is_response || carried + length <= CARRIED;
                        if !passes && breaking > BREAKING {
                            let last = breaking == BREAKING + 1;
                            let next = if last { OPEN } else { breaking - 1 };
                            let order = Ordering::SeqCst;
                            mode.compare_exchange(breaking, next, order, order).ok();
                        }
                        break passes;
                    }
                    _ => break true,
                }
            };
            carried += length;
            if !passes || to.write_all(&buffer[..length]).is_err() {
                from.shutdown(Shutdown::Both).ok();
                to.shutdown(Shutdown::Both).ok();
                return;
            }
        }
        to.shutdown(Shutdown::Write).ok();
    });
}

/// What cannot be written or read is said in one word.
fn is_away((status, refusal): (u16, Value)) {
    assert_eq!(
        (status, &refusal["code"]),
        (503, &json!("store_unavailable")),
        "{refusal}"
    );
}

/// Waits until something is so.
pub(super) fn waits_for(what: &str, mut so: impl FnMut() -> bool) {
    let found = (0..600).any(|at| {
        if at > 0 {
            thread::sleep(Duration::from_millis(100));
        }
        so()
    });
    assert!(found, "{what}");
}

fn names(serving: &Serving, token: &str) -> Vec<Value> {
    let (_, page) = serving.request(token, "GET", "/v1/files", "");
    let items = page["items"].as_array().expect("a page").iter();
    items.map(|file| file["name"].clone()).collect()
}

/// Whether a response begins well, and how much of its body comes.
pub(super) fn read(serving: &Serving, token: &str, path: &str) -> (bool, usize) {
    let mut stream = TcpStream::connect(&serving.address).expect("connects");
    let head = format!(
        "GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("sends");
    let mut response = Vec::new();
    // It may break off.
    let _ = stream.read_to_end(&mut response);
    let response = String::from_utf8_lossy(&response);
    let (head, body) = response.split_once("\r\n\r\n").unwrap_or_default();
    (head.starts_with("HTTP/1.1 200 "), body.len())
}

#[test]
fn a_bucket_that_is_away_or_slow_is_said_and_loses_nothing() {
    let Some(buckets) = started() else {
        return;
    };
    let proxy = FaultyProxy::new(&buckets);
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let organization = owner(&database);
    let endpoint = format!("http://{}", proxy.address);
    let environment = [
        ("AWS_ACCESS_KEY_ID", "id"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL", &*endpoint),
        ("AWS_READ_TIMEOUT", "2s"),
    ];
    let arguments = [&PLACE[..], &["--rate-limit", "off"]].concat();
    // A server starts without its bucket, and takes files once that is there.
    proxy.set_mode(AWAY);
    let without_sweeper = [&arguments[..], &["--no-worker"]].concat();
    let serving = Serving::start_with(&database, &without_sweeper, &environment);
    let mut wire = signed_in(&serving);
    let token = wire.token.clone();
    let body = json!({"organization_id": organization, "label": "W"});
    let workspace = wire.made("/v1/workspaces", &body);
    let table = json!({"workspace_id": workspace, "label": "T"});
    let table = wire.made("/v1/features", &table);
    let column = json!({"label": "photo", "type": "file"});
    wire.made(&format!("/v1/features/{table}/columns"), &column);
    let upload = |name: &str| format!("/v1/files?workspace_id={workspace}&name={name}");
    is_away(serving.request(&token, "POST", &upload("early"), "early"));
    assert_eq!(names(&serving, &token), [""; 0]);
    proxy.set_mode(OPEN);
    waits_for("the bucket is there", || {
        let (status, _) = serving.request(&token, "POST", &upload("first"), "first");
        status == 201
    });
    let large = "x".repeat(LARGE);
    let mut kept = Vec::new();
    for (name, text) in [("small", "small"), ("large", &large)] {
        let (status, file) = serving.request(&token, "POST", &upload(name), text);
        assert_eq!(status, 201, "{file}");
        let row = json!({"data": {"photo": file["id"]}});
        wire.made(&format!("/v1/features/{table}/rows"), &row);
        let id = file["id"].as_str().expect("an id").to_owned();
        kept.push((format!("/v1/files/{id}/content"), text.len()));
    }
    let mut gone = Vec::new();
    for mode in [AWAY, STALLED] {
        let (status, goes) =
            serving.request(&token, "POST", &upload("goes"), &format!("goes {mode}"));
        assert_eq!(status, 201, "{goes}");
        gone.push(goes["sha256"].as_str().expect("a digest").to_owned());
        proxy.set_mode(mode);
        thread::scope(|scope| {
            for text in ["half", &large] {
                let (serving, token, path) = (&serving, &token, upload("half"));
                scope.spawn(move || is_away(serving.request(token, "POST", &path, text)));
            }
            for (path, _) in &kept {
                let (serving, token) = (&serving, &token);
                scope.spawn(move || is_away(serving.request(token, "GET", path, "")));
            }
        });
        // A record goes without its bytes, which are removed later.
        let path = format!("/v1/files/{}", goes["id"].as_str().expect("an id"));
        let (status, _) = serving.request(&token, "DELETE", &path, "");
        assert_eq!(status, 204);
        assert_eq!(names(&serving, &token), ["first", "small", "large"]);
        proxy.set_mode(OPEN);
        for (path, length) in &kept {
            assert_eq!(read(&serving, &token, path), (true, *length));
        }
    }
    // It breaks off, and so does the response: never is a part taken for the whole.
    proxy.set_mode(BREAKING);
    let (path, length) = &kept[1];
    let (begun, part) = read(&serving, &token, path);
    assert!(!begun || part < *length, "{part}");
    proxy.set_mode(OPEN);
    assert_eq!(read(&serving, &token, path), (true, *length));
    let organization_path = format!("/v1/organizations/{organization}");
    let (_, acme) = serving.request(&token, "GET", &organization_path, "");
    let first = "first".len() + kept.iter().map(|(_, length)| length).sum::<usize>();
    assert_eq!(acme["file_bytes"], first);
    // The sweeper of a server whose bucket is away waits for it. Nobody holds the objects any more.
    drop(serving);
    let free = "UPDATE file_objects SET free_since = 0 WHERE free_since IS NOT NULL";
    Place::at(database.clone()).execute(free);
    proxy.set_mode(AWAY);
    let sweeping = [("TPLKIT_FILE_GRACE", "1s")];
    let environment = [&environment[..], &sweeping].concat();
    let serving = Serving::start_with(&database, &arguments, &environment);
    let listed = || buckets.ask("GET /files?list-type=2 HTTP/1.1");
    thread::sleep(Duration::from_secs(2));
    assert!(gone.iter().all(|digest| listed().contains(digest)));
    proxy.set_mode(OPEN);
    waits_for("the objects of no record go", || {
        let listed = listed();
        !gone.iter().any(|digest| listed.contains(digest))
    });
    for (path, length) in &kept {
        assert_eq!(read(&serving, &token, path), (true, *length));
    }
    drop(serving);
    // Uploads that were given up have left no parts behind, or `verify-files` finds them.
    let mut command = command(&["admin", "verify-files", "--database", &database]);
    command.args(PLACE).envs(environment);
    let output = command.output().expect("ends");
    let verdict: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (&verdict["missing"], &verdict["damaged"]),
        (&json!([]), &json!([])),
        "{verdict}"
    );
}

/// Where a bucket is, and who asks there.
pub(super) fn at(endpoint: &str) -> [(&'static str, &str); 4] {
    [
        ("AWS_ACCESS_KEY_ID", "id"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL", endpoint),
    ]
}

/// A bucket that takes its time for the last bytes, longer than the key of a process that is gone is taken.
#[test]
fn a_key_stays_taken_while_a_bucket_stores_an_upload() {
    let Some(buckets) = started() else {
        return;
    };
    let Some(place) = Place::postgres() else {
        return;
    };
    let proxy = FaultyProxy::new(&buckets);
    let organization = owner(&place.url);
    let arguments = [&PLACE[..], &["--rate-limit", "off"]].concat();
    let [slow, direct] = [&proxy.address, &buckets.address].map(|at| format!("http://{at}"));
    let patient = [("AWS_READ_TIMEOUT", "3600s")];
    let environment = [&at(&slow)[..], &patient].concat();
    let serving = Serving::start_with(&place.url, &arguments, &environment);
    let other = Serving::start_with(&place.url, &arguments, &at(&direct));
    let mut wire = signed_in(&serving);
    let body = json!({"organization_id": organization, "label": "W"});
    let workspace = wire.made("/v1/workspaces", &body);
    let path = format!("/v1/files?workspace_id={workspace}&name=f");
    let upload = |to: &Serving| {
        let mut wire = Wire::new(to, &wire.token);
        let sent = wire.ask_with_key("k", "POST", &path, Some(&json!("bytes")));
        sent.expect("a response")
    };
    let is_one = |what: &str| {
        let count = place.ask(&format!("SELECT count(*)::text FROM {what}"));
        count.trim() == "1"
    };
    proxy.set_mode(STALLED);
    thread::scope(|scope| {
        let uploading = scope.spawn(|| upload(&serving));
        waits_for("all bytes came", || is_one("main.file_objects"));
        // As if that had been longer ago.
        let longer = "UPDATE main.idempotency SET created_at = created_at - 200000000";
        place.execute(longer);
        waits_for("the key is taken for longer", || {
            is_one(
                "main.idempotency WHERE status = 0 \
                 AND created_at > extract(epoch FROM now()) * 1000000 - 50000000",
            )
        });
        for to in [&other, &serving] {
            let (status, refusal) = upload(to);
            assert_eq!(
                (status, &refusal["code"]),
                (409, &json!("idempotency_in_progress")),
                "{refusal}"
            );
        }
        proxy.set_mode(OPEN);
        let (status, first) = uploading.join().expect("ends");
        assert_eq!(status, 201, "{first}");
        for to in [&other, &serving] {
            assert_eq!(upload(to), (201, first.clone()));
        }
    });
}

#[test]
fn a_read_that_breaks_off_is_no_damage() {
    let Some(buckets) = started() else {
        return;
    };
    let proxy = FaultyProxy::new(&buckets);
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let organization = owner(&database);
    let endpoint = format!("http://{}", proxy.address);
    let environment = at(&endpoint);
    let serving = Serving::start_with(&database, &PLACE, &environment);
    let mut wire = signed_in(&serving);
    let body = json!({"organization_id": organization, "label": "W"});
    let workspace = wire.made("/v1/workspaces", &body);
    let path = format!("/v1/files?workspace_id={workspace}&name=large");
    let large = wire.made(&path, &json!("x".repeat(LARGE)));
    let path = format!("/v1/files?workspace_id={workspace}&name=small");
    wire.made(&path, &json!("small"));
    drop(serving);
    let verify = || {
        let mut command = command(&["admin", "verify-files", "--database", &database]);
        command.args(PLACE).envs(environment);
        command.output().expect("ends")
    };
    // What does not come to its end is named, and what does is looked at all the same.
    proxy.set_mode(BREAKING);
    let output = verify();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let verdict: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let unreadable = verdict["unreadable"].as_array().expect("a list");
    let [one] = unreadable.as_slice() else {
        panic!("{verdict}")
    };
    assert_eq!(one["file_id"], json!(large));
    assert_eq!(one["organization_id"], json!(organization));
    let key = one["key"].as_str().expect("a name");
    assert!(key.starts_with(&organization), "{verdict}");
    for (what, expected) in [
        ("checked", json!(2)),
        ("missing", json!([])),
        ("damaged", json!([])),
        ("left_over", json!([])),
    ] {
        assert_eq!(verdict[what], expected, "{verdict}");
    }
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("could not be read to their end: 1"), "{said}");
    // The client of the bucket tries four times; the next read passes.
    proxy.set_mode(BREAKING + 4);
    let output = verify();
    assert!(output.status.success(), "{output:?}");
    let verdict: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        verdict,
        json!({"checked": 2, "missing": [], "damaged": [], "left_over": [], "repaired": 0})
    );
}
