//! How much memory a large package takes while it is imported, planned, applied, applied again and upgraded, and
//! how much of it is kept;
//! large rows while they are exported, uploads in small chunks, and large files on their way up and down.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tplkit::context::{Ids as _, Seeded};
use tplkit::json::Object;
use tplkit::workspace::memory::State;
use tplkit::workspace::{Column, Feature, Id, RowData, StoredRow};
use tplkit_testkit::packaged::packaged;

use crate::kill::{Wire, signed_in};
use crate::process::{Serving, owner};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_large_package_takes_twice_its_size_and_is_given_back,
    large_rows_are_exported_a_few_at_a_time,
    an_upload_in_small_chunks_takes_no_more_than_one_in_large_ones,
    a_large_file_goes_up_and_down_in_pieces,
);

const TABLES: usize = 24;
/// Rows of a table, and how large each is. Few and large ones take little time.
const ROWS: usize = 10;
const CELL: usize = 100_000;
/// What a server takes for an export, however large it is: what is read at once, and what is in flight.
const IN_FLIGHT: usize = 24_000_000;
/// What the connections take that read from SQLite, once each has had a task.
const READERS: usize = 6_000_000;
/// What a server may keep of its own, whatever went through it.
const KEPT: usize = 60_000_000;
/// Until then it has to be given back.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often that is looked at.
const POLL_EVERY: Duration = Duration::from_millis(50);

/// A package written as programs write JSON: nothing of it is in canonical form. Each table points at the one
/// before, so that an upgrade compares what rows hold.
fn package() -> Value {
    let mut ids = Seeded::new(5);
    let mut id = || Id::parse_str(&ids.uuid()).unwrap_or_default();
    let mut state = State::empty(id(), id(), "large", "Large");
    let mut before: Option<(Id, Id)> = None;
    for table in 0..TABLES {
        let (feature, first) = (id(), id());
        let column = |id, name: &str, [column_type, component]: [&str; 2], order, config| Column {
            id,
            name: name.to_owned(),
            label: name.to_owned(),
            column_type: column_type.to_owned(),
            default_component: component.to_owned(),
            order,
            config,
        };
        let mut columns = vec![
            column(id(), "id", ["text", "id"], 1, Object::new()),
            column(id(), "note", ["long_text", "textarea"], 2, Object::new()),
        ];
        let mut owner = String::new();
        if let Some((linked, row)) = before {
            let config = [
                ("linkedFeatureId", linked.to_string()),
                ("linkedValueColumn", "id".to_owned()),
            ];
            let config = config.map(|(key, value)| (key.to_owned(), value.as_str().into()));
            let kind = ["linked_select", "linkfield"];
            columns.push(column(id(), "owner", kind, 3, Object::from_iter(config)));
            owner = format!(",\"owner\":\"{row}\"");
        }
        state.structure.features.push(Feature {
            id: feature,
            name: format!("table_{table}"),
            label: format!("Table {table}"),
            config: Object::new(),
            is_shared: false,
            columns,
            views: Vec::new(),
        });
        let row = |at| {
            let id = if at == 0 { first } else { id() };
            let note = "large ".repeat(CELL / 6);
            let data = format!("{{\"id\":\"{id}\",\"note\":\"{note}\"{owner}}}");
            StoredRow {
                id,
                data: RowData::trusted(&data),
            }
        };
        let mut rows: Vec<StoredRow> = (0..ROWS).map(row).collect();
        rows.sort_by_key(|row| row.id);
        state.rows.insert(feature, rows);
        before = Some((feature, first));
    }
    let text = packaged(state).expect("exports");
    serde_json::from_str(&text).expect("JSON")
}

/// Bytes of the server's own: no pages of files.
fn resident(serving: &Serving) -> usize {
    let path = format!("/proc/{}/status", serving.child.id());
    let status = std::fs::read_to_string(path).expect("is there");
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse().ok());
    kilobytes.map_or(0, |kilobytes: usize| kilobytes << 10)
}

/// Does something, and gives the most that the server had meanwhile.
pub(crate) fn peak<T>(serving: &Serving, work: impl FnOnce() -> T) -> (T, usize) {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let mut peak = 0;
            while !over.load(Ordering::Relaxed) {
                peak = peak.max(resident(serving));
                thread::sleep(Duration::from_millis(1));
            }
            peak
        });
        let done = work();
        over.store(true, Ordering::Relaxed);
        (done, watching.join().expect("watches"))
    })
}

fn done(wire: &mut Wire, job: &str) {
    let path = format!("/v1/template-jobs/{job}");
    loop {
        let (_, found) = wire.ask("GET", &path, None).expect("a response");
        match found["status"].as_str() {
            Some("completed") => return,
            Some("failed") => panic!("{found}"),
            _ => thread::sleep(Duration::from_millis(20)),
        }
    }
}

async fn a_large_package_takes_twice_its_size_and_is_given_back(place: Place) {
    let organization = owner(&place.url);
    let serving = Serving::start_with(&place.url, &["--rate-limit", "off"], &[]);
    let mut wire = signed_in(&serving);
    let body = json!({"organization_id": organization, "label": "W"});
    let workspace = wire.made("/v1/workspaces", &body);
    let package = package();
    let length = package.to_string().len();
    assert!(length > TABLES * ROWS * CELL / 2);
    let idle = resident(&serving);
    let most = idle + READERS + 2 * length;
    let within = |step: &str, peak: usize| {
        assert!(
            peak <= most,
            "{step}: {peak} bytes for {length}, {idle} idle"
        );
    };
    let path = format!("/v1/templates/import?organization_id={organization}");
    let (template, took) = peak(&serving, || wire.made(&path, &package));
    within("import", took);
    let path = |verb: &str| format!("/v1/templates/{template}/{verb}");
    let mut pass = |names: [&str; 2], request_body: &Value| {
        let (plan, took) = peak(&serving, || {
            wire.ask("POST", &path("plan"), Some(request_body))
        });
        let (status, plan) = plan.expect("a response");
        assert_eq!((status, &plan["refusals"]), (200, &json!([])), "{plan}");
        within(names[0], took);
        let ((), took) = peak(&serving, || {
            let job = wire.ask("POST", &path("apply"), Some(request_body));
            let (status, job) = job.expect("a response");
            assert_eq!(status, 202, "{job}");
            done(&mut wire, job["jobId"].as_str().expect("an id"));
        });
        within(names[1], took);
        plan
    };
    let request_body = json!({"workspaceId": workspace, "resolutions": {}});
    pass(["plan", "apply"], &request_body);
    pass(["plan of what is there", "apply again"], &request_body);
    let mut newer = package.clone();
    for entry in newer["payloads"].as_array_mut().expect("entries") {
        entry["rows"][0]["data"]["note"] = "Large ".repeat(CELL / 6).into();
    }
    let mut other = signed_in(&serving);
    let replaced = other.ask("PUT", &path("package"), Some(&newer));
    assert_eq!(replaced.expect("a response").0, 200);
    drop(newer);
    let request_body = json!({"workspaceId": workspace, "upgrade": true});
    let plan = pass(["plan of an upgrade", "upgrade"], &request_body);
    let updated = plan["rows"].as_object().expect("tables").values();
    let updated: u64 = updated.filter_map(|table| table["update"].as_u64()).sum();
    assert_eq!(updated, TABLES as u64 - 1);
    let given_back = || {
        thread::sleep(POLL_EVERY);
        resident(&serving) <= KEPT
    };
    let looks = PATIENCE.as_millis() / POLL_EVERY.as_millis();
    let back = (0..looks).any(|_| given_back());
    assert!(back, "{} bytes are kept, {idle} idle", resident(&serving));
}

/// How many rows an export is measured with, and how large each is.
const LARGE_ROWS: usize = 32;
const LARGE_CELL: usize = 3_000_000;

async fn large_rows_are_exported_a_few_at_a_time(place: Place) {
    let organization = owner(&place.url);
    let serving = Serving::start_with(&place.url, &["--rate-limit", "off"], &[]);
    let mut wire = signed_in(&serving);
    let body = json!({"organization_id": organization, "label": "W"});
    let workspace = wire.made("/v1/workspaces", &body);
    let table = json!({"workspace_id": workspace, "label": "t"});
    let feature = wire.made("/v1/features", &table);
    let column = json!({"label": "note", "type": "text"});
    wire.made(&format!("/v1/features/{feature}/columns"), &column);
    let path = format!("/v1/features/{feature}/rows");
    let note = |at: usize| format!("{at} {}", "x".repeat(LARGE_CELL));
    // What the allocator has given back by now says nothing of what such rows take.
    let ((), idle) = peak(&serving, || {
        for at in 0..LARGE_ROWS {
            wire.made(&path, &json!({"data": {"note": note(at)}}));
        }
    });
    let (path, rows) = (
        format!("/v1/workspaces/{workspace}/export"),
        json!({"rows": "all"}),
    );
    let (exported, took) = peak(&serving, || wire.ask("POST", &path, Some(&rows)));
    let (status, package) = exported.expect("a response");
    assert_eq!(status, 200, "{package}");
    assert!(
        took <= idle + IN_FLIGHT,
        "{took} bytes for an export of {}, {idle} for one row after the other",
        LARGE_ROWS * LARGE_CELL
    );
    let rows = package["payloads"][0]["rows"].as_array().expect("rows");
    let notes = rows.iter().map(|row| row["data"]["note"].as_str());
    let expected: Vec<String> = (0..LARGE_ROWS).map(note).collect();
    assert!(notes.eq(expected.iter().map(|note| Some(note.as_str()))));
}

/// How many chunks of one byte an upload has: fewer than a part has bytes, so that all are in memory at once.
const CHUNKS: usize = 250_000;
/// What a server takes for it. A server that kept each chunk by itself would take 9 MB, and 25 MB in a form.
const UPLOADED: usize = 5_000_000;

/// Uploads a file of so many bytes, each in a chunk of its own. Gives the response.
fn upload(serving: &Serving, head: &str, [before, behind]: [&str; 2], bytes: usize) -> String {
    let chunk = |text: &str| match text.len() {
        0 => String::new(),
        length => format!("{length:x}\r\n{text}\r\n"),
    };
    let file = "1\r\nx\r\n".repeat(bytes);
    let sent = [head, &chunk(before), &file, &chunk(behind), "0\r\n\r\n"].concat();
    let mut stream = TcpStream::connect(&serving.address).expect("connects");
    stream.write_all(sent.as_bytes()).expect("sends");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("a response");
    response
}

async fn an_upload_in_small_chunks_takes_no_more_than_one_in_large_ones(place: Place) {
    let organization = owner(&place.url);
    let arguments = ["--rate-limit", "off", "--files", "memory:"];
    let serving = Serving::start_with(&place.url, &arguments, &[]);
    let mut wire = signed_in(&serving);
    let body = json!({"organization_id": organization, "label": "W"});
    let workspace = wire.made("/v1/workspaces", &body);
    let part = "--XX\r\nContent-Disposition: form-data; filename=\"f\"\r\n\r\n";
    for (media_type, around) in [
        ("text/plain", ["", ""]),
        ("multipart/form-data; boundary=XX", [part, "\r\n--XX--\r\n"]),
    ] {
        let head = format!(
            "POST /v1/files?workspace_id={workspace}&name=f HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\
             authorization: Bearer {}\r\ncontent-type: {media_type}\r\ntransfer-encoding: chunked\r\n\r\n",
            wire.token
        );
        // What the first one takes stays.
        let first = upload(&serving, &head, around, 1);
        assert!(first.starts_with("HTTP/1.1 201 "), "{first}");
        let idle = resident(&serving);
        let (response, took) = peak(&serving, || upload(&serving, &head, around, CHUNKS));
        assert!(response.starts_with("HTTP/1.1 201 "), "{response}");
        assert!(
            took <= idle + UPLOADED,
            "{media_type}: {took} bytes for {CHUNKS}, {idle} idle"
        );
    }
}

/// A large file, and what a server takes for it each way: two parts of 512 KiB, what is read ahead, connections.
const FILE: usize = 48_000_000;
const PIECES: usize = 16_000_000;
/// What is sent at once.
const SENT: usize = 64 << 10;

/// Sends a file of so many bytes; gives where they are.
fn send(serving: &Serving, token: &str, workspace: &str, bytes: usize) -> String {
    let mut stream = TcpStream::connect(&serving.address).expect("connects");
    let head = format!(
        "POST /v1/files?workspace_id={workspace}&name=f HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\
         authorization: Bearer {token}\r\ncontent-length: {bytes}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("sends");
    let piece = vec![b'x'; SENT];
    let mut left = bytes;
    while left > 0 {
        let length = left.min(SENT);
        stream.write_all(&piece[..length]).expect("sends");
        left -= length;
    }
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("a response");
    assert!(response.starts_with("HTTP/1.1 201 "), "{response}");
    let (_, document) = response.split_once("\r\n\r\n").expect("a document");
    let file: Value = serde_json::from_str(document).expect("JSON");
    format!("/v1/files/{}/content", file["id"].as_str().expect("an id"))
}

/// Asks for bytes and forgets them as they come; gives how many came, with the head.
fn receive(serving: &Serving, token: &str, path: &str) -> usize {
    let mut stream = TcpStream::connect(&serving.address).expect("connects");
    let head = format!(
        "GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("sends");
    let (mut piece, mut came) = (vec![0; SENT], 0);
    while let length @ 1.. = stream.read(&mut piece).expect("reads") {
        came += length;
    }
    came
}

/// A file of so many bytes goes to a server and comes back, and takes at most `pieces` bytes more than a small one.
pub(crate) fn takes_pieces(serving: &Serving, organization: &str, file: usize, pieces: usize) {
    let mut wire = signed_in(serving);
    let body = json!({"organization_id": organization, "label": "W"});
    let workspace = wire.made("/v1/workspaces", &body);
    // What the first one takes stays.
    let (_, idle) = peak(serving, || send(serving, &wire.token, &workspace, 1000));
    let (path, took) = peak(serving, || send(serving, &wire.token, &workspace, file));
    assert!(
        took <= idle + pieces,
        "up: {took} bytes, {idle} for a small one"
    );
    let (came, took) = peak(serving, || receive(serving, &wire.token, &path));
    assert!(came >= file, "{came}");
    assert!(
        took <= idle + pieces,
        "down: {took} bytes, {idle} for a small one"
    );
}

async fn a_large_file_goes_up_and_down_in_pieces(place: Place) {
    let organization = owner(&place.url);
    let folder = tempfile::tempdir().expect("a folder");
    let files = format!("file:{}", folder.path().display());
    let arguments = ["--rate-limit", "off", "--files", &files];
    let serving = Serving::start_with(&place.url, &arguments, &[]);
    takes_pieces(&serving, &organization, FILE, PIECES);
}
