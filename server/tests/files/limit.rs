//! How large a file may be, as the command line or the environment says it: over it nothing is left.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;

use serde_json::{Value, json};

use super::{folder::becomes_empty, signed_in};
use crate::process::{Serving, database, owner, run, stderr};

const MOST: usize = 1_000_000;

/// An upload in chunks, so that nobody knows its length before its end. Gives status and document.
fn chunked(serving: &Serving, token: &str, workspace: &str, chunks: &[usize]) -> (u16, Value) {
    let head = format!(
        "POST /v1/files?workspace_id={workspace}&name=f HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\
         authorization: Bearer {token}\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    let mut stream = TcpStream::connect(&serving.address).expect("connects");
    stream.write_all(head.as_bytes()).expect("sends");
    for length in chunks {
        let chunk = format!("{length:x}\r\n{}\r\n", "x".repeat(*length));
        // A server that refuses a body need not read it.
        let _ = stream.write_all(chunk.as_bytes());
    }
    let _ = stream.write_all(b"0\r\n\r\n");
    let mut response = String::new();
    let _ = stream.read_to_string(&mut response);
    let status = response.get(9..12).and_then(|status| status.parse().ok());
    let (_, document) = response.split_once("\r\n\r\n").unwrap_or_default();
    let document = serde_json::from_str(document).unwrap_or_default();
    (status.unwrap_or_default(), document)
}

fn limited(arguments: &[&str], environment: &[(&str, &str)]) {
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let organization = owner(&database);
    let serving = Serving::start_with(&database, arguments, environment);
    let (mut wire, workspace) = signed_in(&serving, &organization);
    let token = wire.token.clone();
    let send = |chunks: &[usize]| chunked(&serving, &token, &workspace, chunks);
    let (status, file) = send(&[MOST - 1, 1]);
    assert_eq!((status, &file["size"]), (201, &json!(MOST)), "{file}");
    // Over it by a byte, after 99 % of it, and at once.
    for chunks in [
        &[MOST, 1][..],
        &[MOST / 100 * 99, MOST / 100 + 1],
        &[MOST / 100 * 99, MOST],
        &[2 * MOST],
    ] {
        let (status, refusal) = send(chunks);
        assert_eq!(
            (status, &refusal["code"]),
            (413, &json!("payload_too_large")),
            "{chunks:?} {refusal}"
        );
        let said = refusal["detail"].as_str().unwrap_or_default();
        assert!(said.contains("1000000 bytes"), "{refusal}");
    }
    // What says its length is refused by it.
    let length = MOST + 1;
    let announced = serving.ask(&format!(
        "POST /v1/files?workspace_id={workspace}&name=f HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\
         authorization: Bearer {token}\r\nexpect: 100-continue\r\ncontent-length: {length}\r\n\r\n"
    ));
    assert!(announced.starts_with("HTTP/1.1 413 "), "{announced}");
    let (_, list) = wire.ask("GET", "/v1/files", None).expect("a response");
    let items = list["items"].as_array().expect("a page");
    assert_eq!(items.len(), 1, "{list}");
    assert_eq!(items[0]["id"], file["id"]);
    let path = format!("/v1/organizations/{organization}");
    let (_, acme) = wire.ask("GET", &path, None).expect("a response");
    assert_eq!(acme["file_bytes"], MOST);
    let place = format!("{}.files", database.trim_start_matches("sqlite:"));
    becomes_empty(&Path::new(&place).join("uploads"));
}

#[test]
fn a_flag_says_how_large_a_file_may_be() {
    limited(&["--max-file", "1000000"], &[]);
}

#[test]
fn a_variable_says_how_large_a_file_may_be() {
    limited(&[], &[("TPLKIT_MAX_FILE", "1000000")]);
}

#[test]
fn a_limit_that_is_none_ends_the_start() {
    for most in ["0", "-1", "1k", "5368709121"] {
        let most = format!("--max-file={most}");
        let refused = run(&["serve", "--listen", "127.0.0.1:0", &most]);
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        assert!(stderr(&refused).contains("--max-file"), "{refused:?}");
    }
}
