//! Uploads in parts that still run, next to `admin verify-files --repair`, and those that break off.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::away::{PLACE, at, waits_for};
use super::{Buckets, started};
use crate::kill::signed_in;
use crate::process::{Serving, command, database, owner, read_response};

const SIZE: usize = 12_000_000;
/// More than a part.
const HALF: usize = 6_000_000;

/// What the first element of a name holds.
fn text<'d>(document: &'d str, name: &str) -> Option<&'d str> {
    let (_, rest) = document.split_once(&format!("<{name}>"))?;
    Some(rest.split_once(&format!("</{name}>"))?.0)
}

/// How many parts each upload has that has not ended.
fn open_uploads(buckets: &Buckets) -> Vec<usize> {
    let listed = buckets.ask("GET /files?uploads HTTP/1.1");
    let uploads = listed.split("<Upload>").skip(1);
    let parts = uploads.map(|upload| {
        let key = text(upload, "Key").expect("a key");
        let id = text(upload, "UploadId").expect("an id");
        let parts = buckets.ask(&format!("GET /files/{key}?uploadId={id} HTTP/1.1"));
        parts.matches("<Part>").count()
    });
    parts.collect()
}

/// Sends the head of an upload, and the first half of its bytes.
fn begin(serving: &Serving, token: &str, workspace: &str) -> TcpStream {
    let mut stream = TcpStream::connect(&serving.address).expect("connects");
    let head = format!(
        "POST /v1/files?workspace_id={workspace}&name=f HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\
         authorization: Bearer {token}\r\ncontent-length: {SIZE}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("sends");
    stream.write_all(&vec![b'x'; HALF]).expect("sends");
    stream
}

#[test]
fn a_repair_leaves_uploads_alone_to_which_parts_still_come() {
    let Some(buckets) = started() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let organization = owner(&database);
    let endpoint = format!("http://{}", buckets.address);
    let environment = at(&endpoint);
    let serving = Serving::start_with(&database, &PLACE, &environment);
    let mut wire = signed_in(&serving);
    let body = json!({"organization_id": organization, "label": "W"});
    let workspace = wire.made("/v1/workspaces", &body);
    let repair = || {
        let mut command = command(&["admin", "verify-files", "--repair"]);
        command.args(["--database", &database]).args(PLACE);
        let output = command.envs(environment).output().expect("ends");
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    let mut stream = begin(&serving, &wire.token, &workspace);
    // This bucket says of every upload that it began in 2010.
    waits_for("a part has come", || open_uploads(&buckets) == [1]);
    let repaired = AtomicBool::new(false);
    let (verdict, sent) = thread::scope(|scope| {
        // It goes on slowly, so that nobody takes it for one that stands still.
        let (to, repaired) = (&stream, &repaired);
        let sending = scope.spawn(move || {
            let (mut to, mut sent) = (to, HALF);
            while !repaired.load(Ordering::SeqCst) && sent < SIZE - 1024 {
                to.write_all(&[b'x'; 1024]).expect("sends");
                sent += 1024;
                thread::sleep(Duration::from_millis(100));
            }
            sent
        });
        let verdict = repair();
        repaired.store(true, Ordering::SeqCst);
        (verdict, sending.join().expect("ends"))
    });
    assert_eq!(
        (
            &verdict["repaired"],
            verdict["left_over"].as_array().map(Vec::len)
        ),
        (&json!(0), Some(1)),
        "{verdict}"
    );
    stream.write_all(&vec![b'x'; SIZE - sent]).expect("sends");
    let response = read_response(stream);
    assert!(response.starts_with("HTTP/1.1 201 "), "{response}");
    let fine = json!({"checked": 1, "missing": [], "damaged": [], "left_over": [], "repaired": 0});
    assert_eq!(repair(), fine);
    // One that breaks off is given up by the server itself.
    let stream = begin(&serving, &wire.token, &workspace);
    waits_for("a part has come", || open_uploads(&buckets) == [1]);
    drop(stream);
    waits_for("the upload is given up", || {
        open_uploads(&buckets).is_empty()
    });
    assert_eq!(repair(), fine);
}
