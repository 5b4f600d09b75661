//! `tplkit apply` of templates and saved plans: every way it can end.

use serde_json::{Value, json};

use super::routes::{
    JOB, ORGANIZATION, TEMPLATE, WORKSPACE, apply_route, catalog, job, job_document, page, plan,
    plan_route, record, started,
};
use super::{KEY, TestEnv};
use crate::scripted::{Response, Scripted};
use crate::support::Ran;

pub(crate) fn apply(server: &Scripted, more: &[&str]) -> Ran {
    let words = ["apply", TEMPLATE, "--workspace", WORKSPACE, "--yes"];
    TestEnv::with_key(&server.url).run(&[&words, more].concat())
}

/// What the server was sent to a route.
pub(crate) fn bodies(server: &Scripted, route: &str) -> Vec<Value> {
    let received = server.received();
    let of_route = received.iter().filter(|one| one.line() == route);
    of_route
        .map(|one| serde_json::from_str(&one.body).expect("JSON"))
        .collect()
}

#[test]
fn the_job_is_said_first_and_waited_for() {
    let server = catalog([job("pending"), job("rows"), job("completed")]).serve();
    let ran = apply(
        &server,
        &["--no-rows", "--rows", "$f_clients=missingByKey", "--copy"],
    )
    .exits(0);
    let mut lines = ran.out.lines();
    assert_eq!(lines.next(), Some(JOB), "{}", ran.out);
    assert_eq!(lines.next(), Some("completed"), "{}", ran.out);
    assert!(ran.out.contains("f_clients  3 inserted"), "{}", ran.out);
    assert_eq!(ran.err, "structure…\nrows…\npublish…\n");
    let sent = bodies(&server, &apply_route(TEMPLATE));
    assert_eq!(
        sent,
        [
            json!({"workspaceId": WORKSPACE, "includeRows": false, "copy": true,
                "rowsModes": {"f_clients": "missingByKey"}})
        ]
    );
    let received = server.received();
    let plans = received
        .iter()
        .filter(|one| one.line() == apply_route(TEMPLATE));
    assert!(
        plans
            .clone()
            .all(|one| one.header("idempotency-key").is_some())
    );
    // Nothing but the apply is ever written, and no lease is taken by looking.
    assert_eq!(received.iter().filter(|one| one.method != "GET").count(), 1);
}

#[test]
fn a_template_goes_by_name_too() {
    let server = catalog([job("completed")]).serve();
    let env = TestEnv::with_key(&server.url);
    env.run(&["apply", "sales", "--workspace", WORKSPACE, "--yes"])
        .exits(0);
    let ran = env
        .run(&["apply", "purchases", "--workspace", WORKSPACE, "--yes"])
        .exits(2);
    assert!(
        ran.err.contains("neither a file nor a template"),
        "{}",
        ran.err
    );
    let twice = page(&[record(TEMPLATE, "sales"), record("t2", "sales")]);
    let server = catalog([job("completed")])
        .on("GET /v1/templates", [twice])
        .serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env
        .run(&["apply", "sales", "--workspace", WORKSPACE, "--yes"])
        .exits(2);
    assert!(ran.err.contains(&format!("  {TEMPLATE}\n")), "{}", ran.err);
    assert!(ran.err.contains("  t2\n"), "{}", ran.err);
    assert!(bodies(&server, &apply_route(TEMPLATE)).is_empty());
}

#[test]
fn without_a_terminal_an_apply_demands_yes() {
    let server = catalog([job("completed")]).serve();
    let env = TestEnv::with_key(&server.url);
    for more in [&[][..], &["--detach"], &["--format", "json"]] {
        let words = [&["apply", TEMPLATE, "--workspace", WORKSPACE], more].concat();
        let ran = env.run(&words).exits(2);
        assert!(ran.err.contains("--yes"), "{}", ran.err);
    }
    // A plan that is not where it was thought to be is not hidden behind the question.
    for words in [
        &["apply", "no.plan"][..],
        &["apply", "no.plan", "--workspace", WORKSPACE],
    ] {
        let ran = env.run(words).exits(2);
        assert!(
            ran.err.contains("there is no file `no.plan`"),
            "{}",
            ran.err
        );
    }
    env.run(&["apply", TEMPLATE, "--yes"]).exits(2);
    // Workspaces to choose from are all that it takes a look at.
    let lines = server.lines();
    assert!(
        lines
            .iter()
            .all(|line| line.starts_with("GET /v1/workspaces?")),
        "{lines:?}"
    );
}

#[test]
fn one_document_holds_everything() {
    let server = catalog([job("completed")]).serve();
    let document = apply(&server, &["--format", "json"]).exits(0).json();
    assert_eq!(document["outcome"], "clean");
    assert_eq!(document["job_id"], JOB);
    assert_eq!(document["template_id"], TEMPLATE);
    assert_eq!(document["workspace_id"], WORKSPACE);
    assert_eq!(
        document["job"]["report"]["rows"]["f_clients"]["inserted"],
        3
    );

    let document = apply(&server, &["--format", "json", "--detach"])
        .exits(0)
        .json();
    assert_eq!(
        (&document["job_id"], &document["status"]),
        (&json!(JOB), &json!("pending"))
    );
    let ran = apply(&server, &["--detach"]).exits(0);
    assert_eq!(ran.out, format!("{JOB}\n"));
    assert!(
        ran.err.contains(&format!("tplkit job watch {JOB}")),
        "{}",
        ran.err
    );
}

#[test]
fn a_job_that_fails_says_how_to_go_on() {
    for (error, message) in [
        (
            json!({"code": "internal", "detail": "no room"}),
            ": no room",
        ),
        (json!("no room"), ": no room"),
        (json!(null), "failed\n"),
    ] {
        let failed = job_document("failed", &json!({"error": error}));
        let server = catalog([Response::json(&failed)]).serve();
        let ran = apply(&server, &[]).exits(1);
        assert_eq!(ran.out.lines().next(), Some(JOB));
        assert!(ran.err.contains(message), "{}", ran.err);
        assert!(
            ran.err.contains(&format!("tplkit job resume {JOB}")),
            "{}",
            ran.err
        );
        let document = apply(&server, &["--format", "json"]).exits(1).json();
        assert_eq!(
            (&document["outcome"], &document["status"]),
            (&json!("findings"), &json!("failed"))
        );
    }
}

#[test]
fn what_is_not_carried_over_can_fail() {
    let entry = |required: Option<bool>| {
        let mut entry = json!({"uid": "u_1", "path": "config.x", "kind": "channel", "form": "uuid",
            "reason": "dependencia_saltada", "action": "chave esvaziada", "ref": "m_sales"});
        if let Some(required) = required {
            entry["required"] = json!(required);
        }
        entry
    };
    let served = |entries: Vec<Value>| {
        let report = json!({"rows": {}, "published": 0, "unresolved": entries});
        let done = job_document("completed", &json!({"report": report}));
        catalog([Response::json(&done)]).serve()
    };
    let server = served(vec![entry(None)]);
    let ran = apply(&server, &[]).exits(0);
    assert!(
        ran.out.contains("Not carried over by this apply"),
        "{}",
        ran.out
    );
    apply(&server, &["--fail-on-unresolved=required"]).exits(0);
    let ran = apply(&server, &["--fail-on-unresolved"]).exits(68);
    assert!(ran.err.contains("1 entry not carried over"), "{}", ran.err);
    assert_eq!(ran.out.lines().next(), Some(JOB));
    let document = apply(&server, &["--fail-on-unresolved", "--format", "json"])
        .exits(68)
        .json();
    assert_eq!(document["outcome"], "partial");
    let server = served(vec![entry(Some(true)), entry(None)]);
    apply(&server, &["--fail-on-unresolved=required"]).exits(68);
    let ran = apply(&server, &["--fail-on-unresolved"]).exits(68);
    assert!(
        ran.err.contains("2 entries not carried over"),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("--accept-failed-rows"), "{}", ran.err);
    let server = served(Vec::new());
    apply(&server, &["--fail-on-unresolved"]).exits(0);
}

#[test]
fn rows_that_failed_are_a_partial_apply() {
    let rows = json!({"f_clients": {"inserted": 2, "updated": 0, "skipped": 0, "existing": 0, "failed": 1,
        "errors_more": 0}});
    let errors = json!([{"ref": "f_clients", "first": 1, "last": 1, "code": "unique_violation",
        "message": "rows[1].data.code: the column is unique, and the value is already in another row",
        "column": "code", "rowUid": "u_1"}]);
    let report = json!({"rows": rows, "published": 0, "unresolved": [], "errors": errors});
    let done = job_document("completed", &json!({"report": report}));
    let server = catalog([Response::json(&done)]).serve();
    let ran = apply(&server, &[]).exits(68);
    assert!(
        ran.err.contains("applied in part: 1 row failed"),
        "{}",
        ran.err
    );
    assert!(ran.out.contains("1 FAILED"), "{}", ran.out);
    assert!(
        ran.out.contains("f_clients row 1: rows[1].data.code"),
        "{}",
        ran.out
    );
    let document = apply(&server, &["--format", "json"]).exits(68).json();
    assert_eq!(document["outcome"], "partial");
    assert_eq!(document["status"], "completed");
    let ran = apply(&server, &["--accept-failed-rows"]).exits(0);
    assert!(
        ran.err.contains("some rows could not be written"),
        "{}",
        ran.err
    );
    // What is not carried over is a matter of its own.
    let document = apply(&server, &["--accept-failed-rows", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(document["outcome"], "clean");
}

/// Which rows are the same nobody can write down: what helps is another mode.
#[test]
fn rows_that_nobody_can_tell_apart_have_a_way_out_of_their_own() {
    for (code, mode, mapping) in [
        ("rows_unmatched", true, false),
        ("rows_mode_without_key", true, false),
        ("mapping_required", false, true),
        ("job_active", false, false),
    ] {
        let message = "`rowsModes.f_x`: they would stand twice.";
        let refusals = json!({"refusals": [{"code": code, "ref": "f_x", "detail": message}]});
        let body = json!({"code": code, "detail": message,
            "errors": [{"path": "rowsModes.f_x", "code": code, "message": message}]});
        let server = catalog([])
            .on(&plan_route(TEMPLATE), [Response::json(&plan(&refusals))])
            .on(
                &apply_route(TEMPLATE),
                [Response::text(422, &body.to_string())],
            )
            .serve();
        let words = ["plan", TEMPLATE, "--workspace", WORKSPACE];
        let ran = TestEnv::with_key(&server.url).run(&words).exits(1);
        assert_eq!(ran.err.contains("`--rows REF=MODE`"), mode, "{}", ran.err);
        assert_eq!(ran.err.contains("resolve init"), mapping, "{}", ran.err);
        if code == "job_active" {
            continue;
        }
        let ran = apply(&server, &[]).exits(1);
        assert_eq!(ran.err.contains("`--rows REF=MODE`"), mode, "{}", ran.err);
        assert_eq!(ran.err.matches("rowsModes.f_x").count(), 1, "{}", ran.err);
    }
}

#[test]
fn a_saved_plan_is_carried_out_in_part_too() {
    let rows = json!({"f_clients": {"inserted": 2, "failed": 1, "errors_more": 0}});
    let report = json!({"rows": rows, "published": 0, "unresolved": [], "errors": []});
    let done = job_document("completed", &json!({"report": report}));
    let said = json!({"rows": {"f_clients": {"insert": 2, "existing": 0, "skipped": 0,
        "dropped_links": 0, "failed": 1,
        "reasons": [{"code": "unique_violation", "column": "code", "count": 1}]}}});
    let server = catalog([Response::json(&done)])
        .on(&plan_route(TEMPLATE), [Response::json(&plan(&said))])
        .serve();
    let env = TestEnv::with_key(&server.url);
    // What is foreseen is said, and no reason not to plan.
    let words = ["plan", TEMPLATE, "--workspace", WORKSPACE, "--out", "saved"];
    let ran = env.run(&words).exits(0);
    let line = "f_clients  2 to insert, 1 TO FAIL (1 unique_violation in code)\n";
    assert!(ran.out.contains(line), "{}", ran.out);
    let ran = env.run(&["apply", "saved"]).exits(68);
    assert!(ran.err.contains("1 row failed"), "{}", ran.err);
    let document = env
        .run(&["apply", "saved", "--format", "json"])
        .exits(68)
        .json();
    assert_eq!(
        (&document["outcome"], &document["status"]),
        (&json!("partial"), &json!("completed"))
    );
    env.run(&["apply", "saved", "--accept-failed-rows"])
        .exits(0);
    // Whoever does not wait hears of it from whoever does.
    env.run(&["apply", "saved", "--detach"]).exits(0);
    env.run(&["job", "watch", JOB]).exits(68);
}

#[test]
fn the_time_can_be_over_before_the_job_is() {
    let server = catalog([job("rows")]).serve();
    let ran = apply(&server, &["--wait=1s"]).exits(69);
    assert_eq!(ran.out.lines().next(), Some(JOB));
    assert!(
        ran.err.contains(&format!("tplkit job watch {JOB}")),
        "{}",
        ran.err
    );
    let document = apply(&server, &["--wait", "0s", "--format", "json"])
        .exits(69)
        .json();
    assert_eq!(
        (&document["outcome"], &document["job_id"]),
        (&json!("failed"), &json!(JOB))
    );
    apply(&server, &["--wait", "soon"]).exits(2);
}

#[test]
fn a_job_that_somebody_holds_is_left_alone() {
    let held = |body: Value| {
        let response = Response::text(409, &body.to_string());
        catalog([]).on(&apply_route(TEMPLATE), [response]).serve()
    };
    let until = "2026-01-02T12:00:07.000000Z";
    for body in [
        json!({"code": "job_active", "detail": "x", "job_id": JOB, "locked_until": until}),
        json!({"error": "job_active", "jobId": JOB, "lockedUntil": until, "status": "rows"}),
    ] {
        let server = held(body);
        let ran = apply(&server, &[]).exits(69);
        assert_eq!(ran.out, format!("{JOB}\n"));
        assert!(ran.err.contains(until), "{}", ran.err);
        let document = apply(&server, &["--format", "json"]).exits(69).json();
        assert_eq!(document["job_id"], JOB);
        assert_eq!(document["errors"][0]["code"], "job_active");
        assert_eq!(document["errors"][0]["locked_until"], until);
    }
    let server = held(json!({"code": "job_active", "detail": "held"}));
    let ran = apply(&server, &[]).exits(69);
    assert_eq!(ran.out, "");
}

#[test]
fn refusals_keep_their_code_and_ref() {
    for (status, code, exit) in [
        (422, "mapping_required", 1),
        (422, "mapping_columns_incomplete", 1),
        (422, "rows_mode_without_key", 1),
        (422, "unknown_resolution_ref", 1),
        (404, "not_found", 1),
        (409, "conflict", 1),
        (409, "plan_stale", 6),
        (403, "missing_scope", 4),
        (403, "forbidden", 4),
        (500, "internal", 5),
    ] {
        let body = json!({"code": code, "status": status, "detail": "why", "ref": "f_x",
            "errors": [{"path": "resolutions.f_x", "code": code, "message": "give one"}]});
        let refusal = Response::text(status, &body.to_string());
        let server = catalog([]).on(&apply_route(TEMPLATE), [refusal]).serve();
        let ran = apply(&server, &[]).exits(exit);
        assert_eq!(ran.out, "", "{code}");
        assert!(
            ran.err
                .contains(&format!("resolutions.f_x: give one ({code})")),
            "{}",
            ran.err
        );
        let document = apply(&server, &["--format", "json"]).exits(exit).json();
        let error = &document["errors"][0];
        assert_eq!(
            (&error["code"], &error["ref"]),
            (&json!(code), &json!("f_x"))
        );
        assert_eq!(error["errors"][0]["path"], "resolutions.f_x");
        assert_eq!(
            document["outcome"],
            if exit == 1 { "findings" } else { "failed" }
        );
        assert!(!ran.err.contains(KEY) && !ran.out.contains(KEY));
    }
}

#[test]
fn nothing_is_reported_twice() {
    let served = |path: &str| {
        let body = json!({"code": "mapping_required", "detail": "give a table. And more.",
            "errors": [{"path": path, "code": "mapping_required", "message": "give a table."}]});
        let refusal = Response::text(422, &body.to_string());
        catalog([]).on(&apply_route(TEMPLATE), [refusal]).serve()
    };
    for (path, line) in [
        (
            "resolutions.f_x",
            "resolutions.f_x: give a table. (mapping_required)",
        ),
        ("", ": give a table. And more."),
    ] {
        let ran = apply(&served(path), &[]).exits(1);
        assert_eq!(ran.err.matches("give a table.").count(), 1, "{}", ran.err);
        assert!(ran.err.contains(line), "{}", ran.err);
        assert!(ran.err.contains("tplkit resolve init"), "{}", ran.err);
    }
}

#[test]
fn a_dry_run_and_a_refused_plan_write_nothing() {
    let server = catalog([]).serve();
    let env = TestEnv::with_key(&server.url);
    let words = ["apply", TEMPLATE, "--workspace", WORKSPACE, "--dry-run"];
    let ran = env.run(&words).exits(0);
    assert!(ran.out.contains("Create: 1 table, 1 column"), "{}", ran.out);
    assert!(ran.out.contains("f_clients  3 to insert"), "{}", ran.out);
    assert!(bodies(&server, &apply_route(TEMPLATE)).is_empty());

    let refusals = json!({"create": [], "rows": {}, "refusals": [
        {"code": "mapping_required", "ref": "f_far", "detail": "nothing decides."},
        {"code": "job_active", "ref": null, "detail": "busy"}]});
    let server = catalog([])
        .on(&plan_route(TEMPLATE), [Response::json(&plan(&refusals))])
        .serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&words).exits(1);
    assert!(
        ran.out
            .contains("mapping_required f_far\n  nothing decides."),
        "{}",
        ran.out
    );
    let document = env
        .run(&[&words[..], &["--format", "json"]].concat())
        .exits(1)
        .json();
    assert_eq!(document["outcome"], "findings");
    assert_eq!(document["plan"]["refusals"][0]["ref"], "f_far");
}

#[test]
fn a_saved_plan_is_carried_out_or_nothing_is() {
    let refused = Response::problem(409, "plan_stale");
    let server = catalog([job("completed")])
        .on(&apply_route(TEMPLATE), [started(), refused])
        .serve();
    let env = TestEnv::with_key(&server.url);
    env.place
        .write("r.toml", "[resolutions.f_x]\naction = \"skip\"\n");
    let words = [
        "plan",
        TEMPLATE,
        "--workspace",
        WORKSPACE,
        "--resolutions",
        "r.toml",
        "--out",
        "p.json",
    ];
    let ran = env.run(&words).exits(0);
    assert!(ran.err.contains("tplkit apply p.json"), "{}", ran.err);
    let saved: Value = serde_json::from_str(&env.place.read("p.json")).expect("JSON");
    assert_eq!(
        (&saved["kind"], &saved["digest"]),
        (&json!("plan"), &json!("d1"))
    );
    assert_eq!(saved["template"], TEMPLATE);
    assert!(!env.place.read("p.json").contains(KEY));
    // A saved plan needs neither a workspace nor somebody who agrees.
    let ran = env.run(&["apply", "p.json"]).exits(0);
    assert_eq!(ran.out.lines().next(), Some(JOB));
    let sent = bodies(&server, &apply_route(TEMPLATE));
    let body =
        json!({"workspaceId": WORKSPACE, "plan": "d1", "resolutions": {"f_x": {"action": "skip"}}});
    assert_eq!(sent, [body]);
    let ran = env.run(&["apply", "p.json"]).exits(6);
    assert!(ran.err.contains("plan again"), "{}", ran.err);
    let document = env
        .run(&["apply", "p.json", "--format", "json"])
        .exits(6)
        .json();
    assert_eq!(document["errors"][0]["code"], "plan_stale");

    for more in [
        &["--no-rows"][..],
        &["--dry-run"],
        &["--workspace", ORGANIZATION],
        &["--url", "http://127.0.0.1:1"],
    ] {
        env.run(&[&["apply", "p.json"], more].concat()).exits(2);
    }
    env.place.write(
        "q.json",
        &env.place
            .read("p.json")
            .replace("\"schemaVersion\": 1", "\"schemaVersion\": 2"),
    );
    env.run(&["apply", "q.json"]).exits(2);
    env.place.write(
        "q.json",
        &env.place.read("p.json").replace("\"server\"", "\"sever\""),
    );
    env.run(&["apply", "q.json"]).exits(2);
    assert_eq!(bodies(&server, &apply_route(TEMPLATE)).len(), 3);
}
