//! `tplkit automation list`, `show`, `start` and `runs`.

use serde_json::{Value, json};

use super::TestEnv;
use super::routes::{Routes, WORKSPACE, page};
use crate::scripted::Response;

const AUTOMATION: &str = "0198c0de-0000-7000-8000-0000000000d1";
const OTHER: &str = "0198c0de-0000-7000-8000-0000000000d2";
const RUN: &str = "0198c0de-0000-7000-8000-0000000000e1";

fn version(id: &str, name: &str, version: i64, draft: bool, active: bool) -> Value {
    json!({
        "id": format!("{id}-{version}"), "workflow_id": id, "workspace_id": WORKSPACE, "name": name,
        "version": version, "is_draft": draft, "is_active": active,
        "trigger_config": {"type": "cron", "config": {}},
        "graph_config": {"steps": [
            {"key": "ifElse", "config": {"then": [{"key": "notify", "config": {}}]}},
        ]},
        "created_at": "2026-01-02T12:00:00.000000Z",
    })
}

fn run(status: &str) -> Value {
    let failed = status == "failed";
    json!({
        "id": RUN, "workflow_id": AUTOMATION, "version": 2, "status": status, "trigger": "manual",
        "row_id": null, "dry_run": false, "started_at": "2026-01-02T12:00:00.000000Z", "finished_at": null,
        "error": if failed { json!({"code": "step_failed", "detail": "no such host"}) } else { Value::Null },
        "steps": [{"path": "0", "id": "s", "key": "http", "status": status, "input": null, "output": null, "error": null}],
    })
}

/// A workspace with an active automation that has a newer draft, and one that never fired.
fn routes() -> Routes {
    Routes::new()
        .on(
            "GET /v1/workspaces",
            [page(&[
                json!({"id": WORKSPACE, "name": "tea", "label": "Tea"}),
            ])],
        )
        .on(
            "GET /v1/workflows-v2",
            [page(&[
                version(AUTOMATION, "Thank", 1, false, false),
                version(AUTOMATION, "Thank", 2, false, true),
                version(AUTOMATION, "Thank", 3, true, false),
                version(OTHER, "Remind", 1, true, false),
            ])],
        )
        .on(
            &format!("GET /v1/workflows-v2/{OTHER}"),
            [Response::json(&version(OTHER, "Remind", 1, true, false))],
        )
        .on(
            &format!("GET /v1/workflows-v2/{AUTOMATION}"),
            [Response::json(&version(
                AUTOMATION, "Thank", 2, false, true,
            ))],
        )
        .on(
            &format!("POST /v1/workflows-v2/{AUTOMATION}/runs"),
            [Response::text(202, &run("queued").to_string())],
        )
}

fn started(ends: &[&str]) -> Routes {
    let responses = ends.iter().map(|status| Response::json(&run(status)));
    let responses: Vec<Response> = responses.collect();
    routes().on(&format!("GET /v1/workflow-runs/{RUN}"), responses)
}

#[test]
fn automations_are_listed_by_the_version_in_force() {
    let server = routes().serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env
        .run(&["automation", "list", "--workspace", "tea"])
        .exits(0);
    insta::assert_snapshot!(ran.out, @r"
    Thank   active (version 2)  draft of version 3
    Remind  draft (version 1)
    ");
    assert!(!ran.out.contains(AUTOMATION));
    let ran = env
        .run(&[
            "automation",
            "list",
            "--workspace",
            "tea",
            "--format",
            "json",
        ])
        .exits(0);
    let items = &ran.json()["data"]["items"];
    assert_eq!(items.as_array().map(Vec::len), Some(2));
    assert_eq!(items[0]["version"], 2);
    let ran = env.run(&["automation", "list"]).exits(2);
    assert!(ran.err.contains("no workspace is named"), "{}", ran.err);
}

#[test]
fn an_automation_is_shown_with_the_line_that_activates_it() {
    let server = routes().serve();
    let env = TestEnv::with_key(&server.url).set("TPLKIT_WORKSPACE", "tea");
    let ran = env.run(&["automation", "show", "Remind"]).exits(0);
    let line = format!("tplkit-server admin automation activate {OTHER}");
    assert!(ran.out.contains(&line), "{}", ran.out);
    assert!(ran.out.contains("Starts by: cron"), "{}", ran.out);
    assert!(ran.out.contains("  ifElse\n    notify\n"), "{}", ran.out);
    let ran = env.run(&["automation", "show", AUTOMATION]).exits(0);
    let line = format!("tplkit-server admin automation pause {AUTOMATION}");
    assert!(ran.out.contains(&line), "{}", ran.out);
    let ran = env
        .run(&["automation", "show", "Thanks", "--format", "json"])
        .exits(2);
    let candidates = &ran.json()["errors"][0]["candidates"];
    assert_eq!(candidates[1]["id"], OTHER);
    assert_eq!(candidates[1]["name"], "Remind");
}

#[test]
fn a_run_is_followed_to_its_end() {
    let server = started(&["queued", "running", "succeeded"]).serve();
    let env = TestEnv::with_key(&server.url).set("TPLKIT_WORKSPACE", "tea");
    let ran = env
        .run(&["automation", "start", "Thank", "--row", "r1", "--dry-run"])
        .exits(0);
    assert_eq!(ran.out, format!("{RUN}\nsucceeded\n  0  http  succeeded\n"));
    assert!(ran.err.contains("running…"), "{}", ran.err);
    let received = server.received();
    let begun = received.iter().find(|one| one.method == "POST");
    let begun = begun.expect("is begun");
    assert_eq!(begun.body, r#"{"dry_run":true,"row_id":"r1"}"#);
    assert!(begun.header("idempotency-key").is_some());

    let server = started(&["failed"]).serve();
    let env = TestEnv::with_key(&server.url);
    let words = ["automation", "start", AUTOMATION];
    let ran = env.run(&words).exits(1);
    assert!(
        ran.err.contains("no such host (step_failed)"),
        "{}",
        ran.err
    );
    let ran = env
        .run(&[&words[..], &["--format", "json"]].concat())
        .exits(1);
    assert_eq!(ran.json()["outcome"], "findings");
    assert_eq!(ran.json()["run_id"], RUN);

    let server = started(&["running"]).serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&[&words[..], &["--wait", "0s"]].concat()).exits(69);
    assert!(ran.err.contains("tplkit automation runs"), "{}", ran.err);
}

#[test]
fn who_may_not_start_it_or_cannot_learns_why() {
    let route = format!("POST /v1/workflows-v2/{AUTOMATION}/runs");
    let server = routes()
        .on(&route, [Response::problem(403, "forbidden")])
        .serve();
    let env = TestEnv::with_key(&server.url);
    env.run(&["automation", "start", AUTOMATION]).exits(4);
    let server = routes()
        .on(&route, [Response::problem(409, "no_active_version")])
        .serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&["automation", "start", AUTOMATION]).exits(1);
    assert!(
        ran.err.contains("tplkit-server admin automation"),
        "{}",
        ran.err
    );
}

#[test]
fn runs_are_listed_the_newest_last() {
    let mut older = run("failed");
    older["id"] = json!("0198c0de-0000-7000-8000-0000000000e0");
    let server = routes()
        .on(
            &format!("GET /v1/workflows-v2/{AUTOMATION}/runs"),
            [page(&[run("succeeded"), older])],
        )
        .serve();
    let env = TestEnv::with_key(&server.url).set("TPLKIT_WORKSPACE", "tea");
    let ran = env.run(&["automation", "runs", "Thank"]).exits(0);
    insta::assert_snapshot!(ran.out, @r"
    0198c0de-0000-7000-8000-0000000000e0  failed     2026-01-02T12:00:00.000000Z  manual, version 2  step_failed
    0198c0de-0000-7000-8000-0000000000e1  succeeded  2026-01-02T12:00:00.000000Z  manual, version 2
    ");
    let ran = env
        .run(&[
            "automation",
            "runs",
            "Thank",
            "--limit",
            "1",
            "--format",
            "json",
        ])
        .exits(0);
    assert_eq!(ran.json()["data"]["items"][0]["id"], RUN);
}
