//! Plans and applies of package files: what is read, what is pushed, what is taken back.

use std::fs;

use serde_json::{Value, json};
use tplkit::check::{CheckOptions, Checked};
use tplkit::context::{FixedClock, Seeded};
use tplkit::definitions::Definitions;
use tplkit::simulate;
use tplkit::workspace::Id;
use tplkit::workspace::memory::State;

use super::TestEnv;
use super::routes::{
    JOB, ORGANIZATION, PUSHED, Routes, TEMPLATE, WORKSPACE, apply_route, job, page, plan,
    plan_route, record, started,
};
use crate::scripted::{Response, Scripted};
use crate::support::{case, faulty, tiny};

fn id(text: &str) -> Id {
    text.parse().expect("an id")
}

pub(crate) fn empty() -> State {
    State::empty(id(ORGANIZATION), id(WORKSPACE), "sales", "Sales")
}

/// A workspace that a package was applied to.
pub(crate) fn built(text: &str) -> State {
    let package = Checked::read(text, &CheckOptions::default()).expect("a package");
    let now = FixedClock("2026-03-01T09:30:00Z".parse().expect("an instant"));
    let definitions = Definitions::embedded();
    simulate::built(&package, empty(), definitions, &now, &mut Seeded::new(7)).expect("built")
}

pub(crate) fn links() -> String {
    fs::read_to_string(case("valid/base-links.json")).expect("fixture")
}

/// A catalog that takes packages, plans what was pushed, and applies it.
pub(crate) fn taking(state: State, planned: &Value) -> Routes {
    let pushed = Response::text(201, &record(PUSHED, "vendas").to_string());
    Routes::new()
        .over(state)
        .on("GET /v1/templates", [page(&[])])
        .on("POST /v1/templates/import", [pushed])
        .on(&plan_route(PUSHED), [Response::json(planned)])
        .on(&apply_route(PUSHED), [started()])
        .on(
            &format!("DELETE /v1/templates/{PUSHED}"),
            [Response::text(204, "")],
        )
        .on(&format!("GET /v1/template-jobs/{JOB}"), [job("completed")])
}

/// What was asked for next to reading.
pub(crate) fn writes(server: &Scripted) -> Vec<String> {
    let lines = server.lines().into_iter();
    lines.filter(|line| !line.starts_with("GET ")).collect()
}

const IMPORT: &str =
    "POST /v1/templates/import?organization_id=00000000-0000-0000-0000-000000000009";

#[test]
fn a_plan_of_a_file_only_reads() {
    let server = taking(empty(), &json!({})).serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &tiny());
    let words = ["plan", "p.json", "--workspace", WORKSPACE];
    let ran = env.run(&words).exits(0);
    assert!(ran.out.contains("Create: 1 table"), "{}", ran.out);
    assert!(ran.err.contains("taken on trust"), "{}", ran.err);
    let dry = ["apply", "p.json", "--workspace", WORKSPACE, "--dry-run"];
    assert_eq!(env.run(&dry).exits(0).out, ran.out);
    let document = env
        .run(&[&words[..], &["--format", "json"]].concat())
        .exits(0)
        .json();
    assert_eq!(document["template_id"], json!(null));
    assert_eq!(document["plan"]["create"][0]["kind"], "feature");
    assert_eq!(writes(&server), Vec::<String>::new());
    // What a person has to decide is a refusal, as it is on a server.
    env.place.write("l.json", &links());
    let ran = env
        .run(&["plan", "l.json", "--workspace", WORKSPACE])
        .exits(1);
    assert!(
        ran.out
            .contains("mapping_required \"Carriers\", f_carriers"),
        "{}",
        ran.out
    );
    let next = format!("tplkit resolve init l.json --workspace {WORKSPACE}");
    assert!(ran.err.contains(&next), "{}", ran.err);
    let ran = env
        .run(&["plan", "gone.json", "--workspace", WORKSPACE])
        .exits(2);
    assert!(ran.err.contains("cannot read"), "{}", ran.err);
}

#[test]
fn names_that_are_taken_and_configs_are_shown() {
    let server = taking(built(&tiny()), &json!({})).serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &tiny());
    let ran = env
        .run(&["plan", "p.json", "--workspace", WORKSPACE])
        .exits(0);
    assert!(
        ran.out.contains("Rename, because the name is taken"),
        "{}",
        ran.out
    );

    let replaced = json!({"replaced_configs": [{"kind": "workspace", "ref": "workspace",
        "id": WORKSPACE, "before": {"a": 1.10, "b": [1]}, "after": {"a": 1.10, "b": [2]}}]});
    let server = taking(empty(), &json!({}))
        .on(&plan_route(TEMPLATE), [Response::json(&plan(&replaced))])
        .serve();
    let words = ["plan", TEMPLATE, "--workspace", WORKSPACE];
    let ran = TestEnv::with_key(&server.url).run(&words).exits(0);
    assert!(ran.out.contains("    -    1\n    +    2\n"), "{}", ran.out);
}

#[test]
fn a_file_with_errors_is_not_sent() {
    let server = taking(empty(), &json!({})).serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &faulty());
    for words in [
        &["apply", "p.json", "--workspace", WORKSPACE, "--yes"][..],
        &["plan", "p.json", "--workspace", WORKSPACE],
        &["template", "push", "p.json"],
    ] {
        let ran = env.run(words).exits(1);
        assert!(ran.out.contains("M001"), "{}", ran.out);
    }
    assert_eq!(server.lines(), Vec::<String>::new());
}

#[test]
fn a_file_is_pushed_and_then_applied() {
    let server = taking(empty(), &json!({})).serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &tiny());
    let words = ["apply", "p.json", "--workspace", WORKSPACE, "--yes"];
    let ran = env.run(&words).exits(0);
    assert_eq!(ran.out.lines().next(), Some(JOB));
    assert!(
        ran.err.contains("pushed as template \"Vendas\" (vendas)"),
        "{}",
        ran.err
    );
    assert_eq!(writes(&server), [IMPORT, &apply_route(PUSHED)]);
    let received = server.received();
    let import = received
        .iter()
        .find(|one| one.line() == IMPORT)
        .expect("import");
    assert_eq!(import.body, tiny());
    assert!(import.header("idempotency-key").is_some());
}

#[test]
fn a_file_that_the_catalog_holds_is_not_pushed_again() {
    // As a server gives it back: without the envelope's order, with its own visibility.
    let mut stored: Value = serde_json::from_str(&tiny()).expect("JSON");
    stored["manifest"]["visibility"] = json!("public");
    let held = |package: &Value| {
        taking(empty(), &json!({}))
            .on("GET /v1/templates", [page(&[record(TEMPLATE, "vendas")])])
            .on(
                &format!("GET /v1/templates/{TEMPLATE}/package"),
                [Response::json(package)],
            )
            .on(&plan_route(TEMPLATE), [Response::json(&plan(&json!({})))])
            .on(&apply_route(TEMPLATE), [started()])
            .serve()
    };
    let server = held(&stored);
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &tiny());
    let words = ["apply", "p.json", "--workspace", WORKSPACE, "--yes"];
    let ran = env.run(&words).exits(0);
    assert!(
        ran.err.contains("holds this package already"),
        "{}",
        ran.err
    );
    assert_eq!(writes(&server), [apply_route(TEMPLATE)]);
    let document = env
        .run(&[
            "plan",
            "p.json",
            "--workspace",
            WORKSPACE,
            "--format",
            "json",
        ])
        .exits(0)
        .json();
    assert_eq!(document["template_id"], TEMPLATE);
}

#[test]
fn a_file_takes_the_place_of_the_template_that_it_replaces() {
    let mut stored: Value = serde_json::from_str(&tiny()).expect("JSON");
    stored["manifest"]["label"] = json!("Other");
    let replace = format!("PUT /v1/templates/{TEMPLATE}/package");
    let holding = |planned: &Value, started: Response| {
        taking(empty(), &json!({}))
            .on("GET /v1/templates", [page(&[record(TEMPLATE, "vendas")])])
            .on(
                &format!("GET /v1/templates/{TEMPLATE}/package"),
                [Response::json(&stored)],
            )
            .on(&replace, [Response::json(&record(TEMPLATE, "vendas"))])
            .on(&plan_route(TEMPLATE), [Response::json(planned)])
            .on(&apply_route(TEMPLATE), [started])
            .serve()
    };
    let clean = plan(&json!({}));
    let server = holding(&clean, started());
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &tiny());
    let words = [
        "plan",
        "p.json",
        "--workspace",
        WORKSPACE,
        "--format",
        "json",
    ];
    let ran = env.run(&words).exits(0);
    let expected = "replaces template \"Sales\" (vendas, 1.0.0);";
    assert!(ran.err.contains(expected), "{}", ran.err);
    let document = ran.json();
    assert_eq!(document["template_id"], TEMPLATE);
    assert_eq!(document["replaces"], true);
    assert_eq!(writes(&server), [plan_route(TEMPLATE)]);
    let received = server.received();
    let last = received.last().expect("asked");
    let body: Value = serde_json::from_str(&last.body).expect("JSON");
    let file: Value = serde_json::from_str(&tiny()).expect("JSON");
    assert_eq!(
        (&body["package"], &body["workspaceId"]),
        (&file, &json!(WORKSPACE))
    );

    // A plan that was saved replaces it, and nothing else is done than it showed.
    let save = [
        "plan",
        "p.json",
        "--workspace",
        WORKSPACE,
        "--out",
        "x.plan",
    ];
    env.run(&save).exits(0);
    let server = holding(&clean, started());
    let env = env.set("TPLKIT_URL", &server.url);
    let ran = env.run(&["apply", "x.plan"]);
    ran.exits(2);
    let apply = ["apply", "p.json", "--workspace", WORKSPACE, "--yes"];
    env.run(&apply).exits(0);
    assert_eq!(
        writes(&server),
        [plan_route(TEMPLATE), replace.clone(), apply_route(TEMPLATE)]
    );
    // What would be refused replaces nothing; what is refused after all is put back.
    let refusal = json!({"code": "rows_unmatched", "ref": "f_notes", "detail": "Twice."});
    let refused = plan(&json!({"refusals": [refusal]}));
    let server = holding(&refused, started());
    let env = env.set("TPLKIT_URL", &server.url);
    env.run(&apply).exits(1);
    assert_eq!(writes(&server), [plan_route(TEMPLATE)]);
    let server = holding(&clean, Response::problem(422, "rows_unmatched"));
    let env = env.set("TPLKIT_URL", &server.url);
    let ran = env.run(&apply).exits(1);
    assert!(ran.err.contains("has the package again"), "{}", ran.err);
    assert_eq!(
        writes(&server)[1..],
        [replace.clone(), apply_route(TEMPLATE), replace.clone()]
    );
    // Another one on request.
    let server = holding(&clean, started());
    let env = env.set("TPLKIT_URL", &server.url);
    env.run(&[&apply[..], &["--new"]].concat()).exits(0);
    assert_eq!(writes(&server), [IMPORT, &apply_route(PUSHED)]);
    env.run(&["plan", TEMPLATE, "--workspace", WORKSPACE, "--new"])
        .exits(2);
}

#[test]
fn a_template_whose_apply_is_refused_does_not_stay() {
    let refused = [Response::problem(422, "mapping_required")];
    let delete = format!("DELETE /v1/templates/{PUSHED}");
    let server = taking(empty(), &json!({}))
        .on(&apply_route(PUSHED), refused)
        .serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &tiny());
    let words = ["apply", "p.json", "--workspace", WORKSPACE, "--yes"];
    let ran = env.run(&words).exits(1);
    assert!(ran.err.contains("out of the catalog again"), "{}", ran.err);
    assert_eq!(writes(&server), [IMPORT, &apply_route(PUSHED), &delete]);
    // A job that may have begun needs its template.
    let server = taking(empty(), &json!({}))
        .on(&apply_route(PUSHED), [Response::hang_up()])
        .serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &tiny());
    env.run(&words).exits(5);
    assert!(!writes(&server).contains(&delete), "{:?}", writes(&server));
}

#[test]
fn whoever_may_not_push_sees_why() {
    let server = taking(empty(), &json!({}))
        .on(
            "POST /v1/templates/import",
            [Response::problem(403, "forbidden")],
        )
        .serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &tiny());
    let words = ["apply", "p.json", "--workspace", WORKSPACE, "--yes"];
    let ran = env.run(&words).exits(4);
    assert!(ran.err.contains("role `admin`"), "{}", ran.err);
    assert_eq!(writes(&server), [IMPORT]);
    let document = env
        .run(&[&words[..], &["--format", "json"]].concat())
        .exits(4)
        .json();
    assert_eq!(document["errors"][0]["code"], "forbidden");
    assert!(
        document["errors"][0]["help"]
            .as_str()
            .is_some_and(|help| help.contains("admin"))
    );
}
