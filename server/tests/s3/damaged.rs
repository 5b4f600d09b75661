//! Objects of a bucket that are gone, shorter, or other bytes than a record says.

use std::io::Write as _;
use std::net::TcpStream;

use serde_json::{Value, json};

use super::away::{PLACE, at, read};
use super::{Buckets, SIGNED, started};
use crate::kill::signed_in;
use crate::process::{Serving, command, database, owner, read_response};

const SIZE: usize = 1_000_000;

/// The key of the one object that an organization has.
fn key_of(buckets: &Buckets, organization: &str) -> String {
    let listed = buckets.ask("GET /files?list-type=2 HTTP/1.1");
    let keys = listed.split("<Key>").skip(1);
    let mut keys = keys.filter_map(|rest| Some(rest.split_once("</Key>")?.0));
    let found = keys.find(|key| key.contains(organization));
    found.expect("an object").to_owned()
}

/// Puts other bytes in the place of an object.
fn overwrite(buckets: &Buckets, key: &str, bytes: &str) {
    let mut stream = TcpStream::connect(&buckets.address).expect("connects");
    let length = bytes.len();
    let request = format!(
        "PUT /files/{key} HTTP/1.1\r\nhost: s3.amazonaws.com\r\nconnection: close\r\n\
         {SIGNED}\r\ncontent-length: {length}\r\n\r\n{bytes}"
    );
    stream.write_all(request.as_bytes()).expect("sends");
    let response = read_response(stream);
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
}

#[test]
fn an_object_that_is_gone_or_another_is_damaged() {
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
    let upload = format!("/v1/files?workspace_id={workspace}&name=f");
    let (token, text) = (wire.token.clone(), "x".repeat(SIZE));
    let (status, file) = serving.request(&token, "POST", &upload, &text);
    assert_eq!(status, 201, "{file}");
    let content = format!("/v1/files/{}/content", file["id"].as_str().expect("an id"));
    let is_damaged = || {
        let (status, refusal) = serving.request(&token, "GET", &content, "");
        assert_eq!(
            (status, &refusal["code"]),
            (500, &json!("file_damaged")),
            "{refusal}"
        );
    };
    // The files that are named as so broken, and nothing else is.
    let verify = |broken: &str, other: &str| {
        let output = command(&["admin", "verify-files", "--database", &database])
            .args(PLACE)
            .envs(environment)
            .output()
            .expect("ends");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let verdict: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(verdict[broken][0]["file_id"], file["id"], "{verdict}");
        assert_eq!(verdict[other], json!([]), "{verdict}");
    };
    let key = key_of(&buckets, &organization);
    // Of the right length: the connection breaks before the last byte.
    let other = format!("{}y", "x".repeat(SIZE - 1));
    overwrite(&buckets, &key, &other);
    let (begins, length) = read(&serving, &token, &content);
    assert!(begins && length < SIZE, "{length}");
    verify("damaged", "missing");
    overwrite(&buckets, &key, "short");
    is_damaged();
    verify("damaged", "missing");
    let gone = buckets.ask(&format!("DELETE /files/{key} HTTP/1.1"));
    assert!(gone.starts_with("HTTP/1.1 204"), "{gone}");
    is_damaged();
    verify("missing", "damaged");
    // The same bytes, brought again, are there again.
    let (status, again) = serving.request(&token, "POST", &upload, &text);
    assert_eq!(status, 201, "{again}");
    assert_eq!(read(&serving, &token, &content), (true, SIZE));
}
