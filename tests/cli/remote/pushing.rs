//! `tplkit template push`: which template it replaces.

use serde_json::{Value, json};

use super::TestEnv;
use super::routes::{ORGANIZATION, PUSHED, Routes, TEMPLATE, page, record};
use crate::scripted::{Response, Scripted};
use crate::support::tiny;
use crate::terminal::Terminal;

const OTHER: &str = "0198c0de-0000-7000-8000-0000000000ad";

/// The package, with these members in its manifest.
fn package(members: &Value) -> String {
    let mut package: Value = serde_json::from_str(&tiny()).expect("JSON");
    let manifest = package["manifest"].as_object_mut().expect("a manifest");
    manifest.extend(members.as_object().expect("members").clone());
    package.to_string()
}

/// A catalog of templates with the id that their manifest has, and what package they hold.
fn catalog(templates: &[(&str, &str, Option<&str>)], stored: &str) -> Scripted {
    let records = templates.iter().map(|(id, name, _)| record(id, name));
    let records: Vec<Value> = records.collect();
    let organizations = [page(&[json!({"id": ORGANIZATION, "label": "Acme"})])];
    let created = record(PUSHED, "vendas").to_string();
    let mut routes = Routes::new()
        .on("GET /v1/templates", [page(&records)])
        .on("GET /v1/organizations", organizations)
        .on("POST /v1/templates/import", [Response::text(201, &created)]);
    for (id, name, own) in templates {
        let mut template = record(id, name);
        template["manifest"] = json!({"id": own, "name": name});
        routes = routes
            .on(
                &format!("GET /v1/templates/{id}"),
                [Response::json(&template)],
            )
            .on(
                &format!("GET /v1/templates/{id}/package"),
                [Response::text(200, stored)],
            )
            .on(&replace(id), [Response::json(&record(id, name))]);
    }
    routes.serve()
}

fn replace(id: &str) -> String {
    format!("PUT /v1/templates/{id}/package")
}

fn env(server: &Scripted, members: &Value) -> TestEnv {
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &package(members));
    env
}

/// What was written.
fn written(server: &Scripted) -> Vec<String> {
    let lines = server.lines().into_iter();
    let lines = lines.filter(|line| !line.starts_with("GET "));
    lines
        .map(|line| line.split('?').next().unwrap_or_default().to_owned())
        .collect()
}

const PUSH: [&str; 3] = ["template", "push", "p.json"];

fn push<'w>(more: &[&'w str]) -> Vec<&'w str> {
    [&PUSH[..], more].concat()
}

#[test]
fn the_same_id_is_the_same_template_whatever_it_is_called() {
    let templates = [
        (OTHER, "vendas", None),
        (TEMPLATE, "old-name", Some("sales")),
    ];
    let server = catalog(&templates, "{}");
    let env = env(&server, &json!({"id": "sales"}));
    let document = env.run(&push(&["--format", "json"])).exits(0).json();
    assert_eq!(document["action"], "replaced");
    assert_eq!(document["template"]["id"], TEMPLATE);
    assert_eq!(written(&server), [replace(TEMPLATE)]);
    // Of that id there is none.
    let server = catalog(&templates[..1], "{}");
    let env = self::env(&server, &json!({"id": "sales"}));
    let document = env.run(&push(&["--format", "json"])).exits(0).json();
    assert_eq!(document["action"], "created");
    assert_eq!(written(&server), ["POST /v1/templates/import"]);
    let server = catalog(
        &[(OTHER, "a", Some("sales")), (TEMPLATE, "b", Some("sales"))],
        "{}",
    );
    let env = self::env(&server, &json!({"id": "sales"}));
    let document = env
        .run(&push(&["--yes", "--format", "json"]))
        .exits(2)
        .json();
    let candidates = document["errors"][0]["candidates"]
        .as_array()
        .expect("candidates");
    assert_eq!(candidates.len(), 2);
    let first = json!({"id": OTHER, "name": "a", "label": "Sales", "semver": "1.0.0"});
    assert_eq!(candidates[0], first);
    assert!(written(&server).is_empty());
    env.run(&push(&["--new"])).exits(0);
    env.run(&push(&["--id", OTHER])).exits(0);
    assert_eq!(
        written(&server),
        ["POST /v1/templates/import".to_owned(), replace(OTHER)]
    );
    env.run(&push(&["--id", OTHER, "--new"])).exits(2);
    env.run(&push(&["--id", OTHER, "--organization", ORGANIZATION]))
        .exits(2);
}

#[test]
fn a_name_alone_needs_a_yes() {
    let templates = [
        (OTHER, "vendas", Some("another")),
        (TEMPLATE, "vendas", None),
    ];
    let server = catalog(&templates, "{}");
    let env = env(&server, &json!({}));
    let document = env.run(&push(&["--format", "json"])).exits(2).json();
    let candidates = document["errors"][0]["candidates"]
        .as_array()
        .expect("candidates");
    assert_eq!(candidates.len(), 1);
    assert_eq!(candidates[0]["id"], TEMPLATE);
    let ran = env.run(&push(&[])).exits(2);
    assert!(
        ran.err.contains("\"Sales\" (vendas, 1.0.0)") && ran.err.contains("--yes"),
        "{}",
        ran.err
    );
    assert!(written(&server).is_empty());
    let ran = env.run(&push(&["--yes"])).exits(0);
    let expected = "template \"Sales\" (vendas) is replaced";
    assert!(ran.err.contains(expected), "{}", ran.err);
    assert_eq!(written(&server), [replace(TEMPLATE)]);

    for (key, code) in [("y\r", 0), ("n\r", 130)] {
        let server = catalog(&templates, "{}");
        let env = self::env(&server, &json!({}));
        let Some(mut terminal) = Terminal::around(&env.command(&[]), "template push p.json") else {
            return;
        };
        terminal.shows("Replace the template of the same name");
        terminal.press(key);
        assert_eq!(terminal.ends().0, Some(code), "{key:?}");
        assert_eq!(written(&server).len(), usize::from(code == 0), "{key:?}");
    }
}

#[test]
fn a_version_that_did_not_rise_is_reported() {
    let templates = [(TEMPLATE, "vendas", None)];
    let stored = package(&json!({"semver": "1.9.0", "visibility": "org"}));
    let server = catalog(&templates, &stored);
    let changed = json!({"semver": "1.9.0", "description": "Changed."});
    let env = env(&server, &changed);
    let yes = |more: &[&'static str]| push(&[&["--yes"], more].concat());
    let ran = env.run(&yes(&["--require-version-bump"])).exits(1);
    assert!(
        ran.err.contains("the version is still 1.9.0"),
        "{}",
        ran.err
    );
    let words = yes(&["--require-version-bump", "--format", "json"]);
    let document = env.run(&words).exits(1).json();
    assert_eq!(
        (&document["action"], &document["template_id"]),
        (&Value::Null, &json!(TEMPLATE))
    );
    assert!(written(&server).is_empty());
    let ran = env.run(&yes(&[])).exits(0);
    assert!(ran.err.contains("note: the content changed"), "{}", ran.err);
    // It rose, or nothing changed.
    for members in [
        json!({"semver": "1.10.0", "description": "Changed."}),
        json!({"semver": "1.9.0"}),
    ] {
        env.place.write("p.json", &package(&members));
        let ran = env.run(&yes(&["--require-version-bump"])).exits(0);
        assert!(!ran.err.contains("content changed"), "{}", ran.err);
    }
}
