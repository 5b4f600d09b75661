//! `serve --demo`: what it prints works as it is printed.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::api::client::Client;
use crate::process::{Serving, command, database, run, stderr};

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
    let printed = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let lines: Vec<String> = printed.take(8).map(|line| line.expect("UTF-8")).collect();
    let after = |at: usize, words: &str| {
        let line = lines[at].strip_prefix(words);
        line.unwrap_or_else(|| panic!("{lines:#?}")).to_owned()
    };
    // In the order in which somebody needs them.
    let url = after(0, "listening on ");
    let address = url.strip_prefix("http://").expect("an address");
    assert_eq!(lines[1], "");
    assert!(lines[2].starts_with("A coffee shop with"), "{lines:#?}");
    let person = after(3, "sign in   ");
    let key = after(4, "API key   ");
    assert_eq!(after(5, "docs      "), format!("{url}/docs"));
    assert_eq!(after(6, "console   "), format!("{url}/console"));
    let client = Client::new(address.parse().expect("an address"));
    // The line for curl, as curl would take it.
    let place = after(7, &format!("curl -H 'Authorization: Bearer {key}' '{url}"));
    let path = place.strip_suffix('\'').expect("a quote");
    assert!(path.contains("/rows?"), "{path}");
    let response = client.with(&key).get(path).expect(200);
    let rows = response.json();
    assert_eq!(rows["items"].as_array().map(Vec::len), Some(3), "{rows}");
    assert_eq!(rows["items"][0]["data"]["status"], "open");
    // And the person.
    let (email, password) = person.split_once("   ").expect("two words");
    let body = serde_json::json!({"email": email, "password": password.trim()});
    let token = client.post("/v1/auth/token", &body).expect(200).json();
    let token = token["access_token"].as_str().expect("a token");
    let schema = client.with(token).get("/v1/schema").expect(200).json();
    let features = schema["workspaces"][0]["features"].as_array();
    assert_eq!(features.map(Vec::len), Some(3));
    // There is a template, and nothing has to be decided before it is applied.
    let templates = client.with(&key).get("/v1/templates").expect(200).json();
    let template = templates["items"][0]["id"].as_str().expect("a template");
    let workspace = schema["workspaces"][0]["id"].as_str().expect("an id");
    let body = serde_json::json!({"workspaceId": workspace});
    let plan = client
        .with(&key)
        .post(&format!("/v1/templates/{template}/plan"), &body);
    assert_eq!(plan.expect(200).json()["refusals"], serde_json::json!([]));
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

/// Somebody looks at it: no line per request, and the address is the first that there is to read.
#[test]
fn a_demonstration_logs_what_goes_wrong_alone() {
    let serving = Serving::start_with("sqlite::memory:", &["--demo"], &[]);
    assert!(serving.get("/v1/health").starts_with("HTTP/1.1 200"));
    let log = serving.log();
    assert!(!log.contains("responded") && !log.contains("INFO"), "{log}");
    drop(serving);
    let loud = ["--demo", "--log-level", "info"];
    let serving = Serving::start_with("sqlite::memory:", &loud, &[]);
    serving.wait_for("serving");
}
