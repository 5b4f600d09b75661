//! A folder of files that takes nothing, or nothing more: each request says so, nothing is half there, and nothing is
//! lost.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::{signed_in, verified};
use crate::kill::Wire;
use crate::process::{Serving, database, owner, run, stderr};

/// Waits until a folder has nothing in it, if it is there.
pub(super) fn becomes_empty(folder: &Path) {
    let left = || fs::read_dir(folder).map_or(0, Iterator::count);
    let empty = (0..1200).any(|at| {
        if at > 0 {
            thread::sleep(Duration::from_millis(25));
        }
        left() == 0
    });
    assert!(empty, "{} in {}", left(), folder.display());
}

/// What cannot be written or read is said in one word.
fn is_away((status, refusal): (u16, Value)) {
    assert_eq!(
        (status, &refusal["code"]),
        (503, &json!("store_unavailable")),
        "{refusal}"
    );
}

fn names(wire: &mut Wire) -> Vec<Value> {
    let (_, page) = wire.ask("GET", "/v1/files", None).expect("a response");
    let items = page["items"].as_array().expect("a page").iter();
    items.map(|file| file["name"].clone()).collect()
}

/// A file is in the way of a folder: even root cannot write there.
#[test]
fn a_folder_that_cannot_be_written_takes_nothing_and_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let organization = owner(&database);
    let serving = Serving::start_with(&database, &["--rate-limit", "off"], &[]);
    let (mut wire, workspace) = signed_in(&serving, &organization);
    let upload = |name: &str| format!("/v1/files?workspace_id={workspace}&name={name}");
    let file = wire.made(&upload("kept"), &json!("bytes"));
    let content = format!("/v1/files/{file}/content");
    let place = format!("{}.files", database.trim_start_matches("sqlite:"));
    let place = Path::new(&place);
    let token = wire.token.clone();
    let (small, large) = ("small", "x".repeat(700_000));
    for (blocked, reads) in [(organization.as_str(), false), ("uploads", true)] {
        let (there, aside) = (place.join(blocked), place.join("aside"));
        fs::create_dir_all(&there).expect("a folder");
        fs::rename(&there, &aside).expect("is renamed");
        fs::write(&there, b"in the way").expect("writes");
        is_away(serving.request(&token, "POST", &upload("large"), &large));
        if reads {
            let (status, _) = serving.request(&token, "GET", &content, "");
            assert_eq!(status, 200);
        } else {
            is_away(serving.request(&token, "POST", &upload("small"), small));
            is_away(serving.request(&token, "GET", &content, ""));
            becomes_empty(&place.join("uploads"));
        }
        assert_eq!(names(&mut wire), ["kept"]);
        fs::remove_file(&there).expect("is there");
        fs::rename(&aside, &there).expect("is renamed");
    }
    // Everything is as it was.
    let (status, _) = serving.request(&token, "GET", &content, "");
    assert_eq!(status, 200);
    for (name, text) in [("small", small), ("large", &large)] {
        let (status, taken) = serving.request(&token, "POST", &upload(name), text);
        assert_eq!(status, 201, "{taken}");
    }
    becomes_empty(&place.join("uploads"));
    drop(serving);
    let verdict = verified(&database);
    assert_eq!(
        (&verdict["missing"], &verdict["damaged"]),
        (&json!([]), &json!([])),
        "{verdict}"
    );
}

#[test]
fn a_place_that_can_be_no_folder_ends_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let file = folder.path().join("file");
    fs::write(&file, b"no folder").expect("writes");
    for place in [file.clone(), file.join("below")] {
        let files = format!("file:{}", place.display());
        let words = ["serve", "--listen", "127.0.0.1:0", "--database", &database];
        let refused = run(&[&words[..], &["--files", &files]].concat());
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        assert!(
            stderr(&refused).contains("cannot hold files"),
            "{refused:?}"
        );
    }
}

/// No file of the process may be longer than 16 MiB, or 32 where the shell counts in larger blocks: to it the disk is
/// full there.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_leaves_nothing_of_an_upload() {
    use std::process::{Command, Stdio};
    const LARGE: usize = 40 << 20;
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let organization = owner(&database);
    let limited = "trap '' XFSZ && ulimit -f 32768 && exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command
        .args(["-c", limited, env!("CARGO_BIN_EXE_tplkit-server"), "serve"])
        .args(["--listen", "127.0.0.1:0", "--database", &database])
        .args(["--rate-limit", "off"])
        .stdin(Stdio::null());
    let serving = Serving::of(command);
    let (mut wire, workspace) = signed_in(&serving, &organization);
    let upload = |name: &str| format!("/v1/files?workspace_id={workspace}&name={name}");
    wire.made(&upload("before"), &json!("bytes"));
    let token = wire.token.clone();
    let head = |name: &str| {
        format!(
            "POST {} HTTP/1.1\r\nhost: a\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\
             content-length: {LARGE}\r\n\r\n",
            upload(name)
        )
    };
    let response = refused_in_between(&serving, &head("large"), LARGE);
    assert!(
        response.starts_with("HTTP/1.1 503 ") && response.contains("store_unavailable"),
        "{response}"
    );
    let place = format!("{}.files", database.trim_start_matches("sqlite:"));
    becomes_empty(&Path::new(&place).join("uploads"));
    assert_eq!(names(&mut wire), ["before"]);
    let path = format!("/v1/organizations/{organization}");
    let (_, acme) = wire.ask("GET", &path, None).expect("a response");
    assert_eq!(acme["file_bytes"], 7, "of the quoted text");
    // There is room for what is small.
    wire.made(&upload("after"), &json!("more bytes"));
    drop(serving);
    let verdict = verified(&database);
    assert_eq!(
        (&verdict["checked"], &verdict["left_over"]),
        (&json!(2), &json!([])),
        "{verdict}"
    );
}

/// Sends a body of that length, whether or not anybody reads it, and gives the response.
#[cfg(target_os = "linux")]
fn refused_in_between(serving: &Serving, head: &str, length: usize) -> String {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(&serving.address).expect("connects");
    stream.write_all(head.as_bytes()).expect("sends");
    let mut sending = stream.try_clone().expect("a socket");
    let sender = thread::spawn(move || {
        let piece = vec![b'x'; 1 << 20];
        let mut left = length;
        while left > 0 {
            let part = left.min(piece.len());
            if sending.write_all(&piece[..part]).is_err() {
                break;
            }
            left -= part;
        }
    });
    let mut response = Vec::new();
    let _ = stream.read_to_end(&mut response);
    sender.join().expect("ends");
    String::from_utf8_lossy(&response).into_owned()
}
