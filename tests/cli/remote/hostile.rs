//! Texts of servers, of packages and of workspaces in everything that a command shows of them: nothing
//! steers a terminal or reads as what it is not, and no text makes a line of its own.

use serde_json::{Value, json};

use super::TestEnv;
use super::files::{built, empty, links, taking};
use super::routes::{
    JOB, Routes, TEMPLATE, WORKSPACE, apply_route, catalog, job_document, page, plan, plan_route,
    record,
};
use crate::hostile::{HOSTILE, both_harmless};
use crate::scripted::Response;
use crate::support::Ran;

/// Begins a line that looks like one of ours, if it is let.
fn hostile(of: &str) -> String {
    format!("{of}{HOSTILE}\nerror: forged\r\u{85}error: forged\u{2028}error: forged")
}

/// Every text in a value hostile, but for those of closed sets and ids.
fn spoil(value: &mut Value, keep: &[&str]) {
    match value {
        Value::String(text) => *text = hostile(text),
        Value::Array(items) => items.iter_mut().for_each(|item| spoil(item, keep)),
        Value::Object(members) => {
            for (key, member) in members {
                if !keep.contains(&key.as_str()) {
                    spoil(member, keep);
                }
            }
        }
        _ => {}
    }
}

fn spoiled(mut value: Value, keep: &[&str]) -> Value {
    spoil(&mut value, keep);
    value
}

#[track_caller]
fn is_harmless(ran: &Ran, words: &[&str]) {
    let of = format!("{words:?}");
    both_harmless(ran, &of);
    for line in ran.out.lines().chain(ran.err.lines()) {
        assert!(
            !line.trim_start().starts_with("error: forged"),
            "{of}: {line}"
        );
    }
    if words.contains(&"json") {
        ran.json();
    }
}

/// A report that has something in every list.
fn report() -> Value {
    let table = hostile("f_clients");
    let mut report = spoiled(
        json!({
            "published": 1,
            "not_published": [{"ref": "w_send", "name": "Send", "because": [
                {"path": "graphConfig.steps.0.config.to", "reason": "made_up"}]}],
            "unresolved": [
                {"uid": "u", "path": "config.x", "kind": "channel", "form": "uuid", "ref": "m_sales",
                    "reason": "dependencia_saltada", "action": "chave esvaziada", "count": 1},
                {"uid": "u", "path": "config.x", "kind": "channel", "form": "uuid", "sourceLabel": "l",
                    "reason": "inexistente", "action": "chave esvaziada", "source": "package"}],
            "renamed": [{"kind": "feature", "ref": "f_x", "from": "x", "to": "x_2"}],
            "dropped_keys": [{"ref": "f_x", "path": "config.y"}],
            "errors": [{"ref": "f_clients", "first": 0, "last": 0, "code": "unique_violation",
                "message": "taken", "column": "code", "rowUid": "u_1"}],
        }),
        &["kind", "form", "source", "code"],
    );
    report["rows"] = json!({table: {"inserted": 2, "failed": 1, "errors_more": 1}});
    report
}

fn job(status: &str) -> Response {
    let keep = ["id", "template_id", "workspace_id", "status", "report"];
    let members = json!({"error": {"code": "internal", "detail": "broke"}, "locked_until": "noon"});
    let mut job = spoiled(job_document(status, &members), &keep);
    job["report"] = report();
    Response::json(&job)
}

#[test]
fn no_text_of_a_job_controls_the_terminal() {
    let undo = format!("POST /v1/template-jobs/{JOB}/undo");
    let cancel = format!("POST /v1/template-jobs/{JOB}/cancel");
    for status in ["completed", "failed", "undone", "rows", &hostile("rows")] {
        let listed = spoiled(job_document(status, &json!({"locked_until": "noon"})), &[]);
        let server = catalog([job(status)])
            .on("GET /v1/template-jobs", [page(&[listed])])
            .on(&undo, [job(status)])
            .on(&cancel, [job(status)])
            .serve();
        let env = TestEnv::with_key(&server.url);
        for words in [
            &["job", "list"][..],
            &["job", "show", JOB],
            &["job", "watch", JOB, "--wait", "0s"],
            &["job", "watch", JOB, "--wait", "0s", "-v"],
            &["job", "resume", JOB, "--wait", "0s"],
            &["job", "undo", JOB],
            &["job", "undo", JOB, "--yes", "--wait", "0s"],
            &["job", "cancel", JOB],
            &["job", "cancel", JOB, "--yes"],
            &[
                "apply",
                TEMPLATE,
                "--workspace",
                WORKSPACE,
                "--yes",
                "--wait",
                "0s",
            ],
        ] {
            is_harmless(&env.run(words), words);
            let words = [words, &["--format", "json"]].concat();
            is_harmless(&env.run(&words), &words);
        }
    }
}

/// A plan that has something in every list.
fn hostile_plan(refused: bool) -> Value {
    let config = json!({"note": hostile("x"), hostile("key"): [hostile("y")]});
    let lists = spoiled(
        json!({
            "create": [{"kind": "feature", "ref": "f_x", "name": "x", "label": "X"},
                {"kind": "workflow", "ref": "w_x", "name": "x", "label": "x"}],
            "bind": [{"kind": "view", "ref": "v_x", "name": "x", "id": TEMPLATE}],
            "rename": [{"kind": "feature", "ref": "f_x", "from": "x", "to": "x_2"}],
            "dropped_keys": [{"ref": "f_x", "path": "config.y"}],
            "go_live": [{"ref": "w_x", "name": "x"}],
            "stays_draft": [{"ref": "w_y", "name": "y", "because": [{"path": "p", "reason": "r"}]}],
            "redacted": [{"ref": "w_y", "name": "y", "path": "p", "reason": "r"}],
        }),
        &["kind", "id"],
    );
    let refusals =
        json!([{"code": "mapping_required", "ref": hostile("f_far"), "detail": hostile("no")}]);
    let mut plan = plan(&lists);
    plan["replaced_configs"] = json!([{"kind": "feature", "ref": hostile("f_x"), "id": TEMPLATE,
        "before": config, "after": {}}]);
    plan["rows"] = json!({hostile("f_x"): {"insert": 1, "existing": 1, "skipped": 1,
        "dropped_links": 1, "failed": 1,
        "reasons": [{"code": "unique_violation", "column": hostile("c"), "count": 1}]}});
    if refused {
        plan["refusals"] = refusals;
    }
    plan
}

#[test]
fn no_text_of_a_plan_controls_the_terminal() {
    for refused in [false, true] {
        let server = catalog([job("completed")])
            .on(
                &plan_route(TEMPLATE),
                [Response::json(&hostile_plan(refused))],
            )
            .serve();
        let env = TestEnv::with_key(&server.url);
        for words in [
            &["plan", TEMPLATE, "--workspace", WORKSPACE][..],
            &["apply", TEMPLATE, "--workspace", WORKSPACE, "--dry-run"],
        ] {
            let ran = env.run(words).exits(i32::from(refused));
            assert!(ran.out.contains("pwned"), "{}", ran.out);
            is_harmless(&ran, words);
            let words = [words, &["--format", "json"]].concat();
            is_harmless(&env.run(&words), &words);
        }
    }
}

#[test]
fn no_text_of_a_template_or_a_refusal_controls_the_terminal() {
    let whole = spoiled(record(TEMPLATE, "sales"), &["id", "visibility", "scope"]);
    let name = whole["name"].as_str().expect("a name").to_owned();
    let problem = |status: u16, code: &str| {
        let body = json!({"status": status, "code": code, "detail": hostile("no"),
            "ref": hostile("f"), "column": hostile("c"), "job_id": hostile("j"),
            "locked_until": hostile("noon"), "title": hostile("t"),
            "errors": [{"path": hostile("a.b"), "code": hostile("made_up"), "message": hostile("m")}]});
        Response::text(status, &body.to_string()).with("X-Request-Id", "r\u{9b}")
    };
    for (status, code) in [
        (409, "job_active"),
        (409, "plan_stale"),
        (422, "mapping_required"),
        (403, "forbidden"),
        (500, "internal"),
        (422, &hostile("made_up")),
    ] {
        let refused = || problem(status, code);
        let server = Routes::new()
            .on("GET /v1/templates", [page(std::slice::from_ref(&whole))])
            .on(
                &format!("GET /v1/templates/{TEMPLATE}"),
                [Response::json(&whole)],
            )
            .on(&plan_route(TEMPLATE), [refused()])
            .on(&apply_route(TEMPLATE), [refused()])
            .on(&format!("DELETE /v1/templates/{TEMPLATE}"), [refused()])
            .on(&format!("PATCH /v1/templates/{TEMPLATE}"), [refused()])
            .on(&format!("GET /v1/template-jobs/{JOB}"), [refused()])
            .serve();
        let env = TestEnv::with_key(&server.url);
        for words in [
            &["template", "list"][..],
            &["template", "delete", &name],
            &["template", "delete", TEMPLATE, "--yes"],
            &["template", "promote", TEMPLATE, "--to", "system"],
            &["plan", TEMPLATE, "--workspace", WORKSPACE],
            &["apply", &name, "--workspace", WORKSPACE, "--yes"],
            &["job", "watch", JOB, "--wait", "0s"],
            &["job", "watch", &name],
        ] {
            is_harmless(&env.run(words), words);
            let words = [words, &["--format", "json"]].concat();
            is_harmless(&env.run(&words), &words);
        }
    }
}

/// A resolutions file is data to this tool alone: people read its comments.
#[test]
fn a_resolutions_file_holds_no_control_characters() {
    let mut package: Value = serde_json::from_str(&links()).expect("JSON");
    let dependencies = package["manifest"]["dependencies"].as_array_mut();
    for dependency in dependencies.expect("dependencies") {
        for at in ["/description", "/identity/label", "/usedBy/0/reason"] {
            *dependency.pointer_mut(at).expect("is there") = hostile("x").into();
        }
    }
    for item in package["manifest"]["items"].as_array_mut().expect("items") {
        item["label"] = hostile("i").into();
    }
    let far = links()
        .replace("\"clients\"", "\"carriers\"")
        .replace("\"countries\"", "\"x\"");
    let mut there = built(&far);
    for table in &mut there.structure.features {
        table.label = hostile(&table.label);
    }
    let server = taking(there, &json!({})).serve();
    let env = TestEnv::with_key(&server.url);
    let name = "\u{1b}]0;p\u{7}\u{9b}\u{202e}.json";
    env.place.write(name, &package.to_string());
    let at = ["--workspace", WORKSPACE];
    env.run(&[&["resolve", "init", name, "-o", "r.toml"], &at[..]].concat())
        .exits(0);
    let ran = env
        .run(&[&["resolve", "init", name], &at[..]].concat())
        .exits(0);
    assert_eq!(ran.out, env.place.read("r.toml"));
    assert!(ran.out.contains("pwned"), "{}", ran.out);
    is_harmless(&ran, &["resolve", "init"]);
    for words in [
        &["resolve", "suggest", name][..],
        &["resolve", "check", name],
        &["plan", name],
        &["apply", name, "--yes"],
        &["apply", name, "--dry-run"],
    ] {
        let words = [words, &at[..]].concat();
        is_harmless(&env.run(&words), &words);
        let words = [&words[..], &["--format", "json"]].concat();
        is_harmless(&env.run(&words), &words);
    }
}

/// The rows of a workspace and its names, where they are read.
#[test]
fn names_of_a_workspace_print_no_control_characters() {
    let mut state = empty();
    let workspace = &mut state.structure.workspace;
    workspace.label = hostile("W");
    let server = taking(state, &json!({})).serve();
    let env = TestEnv::with_key(&server.url);
    let words = ["export", "--workspace", WORKSPACE, "-o", "p.json"];
    is_harmless(&env.run(&words), &words);
    let words = ["show", "p.json"];
    is_harmless(&env.run(&words), &words);
}
