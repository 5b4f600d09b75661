//! `GET /v1/files/{file_id}/content`

use super::{bytes_of, in_folder, made};
use crate::api::client::{Client, Response};
use crate::api::model::Model;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    parts_are_served_and_conditions_are_kept_to,
    what_could_run_is_saved_and_never_shown,
    bytes_that_are_gone_or_others_are_damaged,
);

async fn parts_are_served_and_conditions_are_kept_to(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let file = made(&owner, &workspace, "f", b"0123456789");
    let path = bytes_of(&file);
    let tag = format!("\"{}\"", file["sha256"].as_str().expect("a digest"));
    let with = |headers: &[(&str, &str)]| owner.send("GET", &path, headers, None);
    let whole = with(&[]).expect(200);
    assert_eq!(whole.header("etag"), Some(&*tag));
    assert_eq!(whole.header("cache-control"), Some("private, no-cache"));
    assert_eq!(whole.header("accept-ranges"), Some("bytes"));
    assert_eq!(whole.header("content-type"), Some("text/plain"));
    assert_eq!(whole.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(whole.header("content-length"), Some("10"));
    for (range, part, sent) in [
        ("bytes=0-0", "0", "bytes 0-0/10"),
        ("bytes=-1", "9", "bytes 9-9/10"),
        ("bytes=5-", "56789", "bytes 5-9/10"),
        ("bytes=8-99", "89", "bytes 8-9/10"),
        ("bytes=-99", "0123456789", "bytes 0-9/10"),
    ] {
        let response = with(&[("range", range)]).expect(206);
        assert_eq!(
            (&*response.body, response.header("content-range")),
            (part, Some(sent))
        );
        assert_eq!(
            response.header("content-length"),
            Some(&*part.len().to_string())
        );
        assert_eq!(response.header("etag"), Some(&*tag));
    }
    for range in ["bytes=10-", "bytes=-0", "bytes=99-100"] {
        let refused = with(&[("range", range)]).refused(416, "range_not_satisfiable");
        assert_eq!(refused.header("content-range"), Some("bytes */10"));
    }
    for range in ["bytes=5-2", "bytes=0-1,3-4", "bytes=x", "items=0-1"] {
        assert_eq!(with(&[("range", range)]).expect(200).body, "0123456789");
    }
    let part = ("range", "bytes=0-0");
    assert_eq!(with(&[part, ("if-range", &tag)]).expect(206).body, "0");
    assert_eq!(
        with(&[part, ("if-range", "\"other\"")]).expect(200).body,
        "0123456789"
    );
    let same = with(&[("if-none-match", &tag)]).expect(304);
    assert_eq!((&*same.body, same.header("etag")), ("", Some(&*tag)));
    assert_eq!(same.header("cache-control"), Some("private, no-cache"));
    with(&[("if-none-match", "\"other\"")]).expect(200);
    with(&[("if-match", &tag)]).expect(200);
    with(&[("if-match", "\"other\"")]).refused(412, "precondition_failed");
    // A HEAD has the head of the whole, whatever part it asks for.
    let head = owner.send("HEAD", &path, &[part], None).expect(200);
    assert_eq!(
        (&*head.body, head.header("content-length")),
        ("", Some("10"))
    );
    assert_eq!(
        owner
            .send("HEAD", &path, &[("if-none-match", "*")], None)
            .status,
        304
    );
    // Who does not see the file learns nothing by asking in another way.
    let stranger = world.as_user("stranger@other.test");
    for headers in [
        &[][..],
        &[part],
        &[("if-match", "\"other\"")],
        &[("if-none-match", "*")],
        &[("range", "bytes=99-")],
    ] {
        stranger
            .send("GET", &path, headers, None)
            .refused(404, "not_found");
    }
    owner
        .get(&format!("{path}?inline=x"))
        .refused(422, "validation_failed");
}

fn typed(client: &Client, workspace: &str, media_type: &str) -> Response {
    let path = format!("/v1/files?workspace_id={workspace}&name=a.html");
    let headers = [("content-type", media_type)];
    let file = client
        .send("POST", &path, &headers, Some(b"<script>"))
        .expect(201)
        .json();
    let shown = client
        .get(&format!("{}?inline=true", bytes_of(&file)))
        .expect(200);
    assert_eq!(shown.header("content-type"), Some(media_type));
    let saved = client.get(&bytes_of(&file)).expect(200);
    assert_eq!(
        saved.header("content-disposition"),
        Some("attachment; filename=\"a.html\"")
    );
    assert_eq!(
        saved.header("content-security-policy"),
        Some("sandbox; default-src 'none'")
    );
    shown
}

async fn what_could_run_is_saved_and_never_shown(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let saved = "sandbox; default-src 'none'";
    let media = "sandbox; default-src 'none'; img-src 'self'; media-src 'self'";
    for (media_type, inline, policy) in [
        ("text/html", false, saved),
        ("image/svg+xml", false, saved),
        ("application/xhtml+xml", false, saved),
        ("text/xml", false, saved),
        ("application/javascript", false, saved),
        ("text/plain; charset=utf-8", true, saved),
        ("image/png", true, media),
        ("IMAGE/JPEG", true, media),
        ("image/gif", true, media),
        ("image/webp", true, media),
        ("image/avif", true, media),
        ("audio/ogg; codecs=opus", true, media),
        ("audio/x+xml", false, saved),
        ("video/mp4", true, media),
        ("application/pdf", true, "default-src 'none'"),
    ] {
        let response = typed(&owner, &workspace, media_type);
        let way = if inline { "inline" } else { "attachment" };
        assert_eq!(
            response.header("content-disposition"),
            Some(&*format!("{way}; filename=\"a.html\"")),
            "{media_type}"
        );
        assert_eq!(
            response.header("content-security-policy"),
            Some(policy),
            "{media_type}"
        );
    }
}

async fn bytes_that_are_gone_or_others_are_damaged(place: Place) {
    let folder = tempfile::tempdir().expect("a folder");
    let world = in_folder(place, folder.path()).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let bytes = vec![b'x'; 1_000_000];
    let file = made(&owner, &workspace, "f", &bytes);
    let path = bytes_of(&file);
    let digest = file["sha256"].as_str().expect("a digest");
    let within = folder
        .path()
        .join(world.acme.to_string())
        .join(&digest[..2]);
    let object = std::fs::read_dir(within)
        .expect("a folder")
        .next()
        .expect("an object");
    let object = object.expect("an object").path();
    // Of the right length and yet another one: the connection breaks before the last byte.
    let mut other = bytes.clone();
    other[500_000] = b'y';
    std::fs::write(&object, &other).expect("writes");
    let broken = owner.get(&path);
    assert_eq!(broken.status, 200);
    assert!(broken.body.len() < 1_000_000, "{}", broken.body.len());
    // A part is not checked, a length is.
    owner
        .send("GET", &path, &[("range", "bytes=0-9")], None)
        .expect(206);
    std::fs::write(&object, b"short").expect("writes");
    for headers in [
        &[][..],
        &[("range", "bytes=0-9")],
        &[("range", "bytes=900000-")],
    ] {
        owner
            .send("GET", &path, headers, None)
            .refused(500, "file_damaged");
    }
    assert_eq!(owner.send("HEAD", &path, &[], None).status, 500);
    std::fs::remove_file(&object).expect("is there");
    owner.get(&path).refused(500, "file_damaged");
    owner
        .send("GET", &path, &[("range", "bytes=0-9")], None)
        .refused(500, "file_damaged");
    // The same bytes, brought again, are there again.
    made(&owner, &workspace, "again", &bytes);
    assert_eq!(owner.get(&path).expect(200).body.len(), 1_000_000);
}
