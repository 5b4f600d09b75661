//! `tplkit job`: looking, going on, taking back.

use serde_json::json;

use super::Desk;
use super::routes::{
    JOB, Routes, TEMPLATE, WORKSPACE, apply_route, catalog, job, job_document, page, started,
};
use crate::scripted::Reply;

#[test]
fn jobs_are_listed_and_shown() {
    let held = json!({"locked_until": "2026-01-02T12:00:09Z"});
    let jobs = page(&[
        job_document("rows", &held),
        job_document("completed", &held),
    ]);
    let server = catalog([Reply::json(&job_document(
        "failed",
        &json!({"error": "no room"}),
    ))])
    .on("GET /v1/template-jobs", [jobs])
    .serve();
    let desk = Desk::with_key(&server.url);
    let ran = desk
        .run(&["job", "list", "--workspace", WORKSPACE])
        .exits(0);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(
        lines[0].contains("held until") && !lines[1].contains("held"),
        "{}",
        ran.out
    );
    assert_eq!(
        server.lines()[0],
        format!("GET /v1/template-jobs?workspace_id={WORKSPACE}&limit=200")
    );
    let document = desk
        .run(&["job", "list", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(document["data"]["items"][0]["id"], JOB);

    let ran = desk.run(&["job", "show", JOB]).exits(0);
    assert!(
        ran.out.contains("f_clients  3 inserted") && ran.out.contains("no room"),
        "{}",
        ran.out
    );
    let document = desk
        .run(&["job", "show", JOB, "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(document["job"]["error"], "no room");
    desk.run(&["job", "show", "gone"]).exits(1);
}

#[test]
fn what_is_left_to_do_by_hand_stands_at_the_end() {
    let drafts = json!([{"ref": "w_send", "name": "Send\u{1b}[2J", "because": [
        {"path": "graphConfig.steps.0.config.bearerToken", "reason": "redacted"},
        {"path": "triggerConfig.config.featureId", "reason": "inexistente"},
        {"path": "graphConfig.steps.1.config.to", "reason": "step_config_invalid"},
    ]}]);
    let report = json!({"rows": {}, "published": 1, "not_published": drafts, "unresolved": [],
        "renamed": [], "dropped_keys": [], "errors": []});
    let document = job_document("completed", &json!({"report": report}));
    let server = catalog([Reply::json(&document)]).serve();
    let desk = Desk::with_key(&server.url);
    let ran = desk.run(&["job", "show", JOB]).exits(0);
    let owed = "\
Live from now on: 1 automation

Live at the source, drafts here until these fields are entered by hand
  Send [2J (w_send)
    graphConfig.steps.0.config.bearerToken: a secret that the export left out (redacted)
    triggerConfig.config.featureId: ";
    assert!(ran.out.contains(owed), "{}", ran.out);
    let end = "graphConfig.steps.1.config.to: not valid as it is (step_config_invalid)\n";
    assert!(ran.out.ends_with(end), "{}", ran.out);
}

#[test]
fn watching_only_looks() {
    let server = catalog([job("rows"), job("completed")]).serve();
    let desk = Desk::with_key(&server.url);
    let ran = desk.run(&["job", "watch", JOB]).exits(0);
    assert!(ran.out.starts_with("completed\n"), "{}", ran.out);
    assert!(
        server
            .lines()
            .iter()
            .all(|line| *line == format!("GET /v1/template-jobs/{JOB}"))
    );
    for (status, exit) in [
        ("failed", 1),
        ("undone", 1),
        ("structure", 69),
        ("something", 69),
    ] {
        let server = catalog([job(status)]).serve();
        let desk = Desk::with_key(&server.url);
        let ran = desk.run(&["job", "watch", JOB, "--wait", "0s"]).exits(exit);
        assert!(ran.err.contains(JOB), "{}", ran.err);
    }
    let unresolved = json!([{"uid": "u", "path": "p", "kind": "channel", "form": "uuid",
        "reason": "dependencia_saltada", "action": "chave esvaziada"}]);
    let done = job_document("completed", &json!({"report": {"unresolved": unresolved}}));
    let server = catalog([Reply::json(&done)]).serve();
    let desk = Desk::with_key(&server.url);
    desk.run(&["job", "watch", JOB, "--fail-on-unresolved"])
        .exits(68);
    desk.run(&["job", "watch", "gone"]).exits(1);
}

#[test]
fn a_job_goes_on_by_its_id() {
    let server = catalog([job("failed"), job("rows"), job("completed")]).serve();
    let desk = Desk::with_key(&server.url);
    let ran = desk.run(&["job", "resume", JOB]).exits(0);
    assert!(
        ran.out.starts_with(&format!("{JOB}\ncompleted\n")),
        "{}",
        ran.out
    );
    let received = server.received();
    let sent = received
        .iter()
        .find(|one| one.line() == apply_route(TEMPLATE))
        .expect("apply");
    assert_eq!(
        sent.body,
        json!({"workspaceId": WORKSPACE, "jobId": JOB}).to_string()
    );
    assert!(sent.header("idempotency-key").is_some());

    let body = json!({"code": "job_active", "job_id": JOB, "locked_until": "2026-01-02T12:00:09Z"});
    let held = [Reply::text(409, &body.to_string())];
    let server = catalog([job("rows")])
        .on(&apply_route(TEMPLATE), held)
        .serve();
    let desk = Desk::with_key(&server.url);
    let ran = desk.run(&["job", "resume", JOB]).exits(69);
    assert_eq!(ran.out, format!("{JOB}\n"));
    let undone = [Reply::problem(409, "conflict")];
    let server = catalog([job("undone")])
        .on(&apply_route(TEMPLATE), undone)
        .serve();
    Desk::with_key(&server.url)
        .run(&["job", "resume", JOB])
        .exits(1);

    let nameless = Reply::json(&json!({"status": "rows"}));
    let server = Routes::new()
        .on(&format!("GET /v1/template-jobs/{JOB}"), [nameless])
        .on(&apply_route(TEMPLATE), [started()])
        .serve();
    let ran = Desk::with_key(&server.url)
        .run(&["job", "resume", JOB])
        .exits(1);
    assert!(ran.err.contains("tplkit api POST"), "{}", ran.err);
}

#[test]
fn what_a_job_made_is_taken_back() {
    let undo = format!("POST /v1/template-jobs/{JOB}/undo");
    let server = catalog([]).on(&undo, [job("undone")]).serve();
    let desk = Desk::with_key(&server.url);
    desk.run(&["job", "undo", JOB]).exits(0);
    desk.run(&["job", "undo", JOB, "--force", "--format", "json"])
        .exits(0);
    assert_eq!(server.lines(), [undo.clone(), format!("{undo}?force=true")]);
    let received = server.received();
    assert!(
        received
            .iter()
            .all(|one| one.body.is_empty() && one.header("idempotency-key").is_some())
    );
    for (code, exit) in [("not_empty", 1), ("conflict", 1), ("job_active", 69)] {
        let server = catalog([]).on(&undo, [Reply::problem(409, code)]).serve();
        let ran = Desk::with_key(&server.url).run(&["job", "undo", JOB, "--format", "json"]);
        let document = ran.exits(exit).json();
        assert_eq!(document["errors"][0]["code"], code);
    }
}
