//! Uploads as forms.

use std::io::Write as _;
use std::net::Shutdown;

use serde_json::json;

use super::bytes_of;
use super::raw_upload::{begin, form, objects, rest, small};
use crate::api::client::read;
use crate::api::model::Model;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_form_has_one_part_and_that_is_the_file,
    a_form_is_read_to_the_end_of_its_body,
    a_form_without_a_length_is_refused_for_its_size,
);

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
        let shut = ended.shutdown(Shutdown::Write);
        shut.expect("a socket");
        read(rest(ended).as_bytes()).refused(422, "validation_failed");
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

async fn a_form_without_a_length_is_refused_for_its_size(place: Place) {
    let world = World::with(place, small(1000)).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let path = format!("/v1/files?workspace_id={workspace}");
    let head = "--XX\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a\"\r\n\r\n";
    let body = format!("{head}{}\r\n--XX--\r\n", "x".repeat(40_000));
    let mut chunks = Vec::new();
    // One chunk begins below the limit and ends far above it.
    for chunk in [&body.as_bytes()[..900], &body.as_bytes()[900..]] {
        chunks.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        chunks.extend_from_slice(chunk);
        chunks.extend_from_slice(b"\r\n");
    }
    chunks.extend_from_slice(b"0\r\n\r\n");
    let headers = [
        ("transfer-encoding", "chunked"),
        ("content-type", "multipart/form-data; boundary=XX"),
    ];
    owner
        .send_raw("POST", &path, &headers, &chunks)
        .refused(413, "payload_too_large");
}
