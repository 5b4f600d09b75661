//! `tplkit export` and `tplkit automation validate --remote`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::TestEnv;
use super::files::built;
use super::routes::{Routes, WORKSPACE};
use crate::scripted::{Response, Scripted, model};
#[cfg(target_os = "linux")]
use crate::terminal::Terminal;

pub(crate) fn crm() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(root.join("examples/crm.json")).expect("an example")
}

fn items(package: &Value, kind: &str) -> usize {
    let items = package["manifest"]["items"].as_array().expect("items");
    items.iter().filter(|item| item["kind"] == kind).count()
}

#[test]
fn a_workspace_becomes_a_package_that_checks_clean() {
    let state = built(&crm());
    let tables = state.structure.features.len();
    let server = Routes::new().over(state).serve();
    let env = TestEnv::with_key(&server.url);
    let words = [
        "export",
        "--workspace",
        WORKSPACE,
        "--rows",
        "all",
        "-o",
        "x.json",
        "--name",
        "made",
        "--tag",
        "a",
    ];
    let ran = env.run(&words).exits(0);
    assert_eq!(ran.out, "");
    assert!(ran.err.starts_with("structure…\nrows…\n"), "{}", ran.err);
    assert!(ran.err.contains("not a snapshot"), "{}", ran.err);
    env.run(&["check", "x.json"]).exits(0);
    env.run(&["fmt", "--check", "x.json"]).exits(0);
    let package: Value = serde_json::from_str(&env.place.read("x.json")).expect("JSON");
    assert_eq!(items(&package, "feature"), tables);
    assert!(items(&package, "rows") > 0);
    assert_eq!(
        (&package["manifest"]["name"], &package["manifest"]["tags"]),
        (&json!("made"), &json!(["a"]))
    );
    // It was asked for an export of its own first.
    let posts = server
        .lines()
        .into_iter()
        .filter(|line| !line.starts_with("GET "));
    let posts: Vec<String> = posts.collect();
    assert_eq!(posts, [format!("POST /v1/workspaces/{WORKSPACE}/export")]);
    let quiet = env.run(&[&words[..], &["-q"]].concat()).exits(0);
    assert!(!quiet.err.contains('…'), "{}", quiet.err);

    let ran = env.run(&["export", "--workspace", WORKSPACE]).exits(0);
    let package: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(items(&package, "rows"), 0);
    let words = ["export", "--workspace", WORKSPACE, "--format", "json"];
    let document = env.run(&words).exits(0).json();
    assert!(
        document["text"]
            .as_str()
            .is_some_and(|text| text.contains("templateVersion"))
    );
    assert_eq!(document["workspace_id"], WORKSPACE);
}

/// Rows are read twice.
#[cfg(target_os = "linux")]
#[test]
fn the_progress_of_an_export_has_an_end() {
    let state = built(&crm());
    let tables = state.structure.features.iter();
    let tables: Vec<String> = tables.map(|table| table.id.to_string()).collect();
    let counted = Response::json(&json!({"op": "count", "result": 10}));
    let routes = tables.iter().fold(Routes::new().over(state), |routes, id| {
        let route = format!("GET /v1/features/{id}/rows:aggregate");
        routes.on(&route, [counted.clone()])
    });
    let server = routes.serve();
    let env = TestEnv::with_key(&server.url);
    let line = format!("export --workspace {WORKSPACE} --rows all --no-input -o x.json");
    let Some(mut terminal) = Terminal::around(&env.command(&[]), &line) else {
        return;
    };
    terminal.shows(&format!("/{}", tables.len() * 10 * 2));
    terminal.shows("/s");
    assert_eq!(terminal.ends().0, Some(0));
}

#[test]
fn what_travels_is_chosen_by_id_name_or_label() {
    let state = built(&crm());
    let table = state.structure.features[0].clone();
    let server = Routes::new().over(state).serve();
    let env = TestEnv::with_key(&server.url);
    let export = |more: &[&str]| env.run(&[&["export", "--workspace", WORKSPACE], more].concat());
    for word in [
        table.id.to_string(),
        table.name.clone(),
        table.label.clone(),
    ] {
        let words = [
            "--feature",
            &word,
            "--module",
            "none",
            "--workflow",
            "none",
            "--rows",
            &word,
        ];
        let package: Value = serde_json::from_str(&export(&words).exits(0).out).expect("JSON");
        let counts =
            ["feature", "rows", "module", "rail", "workflow"].map(|kind| items(&package, kind));
        assert_eq!(counts, [1, 1, 0, 0, 0], "{word}");
    }
    let ran = export(&["--feature", "gone"]).exits(2);
    assert!(
        ran.err.contains("no table `gone`") && ran.err.contains(&format!("\n  {}  ", table.name)),
        "{}",
        ran.err
    );
    let ran = export(&["--feature", "none", "--rows", &table.name]).exits(2);
    assert!(
        ran.err.contains("rows are chosen of tables that are not"),
        "{}",
        ran.err
    );
    export(&["--scope", "everything"]).exits(2);
    env.run(&[
        "export",
        "--workspace",
        "0198c0de-0000-7000-8000-0000000000ff",
    ])
    .exits(1);
}

#[test]
fn a_server_that_exports_itself_is_asked_for_the_package() {
    let state = built(&crm());
    let table = state.structure.features[0].clone();
    let route = format!("POST /v1/workspaces/{WORKSPACE}/export");
    let package = crm();
    let package = tplkit::package::canonical::write(&package).expect("a package");
    let refused = Response::problem(403, "missing_scope");
    let responses = [Response::text(200, &package), refused];
    let server = Routes::new().over(state).on(&route, responses).serve();
    let env = TestEnv::with_key(&server.url);
    let words = [
        "export",
        "--workspace",
        WORKSPACE,
        "--feature",
        &table.name,
        "--rows",
        &table.name,
        "--name",
        "made",
        "-o",
        "x.json",
    ];
    let ran = env.run(&words).exits(0);
    assert_eq!(env.place.read("x.json"), package);
    assert!(!ran.err.contains("not a snapshot"), "{}", ran.err);
    assert!(!server.lines().iter().any(|line| line.contains("/rows")));
    let received = server.received();
    let body = received.iter().find(|request| request.line() == route);
    let body: Value = serde_json::from_str(&body.expect("asked").body).expect("JSON");
    let expected =
        json!({"features": [table.id], "rows": [table.id], "identity": {"name": "made"}});
    assert_eq!(body, expected);
    // After a refusal it is not read in another way.
    env.run(&words).exits(4);
}

#[test]
fn a_workspace_that_moves_is_not_written() {
    let state = built(&crm());
    let moving = |path: &'static str, from: usize| {
        let state = state.clone();
        let requests = std::sync::atomic::AtomicUsize::new(0);
        Scripted::new(move |request| {
            let mut now = state.clone();
            if request.target.contains(path) {
                let count = requests.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                if count >= from {
                    now.structure.workspace.label = "Other".to_owned();
                    now.rows.values_mut().for_each(|rows| drop(rows.pop()));
                }
            }
            model::respond(&now, request).unwrap_or_else(|| Response::problem(404, "not_found"))
        })
    };
    let words = [
        "export",
        "--workspace",
        WORKSPACE,
        "--rows",
        "all",
        "-o",
        "x.json",
    ];
    for server in [moving("/rows?", 40), moving("/v1/workspaces/", 1)] {
        let env = TestEnv::with_key(&server.url);
        let ran = env.run(&words).exits(6);
        assert!(ran.err.contains("changed while it was read"), "{}", ran.err);
        assert!(!env.place.path("x.json").exists());
    }
}

#[test]
fn a_package_that_no_destination_takes_is_written_and_reported() {
    let mut state = built(&crm());
    // Rows that are older than their column.
    let (feature, rows) = state
        .rows
        .iter()
        .find(|(_, rows)| !rows.is_empty())
        .expect("rows");
    let (feature, key) = (
        *feature,
        rows[0]
            .data
            .cells()
            .next()
            .map(|(key, _)| key.decoded().into_owned()),
    );
    let features = state.structure.features.iter_mut();
    let mut columns = features
        .filter(|one| one.id == feature)
        .flat_map(|one| &mut one.columns);
    let column = columns
        .find(|one| Some(&one.name) == key.as_ref() || !one.is_identity())
        .expect("a column");
    column.config.insert("required".to_owned(), true.into());
    let name = column.name.clone();
    for row in state.rows.get_mut(&feature).expect("rows") {
        let cells =
            tplkit::workspace::RowData::parse(&format!("{{{}:null}}", json!(name))).expect("JSON");
        row.data = row.data.written(&cells, false);
    }
    let server = Routes::new().over(state).serve();
    let env = TestEnv::with_key(&server.url);
    let words = [
        "export",
        "--workspace",
        WORKSPACE,
        "--rows",
        "all",
        "-o",
        "x.json",
        "--format",
        "json",
    ];
    let ran = env.run(&words).exits(1);
    let document = ran.json();
    assert_eq!(document["outcome"], "findings");
    assert_eq!(document["findings"][0]["severity"], "error");
    assert!(env.place.path("x.json").exists());
}

#[test]
fn an_automation_is_validated_by_the_server() {
    let route = "POST /v1/workflows-v2/validate";
    let issues = json!({"ok": false, "issues": [
        {"code": "unknown_var", "severity": "error", "path": "0.config.to", "target": "graph", "message": "no x"}]});
    let server = Routes::new()
        .on(
            route,
            [
                Response::json(&issues),
                Response::json(&issues),
                Response::json(&json!({"ok": true, "issues": []})),
            ],
        )
        .serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write(
        "a.json",
        r#"{"name": "x", "triggerConfig": {"type": "manual"}, "graph_config": {"steps": [], "n": 1.10}}"#,
    );
    let words = [
        "automation",
        "validate",
        "a.json",
        "--remote",
        "--workspace",
        WORKSPACE,
    ];
    let ran = env.run(&words).exits(1);
    assert!(
        ran.out
            .contains("error[unknown_var] graph 0.config.to: no x"),
        "{}",
        ran.out
    );
    let document = env
        .run(&[&words[..], &["--format", "json"]].concat())
        .exits(1)
        .json();
    assert_eq!(document["issues"], issues["issues"]);
    env.run(&words).exits(0);
    let body = &server.received()[0].body;
    let expected = format!(
        r#"{{"trigger_config":{{"type":"manual"}},"graph_config":{{"steps":[],"n":1.10}},"workspace_id":"{WORKSPACE}"}}"#
    );
    assert_eq!(*body, expected);
    let ran = env
        .run(&["automation", "validate", "a.json", "--remote"])
        .exits(2);
    assert!(ran.err.contains("--workspace"), "{}", ran.err);
    env.run(&["automation", "validate", "a.json", "--workspace", WORKSPACE])
        .exits(2);
}
