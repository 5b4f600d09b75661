//! The place of files where a variable names it, and where nobody does and the store is in memory.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use super::signed_in;
use crate::api::client::{Client, id};
use crate::process::{Serving, command, database, owner, stderr};

#[test]
fn a_variable_names_the_place_of_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let organization = owner(&database);
    let place = folder.path().join("elsewhere");
    let url = format!("file:{}", place.display());
    let variable = [("TPLKIT_FILES", &*url)];
    let serving = Serving::start_with(&database, &[], &variable);
    let (mut wire, workspace) = signed_in(&serving, &organization);
    let upload = format!("/v1/files?workspace_id={workspace}&name=f");
    wire.made(&upload, &json!("text"));
    assert!(place.join(&organization).is_dir());
    let usual = format!("{}.files", database.trim_start_matches("sqlite:"));
    assert!(!Path::new(&usual).exists());
    let output = command(&["admin", "verify-files", "--database", &database])
        .envs(variable)
        .output()
        .expect("ends");
    let verdict: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(verdict["checked"], 1, "{output:?}");
}

/// Both go with the process, so nobody has to be warned, and nothing is left on a disk.
#[test]
fn a_store_in_memory_has_its_files_there_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["serve", "--listen", "127.0.0.1:0", "--demo"];
    let mut child = command(&words)
        .args(["--database", "sqlite::memory:"])
        .current_dir(folder.path())
        .env_remove("TPLKIT_FILES")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let printed = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let lines: Vec<String> = printed.take(8).map(|line| line.expect("UTF-8")).collect();
    let after = |words: &str| {
        let line = lines.iter().find_map(|line| line.strip_prefix(words));
        line.unwrap_or_else(|| panic!("{lines:#?}")).to_owned()
    };
    let address = after("listening on http://").parse().expect("an address");
    let client = Client::new(address).with(&after("API key   "));
    let schema = client.get("/v1/schema").expect(200).json();
    let workspace = id(&schema["workspaces"][0]);
    let path = format!("/v1/files?workspace_id={workspace}&name=f");
    let headers = [("content-type", "text/plain")];
    let file = client.send("POST", &path, &headers, Some(b"bytes"));
    let content = format!("/v1/files/{}/content", id(&file.expect(201).json()));
    assert_eq!(client.get(&content).expect(200).body, "bytes");
    child.kill().expect("it runs");
    let output = child.wait_with_output().expect("it ends");
    assert!(!stderr(&output).contains("go with this process"));
    let left = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 0);
}
