//! Files that are no store of ours, and files that cannot be opened.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::process::{Serving, admin, command, database, run, stderr};

const COMMANDS: [&[&str]; 4] = [
    &["serve", "--listen", "127.0.0.1:0"],
    &["worker"],
    &["migrate"],
    &["admin", "create-organization", "--label", "Acme"],
];

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("reads").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn a_file_of_another_program_is_refused_and_left_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = |name: &str, sql: &str| {
        let file = rusqlite::Connection::open(folder.path().join(name)).expect("opens");
        file.execute_batch(sql).expect("is made");
    };
    fs::write(folder.path().join("text.db"), "no database\n").expect("writes");
    made("users.db", "CREATE TABLE users (name)");
    made("other.db", "PRAGMA journal_mode = WAL; CREATE TABLE a (b)");
    made(
        "rails.db",
        "CREATE TABLE schema_migrations (version); CREATE TABLE users (name)",
    );
    let before = names(folder.path());
    for name in ["text.db", "users.db", "other.db", "rails.db"] {
        let file = folder.path().join(name);
        let bytes = fs::read(&file).expect("reads");
        let url = format!("sqlite:{}", file.display());
        for command in COMMANDS {
            let output = run(&[command, &["--database", &url]].concat());
            assert_eq!(output.status.code(), Some(1), "{command:?} {name}");
            let said = stderr(&output);
            let words = format!("{} is not a store of tplkit-server", file.display());
            assert!(said.contains(&words), "{command:?} {said}");
            assert_eq!(said.lines().count(), 1, "{command:?} {said}");
            assert_eq!(fs::read(&file).expect("reads"), bytes, "{command:?} {name}");
        }
    }
    assert_eq!(names(folder.path()), before);
}

#[test]
fn an_empty_file_becomes_a_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    fs::write(database.trim_start_matches("sqlite:"), "").expect("writes");
    let create = ["create-organization", "--label", "Acme"];
    admin(&database, &create, "").expect("a record");
}

#[test]
fn who_changes_or_looks_makes_no_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let id = "0198a5ba-0000-7000-8000-0000000000ff";
    let of = ["--organization", id];
    let who = ["--email", "a@acme.test"];
    let named = ["--name", "a"];
    let to = ["--kind", "http", "--url", "https://a.test"];
    for words in [
        vec!["list-users"],
        vec!["verify-files"],
        vec!["automation", "pause", id],
        [&["set-quota", "--seats", "1"][..], &of].concat(),
        [&["reset-password", "--password-stdin"][..], &who].concat(),
        [&["add-member", "--role", "owner"][..], &of, &who].concat(),
        [&["remove-member"][..], &of, &who].concat(),
        [&["create-channel"][..], &of, &named].concat(),
        [&["set-connection"][..], &of, &named, &to].concat(),
    ] {
        let output = admin(&database, &words, "correct horse").expect_err("no store");
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        let said = stderr(&output);
        let file = database.trim_start_matches("sqlite:");
        for part in ["tplkit-server migrate", &format!("no store {file}")] {
            assert!(said.contains(part), "{words:?} {said}");
        }
        assert!(names(folder.path()).is_empty(), "{words:?}");
    }
    let create = ["create-user", "--email", "a@acme.test", "--password-stdin"];
    admin(&database, &create, "correct horse").expect("a record");
    let listed = admin(&database, &["list-users"], "").expect("a list");
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(1));
}

#[test]
fn nobody_else_reads_a_store_in_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut serve = command(&["serve", "--listen", "127.0.0.1:0"]);
    serve
        .args(["--database", "sqlite::memory:"])
        .env("TMPDIR", folder.path());
    let serving = Serving::of(serve);
    let mode = |name: &str| {
        let found = fs::metadata(folder.path().join(name)).expect("is there");
        found.permissions().mode() & 0o777
    };
    let names = names(folder.path());
    assert!(!names.is_empty());
    for name in names {
        assert_eq!(mode(&name), 0o700, "{name}");
    }
    drop(serving);
}

#[test]
fn what_cannot_be_opened_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let absent = folder.path().join("absent/a.db");
    for place in [absent.as_path(), folder.path()] {
        let url = format!("sqlite:{}", place.display());
        for command in COMMANDS {
            let output = run(&[command, &["--database", &url]].concat());
            assert_eq!(output.status.code(), Some(1), "{command:?} {url}");
            let said = stderr(&output);
            let named = said.matches(&*place.to_string_lossy()).count();
            assert_eq!(named, 1, "{command:?} {said}");
        }
    }
    let output = command(&["serve", "--demo", "--listen", "127.0.0.1:0"])
        .env("TMPDIR", &absent)
        .env_remove("TPLKIT_DATABASE_URL")
        .output()
        .expect("starts");
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("TMPDIR"), "{said}");
    assert!(said.contains(&*absent.to_string_lossy()), "{said}");
    assert!(!said.contains("--database"), "{said}");
}
