//! Servers that let one wait: it is said what is waited for, and it ends.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::mpsc::channel;

use serde_json::json;

use super::{TestEnv, me};
use crate::scripted::{Response, Scripted};

/// The server responds once the command has reported that it does not.
#[test]
fn who_waits_is_reported_for_what() {
    let (response, may_respond) = channel::<()>();
    let may_respond = Mutex::new(may_respond);
    let server = Scripted::new(move |_| {
        may_respond.lock().expect("whole").recv().ok();
        Response::json(&me())
    });
    let env = TestEnv::with_key(&server.url);
    let mut command = env.command(&["whoami", "--format", "json"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("starts");
    let reported = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let reported = reported.map(|line| line.expect("text"));
    let note = reported.take(10).find(|line| line.contains("waiting"));
    assert_eq!(
        note.as_deref(),
        Some("GET /v1/me: waiting for the response (5 s; silence ends it after 30 s)")
    );
    drop(response);
    let mut out = String::new();
    child
        .stdout
        .take()
        .expect("a pipe")
        .read_to_string(&mut out)
        .expect("text");
    assert_eq!(child.wait().expect("ends").code(), Some(0));
    assert!(out.contains("ana@a.test"), "{out}");
}

/// Serves every connection with those bytes, and then nothing until it is closed.
fn responding(bytes: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                if stream.read(&mut buffer).is_ok_and(|length| length > 0) {
                    stream.write_all(bytes).ok();
                }
                while stream.read(&mut buffer).is_ok_and(|length| length > 0) {}
            });
        }
    });
    url
}

/// Nothing of such a response is read, and nobody waits for more of it.
#[test]
fn a_response_that_is_too_large_ends_it_at_once() {
    let claim = b"HTTP/1.1 200 OK\r\ncontent-length: 1099511627776\r\n\r\n{";
    let env = TestEnv::with_key(&responding(claim));
    for words in [
        &["whoami"][..],
        &["job", "show", "0198c0de-0000-7000-8000-0000000000cc"],
        &["api", "GET", "/v1/me"],
    ] {
        let ran = env.run(words).exits(5);
        assert!(ran.err.contains("larger than"), "{}", ran.err);
        assert!(ran.err.contains("help: ask for less"), "{}", ran.err);
        let document = env
            .run(&[words, &["--format", "json"]].concat())
            .exits(5)
            .json();
        assert_eq!(document["outcome"], "failed");
    }
}

#[test]
fn the_phases_of_a_job_are_reported_as_they_begin() {
    use super::routes::{TEMPLATE, WORKSPACE, catalog, job};
    // The second phase is over before it is looked at again.
    let server = catalog([
        job("pending"),
        job("structure"),
        job("publish"),
        job("completed"),
    ])
    .serve();
    let env = TestEnv::with_key(&server.url);
    let words = ["apply", TEMPLATE, "--workspace", WORKSPACE, "--yes"];
    let ran = env.run(&words).exits(0);
    assert_eq!(ran.err, "structure…\nrows…\npublish…\n");
    let server = catalog([job("structure"), job("completed")]).serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&[&words[..], &["-q"]].concat()).exits(0);
    assert_eq!(ran.err, "");
}

#[test]
fn a_job_that_nobody_has_seen_does_not_go_on() {
    let server = Scripted::new(|_| Response::problem(401, "unauthenticated"));
    let env = TestEnv::with_key(&server.url);
    let job = "0198c0de-0000-7000-8000-0000000000cc";
    let ran = env.run(&["job", "watch", job]).exits(4);
    assert!(!ran.err.contains("goes on"), "{}", ran.err);
    // Nobody listens: the time that is given bounds the waiting.
    let env = TestEnv::with_key(&crate::scripted::nobody());
    let ran = env.run(&["job", "watch", job, "--wait", "1s"]).exits(5);
    assert!(!ran.err.contains("goes on"), "{}", ran.err);
    assert!(
        ran.err.contains(&format!(
            "waiting for the server to ask about job {job} again, "
        )),
        "{}",
        ran.err
    );
    assert!(ran.err.contains(" s at most"), "{}", ran.err);
}

#[test]
fn a_large_upload_is_reported_with_its_size() {
    let server = Scripted::new(|_| Response::json(&json!({"id": "t"})));
    let env = TestEnv::with_key(&server.url);
    env.place
        .write("body.json", &format!("\"{}\"", "x".repeat(1_200_000)));
    let words = ["api", "POST", "/v1/x", "--data", "body.json"];
    let ran = env.run(&words).exits(0);
    assert_eq!(ran.err, "POST /v1/x: uploading 1.14 MiB…\n");
    assert_eq!(server.received()[0].body.len(), 1_200_002);
    let ran = env.run(&[&words[..], &["-q"]].concat()).exits(0);
    assert_eq!(ran.err, "");
}
