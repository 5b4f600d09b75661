//! What commands print.

use std::fs::File;

use serde_json::Value;

use crate::process::{admin, command, database, run, stderr, stdout};
use crate::stores::Place;

/// A control of C1, and one that turns the direction of writing.
const STEERING: [char; 2] = ['\u{9b}', '\u{202e}'];

#[test]
fn no_name_steers_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    steers_nothing(&database(folder.path()));
}

#[test]
fn no_name_steers_the_terminal_with_postgres() {
    if let Some(place) = Place::postgres() {
        steers_nothing(&place.url);
    }
}

fn steers_nothing(database: &str) {
    let label = "Acme \u{9b}31m\u{202e}";
    let create = ["create-organization", "--label", label];
    let made = admin(database, &create, "").expect("a record");
    let organization = made["id"].as_str().expect("an id");
    let create = ["create-user", "--email", "a@acme.test", "--password-stdin"];
    admin(database, &create, "correct horse").expect("a record");
    let within = ["--organization", organization];
    let add = ["add-member", "--email", "a@acme.test", "--role", "owner"];
    admin(database, &[&add[..], &within].concat(), "").expect("a record");
    let print = |command: &[&str]| -> Value {
        let output = run(&[&["admin"][..], command, &within, &["--database", database]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let printed = stdout(&output);
        assert!(!printed.contains(STEERING), "{printed:?}");
        // To programs it is what it was.
        serde_json::from_str(&printed).expect("JSON")
    };
    assert_eq!(print(&["set-quota", "--seats", "none"])["label"], label);
    let users = print(&["list-users"]);
    assert_eq!(users["items"][0]["organizations"][0]["label"], label);
}

#[test]
fn what_was_done_is_known_where_it_cannot_be_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    is_known(&database(folder.path()));
}

#[test]
fn what_was_done_is_known_where_it_cannot_be_printed_with_postgres() {
    if let Some(place) = Place::postgres() {
        is_known(&place.url);
    }
}

fn is_known(database: &str) {
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        return;
    };
    let output = command(&["admin", "create-organization", "--label", "Acme"])
        .args(["--database", database])
        .stdout(full)
        .output()
        .expect("starts");
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("this was done"), "{said}");
    let record = said.find('{').map(|at| &said[at..]).expect("a record");
    let record: Value = serde_json::from_str(record).expect("JSON");
    let id = record["id"].as_str().expect("an id");
    let set = ["set-quota", "--seats", "1", "--organization", id];
    let found = admin(database, &set, "").expect("it is there");
    assert_eq!(found["label"], "Acme");
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        return;
    };
    for words in [
        &["--help"][..],
        &["-h"],
        &["help"],
        &["--version"],
        &["admin", "--help"],
        &["openapi"],
    ] {
        let full = full.try_clone().expect("another handle");
        let output = command(words).stdout(full).output().expect("starts");
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {said}");
        assert!(said.starts_with("error: "), "{words:?}: {said}");
        assert_eq!(run(words).status.code(), Some(0), "{words:?}");
    }
}

#[test]
fn no_error_steers_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("no\u{202e}/a\u{9b}.db");
    let url = format!("sqlite:{}", file.display());
    let output = run(&["migrate", "--database", &url]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.starts_with("error: "), "{said}");
    assert!(!said.contains(STEERING), "{said:?}");
}
