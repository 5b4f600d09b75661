//! `tplkit job`: looking, going on, taking back.

use serde_json::json;

use super::TestEnv;
use super::routes::{
    JOB, Routes, TEMPLATE, WORKSPACE, apply_route, catalog, job, job_document, page, plan,
    plan_route, started,
};
use crate::scripted::Response;

#[test]
fn jobs_are_listed_and_shown() {
    let held = json!({"locked_until": "2026-01-02T12:00:09Z"});
    let jobs = page(&[
        job_document("rows", &held),
        job_document("completed", &held),
    ]);
    let server = catalog([Response::json(&job_document(
        "failed",
        &json!({"error": "no room"}),
    ))])
    .on("GET /v1/template-jobs", [jobs])
    .serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&["job", "list", "--workspace", WORKSPACE]).exits(0);
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
    let document = env
        .run(&["job", "list", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(document["data"]["items"][0]["id"], JOB);

    let ran = env.run(&["job", "show", JOB]).exits(0);
    assert!(
        ran.out.contains("f_clients  3 inserted") && ran.out.contains("no room"),
        "{}",
        ran.out
    );
    let document = env
        .run(&["job", "show", JOB, "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(document["job"]["error"], "no room");
    env.run(&["job", "show", "gone"]).exits(1);
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
    let server = catalog([Response::json(&document)]).serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&["job", "show", JOB]).exits(0);
    let expected = "\
Live from now on: 1 automation

Live at the source, drafts here until these fields are entered by hand
  Send\u{241b}[2J (w_send)
    graphConfig.steps.0.config.bearerToken: a secret that the export left out (redacted)
    triggerConfig.config.featureId: ";
    assert!(ran.out.contains(expected), "{}", ran.out);
    let end = "graphConfig.steps.1.config.to: not valid as it is (step_config_invalid)\n";
    assert!(ran.out.ends_with(end), "{}", ran.out);
}

#[test]
fn watching_only_looks() {
    let server = catalog([job("rows"), job("completed")]).serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&["job", "watch", JOB]).exits(0);
    assert!(ran.out.starts_with("completed\n"), "{}", ran.out);
    assert!(
        server
            .lines()
            .iter()
            .filter(|line| *line != &format!("GET /v1/templates/{TEMPLATE}"))
            .all(|line| *line == format!("GET /v1/template-jobs/{JOB}"))
    );
    for (status, exit, out) in [
        ("failed", 1, "failed\n".to_owned()),
        ("structure", 69, format!("{JOB}\nstructure\n")),
        ("something", 69, format!("{JOB}\nsomething\n")),
    ] {
        let server = catalog([job(status)]).serve();
        let env = TestEnv::with_key(&server.url);
        let ran = env.run(&["job", "watch", JOB, "--wait", "0s"]).exits(exit);
        assert!(ran.err.contains(JOB), "{}", ran.err);
        assert!(ran.out.starts_with(&out), "{}", ran.out);
    }
    let unresolved = json!([{"uid": "u", "path": "p", "kind": "channel", "form": "uuid",
        "reason": "dependencia_saltada", "action": "chave esvaziada"}]);
    let done = job_document("completed", &json!({"report": {"unresolved": unresolved}}));
    let server = catalog([Response::json(&done)]).serve();
    let env = TestEnv::with_key(&server.url);
    env.run(&["job", "watch", JOB, "--fail-on-unresolved"])
        .exits(68);
    // Of a job that nobody knows nothing goes on.
    let no_id = json!({"code": "validation_failed", "detail": "path.job_id: is not a UUID"});
    let server = catalog([done_document()])
        .on(
            "GET /v1/template-jobs/nope",
            [Response::text(422, &no_id.to_string())],
        )
        .serve();
    let env = TestEnv::with_key(&server.url);
    for id in ["nope", "gone", "0198c0de-0000-7000-8000-0000000000ff"] {
        let ran = env.run(&["job", "watch", id]).exits(1);
        assert!(!ran.err.contains("goes on"), "{}", ran.err);
        assert!(ran.err.contains("not_found"), "{}", ran.err);
        let ran = env.run(&["job", "watch", id, "--format", "json"]);
        let document = ran.exits(1).json();
        assert_eq!(document["errors"][0]["code"], "not_found");
        assert!(!document.to_string().contains("goes on"), "{document}");
    }
    // Every other command says the same of it.
    for command in ["show", "undo", "cancel", "resume"] {
        let ran = env.run(&["job", command, "nope"]).exits(1);
        assert!(ran.err.contains("there is no job `nope`"), "{}", ran.err);
        assert!(ran.err.contains("tplkit job list"), "{}", ran.err);
    }
}

fn done_document() -> Response {
    Response::json(&job_document("completed", &json!({})))
}

/// An undo that goes on is watched as an apply is: it ends well when nothing is left.
#[test]
fn watching_an_undo_exits_0() {
    let rows = json!({"f_clients": {"inserted": 2, "failed": 3, "errors_more": 0}});
    let drafts = json!([{"ref": "w_send", "name": "Send", "because": []}]);
    let report = json!({"rows": rows, "published": 1, "unresolved": [], "not_published": drafts,
        "errors": []});
    let of = |status: &str| Response::json(&job_document(status, &json!({"report": report})));
    for jobs in [
        vec![of("undone")],
        vec![of("undoing"), of("undoing"), of("undone")],
    ] {
        let server = catalog(jobs).serve();
        let env = TestEnv::with_key(&server.url);
        // What the job had not written is gone with the rest.
        let ran = env
            .run(&["job", "watch", JOB, "--fail-on-unresolved"])
            .exits(0);
        assert!(
            ran.out
                .starts_with("undone\n\nThis is what it did; nothing of it is left\n")
        );
        assert!(!ran.out.contains("Live"), "{}", ran.out);
        assert!(
            ["", "undoing…\n"].contains(&ran.err.as_str()),
            "{}",
            ran.err
        );
        let document = env
            .run(&["job", "watch", JOB, "--format", "json"])
            .exits(0)
            .json();
        assert_eq!(
            (&document["outcome"], &document["status"]),
            (&json!("clean"), &json!("undone"))
        );
        let ran = env.run(&["job", "show", JOB]).exits(0);
        assert!(!ran.out.contains("Live"), "{}", ran.out);
    }
    // An apply that somebody took back while it was waited for has not come about.
    let undone = || [job("rows"), job("rows"), job("undone")];
    let server = catalog(undone()).serve();
    let ran = TestEnv::with_key(&server.url)
        .run(&["job", "watch", JOB])
        .exits(1);
    assert!(ran.err.contains("was undone"), "{}", ran.err);
    let server = catalog(undone()).serve();
    let ran = TestEnv::with_key(&server.url)
        .run(&["job", "resume", JOB])
        .exits(1);
    assert!(ran.err.contains("was undone"), "{}", ran.err);
    // The time can be over before it is.
    let server = catalog([job("undoing")]).serve();
    let words = ["job", "watch", JOB, "--wait", "0s", "--format", "json"];
    let document = TestEnv::with_key(&server.url).run(&words).exits(69).json();
    assert_eq!(document["status"], "undoing");
}

#[test]
fn the_time_of_a_resume_can_be_over_too() {
    let server = catalog([job("failed"), job("rows")]).serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&["job", "resume", JOB, "--wait", "0s"]).exits(69);
    assert_eq!(
        ran.out,
        format!("{JOB}\nrows\n\nRows\n  f_clients  3 inserted\n")
    );
    assert!(ran.err.contains("tplkit job watch"), "{}", ran.err);
    let words = ["job", "resume", JOB, "--wait=0s", "--format", "json"];
    let document = env.run(&words).exits(69).json();
    assert_eq!(
        (&document["outcome"], &document["job_id"]),
        (&json!("failed"), &json!(JOB))
    );
}

#[test]
fn rows_that_failed_are_reported_by_every_command_about_the_job() {
    let rows = json!({"f_clients": {"inserted": 2, "failed": 3, "errors_more": 2}});
    let errors = json!([{"ref": "f_clients", "first": 0, "last": 9, "code": "quota_exceeded",
        "message": "rows[0] and what follows: full"}]);
    let report = json!({"rows": rows, "published": 0, "unresolved": [], "errors": errors});
    let done = || Response::json(&job_document("completed", &json!({"report": report})));
    let server = catalog([done(), done(), done(), done(), done(), done()]).serve();
    let env = TestEnv::with_key(&server.url);
    for command in ["watch", "resume"] {
        let ran = env.run(&["job", command, JOB]).exits(68);
        assert!(ran.err.contains("3 rows failed"), "{}", ran.err);
        assert!(ran.out.contains("f_clients rows 0 to 9"), "{}", ran.out);
        assert!(ran.out.contains("f_clients: 2 errors more"), "{}", ran.out);
        let document = env.run(&["job", command, JOB, "--format", "json"]);
        assert_eq!(document.exits(68).json()["outcome"], "partial");
        env.run(&["job", command, JOB, "--accept-failed-rows"])
            .exits(0);
    }
    let ran = env.run(&["job", "show", JOB]).exits(0);
    assert!(ran.out.contains("3 FAILED"), "{}", ran.out);
}

#[test]
fn a_job_goes_on_by_its_id() {
    let server = catalog([job("failed"), job("rows"), job("completed")]).serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&["job", "resume", JOB]).exits(0);
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
    let held = [Response::text(409, &body.to_string())];
    let server = catalog([job("rows")])
        .on(&apply_route(TEMPLATE), held)
        .serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&["job", "resume", JOB]).exits(69);
    assert_eq!(ran.out, format!("{JOB}\n"));
    let undone = [Response::problem(409, "conflict")];
    let server = catalog([job("undone")])
        .on(&apply_route(TEMPLATE), undone)
        .serve();
    TestEnv::with_key(&server.url)
        .run(&["job", "resume", JOB])
        .exits(1);

    let nameless = Response::json(&json!({"status": "rows"}));
    let server = Routes::new()
        .on(&format!("GET /v1/template-jobs/{JOB}"), [nameless])
        .on(&apply_route(TEMPLATE), [started()])
        .serve();
    let ran = TestEnv::with_key(&server.url)
        .run(&["job", "resume", JOB])
        .exits(1);
    assert!(ran.err.contains("tplkit api POST"), "{}", ran.err);
}

#[test]
fn a_job_that_nobody_holds_is_in_the_way_in_a_whole_sentence() {
    let body = json!({"code": "job_active", "job_id": JOB});
    let held = [Response::text(409, &body.to_string())];
    let server = catalog([job("rows")])
        .on(&apply_route(TEMPLATE), held)
        .serve();
    let ran = TestEnv::with_key(&server.url).run(&["job", "resume", JOB]);
    let ran = ran.exits(69);
    assert!(
        ran.err
            .contains("of this template or its line is unfinished in the workspace, and nobody works on it now\n"),
        "{}",
        ran.err
    );
}

fn undo_route() -> String {
    format!("POST /v1/template-jobs/{JOB}/undo")
}

#[test]
fn what_a_job_made_is_taken_back() {
    let undo = undo_route();
    let server = catalog([]).on(&undo, [job("undone")]).serve();
    let env = TestEnv::with_key(&server.url);
    env.run(&["job", "undo", JOB, "--yes"]).exits(0);
    let words = ["job", "undo", JOB, "--force", "--yes", "--format", "json"];
    let document = env.run(&words).exits(0).json();
    assert_eq!(
        (
            &document["outcome"],
            &document["status"],
            &document["job"]["id"]
        ),
        (&json!("clean"), &json!("undone"), &json!(JOB))
    );
    assert_eq!(server.lines(), [undo.clone(), format!("{undo}?force=true")]);
    let received = server.received();
    assert!(
        received
            .iter()
            .all(|one| one.body.is_empty() && one.header("idempotency-key").is_some())
    );
    for (code, exit) in [("not_empty", 1), ("conflict", 1), ("job_active", 69)] {
        let server = catalog([])
            .on(&undo, [Response::problem(409, code)])
            .serve();
        let words = ["job", "undo", JOB, "--yes", "--format", "json"];
        let ran = TestEnv::with_key(&server.url).run(&words);
        let document = ran.exits(exit).json();
        assert_eq!(document["errors"][0]["code"], code);
    }
}

/// What keeps it from beginning is on standard output, for scripts.
#[test]
fn an_undo_and_a_cancel_name_the_job_that_is_in_the_way() {
    let other = "0198c0de-0000-7000-8000-0000000000cd";
    let body = json!({"code": "job_active", "detail": "busy", "job_id": other});
    for command in ["undo", "cancel"] {
        let route = format!("POST /v1/template-jobs/{JOB}/{command}");
        let server = catalog([])
            .on(&route, [Response::text(409, &body.to_string())])
            .serve();
        let env = TestEnv::with_key(&server.url);
        let words = ["job", command, JOB, "--yes"];
        let ran = env.run(&words).exits(69);
        assert_eq!(ran.out, format!("{other}\n"));
        let help = format!("`tplkit job watch {other}`");
        assert!(ran.err.contains(&help), "{}", ran.err);
        let words = [&words[..], &["--format", "json"]].concat();
        let document = env.run(&words).exits(69).json();
        assert_eq!(document["errors"][0]["job_id"], other);
    }
}

#[test]
fn values_that_an_upgrade_changed_are_counted_when_it_is_applied_and_undone() {
    let left = json!([{"kind": "feature", "ref": "f_clients", "id": JOB, "path": "label"},
        {"ref": "f_clients", "uid": "u_1", "id": JOB, "column": "city"},
        {"ref": "f_clients", "id": JOB}]);
    let report = |left: &serde_json::Value| json!({"report": {"rows": {}, "structure_updated": 3, "unresolved": [], "undo_left": left}});
    let none = json!([]);
    let of = |status: &str, left| Response::json(&job_document(status, &report(left)));
    let server = catalog([of("completed", &none)]).serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&["job", "show", JOB]).exits(0);
    assert!(
        ran.out.contains("\nChanged: 3 values of records\n"),
        "{}",
        ran.out
    );
    let ran = env.run(&["job", "undo", JOB, "--force"]).exits(2);
    for line in [
        "It changed 3 values of records: they become what they were.",
        "Values and cells that it changed and others changed since stay as they are.",
    ] {
        assert!(ran.err.contains(line), "{line}: {}", ran.err);
    }
    let undo = ["job", "undo", JOB, "--yes"];
    let server = catalog([]).on(&undo_route(), [of("undone", &none)]).serve();
    let ran = TestEnv::with_key(&server.url).run(&undo).exits(0);
    let text = format!("Job {JOB} is undone.\nBack as before: 3 values of records\n");
    assert_eq!(ran.out, text);
    // What people changed since stays, and is named.
    let server = catalog([of("undone", &left)])
        .on(&undo_route(), [of("undone", &left)])
        .serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&undo).exits(0);
    let text = format!(
        "Job {JOB} is undone.\nBack as before: 2 values of records\n\nChanged by people since, and left by the undo\n  f_clients label\n  f_clients city\n  f_clients row {JOB}\n"
    );
    assert_eq!(ran.out, text);
    let ran = env.run(&["job", "show", JOB]).exits(0);
    let says = "\nThis is what it did; what people changed since is left\n";
    assert!(ran.out.contains(says), "{}", ran.out);
}

/// Tables of the workspace, and what stands in them.
fn with_tables() -> Routes {
    let clients = "0198c0de-0000-7000-8000-0000000000d1";
    let older = "0198c0de-0000-7000-8000-0000000000d2";
    let orders = "0198c0de-0000-7000-8000-0000000000d3";
    let bind = json!({"create": [], "bind": [
        {"kind": "feature", "ref": "f_clients", "id": clients, "name": "clients_2"},
        {"kind": "feature", "ref": "f_older", "id": older, "name": "older"},
        {"kind": "column", "ref": "c_clients_name", "id": JOB, "name": "name"},
    ]});
    let table = |id: &str, name: &str, day: &str| {
        json!({"id": id, "workspace_id": WORKSPACE, "name": name, "label": format!("The {name}"),
            "created_at": format!("2026-01-{day}T12:00:00.500000Z")})
    };
    let tables = [
        table(clients, "clients_2", "02"),
        table(older, "older", "01"),
        table(orders, "orders", "03"),
    ];
    let report = json!({"rows": {
        "f_clients": {"inserted": 3, "recorded": 3}, "f_older": {"inserted": 7, "recorded": 7},
        "f_mapped": {"inserted": 1, "recorded": 1}, "f_none": {"existing": 4}}});
    let done = job_document("completed", &json!({"report": report}));
    let link = json!([{"id": JOB, "name": "client", "type": "linked_select",
        "config": {"linkedFeatureId": clients}}, {"id": JOB, "name": "title", "type": "text"}]);
    catalog([Response::json(&done)])
        .on(&plan_route(TEMPLATE), [Response::json(&plan(&bind))])
        .on("GET /v1/features", [page(&tables)])
        .on(
            &format!("GET /v1/features/{clients}/rows:aggregate"),
            [Response::json(&json!({"result": 1200}))],
        )
        .on(
            &format!("GET /v1/features/{older}/columns"),
            [Response::json(&json!([]))],
        )
        .on(
            &format!("GET /v1/features/{orders}/columns"),
            [Response::json(&link)],
        )
        .on(&undo_route(), [job("undone")])
}

#[test]
fn what_an_undo_takes_away_is_shown_and_needs_a_yes() {
    let server = with_tables().serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&["job", "undo", JOB]).exits(2);
    for text in [
        "table clients_2 \"The clients_2\" with 1200 rows",
        "7 rows of table older",
        "1 row of table f_mapped",
        "orders.client -> clients_2",
        "--yes",
    ] {
        assert!(ran.err.contains(text), "{text}: {}", ran.err);
    }
    assert!(
        !ran.err.contains("f_none") && !ran.err.contains("table older \""),
        "{}",
        ran.err
    );
    let ran = env.run(&["job", "undo", JOB, "--force", "--format", "json"]);
    let ran = ran.exits(2);
    let document = ran.json();
    let losses = &document["errors"][0]["losses"];
    assert_eq!(losses["tables"][0]["rows"], 1200, "{document}");
    assert_eq!(
        losses["links"],
        json!([{"table": "orders", "column": "client", "to": "clients_2"}])
    );
    assert!(
        server.lines().iter().all(|line| !line.contains("/undo")),
        "{:?}",
        server.lines()
    );
    env.run(&["job", "undo", JOB, "--yes"]).exits(0);
    // A server that has no such routes: what is known is shown.
    let undo = undo_route();
    let server = Routes::new()
        .on(&format!("GET /v1/template-jobs/{JOB}"), [job("completed")])
        .on(&undo, [job("undone")])
        .serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&["job", "undo", JOB]).exits(2);
    assert!(ran.err.contains("3 rows of table f_clients"), "{}", ran.err);
    assert!(ran.err.contains("this may not be all of it"), "{}", ran.err);
    // Of nothing, and of what is gone already, the server speaks.
    env.run(&["job", "undo", "gone"]).exits(1);
    let server = catalog([job("undone")])
        .on(&undo, [Response::problem(409, "conflict")])
        .serve();
    TestEnv::with_key(&server.url)
        .run(&["job", "undo", JOB])
        .exits(1);
}

#[test]
fn an_undo_that_goes_on_is_followed_to_its_end() {
    let accepted = || {
        let body = job_document(
            "undoing",
            &json!({"progress": {"phase": "undo", "done": 2000, "total": 5000}}),
        );
        Response::text(202, &body.to_string())
    };
    let server = catalog([job("undoing"), job("undone")])
        .on(&undo_route(), [accepted()])
        .serve();
    let ran = TestEnv::with_key(&server.url).run(&["job", "undo", JOB, "--yes"]);
    assert_eq!(ran.exits(0).out, format!("Job {JOB} is undone.\n"));

    let server = catalog([job("undoing")])
        .on(&undo_route(), [accepted()])
        .serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env
        .run(&["job", "undo", JOB, "--yes", "--wait", "0s"])
        .exits(69);
    assert_eq!(ran.out, format!("{JOB}\nundoing\n"));
    assert!(ran.err.contains("tplkit job watch"), "{}", ran.err);
    let words = ["job", "undo", JOB, "--yes", "--wait=0s", "--format", "json"];
    let document = env.run(&words).exits(69).json();
    assert_eq!(
        (&document["job_id"], &document["outcome"]),
        (&json!(JOB), &json!("failed"))
    );

    let server = catalog([job("undoing"), job("completed")])
        .on(&undo_route(), [accepted()])
        .serve();
    let ran = TestEnv::with_key(&server.url).run(&["job", "undo", JOB, "--yes"]);
    let ran = ran.exits(1);
    assert!(ran.err.contains("is not undone"), "{}", ran.err);
}

#[test]
fn a_job_is_cancelled_with_a_yes() {
    let cancel = format!("POST /v1/template-jobs/{JOB}/cancel");
    let stopped = job_document(
        "failed",
        &json!({"error": {"code": "cancelled", "detail": "x"}}),
    );
    let stopped = || Response::text(202, &stopped.to_string());
    let server = catalog([job("rows")]).on(&cancel, [stopped()]).serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&["job", "cancel", JOB]).exits(2);
    assert!(
        ran.err.contains(JOB) && ran.err.contains("1 of 3 done"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("--yes"), "{}", ran.err);
    assert!(!server.lines().contains(&cancel));
    let ran = env.run(&["job", "cancel", JOB, "--yes"]).exits(0);
    assert_eq!(ran.out, format!("Job {JOB} is cancelled.\n"));
    let words = ["job", "cancel", JOB, "--yes", "--format", "json"];
    let document = env.run(&words).exits(0).json();
    assert_eq!(document["job"]["error"]["code"], "cancelled");
    let received = server.received();
    let sent = received
        .iter()
        .find(|one| one.line() == cancel)
        .expect("sent");
    assert!(sent.body.is_empty() && sent.header("idempotency-key").is_some());
    // One that has ended: the server says so, without a question.
    let server = catalog([job("completed")])
        .on(&cancel, [Response::problem(409, "conflict")])
        .serve();
    TestEnv::with_key(&server.url)
        .run(&["job", "cancel", JOB])
        .exits(1);
}
