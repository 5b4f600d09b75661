//! `serve --demo`: what it prints works as it is printed.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::api::client::Client;
use crate::process::{command, database, run, stderr};

#[test]
fn what_the_demonstration_prints_works() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let mut serve = vec!["serve", "--listen", "127.0.0.1:0", "--demo"];
    // It is there whatever the limits of the server are.
    serve.extend(["--rate-limit", "1", "--max-body", "500", "--database"]);
    let mut child = command(&serve)
        .arg(&database)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    let mut printed = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut lines = Vec::new();
    while lines
        .last()
        .is_none_or(|line: &String| !line.contains("/rows?"))
    {
        lines.push(printed.next().expect("a line").expect("UTF-8"));
    }
    let address = lines[0].strip_prefix("listening on http://");
    let address = address.expect("an address").to_owned();
    let after = |words: &str| {
        let line = lines.iter().find_map(|line| line.strip_prefix(words));
        line.expect(words).trim().to_owned()
    };
    let client = Client::new(address.parse().expect("an address"));
    // The line for curl, as curl would take it.
    let header = after("curl -H 'Authorization: Bearer ");
    let key = header.split('\'').next().expect("a key");
    let line = lines.last().expect("a line").trim().trim_matches('\'');
    let path = line.strip_prefix(&format!("http://{address}"));
    let response = client.with(key).get(path.expect("a path")).expect(200);
    let rows = response.json();
    assert_eq!(rows["items"].as_array().map(Vec::len), Some(3), "{rows}");
    assert_eq!(rows["items"][0]["data"]["status"], "open");
    // And the person.
    let person = after("sign in");
    let (email, password) = person.split_once("   ").expect("two words");
    let body = serde_json::json!({"email": email, "password": password.trim()});
    let token = client.post("/v1/auth/token", &body).expect(200).json();
    let token = token["access_token"].as_str().expect("a token");
    let schema = client.with(token).get("/v1/schema").expect(200).json();
    let features = schema["workspaces"][0]["features"].as_array();
    assert_eq!(features.map(Vec::len), Some(3));
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    // What is there already is left alone.
    let again = run(&[&serve[..], &[&database]].concat());
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("not empty"), "{}", stderr(&again));
}

/// Without a store of its own it is in memory: it leaves nothing behind, and the same line starts it again.
#[test]
fn a_demonstration_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    for _ in 0..2 {
        let mut child = command(&["serve", "--listen", "127.0.0.1:0", "--demo"])
            .current_dir(folder.path())
            .env_remove("TPLKIT_DATABASE_URL")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        let mut printed = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let line = printed.next().expect("a line").expect("UTF-8");
        assert!(line.starts_with("listening on http://"), "{line}");
        child.kill().expect("it runs");
        child.wait().expect("it ends");
    }
    let left = std::fs::read_dir(folder.path()).expect("reads").count();
    assert_eq!(left, 0);
}
