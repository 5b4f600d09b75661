//! Files and the process: where they are, what its end leaves, and what the command line says of them.

mod alike;
mod folder;
mod like_a_response;
mod limit;
mod place;
mod s3_address;

use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::kill::Wire;
use crate::process::{EMAIL, SECRET, Serving, admin, database, owner, run, stderr, variable};
use crate::stores::Place;

/// Somebody who is signed in, and their workspace.
fn signed_in(serving: &Serving, organization: &str) -> (Wire, String) {
    let mut wire = Wire::new(serving, "");
    let body = json!({"email": EMAIL, "password": SECRET});
    let (_, tokens) = wire
        .ask("POST", "/v1/auth/token", Some(&body))
        .expect("a response");
    let mut wire = Wire::new(serving, tokens["access_token"].as_str().expect("a token"));
    let body = json!({"organization_id": organization, "label": "W"});
    let (_, workspace) = wire
        .ask("POST", "/v1/workspaces", Some(&body))
        .expect("a response");
    (wire, workspace["id"].as_str().expect("an id").to_owned())
}

fn verified(database: &str) -> Value {
    admin(database, &["verify-files"], "").expect("is whole")
}

/// The process is killed while files come, are used, go and are swept: no record names bytes that are not there, and
/// what is there for nothing is found. `TPLKIT_KILLS` says how often.
#[test]
fn killed_at_any_moment_no_file_that_a_record_names_is_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    survives_kills(&database(folder.path()));
}

#[test]
fn killed_at_any_moment_no_file_is_lost_with_postgres() {
    if let Some(place) = Place::postgres() {
        survives_kills(&place.url);
    }
}

/// Files that are there until somebody deletes them: where they are, and their digests.
type Kept = Mutex<Vec<(String, String)>>;

fn survives_kills(database: &str) {
    let organization = owner(database);
    let bytes = tempfile::tempdir().expect("a folder");
    let files = format!("file:{}", bytes.path().display());
    let arguments = ["--rate-limit", "off", "--files", &files];
    // What nothing uses goes at once, so that every kill may meet the sweeper.
    let grace = [("TPLKIT_FILE_GRACE", "1s")];
    let kills = variable("TPLKIT_KILLS")
        .and_then(|kills| kills.parse().ok())
        .unwrap_or(5);
    let kept = Kept::default();
    for round in 0..kills {
        let serving = Serving::start_with(database, &arguments, &grace);
        let (mut wire, workspace) = signed_in(&serving, &organization);
        let table = json!({"workspace_id": workspace, "label": "T"});
        let table = wire.made("/v1/features", &table);
        let column = json!({"label": "photo", "type": "file"});
        wire.made(&format!("/v1/features/{table}/columns"), &column);
        let before = kept.lock().expect("a lock").len();
        thread::scope(|scope| {
            for client in 0..3 {
                let (kept, workspace, table) = (&kept, &workspace, &table);
                let mut wire = Wire::new(&serving, &wire.token);
                scope.spawn(move || {
                    for number in 0.. {
                        // Every fourth is larger than what is written at once, and every fifth has been there before.
                        let size = if number % 4 == 0 { 700_000 } else { 20 };
                        let same = format!("{} {}", number % 5, "x".repeat(size));
                        let other = format!("{round} {client} {number} {}", "x".repeat(size));
                        let text = if number % 5 == 0 { same } else { other };
                        if upload(&mut wire, [workspace, table], &text, number, kept).is_none() {
                            break;
                        }
                    }
                });
            }
            // The upload is running, however slow the machine is; from then on any moment is as good as another.
            while kept.lock().expect("a lock").len() == before {
                thread::sleep(Duration::from_millis(5));
            }
            thread::sleep(Duration::from_millis(67 * round % 500));
            serving.signal("-KILL");
        });
        drop(serving);
        let words = ["verify-files", "--files", &files];
        let verdict = admin(database, &words, "").expect("is whole");
        assert_eq!(
            (&verdict["missing"], &verdict["damaged"]),
            (&json!([]), &json!([])),
            "{verdict}"
        );
    }
    let serving = Serving::start_with(database, &arguments, &grace);
    let (mut wire, _) = signed_in(&serving, &organization);
    let kept = kept.into_inner().expect("a lock");
    assert!(kept.len() as u64 >= kills, "something was done each time");
    for (path, digest) in kept {
        let (status, file) = wire.ask("GET", &path, None).expect("a response");
        assert_eq!(
            (status, file["sha256"].as_str()),
            (200, Some(&*digest)),
            "{path}"
        );
    }
}

/// Brings a file, and deletes it, leaves it to the sweeper, or has a row use it. Nothing once the server is gone.
fn upload(
    wire: &mut Wire,
    [workspace, table]: [&str; 2],
    text: &str,
    number: u32,
    kept: &Kept,
) -> Option<()> {
    let path = format!("/v1/files?workspace_id={workspace}&name=f");
    let (status, file) = wire.ask("POST", &path, Some(&json!(text)))?;
    assert_eq!(status, 201, "{file}");
    let path = format!("/v1/files/{}", file["id"].as_str().expect("an id"));
    match number % 3 {
        0 => drop(wire.ask("DELETE", &path, None)?),
        1 => {
            let rows = format!("/v1/features/{table}/rows");
            let row = json!({"data": {"photo": file["id"]}});
            let (status, row) = wire.ask("POST", &rows, Some(&row))?;
            // It was swept before.
            assert!([201, 422].contains(&status), "{row}");
            if status == 201 {
                let digest = file["sha256"].as_str().expect("a digest").to_owned();
                kept.lock().expect("a lock").push((path, digest));
            }
        }
        _ => {}
    }
    Some(())
}

#[test]
fn a_server_refuses_the_files_of_another_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let other = format!("sqlite:{}", folder.path().join("other.db").display());
    drop(Serving::start(&database));
    let place = format!("file:{}.files", database.trim_start_matches("sqlite:"));
    let mark = Path::new(place.trim_start_matches("file:")).join("tplkit-store");
    let own = std::fs::read_to_string(&mark).expect("a mark");
    let refused = run(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--database",
        &other,
        "--files",
        &place,
    ]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("--files-adopt"), "{refused:?}");
    let refused = run(&[
        "admin",
        "verify-files",
        "--database",
        &other,
        "--files",
        &place,
    ]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let said = stderr(&refused);
    assert!(
        said.contains("the place of files belongs to") && !said.contains("--files-adopt"),
        "{said}"
    );
    let nowhere = run(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--database",
        &other,
        "--files",
        "ftp://x",
    ]);
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(stderr(&nowhere).contains("file:DIR"), "{nowhere:?}");
    // A variable takes the place over as the flag does, where it says so.
    let adopts = |word: &str| {
        let words = ["serve", "--listen", "127.0.0.1:0", "--database", &other];
        let mut command = crate::process::command(&words);
        command.args(["--files", &place]);
        command.env("TPLKIT_FILES_ADOPT", word);
        command
    };
    let refused = adopts("0").output().expect("starts");
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    drop(Serving::of(adopts("1")));
    let adopted = std::fs::read_to_string(mark).expect("a mark");
    assert_ne!(adopted.lines().next(), own.lines().next());
}

#[test]
fn verify_files_makes_no_folder_that_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    owner(&database);
    let before = names(folder.path());
    let absent = format!("file:{}/absent/place", folder.path().display());
    let words = ["verify-files", "--files", &absent];
    let output = admin(&database, &words, "").expect_err("there is no folder");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(stderr(&output).contains("there is no folder"), "{output:?}");
    assert_eq!(names(folder.path()), before);
    // A store that was never served has nothing next to it yet.
    assert_eq!(verified(&database)["checked"], 0);
    let usual = format!("{}.files", database.trim_start_matches("sqlite:"));
    assert!(!Path::new(&usual).exists());
}

#[test]
fn verify_files_says_that_the_folder_is_gone() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let organization = owner(&database);
    let serving = Serving::start(&database);
    let (mut wire, workspace) = signed_in(&serving, &organization);
    wire.made(
        &format!("/v1/files?workspace_id={workspace}&name=f"),
        &json!("text"),
    );
    drop(serving);
    let place = format!("{}.files", database.trim_start_matches("sqlite:"));
    let aside = folder.path().join("aside");
    std::fs::rename(&place, &aside).expect("is there");
    for words in [&["verify-files"][..], &["verify-files", "--repair"]] {
        let output = admin(&database, words, "").expect_err("the folder is gone");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let said = stderr(&output);
        assert!(
            said.contains(&format!("there is no folder {place}")) && said.contains("--files"),
            "{said}"
        );
        assert!(!said.contains("--files-adopt"), "{said}");
        assert!(output.stdout.is_empty(), "{output:?}");
        assert!(!Path::new(&place).exists());
    }
    std::fs::rename(&aside, &place).expect("is there");
    assert_eq!(verified(&database)["checked"], 1);
}

fn names(folder: &Path) -> Vec<std::ffi::OsString> {
    let entries = std::fs::read_dir(folder).expect("reads").flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    names.sort();
    names
}

#[test]
fn verify_files_says_what_is_missing() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let organization = owner(&database);
    let serving = Serving::start(&database);
    let (mut wire, workspace) = signed_in(&serving, &organization);
    let path = format!("/v1/files?workspace_id={workspace}&name=f");
    let (_, file) = wire
        .ask("POST", &path, Some(&json!("text")))
        .expect("a response");
    assert_eq!(verified(&database)["checked"], 1);
    let place = format!("{}.files", database.trim_start_matches("sqlite:"));
    std::fs::remove_dir_all(Path::new(&place).join(&organization)).expect("is there");
    let output = admin(&database, &["verify-files"], "").expect_err("is broken");
    assert_eq!(output.status.code(), Some(1));
    let verdict: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(verdict["missing"][0]["file_id"], file["id"]);
    assert!(
        stderr(&output).contains("files whose bytes are missing: 1"),
        "{output:?}"
    );
}

#[test]
fn verify_files_says_what_is_damaged() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let organization = owner(&database);
    let serving = Serving::start(&database);
    let (mut wire, workspace) = signed_in(&serving, &organization);
    let path = format!("/v1/files?workspace_id={workspace}&name=f");
    let (_, file) = wire
        .ask("POST", &path, Some(&json!("text")))
        .expect("a response");
    let place = format!("{}.files", database.trim_start_matches("sqlite:"));
    let digest = file["sha256"].as_str().expect("a digest");
    let below = Path::new(&place).join(&organization).join(&digest[..2]);
    let found = names(&below);
    let [object] = found.as_slice() else {
        panic!("{found:?}");
    };
    // As many bytes as before.
    std::fs::write(below.join(object), "\"next\"").expect("writes");
    let output = admin(&database, &["verify-files"], "").expect_err("is broken");
    assert_eq!(output.status.code(), Some(1));
    let verdict: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(verdict["damaged"][0]["file_id"], file["id"]);
    assert_eq!(verdict["missing"], json!([]));
    assert!(stderr(&output).contains("damaged: 1"), "{output:?}");
}

/// The worker of a server sweeps as often as the grace asks for. Bytes stay for as long as an upload may hold them.
#[test]
fn a_file_that_nothing_uses_goes_after_the_grace() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let organization = owner(&database);
    let serving = Serving::start_with(&database, &[], &[("TPLKIT_FILE_GRACE", "1s")]);
    let (mut wire, workspace) = signed_in(&serving, &organization);
    let path = format!("/v1/files?workspace_id={workspace}&name=f");
    let (status, file) = wire
        .ask("POST", &path, Some(&json!("text")))
        .expect("a response");
    assert_eq!(status, 201, "{file}");
    let path = format!("/v1/files/{}", file["id"].as_str().expect("an id"));
    let gone = (0..1200).any(|_| {
        thread::sleep(Duration::from_millis(50));
        let (status, _) = wire.ask("GET", &path, None).expect("a response");
        status == 404
    });
    assert!(gone, "{file}");
}

/// In memory, next to a store that lasts: the operator is warned, and what is on record goes with the next start.
#[test]
fn files_in_memory_go_with_their_process() {
    let folder = tempfile::tempdir().expect("a folder");
    goes_with_its_process(&database(folder.path()));
}

#[test]
fn files_in_memory_go_with_their_process_with_postgres() {
    if let Some(place) = Place::postgres() {
        goes_with_its_process(&place.url);
    }
}

fn goes_with_its_process(database: &str) {
    let organization = owner(database);
    let arguments = ["--rate-limit", "off", "--files", "memory:"];
    let serving = Serving::start_with(database, &arguments, &[]);
    serving.wait_for("the bytes of files go with this process");
    let (mut wire, workspace) = signed_in(&serving, &organization);
    let table = json!({"workspace_id": workspace, "label": "T"});
    let table = wire.made("/v1/features", &table);
    let column = json!({"label": "photo", "type": "file"});
    wire.made(&format!("/v1/features/{table}/columns"), &column);
    let upload = format!("/v1/files?workspace_id={workspace}&name=f");
    let file = wire.made(&upload, &json!("bytes"));
    wire.made(&upload, &json!("of no row"));
    let rows = format!("/v1/features/{table}/rows");
    let row = wire.made(&rows, &json!({"data": {"photo": file}}));
    let content = format!("/v1/files/{file}/content");
    let token = wire.token.clone();
    let (status, _) = serving.request(&token, "GET", &content, "");
    assert_eq!(status, 200);
    drop(serving);
    let serving = Serving::start_with(database, &arguments, &[]);
    let (status, files) = serving.request(&token, "GET", "/v1/files", "");
    assert_eq!((status, &files["items"]), (200, &json!([])), "{files}");
    for path in [&content, &format!("/v1/files/{file}")] {
        let (status, refusal) = serving.request(&token, "GET", path, "");
        assert_eq!((status, &refusal["code"]), (404, &json!("not_found")));
    }
    let organization = format!("/v1/organizations/{organization}");
    let (_, organization) = serving.request(&token, "GET", &organization, "");
    assert_eq!(organization["file_bytes"], 0);
    // The cell keeps its text, which makes no use of anything.
    let (status, row) = serving.request(&token, "GET", &format!("{rows}/{row}"), "");
    assert_eq!((status, &row["data"]["photo"]), (200, &json!(file)));
    let (status, again) = serving.request(&token, "POST", &upload, "bytes");
    assert_eq!(status, 201, "{again}");
    // Another process finds none of it.
    let words = ["verify-files", "--files", "memory:"];
    let output = admin(database, &words, "").expect_err("there is nothing to verify");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(stderr(&output).contains("nothing to verify"), "{output:?}");
}

#[test]
fn postgres_without_a_place_takes_no_files_and_names_the_flag() {
    let Some(place) = Place::postgres() else {
        return;
    };
    let organization = owner(&place.url);
    let serving = Serving::start(&place.url);
    let (mut wire, workspace) = signed_in(&serving, &organization);
    let upload = format!("/v1/files?workspace_id={workspace}&name=f");
    let (status, refusal) = serving.request(&wire.token, "POST", &upload, "bytes");
    assert_eq!(
        (status, &refusal["code"]),
        (503, &json!("store_unavailable")),
        "{refusal}"
    );
    let detail = refusal["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("--files"), "{refusal}");
    // Everything else goes on.
    let (status, files) = serving.request(&wire.token, "GET", "/v1/files", "");
    assert_eq!((status, &files["items"]), (200, &json!([])), "{files}");
    wire.made(
        "/v1/features",
        &json!({"workspace_id": workspace, "label": "T"}),
    );
    // Nobody can verify what has no place.
    let output = admin(&place.url, &["verify-files"], "").expect_err("there is no place");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(stderr(&output).contains("--files"), "{output:?}");
}
