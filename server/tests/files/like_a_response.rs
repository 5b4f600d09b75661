//! Files that read like a response of the HTTP library: the edge takes those away, and never a file.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use super::signed_in;
use crate::process::{Serving, database, owner};

/// What the library sends on its own to what is no request.
const RESPONSE: &str = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// The head of a response, without its body.
fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("a response");
        head.extend(byte);
    }
    String::from_utf8(head).expect("a head")
}

#[test]
fn a_file_that_reads_like_a_response_comes_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let organization = owner(&database);
    let serving = Serving::start_with(&database, &["--rate-limit", "off"], &[]);
    let (wire, workspace) = signed_in(&serving, &organization);
    for before in [0, 10, 100_000, 700_000] {
        let text = format!("{}{RESPONSE}", "x".repeat(before));
        let path = format!("/v1/files?workspace_id={workspace}&name=f");
        let (status, file) = serving.request(&wire.token, "POST", &path, &text);
        assert_eq!(status, 201, "{file}");
        let mut stream = TcpStream::connect(&serving.address).expect("connects");
        let content = format!(
            "GET /v1/files/{}/content HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {}\r\n\r\n",
            file["id"].as_str().expect("an id"),
            wire.token
        );
        for _ in 0..2 {
            stream.write_all(content.as_bytes()).expect("sends");
            let head = head(&mut stream);
            assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
            let mut body = vec![0; text.len()];
            stream.read_exact(&mut body).expect("all of it");
            assert!(body == text.as_bytes(), "{before}");
        }
        // What is no request has one response on the same connection, and that is ours.
        stream.write_all(b"nonsense\r\n\r\n").expect("sends");
        let mut rest = String::new();
        stream.read_to_string(&mut rest).expect("an end");
        assert!(rest.starts_with("HTTP/1.1 422 "), "{rest}");
        assert_eq!(rest.matches("HTTP/1.1 ").count(), 1, "{rest}");
    }
}
