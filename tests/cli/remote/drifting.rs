//! `tplkit drift` and `tplkit status`: what was applied, and what people changed in it.

use serde_json::{Value, json};

use super::TestEnv;
use super::routes::{JOB, ORGANIZATION, Routes, TEMPLATE, WORKSPACE, page, record};
use crate::scripted::{Response, Scripted};
use crate::support::{case, faulty, tiny};

fn applied(name: &str, newer: &Value) -> Value {
    json!({
        "template_id": TEMPLATE, "name": name, "label": "Sales", "line": JOB, "semver": "1.0.0",
        "job_id": JOB, "applied_at": "2026-01-02T12:00:00.000000Z", "newer": newer, "drift": true,
        "secrets_missing": 2,
    })
}

fn drift(drifted: bool) -> Value {
    let changed = json!([{"kind": "feature", "ref": "f_orders", "id": JOB, "path": "label",
        "base": "Orders", "ours": "Sales"}]);
    json!({
        "template_id": TEMPLATE, "base": {"job_id": JOB, "semver": "1.0.0"}, "drift": drifted,
        "changed": if drifted { changed } else { json!([]) },
        "removed": [], "added": [],
        "rows": {"f_orders": {"added": 2, "deleted": 0, "changed": 0}},
    })
}

/// The template, whose package calls the table otherwise.
fn labelled() -> Value {
    let package = std::fs::read_to_string(case("valid/base-links.json")).expect("fixture");
    let mut package: Value = serde_json::from_str(&package).expect("JSON");
    let items = package["manifest"]["items"].as_array_mut().expect("items");
    items[0]["ref"] = "f_orders".into();
    items[0]["label"] = "Orders of today".into();
    let mut whole = record(TEMPLATE, "crm");
    whole["manifest"] = package["manifest"].take();
    whole
}

fn server(found: Response) -> Scripted {
    routes(found).serve()
}

fn routes(found: Response) -> Routes {
    let status = format!("GET /v1/workspaces/{WORKSPACE}/templates");
    let one = format!("{status}/{TEMPLATE}/drift");
    Routes::new()
        .on(&status, [page(&[applied("crm", &json!("1.1.0"))])])
        .on(&one, [found])
        .on(
            &format!("GET /v1/templates/{TEMPLATE}"),
            [Response::json(&labelled())],
        )
        .on("GET /v1/templates", [page(&[record(TEMPLATE, "sales")])])
}

#[test]
fn status_lists_what_was_applied() {
    let server = server(Response::json(&drift(true)));
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&["status", "--workspace", WORKSPACE]).exits(0);
    assert_eq!(
        ran.out,
        "TEMPLATE  NAME  APPLIED  NEWER  DRIFT  SECRETS\nSales     crm   1.0.0    1.1.0  yes    2\n"
    );
    let ran = env
        .run(&["status", "--workspace", WORKSPACE, "-v"])
        .exits(0);
    assert!(
        ran.out.contains(TEMPLATE) && ran.out.contains(JOB),
        "{}",
        ran.out
    );
    let words = ["status", "--workspace", WORKSPACE, "--format", "json"];
    let document = env.run(&words).exits(0).json();
    assert_eq!(document["items"], json!([applied("crm", &json!("1.1.0"))]));
    assert_eq!(
        (&document["next_cursor"], &document["outcome"]),
        (&Value::Null, &json!("clean"))
    );
}

#[test]
fn drift_is_reported_and_fails_where_it_is_asked_to() {
    let there = server(Response::json(&drift(true)));
    let env = TestEnv::with_key(&there.url);
    let ran = env
        .run(&["drift", "crm", "--workspace", WORKSPACE])
        .exits(0);
    assert_eq!(
        ran.out,
        format!(
            "\"Sales\" (crm) 1.0.0 in workspace {WORKSPACE}: drift\n\nChanged\n  table \"Orders of today\", f_orders label: \"Orders\" -> \"Sales\"\n\nRows\n  \"Orders of today\", f_orders  2 added, 0 deleted, 0 changed\n"
        )
    );
    let words = ["drift", "Sales", "--workspace", WORKSPACE, "-v"];
    let ran = env.run(&words).exits(0);
    let head = ran.out.lines().next().unwrap_or_default();
    let expected =
        format!("\"Sales\" (crm, {TEMPLATE}) 1.0.0 in workspace {WORKSPACE}, job {JOB}: drift");
    assert_eq!(head, expected);
    let words = [
        "drift",
        "sales",
        "--workspace",
        WORKSPACE,
        "--rows",
        "--job",
        JOB,
        "--exit-code",
        "--format",
        "json",
    ];
    let document = env.run(&words).exits(1).json();
    assert_eq!(
        (&document["outcome"], &document["drift"]),
        (&json!("findings"), &json!(true))
    );
    assert_eq!(document["changed"], drift(true)["changed"]);
    let lines = there.lines();
    let lines = lines.iter().find(|line| line.contains("rows=true"));
    assert!(lines.is_some_and(|line| line.ends_with(&format!("rows=true&job={JOB}"))));

    let unknown = server(Response::problem(404, "not_found"));
    let env = TestEnv::with_key(&unknown.url);
    let words = ["drift", "crm", "--workspace", WORKSPACE, "--job", JOB];
    let ran = env.run(&words).exits(1);
    let expected = format!("no job `{JOB}` applied this template to this workspace");
    assert!(ran.err.contains(&expected), "{}", ran.err);
    assert!(!ran.err.contains("never applied"), "{}", ran.err);
    let ran = env.run(&words[..4]).exits(1);
    assert!(ran.err.contains("never applied"), "{}", ran.err);

    let none = server(Response::json(&drift(false)));
    let env = TestEnv::with_key(&none.url);
    env.run(&["drift", "crm", "--workspace", WORKSPACE, "--exit-code"])
        .exits(0);

    let never = server(Response::problem(404, "not_found"));
    let env = TestEnv::with_key(&never.url);
    let words = [
        "drift",
        TEMPLATE,
        "--workspace",
        WORKSPACE,
        "--format",
        "json",
    ];
    let document = env.run(&words).exits(1).json();
    assert_eq!(
        (&document["outcome"], &document["errors"][0]["code"]),
        (&json!("findings"), &json!("not_found"))
    );
    env.run(&["drift", "nothing", "--workspace", WORKSPACE])
        .exits(2);
}

/// A target names a package, and so may whoever has no target.
#[test]
fn a_package_means_the_template_that_a_push_of_it_replaces() {
    let workspace =
        json!({"id": WORKSPACE, "organization_id": ORGANIZATION, "name": "w", "label": "W"});
    let there = routes(Response::json(&drift(true)))
        .on(
            &format!("GET /v1/workspaces/{WORKSPACE}"),
            [Response::json(&workspace)],
        )
        .serve();
    let env = TestEnv::with_key(&there.url);
    let called = |name: &str| tiny().replacen("\"vendas\"", &format!("{name:?}"), 1);
    env.place.write("d/p.json", &called("sales"));
    env.place.write(
        "tplkit.toml",
        &format!("[targets.staging]\nworkspace = \"{WORKSPACE}\"\ntemplate = \"d/p.json\"\n"),
    );
    env.run(&["unpack", "d/p.json", "lay"]).exits(0);
    for words in [
        &["drift", "--target", "staging"][..],
        &["drift", "d/p.json", "--workspace", WORKSPACE],
        &["drift", "lay", "--workspace", WORKSPACE],
    ] {
        let ran = env.run(words).exits(0);
        let head = "\"Sales\" (crm) 1.0.0 in workspace \"W\" (w): drift\n";
        assert!(ran.out.starts_with(head), "{words:?}: {}", ran.out);
    }
    env.place.write("q.json", &called("purchases"));
    let words = ["drift", "q.json", "--workspace", WORKSPACE];
    let ran = env.run(&words).exits(2);
    let expected = "the catalog has no template of `q.json`";
    assert!(ran.err.contains(expected), "{}", ran.err);
    env.place.write("q.json", &faulty());
    let ran = env.run(&words).exits(1);
    assert!(ran.out.contains("M001"), "{}", ran.out);
}

/// What was applied is compared although its template was deleted since.
#[test]
fn a_package_means_what_was_applied_of_its_name_where_the_catalog_has_it_no_more() {
    let workspace =
        json!({"id": WORKSPACE, "organization_id": ORGANIZATION, "name": "w", "label": "W"});
    let serve = |template: Response, names: &[&str]| {
        let mut items: Vec<Value> = names
            .iter()
            .map(|name| applied(name, &Value::Null))
            .collect();
        for other in items.iter_mut().skip(1) {
            other["template_id"] = JOB.into();
        }
        routes(Response::json(&drift(true)))
            .on(
                &format!("GET /v1/workspaces/{WORKSPACE}"),
                [Response::json(&workspace)],
            )
            .on(
                &format!("GET /v1/workspaces/{WORKSPACE}/templates"),
                [page(&items)],
            )
            .on(&format!("GET /v1/templates/{TEMPLATE}"), [template])
            .on("GET /v1/templates", [page(&[])])
            .serve()
    };
    let gone = || Response::problem(404, "not_found");
    let words = ["drift", "p.json", "--workspace", WORKSPACE];
    let run = |server: &Scripted| {
        let env = TestEnv::with_key(&server.url);
        env.place.write("p.json", &tiny());
        env.run(&words)
    };
    let ran = run(&serve(gone(), &["vendas"])).exits(0);
    let head = "\"Sales\" (vendas) 1.0.0 in workspace \"W\" (w): drift\n";
    assert!(ran.out.starts_with(head), "{}", ran.out);
    // Another name, several of that name, and one that a push would not replace.
    for server in [
        serve(gone(), &["compras"]),
        serve(gone(), &["vendas", "vendas"]),
        serve(Response::json(&labelled()), &["vendas"]),
    ] {
        let ran = run(&server).exits(2);
        let expected = "the catalog has no template of `p.json`";
        assert!(ran.err.contains(expected), "{}", ran.err);
    }
}

#[test]
fn commands_that_take_templates_alone_say_of_a_file_that_it_is_one() {
    let server = server(Response::json(&drift(true)));
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &tiny());
    for words in [
        &["template", "show", "p.json"][..],
        &["template", "pull", "p.json"],
        &["template", "promote", "p.json", "--to", "org"],
        &["template", "delete", "p.json", "--yes"],
    ] {
        let ran = env.run(words).exits(2);
        let expected = "`p.json` is a file, and this command takes a template of the catalog";
        assert!(ran.err.contains(expected), "{words:?}: {}", ran.err);
    }
    let ran = env.run(&["template", "show", "gone.json"]).exits(2);
    assert!(ran.err.contains("neither a file nor"), "{}", ran.err);
}
