//! Names instead of ids: workspaces, templates, tables, and the candidates where a word is not enough.

use serde_json::{Value, json};

use super::routes::{
    JOB, ORGANIZATION, Routes, TEMPLATE, WORKSPACE, apply_route, catalog, job, job_document, page,
    plan, plan_route, record,
};
use super::{KEY, TestEnv};
use crate::scripted::{Response, Scripted};
use crate::support::Ran;
#[cfg(target_os = "linux")]
use crate::terminal::Terminal;

const OTHER: &str = "0198c0de-0000-7000-8000-000000000002";
const THIRD: &str = "0198c0de-0000-7000-8000-000000000003";
const ACME: &str = ORGANIZATION;
const BETA: &str = "00000000-0000-0000-0000-00000000000b";

fn workspace(id: &str, organization: &str, name: &str, label: &str) -> Value {
    json!({"id": id, "organization_id": organization, "name": name, "label": label})
}

/// Three workspaces of two organizations, and a template that is planned.
fn routes() -> Routes {
    let shop = workspace(WORKSPACE, ACME, "coffee_shop", "Coffee shop");
    catalog([job("completed")])
        .on(
            "GET /v1/workspaces",
            [page(&[
                shop.clone(),
                workspace(OTHER, BETA, "coffee_shop", "Coffee of B"),
                workspace(THIRD, ACME, "tea", "Tea"),
            ])],
        )
        .on(
            &format!("GET /v1/workspaces/{WORKSPACE}"),
            [Response::json(&shop)],
        )
        .on(
            &format!("GET /v1/workspaces/{THIRD}"),
            [Response::json(&workspace(THIRD, ACME, "tea", "Tea"))],
        )
        .on(
            "GET /v1/organizations",
            [page(&[
                json!({"id": ACME, "label": "Acme"}),
                json!({"id": BETA, "label": "Beta"}),
            ])],
        )
}

/// The workspace that the last plan was asked for.
fn planned(server: &Scripted) -> String {
    let route = plan_route(TEMPLATE);
    let received = server.received();
    let last = received.iter().rfind(|one| one.line() == route);
    let body: Value = serde_json::from_str(&last.expect("a plan").body).expect("JSON");
    body["workspaceId"].as_str().expect("an id").to_owned()
}

fn candidates(ran: &Ran) -> Vec<Value> {
    let document = ran.json();
    let candidates = document["errors"][0]["candidates"].as_array();
    candidates.unwrap_or_else(|| panic!("{document}")).clone()
}

#[test]
fn a_workspace_is_named_by_id_name_label_or_organization_and_name() {
    let server = routes().serve();
    let env = TestEnv::with_key(&server.url);
    for (word, id) in [
        (WORKSPACE, WORKSPACE),
        ("tea", THIRD),
        ("Tea", THIRD),
        ("Coffee of B", OTHER),
        ("Beta/coffee_shop", OTHER),
        ("Acme/Coffee shop", WORKSPACE),
        (&format!("{BETA}/Coffee of B"), OTHER),
    ] {
        let words = ["plan", "sales", "--workspace", word, "--format", "json"];
        // The id of an organization is a word for it only where its label is none.
        let ran = env.run(&words);
        if word.starts_with(BETA) {
            ran.exits(2);
        } else {
            ran.exits(0);
            assert_eq!(planned(&server), id, "{word}");
        }
    }
}

#[test]
fn a_name_of_several_workspaces_lists_them() {
    let server = routes().serve();
    let env = TestEnv::with_key(&server.url);
    let words = ["plan", "sales", "--workspace", "coffee_shop"];
    let ran = env.run(&words).exits(2);
    assert!(ran.err.contains("Acme/coffee_shop"), "{}", ran.err);
    assert!(ran.err.contains("Beta/coffee_shop"), "{}", ran.err);
    let ran = env
        .run(&[&words[..], &["--format", "json"]].concat())
        .exits(2);
    assert_eq!(
        candidates(&ran),
        [
            json!({"id": WORKSPACE, "name": "coffee_shop", "label": "Coffee shop", "organization": "Acme"}),
            json!({"id": OTHER, "name": "coffee_shop", "label": "Coffee of B", "organization": "Beta"}),
        ]
    );
}

#[test]
fn a_name_that_fits_nothing_lists_what_there_is() {
    let many: Vec<Value> = (0..30)
        .map(|at| workspace(&format!("w{at}"), ACME, &format!("w{at}"), "W"))
        .collect();
    let server = catalog([]).on("GET /v1/workspaces", [page(&many)]).serve();
    let env = TestEnv::with_key(&server.url);
    for command in [
        &["plan", "sales"][..],
        &["apply", "sales", "--yes"],
        &["status"],
        &["drift", "sales"],
        &["export"],
        &["job", "list"],
        &["resolve", "suggest", "sales"],
        &["rows", "list", "clients"],
    ] {
        let words = [command, &["--workspace", "w31", "--format", "json"]].concat();
        let ran = env.run(&words);
        if command[0] == "resolve" {
            // The package is read first, and this server has none.
            assert_ne!(ran.code, Some(0));
            continue;
        }
        let ran = ran.exits(2);
        assert_eq!(candidates(&ran).len(), 20, "{command:?}");
    }
    let ran = env.run(&["status", "--workspace", "w31"]).exits(2);
    assert!(ran.err.contains("Did you mean"), "{}", ran.err);
    assert!(ran.err.contains("and 10 more"), "{}", ran.err);
}

#[test]
fn a_default_workspace_is_kept_for_its_server_and_the_environment_goes_before_it() {
    let server = routes().serve();
    let env = TestEnv::new();
    env.write_profiles(&format!(
        "[default]\nurl = \"{}\"\napi_key = \"{KEY}\"\n",
        server.url
    ));
    let ran = env.run(&["plan", "sales"]).exits(2);
    assert!(ran.err.contains("no workspace is named"), "{}", ran.err);
    assert!(ran.err.contains("tplkit workspace use"), "{}", ran.err);
    let ran = env.run(&["workspace", "use", "tea"]).exits(0);
    assert!(ran.out.contains("\"Tea\" (tea)"), "{}", ran.out);
    assert!(env.profiles().contains(KEY), "{}", env.profiles());
    #[cfg(unix)]
    assert_eq!(env.mode(), 0o600);

    let ran = env.run(&["plan", "sales"]).exits(0);
    assert_eq!(planned(&server), THIRD);
    assert!(
        ran.out.contains("in workspace \"Tea\" (tea)"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains(THIRD), "{}", ran.out);
    let ran = env.run(&["plan", "sales", "-v"]).exits(0);
    assert!(ran.out.contains(THIRD), "{}", ran.out);

    let ran = env.run(&["workspace", "list"]).exits(0);
    assert!(ran.out.contains("* tea"), "{}", ran.out);
    let ran = env.run(&["workspace", "list", "--format", "json"]).exits(0);
    assert_eq!(ran.json()["default"], THIRD);
    assert_eq!(ran.json()["data"]["items"][1]["name"], "coffee_shop");

    let named = env
        .command(&["plan", "sales", "--format", "json"])
        .env("TPLKIT_WORKSPACE", "Beta/coffee_shop")
        .output()
        .expect("run");
    Ran::from(named).exits(0);
    assert_eq!(planned(&server), OTHER);
    env.run(&["plan", "sales", "--workspace", WORKSPACE])
        .exits(0);
    assert_eq!(planned(&server), WORKSPACE);

    // That of one server is none of another.
    let other = routes().serve();
    let ran = env.run(&["plan", "sales", "--url", &other.url]).exits(2);
    assert!(ran.err.contains("no workspace is named"), "{}", ran.err);

    env.run(&["workspace", "use", "--none"]).exits(0);
    env.run(&["plan", "sales"]).exits(2);
}

#[test]
fn a_default_is_kept_next_to_a_token_of_the_environment() {
    let server = routes().serve();
    let env = TestEnv::with_key(&server.url);
    env.run(&["workspace", "use", "tea", "--format", "json"])
        .exits(0);
    assert!(!env.profiles().contains(KEY), "{}", env.profiles());
    env.run(&["plan", "sales"]).exits(0);
    assert_eq!(planned(&server), THIRD);
    env.run(&["workspace", "use", "nope"]).exits(2);
    env.run(&["plan", "sales"]).exits(0);
    assert_eq!(planned(&server), THIRD);
}

#[test]
fn a_default_serves_every_command_that_takes_a_workspace() {
    let server = routes()
        .on(&apply_route(TEMPLATE), [super::routes::started()])
        .on(
            &format!("GET /v1/workspaces/{THIRD}/templates"),
            [page(&[])],
        )
        .on("GET /v1/template-jobs", [page(&[])])
        .serve();
    let env = TestEnv::with_key(&server.url).set("TPLKIT_WORKSPACE", "tea");
    env.run(&["status"]).exits(0);
    env.run(&["apply", "sales", "--yes"]).exits(0);
    let ran = env.run(&["job", "list"]).exits(0);
    assert!(ran.err.contains("\"Tea\" (tea)"), "{}", ran.err);
    let lines = server.lines();
    for line in [
        format!("GET /v1/workspaces/{THIRD}/templates?limit=200"),
        format!("GET /v1/template-jobs?workspace_id={THIRD}&limit=200"),
    ] {
        assert!(lines.contains(&line), "{line}: {lines:#?}");
    }
    let received = server.received();
    let applied = received
        .iter()
        .find(|one| one.line() == apply_route(TEMPLATE));
    assert!(applied.is_some_and(|one| one.body.contains(THIRD)));
    env.run(&["job", "list", "--all"]).exits(0);
    let lines = server.lines();
    let all = "GET /v1/template-jobs?limit=200".to_owned();
    assert!(lines.contains(&all), "{lines:#?}");
}

#[test]
fn templates_tables_and_targets_list_their_candidates_too() {
    let table = |id: &str, name: &str| json!({"id": id, "name": name, "label": "Clients"});
    let server = routes()
        .on(
            "GET /v1/templates",
            [page(&[record(TEMPLATE, "sales"), record(OTHER, "sales")])],
        )
        .on(
            "GET /v1/features",
            [page(&[table("t1", "clients"), table("t2", "customers")])],
        )
        .serve();
    let env = TestEnv::with_key(&server.url);
    env.place
        .write("tplkit.toml", "[targets.staging]\nworkspace = \"tea\"\n");
    let run = |words: &[&str]| {
        let words = [words, &["--format", "json"]].concat();
        candidates(&env.run(&words).exits(2))
    };
    let found = run(&["plan", "sales", "--workspace", WORKSPACE]);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0]["id"], TEMPLATE);
    assert_eq!(found[0]["name"], "sales");
    assert_eq!(found[0]["label"], "Sales");
    let found = run(&["template", "show", "crm"]);
    assert_eq!(found.len(), 2);
    let found = run(&["rows", "list", "Clients"]);
    assert_eq!(
        found[1],
        json!({"id": "t2", "name": "customers", "label": "Clients"})
    );
    let found = run(&["plan", "sales", "--target", "stagin"]);
    assert_eq!(
        found,
        [json!({"id": "staging", "name": "staging", "label": "tea"})]
    );
    let ran = env.run(&["rows", "list", "Clients"]).exits(2);
    assert!(ran.err.contains("clients  \"Clients\""), "{}", ran.err);
}

#[test]
fn jobs_are_listed_by_what_people_call_their_template_and_workspace() {
    let one = job_document("completed", &json!({}));
    let server = routes()
        .on("GET /v1/template-jobs", [page(&[one])])
        .on(
            &format!("GET /v1/templates/{TEMPLATE}"),
            [Response::json(&record(TEMPLATE, "sales"))],
        )
        .serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&["job", "list"]).exits(0);
    assert!(
        ran.out.contains("template \"Sales\" (sales)"),
        "{}",
        ran.out
    );
    assert!(
        ran.out.contains("workspace \"Coffee shop\" (coffee_shop)"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains(WORKSPACE), "{}", ran.out);
    let ran = env.run(&["job", "list", "-v"]).exits(0);
    assert!(ran.out.contains(WORKSPACE), "{}", ran.out);
    let ran = env.run(&["job", "show", JOB]).exits(0);
    assert!(
        ran.out.contains("template \"Sales\" (sales)"),
        "{}",
        ran.out
    );
}

#[test]
#[cfg(target_os = "linux")]
fn jobs_stand_under_a_heading_on_a_terminal() {
    let mut one = job_document("completed", &json!({}));
    one["created_at"] = json!("2019-05-06T07:08:09.123456Z");
    let server = routes().on("GET /v1/template-jobs", [page(&[one])]).serve();
    let env = TestEnv::with_key(&server.url);
    let shown = |words: &str| {
        let terminal = Terminal::around(&env.command(&[]), words)?;
        let (code, shown) = terminal.ends();
        assert_eq!(code, Some(0), "{shown}");
        Some(shown)
    };
    let Some(all) = shown("job list") else {
        return;
    };
    let heading = all.lines().find(|line| line.starts_with("JOB "));
    let heading = heading.unwrap_or_else(|| panic!("no heading: {all}"));
    assert!(heading.contains("WORKSPACE"), "{heading}");
    assert!(
        all.contains("2019-05-06") && !all.contains("T07:08"),
        "{all}"
    );
    let of_one = shown(&format!("job list --workspace {WORKSPACE}")).expect("a terminal");
    assert!(!of_one.contains("WORKSPACE"), "{of_one}");
    // Programs read whole instants.
    let ran = env.run(&["job", "list"]).exits(0);
    assert!(
        ran.out.contains("2019-05-06T07:08:09.123456Z"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains("JOB "), "{}", ran.out);
}

#[test]
fn a_plan_calls_tables_by_their_labels() {
    let planned = plan(&json!({}));
    let server = routes()
        .on(&plan_route(TEMPLATE), [Response::json(&planned)])
        .serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&["plan", "sales", "--workspace", "tea"]).exits(0);
    assert!(
        ran.out.contains("\"Clients\", f_clients  3 to insert"),
        "{}",
        ran.out
    );
}

#[test]
fn a_command_without_a_workspace_lists_those_that_there_are() {
    let server = routes().serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &crate::support::tiny());
    for command in [
        &["plan", "sales"][..],
        &["apply", "sales", "--yes"],
        &["status"],
        &["drift", "sales"],
        &["export"],
        &["automation", "list"],
        &["automation", "show", "Remind"],
        &["resolve", "suggest", "p.json"],
        &["report", "p.json", "--upgrade"],
    ] {
        let ran = env.run(command).exits(2);
        for line in ["Acme/coffee_shop  \"Coffee shop\"", "Acme/tea  \"Tea\""] {
            assert!(ran.err.contains(line), "{command:?}: {}", ran.err);
        }
        let ran = env.run(&[command, &["--format", "json"]].concat());
        // `report` writes pages.
        if command[0] != "report" {
            let found = candidates(&ran.exits(2));
            assert_eq!(found.len(), 3, "{command:?}");
            assert_eq!(found[2]["name"], "tea", "{command:?}");
        }
    }
}

/// What the mistake is about does not depend on a server: one that is away, or lets nobody in, is no other mistake.
#[test]
fn nothing_is_listed_by_a_server_that_shows_nothing() {
    for env in [
        TestEnv::new(),
        TestEnv::with_key(&crate::scripted::nobody()),
        TestEnv::with_key(&Scripted::new(|_| Response::problem(401, "unauthenticated")).url),
    ] {
        let ran = env.run(&["status", "--format", "json"]).exits(2);
        assert_eq!(candidates(&ran).len(), 0);
        let message = ran.json()["errors"][0]["message"].clone();
        assert_eq!(message, "no workspace is named");
    }
}

#[test]
fn labels_stand_where_ids_stood_and_ids_where_labels_are_alike() {
    let listed = |records: &[Value]| {
        let server = routes().on("GET /v1/templates", [page(records)]).serve();
        let run = |more: &[&str]| {
            let env = TestEnv::with_key(&server.url);
            env.run(&[&["template", "list"], more].concat())
                .exits(0)
                .out
        };
        (run(&[]), run(&["-v"]))
    };
    let (plain, verbose) = listed(&[record(TEMPLATE, "sales"), record(OTHER, "other")]);
    assert!(plain.starts_with("TEMPLATE  NAME"), "{plain}");
    assert!(plain.contains("\nSales     sales"), "{plain}");
    assert!(!plain.contains(TEMPLATE), "{plain}");
    assert!(
        verbose.contains(TEMPLATE) && verbose.contains(OTHER),
        "{verbose}"
    );
    let (plain, _) = listed(&[record(TEMPLATE, "sales"), record(OTHER, "sales")]);
    assert!(plain.contains(TEMPLATE) && plain.contains(OTHER), "{plain}");
}
