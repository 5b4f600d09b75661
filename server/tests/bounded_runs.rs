//! A person who may write no more than drafts cannot take the server down: it runs with little memory,
//! executes what would fill all of it, and responds to others meanwhile and afterwards.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::kill::{Wire, signed_in};
use crate::process::{Serving, admin, owner};
use crate::stores::{Place, on_both_stores};

on_both_stores!(runs_that_grow_leave_the_server_serving);

/// How much memory of its own the server may have, in KiB.
const MEMORY: u64 = 1 << 20;

fn editor(database: &str, organization: &str, serving: &Serving) -> Wire {
    let (email, password) = ("editor@acme.test", "correct horse battery");
    let create = ["create-user", "--email", email, "--password-stdin"];
    admin(database, &create, password).expect("a record");
    let add = [
        "add-member",
        "--organization",
        organization,
        "--email",
        email,
        "--role",
        "editor",
    ];
    admin(database, &add, "").expect("a record");
    let mut wire = Wire::new(serving, "");
    let body = json!({"email": email, "password": password});
    let (status, tokens) = wire
        .ask("POST", "/v1/auth/token", Some(&body))
        .expect("a response");
    assert_eq!(status, 200, "{tokens}");
    Wire::new(serving, tokens["access_token"].as_str().expect("a token"))
}

/// A draft; gives its id.
fn draft(wire: &mut Wire, workspace: &str, steps: &Value) -> String {
    let body = json!({"workspace_id": workspace, "name": "d", "trigger_config": {"type": "manual"},
        "graph_config": {"steps": steps}});
    let made = wire.ask("POST", "/v1/workflows-v2", Some(&body));
    let (status, made) = made.expect("a response");
    assert_eq!(status, 201, "{made}");
    made["workflow_id"].as_str().expect("an id").to_owned()
}

fn set(value: &str) -> Value {
    json!({"key": "var.set", "config": {"name": "x", "value": value}})
}

/// Reads a page as somebody who has nothing to do with the runs; gives how long it took.
fn response_time(other: &mut Wire) -> Duration {
    let begun = Instant::now();
    let response = other.ask("GET", "/v1/workspaces", None);
    assert_eq!(response.expect("a response").0, 200);
    begun.elapsed()
}

fn p99(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() * 99 / 100]
}

#[expect(
    clippy::print_stdout,
    reason = "the figure is shown by who asks for it"
)]
async fn runs_that_grow_leave_the_server_serving(place: Place) {
    let database = place.url.as_str();
    let organization = owner(database);
    let serving = Serving::start_within(database, MEMORY, &["--rate-limit", "off"]);
    let mut other = signed_in(&serving);
    let mut editor = editor(database, &organization, &serving);
    let body = json!({"organization_id": organization, "label": "W"});
    let workspace = editor.made("/v1/workspaces", &body);
    let table = json!({"workspace_id": workspace, "label": "t"});
    let feature = editor.made("/v1/features", &table);
    let column = json!({"label": "note", "type": "text"});
    editor.made(&format!("/v1/features/{feature}/columns"), &column);
    let rows = format!("/v1/features/{feature}/rows");
    for _ in 0..40 {
        let row = json!({"data": {"note": "x".repeat(3_000_000)}});
        editor.made(&rows, &row);
    }
    let mut doubling = vec![set("0123456789")];
    doubling.extend((0..26).map(|_| set("{{vars.x}}{{vars.x}}")));
    let doubling = draft(&mut editor, &workspace, &json!(doubling));
    let mut lists = vec![set("0123456789")];
    let list = json!(vec!["{{vars.x}}"; 100]);
    lists
        .extend((0..20).map(|_| json!({"key": "var.set", "config": {"name": "x", "value": list}})));
    let lists = draft(&mut editor, &workspace, &json!(lists));
    let read =
        json!({"key": "feature.read", "config": {"featureId": feature, "mergeMode": "append"}});
    let reading = draft(&mut editor, &workspace, &json!([read, read]));
    let idle = (0..500).map(|_| response_time(&mut other)).collect();
    let mut runs = Vec::new();
    for _ in 0..8 {
        for it in [&doubling, &lists, &reading] {
            let path = format!("/v1/workflows-v2/{it}/runs");
            let begun = editor.ask("POST", &path, Some(&json!({"dry_run": true})));
            let (status, run) = begun.expect("a response");
            assert_eq!(status, 202, "{run}");
            runs.push(run["id"].as_str().expect("an id").to_owned());
        }
    }
    let mut during = Vec::new();
    while !runs.is_empty() {
        // Somebody else gets responses all the time.
        for _ in 0..20 {
            during.push(response_time(&mut other));
        }
        runs.retain(|run| {
            let path = format!("/v1/workflow-runs/{run}");
            let (status, run) = other.ask("GET", &path, None).expect("a response");
            assert_eq!(status, 200);
            if run["finished_at"].is_null() {
                return true;
            }
            assert_eq!(run["status"], "failed", "{run}");
            assert_eq!(run["error"]["code"], "run_too_large");
            false
        });
        thread::sleep(Duration::from_millis(20));
    }
    println!(
        "another person gets a response in {:?} when nothing runs, in {:?} while the runs are executed (p99)",
        p99(idle),
        p99(during)
    );
    let page = format!("/v1/workflows-v2/{doubling}/runs?limit=200");
    let (status, page) = other.ask("GET", &page, None).expect("a response");
    assert_eq!(
        (status, page["items"].as_array().map(Vec::len)),
        (200, Some(8))
    );
    other.made("/v1/workspaces", &body);
}
