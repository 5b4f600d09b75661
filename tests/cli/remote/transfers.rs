//! `tplkit files`: uploads, downloads that break, lists, deletions.

mod disk;

use std::fs;
use std::sync::Mutex;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::TestEnv;
use super::routes::{ORGANIZATION, Routes, WORKSPACE, page};
use crate::hostile::{HOSTILE, both_harmless};
use crate::scripted::{Received, Response, Scripted};
use crate::terminal::Terminal;

const FILE: &str = "0198c0de-0000-7000-8000-00000000f11e";
const OTHER: &str = "0198c0de-0000-7000-8000-00000000f12e";
const ROW: &str = "0198c0de-0000-7000-8000-00000000a0a0";
const FEATURE: &str = "0198c0de-0000-7000-8000-00000000fea0";

fn sha256(bytes: &str) -> String {
    let digest = Sha256::digest(bytes.as_bytes());
    let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

fn record(id: &str, name: &str, bytes: &str) -> Value {
    json!({
        "id": id, "organization_id": ORGANIZATION, "workspace_id": WORKSPACE, "name": name,
        "content_type": "image/png", "size": bytes.len(), "sha256": sha256(bytes),
        "created_at": "2026-01-02T12:00:00.000000Z", "created_by": ORGANIZATION,
    })
}

fn bytes() -> String {
    (0..100).map(|at| char::from(b'a' + at % 26)).collect()
}

/// A file whose responses break after so many bytes, as often as is said.
fn holding(name: &str, bytes: &str, breaks: usize, after: usize) -> Scripted {
    let (record, bytes) = (record(FILE, name, bytes), bytes.to_owned());
    let broken = Mutex::new(0);
    Scripted::new(move |request| {
        if !request.target.ends_with("/content") {
            return Response::json(&record);
        }
        let response = content(request, &bytes);
        let mut broken = broken.lock().expect("whole");
        *broken += 1;
        if *broken > breaks {
            response
        } else {
            response.breaking_after(after)
        }
    })
}

fn content(request: &Received, bytes: &str) -> Response {
    let range = request.header("range").and_then(|range| {
        let from = range.strip_prefix("bytes=")?.strip_suffix('-')?;
        from.parse::<usize>().ok()
    });
    let tag = format!("\"{}\"", sha256(bytes));
    match range.filter(|_| request.header("if-range") == Some(&*tag)) {
        None => Response::text(200, bytes),
        Some(from) => {
            let (last, size) = (bytes.len() - 1, bytes.len());
            let range = format!("bytes {from}-{last}/{size}");
            Response::text(206, &bytes[from..]).with("Content-Range", &range)
        }
    }
}

/// The ranges that were asked for.
fn ranges(server: &Scripted) -> Vec<Option<String>> {
    let received = server.received().into_iter();
    let asked = received.filter(|one| one.target.ends_with("/content"));
    asked
        .map(|one| one.header("range").map(str::to_owned))
        .collect()
}

fn from(at: usize) -> String {
    format!("bytes={at}-")
}

#[test]
fn a_broken_download_is_resumed_three_times_and_goes_on_later() {
    let server = holding("photo.png", &bytes(), 4, 10);
    let env = TestEnv::with_key(&server.url);
    let words = ["files", "get", FILE, "-o", "out.png"];
    let ran = env.run(&words).exits(5);
    assert!(ran.err.contains("`out.png.part` keeps"), "{}", ran.err);
    assert_eq!(
        ranges(&server),
        [None, Some(from(10)), Some(from(20)), Some(from(30))]
    );
    assert_eq!(env.place.read("out.png.part"), bytes()[..40]);
    assert!(!env.place.path("out.png").exists());
    let ran = env.run(&words).exits(0);
    assert!(ran.err.contains("going on after 40 of 100"), "{}", ran.err);
    assert_eq!(ranges(&server)[4..], [Some(from(40))]);
    assert_eq!(env.place.read("out.png"), bytes());
    assert!(!env.place.path("out.png.part").exists());
    // What is whole already is not asked for.
    env.place.write("again.part", &bytes());
    env.run(&["files", "get", FILE, "-o", "again"]).exits(0);
    assert_eq!(
        (ranges(&server).len(), env.place.read("again")),
        (5, bytes())
    );
}

#[test]
fn standard_output_gets_the_file_once_however_often_it_breaks() {
    let server = holding("photo.png", &bytes(), 3, 10);
    let env = TestEnv::with_key(&server.url);
    assert_eq!(env.run(&["files", "get", FILE]).exits(0).out, bytes());
    let json = ["files", "get", FILE, "--format", "json"];
    let document = env.run(&json).exits(2).json();
    assert_eq!(document["outcome"], "failed");
    let Some(terminal) = Terminal::around(&env.command(&[]), &format!("files get {FILE}")) else {
        return;
    };
    let (code, shown) = terminal.ends();
    assert_eq!(code, Some(2), "{shown}");
    assert!(shown.contains("`-o -`"), "{shown}");
    let words = format!("files get {FILE} -o -");
    if let Some(terminal) = Terminal::around(&env.command(&[]), &words) {
        let (code, shown) = terminal.ends();
        assert_eq!(code, Some(0), "{shown}");
        assert!(shown.contains(&bytes()), "{shown}");
    }
}

#[test]
fn what_does_not_belong_to_the_file_is_found_out() {
    let server = holding("photo.png", &bytes(), 0, 0);
    let env = TestEnv::with_key(&server.url);
    // What came of another file, and what is more than the whole.
    for earlier in ["z".repeat(40), "z".repeat(400), "z".repeat(100)] {
        env.place.write("out.part", &earlier);
        let ran = env.run(&["files", "get", FILE, "-o", "out", "--force"]);
        ran.exits(0);
        assert_eq!(env.place.read("out"), bytes());
    }
    fs::remove_file(env.place.path("out")).expect("is there");
    // It may be somebody's own, whether the server sends what is missing or the whole.
    let whole = Scripted::new({
        let record = record(FILE, "photo.png", &bytes());
        move |request| {
            if request.target.ends_with("/content") {
                return Response::text(200, &bytes());
            }
            Response::json(&record)
        }
    });
    for server in [&server, &whole] {
        let env = TestEnv::with_key(&server.url);
        for earlier in ["z".repeat(40), "z".repeat(400), "z".repeat(100)] {
            env.place.write("out.part", &earlier);
            let ran = env.run(&["files", "get", FILE, "-o", "out"]).exits(2);
            assert!(ran.err.contains("`out.part`"), "{}", ran.err);
            assert!(ran.err.contains("--force"), "{}", ran.err);
            assert_eq!(env.place.read("out.part"), earlier);
            assert!(!env.place.path("out").exists());
        }
        // What the file begins with is gone on with either way.
        env.place.write("out.part", &bytes()[..40]);
        env.run(&["files", "get", FILE, "-o", "out"]).exits(0);
        assert_eq!(env.place.read("out"), bytes());
        assert!(!env.place.path("out.part").exists());
    }
    // Bytes that are not those of the record.
    let wrong = record(FILE, "photo.png", &bytes().to_uppercase());
    let server = Scripted::new(move |request| {
        if request.target.ends_with("/content") {
            return Response::text(200, &bytes());
        }
        Response::json(&wrong)
    });
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&["files", "get", FILE, "-o", "out"]).exits(5);
    assert!(ran.err.contains("SHA-256"), "{}", ran.err);
    let left = ["out", "out.part"].map(|name| env.place.path(name).exists());
    assert_eq!(left, [false, false]);
    // That holds behind a beginning of it, too.
    env.place.write("out.part", &bytes()[..40]);
    env.run(&["files", "get", FILE, "-o", "out"]).exits(5);
    assert!(!env.place.path("out").exists());
    env.run(&["files", "get", FILE]).exits(5);
    assert!(ran.err.contains("verify-files"), "{}", ran.err);
    assert!(!ran.err.contains("address"), "{}", ran.err);
}

#[test]
fn a_damaged_file_is_no_bug_of_the_server() {
    let known = record(FILE, "photo.png", &bytes());
    let server = Scripted::new(move |request| {
        if request.target.ends_with("/content") {
            return Response::problem(500, "file_damaged");
        }
        Response::json(&known)
    });
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&["files", "get", FILE, "-o", "out"]).exits(5);
    assert!(!ran.err.contains("bug"), "{}", ran.err);
    for expected in [
        "stored bytes do not match",
        "tplkit-server admin verify-files",
    ] {
        assert!(ran.err.contains(expected), "{expected}: {}", ran.err);
    }
}

#[test]
fn a_file_is_replaced_by_force_alone() {
    let server = holding("photo.png", &bytes(), 0, 0);
    let env = TestEnv::with_key(&server.url);
    env.place.write("out", "mine");
    let words = ["files", "get", FILE, "-o", "out"];
    let ran = env.run(&words).exits(2);
    assert!(ran.err.contains("--force"), "{}", ran.err);
    assert_eq!(
        (env.place.read("out"), ranges(&server)),
        ("mine".to_owned(), vec![])
    );
    let forced = [&words[..], &["--force", "--format", "json"]].concat();
    let document = env.run(&forced).exits(0).json();
    assert_eq!(
        (&document["file"]["id"], &document["path"]),
        (&json!(FILE), &json!("out"))
    );
    assert_eq!(env.place.read("out"), bytes());
}

#[test]
fn a_folder_gets_the_file_under_a_safe_name() {
    let name = format!("-../{HOSTILE}.png");
    let server = holding(&name, &bytes(), 0, 0);
    let env = TestEnv::with_key(&server.url);
    fs::create_dir(env.place.path("there")).expect("a folder");
    for folder in ["there", "new/deep/"] {
        let ran = env.run(&["files", "get", FILE, "-o", folder]).exits(0);
        both_harmless(&ran, folder);
        let entries = fs::read_dir(env.place.path(folder)).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let names: Vec<_> = names.collect();
        let [name] = names.as_slice() else {
            panic!("{names:?}");
        };
        let name = name.to_str().expect("UTF-8");
        assert!(
            name.starts_with("____") && name.rsplit_once('.').is_some_and(|(_, end)| end == "png"),
            "{name:?}"
        );
        assert!(!name.contains(char::is_control), "{name:?}");
    }
}

/// A container may hold the program alone: plain HTTP needs no authorities, and nothing else goes without.
#[cfg(target_os = "linux")]
#[test]
fn without_authorities_plain_http_is_spoken_alone() {
    let put = ["files", "put", "p.png", "--workspace", WORKSPACE];
    let get = ["files", "get", FILE, "-o", "out.png"];
    let env = |url: &str| {
        let env = TestEnv::with_key(url)
            .set("SSL_CERT_FILE", "missing.pem")
            .set("SSL_CERT_DIR", "missing");
        env.place.write("p.png", "pixels");
        env
    };
    let file = record(FILE, "p.png", "pixels").to_string();
    let server = Routes::new()
        .on("POST /v1/files", [Response::text(201, &file)])
        .serve();
    env(&server.url).run(&put).exits(0);
    let server = holding("p.png", "pixels", 0, 0);
    env(&server.url).run(&get).exits(0);
    for words in [&put[..], &get] {
        let ran = env("https://127.0.0.1:9").run(words).exits(2);
        assert!(ran.err.contains("No CA certificates"), "{}", ran.err);
        assert!(ran.err.contains("SSL_CERT_FILE"), "{}", ran.err);
    }
}

#[test]
fn a_file_is_uploaded_as_its_bytes() {
    let file = record(FILE, "photo.png", "pixels");
    let server = Routes::new()
        .on("POST /v1/files", [Response::text(201, &file.to_string())])
        .serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("d/photo.png", "pixels");
    let words = ["files", "put", "d/photo.png", "--workspace", WORKSPACE];
    let ran = env.run(&words).exits(0);
    assert_eq!(ran.out, format!("{FILE}\n"));
    let json = [&words[..], &["--name", "p q.bin", "--format", "json"]].concat();
    let document = env.run(&json).exits(0).json();
    assert_eq!((&document["file"], &document["row"]), (&file, &Value::Null));
    let feed = [
        "files",
        "put",
        "-",
        "--name",
        "a.txt",
        "--workspace",
        WORKSPACE,
    ];
    env.feed(&feed, "piped").exits(0);
    let sent: Vec<_> = server.received().into_iter().collect();
    let sent: Vec<_> = sent
        .iter()
        .map(|one| {
            assert!(one.header("idempotency-key").is_some());
            let name = one.target.split_once("&name=").expect("a name").1;
            (name, one.header("content-type"), one.body.as_str())
        })
        .collect();
    let expected = [
        ("photo.png", Some("image/png"), "pixels"),
        ("p+q.bin", Some("application/octet-stream"), "pixels"),
        ("a.txt", Some("text/plain"), "piped"),
    ];
    assert_eq!(sent, expected);
    // A folder has a name only where one is written.
    for folder in [".", "..", "d", "d/.."] {
        let words = ["files", "put", folder, "--workspace", WORKSPACE];
        let ran = env.run(&words).exits(2);
        assert!(ran.err.contains("is a directory"), "{}", ran.err);
    }
    for words in [
        &["files", "put", "-", "--workspace", WORKSPACE][..],
        &["files", "put", "d", "--workspace", WORKSPACE],
        &["files", "put", "gone", "--workspace", WORKSPACE],
        &["files", "put", "d/photo.png"],
        &[
            "files",
            "put",
            "d/photo.png",
            "--workspace",
            WORKSPACE,
            "--row",
            ROW,
        ],
        &[
            "files",
            "put",
            "d/photo.png",
            "--workspace",
            WORKSPACE,
            "--column",
            "c",
        ],
    ] {
        env.run(words).exits(2);
    }
    assert_eq!(
        server
            .received()
            .iter()
            .filter(|one| one.method == "POST")
            .count(),
        3
    );
}

/// A workspace with a row whose cell is written with that response.
fn with_row(written: Response, deleted: Response) -> Scripted {
    let file = record(FILE, "photo.png", "pixels");
    let columns = json!([
        {"id": OTHER, "name": "photo", "label": "Picture", "type": "file", "config": {}},
        {"id": OTHER, "name": "note", "label": "Note", "type": "text", "config": {}},
    ]);
    let feature = json!({"id": FEATURE, "workspace_id": WORKSPACE, "name": "t", "label": "T"});
    let row = json!({"id": ROW, "data": {}});
    Routes::new()
        .on("POST /v1/files", [Response::text(201, &file.to_string())])
        .on("GET /v1/features", [page(&[feature])])
        .on(
            &format!("GET /v1/features/{FEATURE}/columns"),
            [Response::json(&columns)],
        )
        .on(
            &format!("GET /v1/features/{FEATURE}/rows/{ROW}"),
            [Response::json(&row)],
        )
        .on(
            &format!("PATCH /v1/features/{FEATURE}/rows/{ROW}"),
            [written],
        )
        .on(&format!("DELETE /v1/files/{FILE}"), [deleted])
        .serve()
}

fn put<'w>(row: &'w str, column: &'w str) -> Vec<&'w str> {
    let words = ["files", "put", "photo.png", "--workspace", WORKSPACE];
    [&words[..], &["--row", row, "--column", column]].concat()
}

/// What was asked for next to reading.
fn writes(server: &Scripted) -> Vec<String> {
    let received = server.received().into_iter();
    let writes = received.filter(|one| one.method != "GET");
    writes
        .map(|one| format!("{} {}", one.method, one.target.replace(WORKSPACE, "W")))
        .collect()
}

fn env(server: &Scripted) -> TestEnv {
    let env = TestEnv::with_key(&server.url);
    env.place.write("photo.png", "pixels");
    env
}

#[test]
fn a_cell_gets_the_file_or_the_file_goes() {
    let upload = "POST /v1/files?workspace_id=W&name=photo.png".to_owned();
    let patch = format!("PATCH /v1/features/{FEATURE}/rows/{ROW}?merge=true");
    let delete = format!("DELETE /v1/files/{FILE}");
    let row = json!({"id": ROW, "data": {"photo": FILE}});
    let server = with_row(Response::json(&row), Response::text(204, ""));
    let env = env(&server);
    for column in ["photo", "Picture"] {
        let words = [&put(ROW, column)[..], &["--format", "json"]].concat();
        assert_eq!(env.run(&words).exits(0).json()["row"], row);
        let received = server.received();
        let body = &received.last().expect("a request").body;
        assert_eq!(*body, json!({"data": {"photo": FILE}}).to_string());
    }
    assert_eq!(writes(&server)[..2], [upload.clone(), patch.clone()]);
    // What is not there is found out before.
    let server = with_row(Response::json(&row), Response::text(204, ""));
    let env = self::env(&server);
    for (row, column, why) in [
        (ROW, "note", "of type `text`"),
        (ROW, "gone", "no table of the workspace has a column"),
        (OTHER, "photo", "and a row"),
    ] {
        let ran = env.run(&put(row, column)).exits(1);
        assert!(ran.err.contains(why), "{}", ran.err);
    }
    env.run(&put("7", "photo")).exits(2);
    assert!(writes(&server).is_empty());
    // The row refuses it.
    for status in [422, 403] {
        let refusal = Response::problem(status, "validation_failed");
        let server = with_row(refusal, Response::text(204, ""));
        let ran = self::env(&server).run(&put(ROW, "photo")).exits(1);
        assert!(ran.err.contains("is deleted again"), "{}", ran.err);
        assert_eq!(
            writes(&server),
            [upload.clone(), patch.clone(), delete.clone()]
        );
    }
    // Nobody knows, and the file is in use: the row has it.
    let server = with_row(Response::hang_up(), Response::problem(409, "not_empty"));
    assert_eq!(
        self::env(&server).run(&put(ROW, "photo")).exits(0).out,
        format!("{FILE}\n")
    );
    let server = with_row(
        Response::problem(422, "x"),
        Response::problem(403, "forbidden"),
    );
    let ran = self::env(&server).run(&put(ROW, "photo")).exits(1);
    assert!(
        ran.err.contains(&format!("`tplkit files rm {FILE} --yes`")),
        "{}",
        ran.err
    );
}

#[test]
fn files_are_listed_with_their_workspaces() {
    let files = [
        record(FILE, "photo.png", "pixels"),
        record(OTHER, &format!("{HOSTILE}\nx"), ""),
    ];
    let workspace = json!({"id": WORKSPACE, "name": "shop", "label": "Shop"});
    let server = Routes::new()
        .on("GET /v1/files", [page(&files)])
        .on("GET /v1/workspaces", [page(&[workspace])])
        .serve();
    let env = TestEnv::with_key(&server.url).set("TPLKIT_WORKSPACE", "gone");
    let ran = env.run(&["files", "list"]).exits(0);
    both_harmless(&ran, "list");
    assert_eq!(ran.out.lines().count(), 3, "{}", ran.out);
    let words: Vec<&str> = ran
        .out
        .lines()
        .nth(1)
        .expect("a line")
        .split("  ")
        .collect();
    let words: Vec<&str> = words
        .into_iter()
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .collect();
    let uploaded = "2026-01-02T12:00:00.000000Z";
    let shop = "\"Shop\" (shop)";
    assert_eq!(
        words,
        ["photo.png", "6 B", "image/png", uploaded, shop, FILE]
    );
    let ran = env
        .run(&["files", "list", "--workspace", "Shop", "--unattached"])
        .exits(0);
    assert!(!ran.out.contains(shop), "{}", ran.out);
    env.run(&["files", "list", "--attached", "--unattached"])
        .exits(2);
    let words = ["files", "list", "--attached", "--format", "json"];
    let document = env.run(&words).exits(0).json();
    assert_eq!(document["data"]["items"], json!(files));
    let asked: Vec<String> = server
        .lines()
        .into_iter()
        .filter(|line| line.contains("/v1/files"))
        .collect();
    let of = format!("workspace_id={WORKSPACE}&");
    let expected = [
        "limit=200".to_owned(),
        format!("{of}attached=false&limit=200"),
        "attached=true&limit=200".to_owned(),
    ];
    assert_eq!(
        asked,
        expected.map(|query| format!("GET /v1/files?{query}"))
    );
}

#[test]
fn a_file_goes_after_a_yes() {
    let files = [
        record(FILE, "a", "1"),
        record(OTHER, "b", "2"),
        record(ROW, "b", "3"),
    ];
    let one = |at: usize| Response::json(&files[at]);
    let server = Routes::new()
        .on("GET /v1/files", [page(&files)])
        .on(&format!("GET /v1/files/{FILE}"), [one(0)])
        .on(
            &format!("DELETE /v1/files/{FILE}"),
            [Response::problem(409, "not_empty"), Response::text(204, "")],
        )
        .serve();
    let env = TestEnv::with_key(&server.url);
    let rm = |words: &[&str]| env.run(&[&["files", "rm"], words].concat());
    let document = rm(&["a", "--format", "json"]).exits(2).json();
    assert_eq!(document["errors"][0]["losses"]["file_id"], FILE);
    let document = rm(&["b", "--yes", "--format", "json"]).exits(2).json();
    assert_eq!(
        document["errors"][0]["candidates"].as_array().map(Vec::len),
        Some(2)
    );
    assert!(writes(&server).is_empty());
    let ran = rm(&[FILE, "--yes"]).exits(1);
    assert!(ran.err.contains("`--force`"), "{}", ran.err);
    rm(&["a", "--yes", "--force"]).exits(0);
    let delete = format!("DELETE /v1/files/{FILE}");
    assert_eq!(writes(&server), [delete.clone(), delete + "?force=true"]);
}
