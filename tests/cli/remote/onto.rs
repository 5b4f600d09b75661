//! `tplkit export --onto`: an export that goes on from an earlier package.

use std::fs;

use serde_json::{Value, json};

use super::TestEnv;
use super::exporting::crm;
use super::files::built;
use super::routes::{Routes, TEMPLATE, WORKSPACE, page, record};
use crate::scripted::{Response, Scripted, model};

const EXPORT: [&str; 3] = ["export", "--workspace", WORKSPACE];

fn words<'w>(more: &[&'w str]) -> Vec<&'w str> {
    [&EXPORT[..], more].concat()
}

#[test]
fn an_unchanged_workspace_changes_no_byte_of_the_package() {
    let server = Routes::new().over(built(&crm())).serve();
    let env = TestEnv::with_key(&server.url);
    env.run(&words(&["--rows", "all", "-o", "x.json"])).exits(0);
    let first = env.place.read("x.json");
    // It may be the file that is written, and what it holds is what travels.
    let ran = env
        .run(&words(&["--onto", "x.json", "-o", "x.json"]))
        .exits(0);
    assert_eq!(env.place.read("x.json"), first);
    assert!(ran.err.contains("not a snapshot"), "{}", ran.err);
    assert!(!ran.err.contains("lacks"), "{}", ran.err);
    env.run(&["unpack", "x.json", "lay"]).exits(0);
    let ran = env.run(&words(&["--onto", "lay"])).exits(0);
    assert_eq!(ran.out, first);
    // What is asked for goes before what it holds.
    let ran = env.run(&words(&[
        "--onto", "lay", "--rows", "none", "--label", "Other",
    ]));
    let package: Value = serde_json::from_str(&ran.exits(0).out).expect("JSON");
    let before: Value = serde_json::from_str(&first).expect("JSON");
    assert_eq!(package["payloads"], json!([]));
    assert_eq!(package["manifest"]["label"], "Other");
    let step = "/manifest/plan/steps/0";
    assert_eq!(package.pointer(step), before.pointer(step));
}

#[test]
fn what_is_saved_during_an_export_stays() {
    let state = built(&crm());
    let server = Routes::new().over(state.clone()).serve();
    let mut env = TestEnv::with_key(&server.url);
    env.run(&words(&["--rows", "all", "-o", "x.json"])).exits(0);
    env.run(&["unpack", "x.json", "lay"]).exits(0);
    for (onto, file) in [("x.json", "x.json"), ("lay", "lay/template.json")] {
        let saved = env.place.dir.path().join(file);
        let state = state.clone();
        let saving = Scripted::new(move |request| {
            fs::write(&saved, "saved").expect("written");
            model::respond(&state, request).unwrap_or_else(|| Response::problem(404, "not_found"))
        });
        env = env.set("TPLKIT_URL", &saving.url);
        let ran = env.run(&words(&["--onto", onto, "-o", onto])).exits(2);
        assert_eq!(env.place.read(file), "saved");
        let error = format!("error: `{file}` was changed after it was read");
        assert!(ran.err.contains(&error), "{}", ran.err);
    }
}

#[test]
fn what_the_workspace_lacks_is_named() {
    let mut state = built(&crm());
    let server = Routes::new().over(state.clone()).serve();
    let env = TestEnv::with_key(&server.url);
    env.run(&words(&["-o", "x.json"])).exits(0);
    let gone = state.structure.modules.remove(0);
    let server = Routes::new().over(state).serve();
    let env = env.set("TPLKIT_URL", &server.url);
    let ran = env.run(&words(&["--onto", "x.json", "-o", "y.json"]));
    let expected = format!("module `{}`, which the workspace lacks", gone.name);
    let ran = ran.exits(0);
    assert!(ran.err.contains(&expected), "{}", ran.err);
    let ran = env.run(&words(&[
        "--onto", "x.json", "-o", "y.json", "--format", "json",
    ]));
    let document = ran.exits(0).json();
    let expected = json!([{"kind": "module", "name": gone.name}]);
    assert_eq!(document["missing"], expected);
}

#[test]
fn a_package_that_cannot_be_gone_on_from_ends_the_export() {
    let server = Routes::new().over(built(&crm())).serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("broken.json", "{\"manifest\": ");
    env.place.write("plain.json", "{\"a\": 1}");
    for (old, code, expected) in [
        ("gone.json", 2, "cannot read `gone.json`"),
        ("broken.json", 1, "J001"),
        ("plain.json", 1, "J003"),
    ] {
        let ran = env
            .run(&words(&["--onto", old, "-o", "x.json"]))
            .exits(code);
        let all = format!("{}{}", ran.out, ran.err);
        assert!(all.contains(expected), "{all}");
        assert!(!env.place.path("x.json").exists());
    }
    let ran = env.run(&words(&["--onto", "broken.json", "--format", "json"]));
    let document = ran.exits(1).json();
    assert_eq!(document["files"][0]["findings"][0]["code"], "J001");
}

#[test]
fn a_template_is_gone_on_from_by_the_server() {
    let export = format!("POST /v1/workspaces/{WORKSPACE}/export");
    let package = tplkit::package::canonical::write(&crm()).expect("a package");
    let server = Routes::new()
        .over(built(&crm()))
        .on("GET /v1/templates", [page(&[record(TEMPLATE, "crm")])])
        .on(
            &format!("GET /v1/templates/{TEMPLATE}/package"),
            [Response::text(200, &package)],
        )
        .on(&export, [Response::text(200, &package)])
        .serve();
    let env = TestEnv::with_key(&server.url);
    for old in ["crm", TEMPLATE] {
        let ran = env.run(&words(&["--onto", old, "--label", "CRM"]));
        let ran = ran.exits(0);
        assert_eq!(ran.out, package);
        assert!(!ran.err.contains("not a snapshot"), "{}", ran.err);
    }
    env.run(&words(&["--onto", "crm", "--rows", "all"]))
        .exits(0);
    let bodies: Vec<Value> = server
        .received()
        .iter()
        .filter(|one| one.line() == export)
        .map(|one| serde_json::from_str(&one.body).expect("JSON"))
        .collect();
    let held = json!({"onto": TEMPLATE, "identity": {"label": "CRM"}});
    assert_eq!(
        bodies,
        [held.clone(), held, json!({"onto": TEMPLATE, "rows": "all"})]
    );
}
