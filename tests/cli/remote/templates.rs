//! `tplkit template`: the catalog.

use serde_json::{Value, json};

use super::TestEnv;
use super::routes::{ORGANIZATION, PUSHED, Routes, TEMPLATE, page, record};
use crate::scripted::Response;
use crate::support::case;
use crate::support::tiny;

fn holding(package: &str) -> Routes {
    let stranger = json!({"id": "t2", "scope": "module"});
    Routes::new()
        .on(
            "GET /v1/templates",
            [page(&[record(TEMPLATE, "vendas"), stranger])],
        )
        .on(
            &format!("GET /v1/templates/{TEMPLATE}/package"),
            [Response::text(200, package)],
        )
        .on(
            "GET /v1/organizations",
            [page(&[json!({"id": ORGANIZATION, "label": "Acme"})])],
        )
        .on(
            "POST /v1/templates/import",
            [Response::text(201, &record(PUSHED, "vendas").to_string())],
        )
        .on(
            &format!("PUT /v1/templates/{TEMPLATE}/package"),
            [Response::json(&record(TEMPLATE, "vendas"))],
        )
}

#[test]
fn templates_are_listed() {
    let server = holding("").serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env
        .run(&[
            "template",
            "list",
            "--scope",
            "workspace",
            "--visibility",
            "org",
        ])
        .exits(0);
    let first = ran.out.lines().nth(1).unwrap_or_default();
    assert!(first.starts_with("Sales     vendas"), "{}", ran.out);
    assert!(!ran.out.contains(TEMPLATE), "{}", ran.out);
    assert_eq!(ran.out.lines().count(), 3);
    assert_eq!(
        server.lines(),
        ["GET /v1/templates?scope=workspace&visibility=org&limit=200"]
    );
    let document = env
        .run(&["template", "list", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(document["data"]["items"][0], record(TEMPLATE, "vendas"));
}

#[test]
fn a_package_comes_back_in_canonical_form() {
    let compact: Value = serde_json::from_str(&tiny()).expect("JSON");
    let server = holding(&compact.to_string()).serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &tiny());
    env.run(&["fmt", "p.json"]).exits(0);
    let canonical = env.place.read("p.json");
    assert_eq!(
        env.run(&["template", "pull", "vendas"]).exits(0).out,
        canonical
    );
    env.run(&["template", "pull", TEMPLATE, "-o", "q.json"])
        .exits(0);
    assert_eq!(env.place.read("q.json"), canonical);
    let document = env
        .run(&["template", "pull", TEMPLATE, "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(
        (&document["template_id"], &document["text"]),
        (&json!(TEMPLATE), &json!(canonical))
    );
    // It is shown as a file is.
    let shown = env.run(&["template", "show", "vendas"]).exits(0).out;
    let file = env.run(&["show", "p.json"]).exits(0).out;
    assert_eq!(shown, file);
    let verbose = env.run(&["template", "show", "vendas", "-v"]).exits(0).out;
    assert_eq!(verbose, format!("Template {TEMPLATE}\n{file}"));
    let document = env
        .run(&["template", "show", TEMPLATE, "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(document["package"]["name"], "vendas");

    for body in ["<html>", "[]", "{\"a\":1,\"a\":2}"] {
        let server = holding(body).serve();
        let env = TestEnv::with_key(&server.url);
        env.run(&["template", "pull", TEMPLATE, "--format", "json"])
            .exits(1)
            .json();
        env.run(&["template", "show", TEMPLATE, "--format", "json"])
            .exits(1)
            .json();
    }
}

#[test]
fn a_template_is_pulled_into_a_folder_and_pushed_from_it() {
    let server = holding(&tiny()).serve();
    let env = TestEnv::with_key(&server.url);
    env.run(&["template", "pull", TEMPLATE, "-o", "lay/"])
        .exits(0);
    env.run(&["check", "lay"]).exits(0);
    let whole = env.run(&["pack", "lay"]).exits(0).out;
    let pulled = env.run(&["template", "pull", TEMPLATE]).exits(0).out;
    assert_eq!(whole, pulled);
    // Once more, into the folder that is there.
    env.run(&["template", "pull", TEMPLATE, "-o", "lay"])
        .exits(0);
    env.run(&["template", "push", "lay", "--new"]).exits(0);
    let received = server.received();
    let sent = received
        .iter()
        .rev()
        .find(|one| one.line().starts_with("POST"));
    let sent: Value = serde_json::from_str(&sent.expect("import").body).expect("JSON");
    let expected: Value = serde_json::from_str(&whole).expect("JSON");
    assert_eq!(sent, expected);
    // Of a part of a package nothing is sent.
    env.place.write("lay/views/more.json", "{}");
    let before = server.lines().len();
    let ran = env.run(&["template", "push", "lay"]).exits(1);
    assert!(ran.out.contains("J010"), "{}", ran.out);
    assert_eq!(server.lines().len(), before);
}

#[test]
fn a_package_is_pushed_or_put_in_the_place_of_another() {
    let server = holding("").serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &tiny());
    let ran = env.run(&["template", "push", "p.json", "--new"]).exits(0);
    assert_eq!(ran.out, format!("{PUSHED}\n"));
    let expected = "template \"Sales\" (vendas) is created";
    assert!(ran.err.contains(expected), "{}", ran.err);
    let import = format!("POST /v1/templates/import?organization_id={ORGANIZATION}");
    let received = server.received();
    let sent = received
        .iter()
        .find(|one| one.line() == import)
        .expect("import");
    assert_eq!(sent.body, tiny());

    let words = [
        "template", "push", "p.json", "--id", TEMPLATE, "--format", "json",
    ];
    let document = env.run(&words).exits(0).json();
    assert_eq!(document["template"]["id"], TEMPLATE);
    assert_eq!(document["action"], "replaced");
    let last = server.lines().pop();
    assert_eq!(last, Some(format!("PUT /v1/templates/{TEMPLATE}/package")));
    env.run(&[
        "template",
        "push",
        "p.json",
        "--id",
        TEMPLATE,
        "--organization",
        "o",
    ])
    .exits(2);

    let push = |organization| {
        let words = ["template", "push", "p.json", "--organization", organization];
        env.run(&words)
    };
    let ran = push("0198c0de-0000-7000-8000-00000000beef").exits(0);
    assert!(ran.err.contains("is created"), "{}", ran.err);
    let ran = push("Akme").exits(2);
    assert!(ran.err.contains("Did you mean `Acme`?"), "{}", ran.err);
    let several = page(&[json!({"id": "o1", "label": "A"}), json!({"id": "o2"})]);
    let server = holding("").on("GET /v1/organizations", [several]).serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &tiny());
    let ran = env.run(&["template", "push", "p.json"]).exits(2);
    assert!(ran.err.contains("\n  A\n  o2\n"), "{}", ran.err);
}

#[test]
fn what_a_server_finds_is_reported_with_its_places() {
    let body = json!({"code": "validation_failed", "detail": "the package has errors", "errors": [
        {"path": "/manifest/items/0", "code": "I004", "message": "no ref"}]});
    let refused = Response::text(422, &body.to_string());
    let server = holding("")
        .on("POST /v1/templates/import", [refused])
        .serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &tiny());
    let ran = env.run(&["template", "push", "p.json", "--new"]).exits(1);
    assert!(
        ran.err.contains("/manifest/items/0: no ref (I004)"),
        "{}",
        ran.err
    );

    let server = holding("")
        .on(
            "POST /v1/templates/import",
            [Response::problem(403, "forbidden")],
        )
        .serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &tiny());
    let ran = env.run(&["template", "push", "p.json", "--new"]).exits(4);
    assert!(ran.err.contains("`admin`"), "{}", ran.err);
}

#[test]
fn who_may_not_promote_to_system_asks_who_runs_the_server() {
    let patch = format!("PATCH /v1/templates/{TEMPLATE}");
    let server = holding("")
        .on(&patch, [Response::problem(403, "forbidden")])
        .serve();
    let env = TestEnv::with_key(&server.url);
    let words = ["template", "promote", TEMPLATE, "--to", "system"];
    let ran = env.run(&words).exits(4);
    assert!(ran.err.contains("whoever runs the server"), "{}", ran.err);
    assert!(
        !ran.err.contains("admin of the organization"),
        "{}",
        ran.err
    );
}

#[test]
fn a_template_is_promoted_or_every_broken_rule_is_reported() {
    let patch = format!("PATCH /v1/templates/{TEMPLATE}");
    let server = holding("")
        .on(&patch, [Response::json(&record(TEMPLATE, "vendas"))])
        .serve();
    let env = TestEnv::with_key(&server.url);
    env.run(&["template", "promote", "vendas", "--to", "system"])
        .exits(0);
    env.run(&[
        "template", "promote", TEMPLATE, "--to", "org", "--format", "json",
    ])
    .exits(0);
    let received = server.received();
    let bodies: Vec<&str> = received
        .iter()
        .filter(|one| one.line() == patch)
        .map(|one| one.body.as_str())
        .collect();
    assert_eq!(
        bodies,
        [r#"{"visibility":"system"}"#, r#"{"visibility":"org"}"#]
    );
    env.run(&["template", "promote", TEMPLATE, "--to", "everybody"])
        .exits(2);

    let body = json!({"code": "promotion_failed", "detail": "two rules are broken", "errors": [
        {"path": "/manifest/items/3/count", "code": "P004", "message": "11 is not 10"},
        {"path": "/payloads/1", "code": "P005", "message": "nothing declares it"}]});
    let server = holding("")
        .on(&patch, [Response::text(422, &body.to_string())])
        .serve();
    let env = TestEnv::with_key(&server.url);
    let words = ["template", "promote", TEMPLATE, "--to", "system"];
    let ran = env.run(&words).exits(1);
    assert!(
        ran.err
            .contains("/manifest/items/3/count: 11 is not 10 (P004)"),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains("/payloads/1: nothing declares it (P005)"),
        "{}",
        ran.err
    );
    let document = env
        .run(&[&words[..], &["--format", "json"]].concat())
        .exits(1)
        .json();
    assert_eq!(document["errors"][0]["errors"][1]["code"], "P005");
}

#[test]
fn a_template_is_deleted() {
    let delete = format!("DELETE /v1/templates/{TEMPLATE}");
    let server = holding("").on(&delete, [Response::text(204, "")]).serve();
    let env = TestEnv::with_key(&server.url);
    env.run(&["template", "delete", "vendas", "--yes"]).exits(0);
    assert_eq!(server.lines().pop(), Some(delete.clone()));
    let server = holding("")
        .on(&delete, [Response::problem(403, "forbidden")])
        .serve();
    TestEnv::with_key(&server.url)
        .run(&["template", "delete", TEMPLATE, "--yes"])
        .exits(4);
    let ran = TestEnv::new()
        .set("TPLKIT_URL", &server.url)
        .run(&["template", "list", "--format", "json"]);
    assert_eq!(ran.exits(4).json()["outcome"], "failed");
}

#[test]
fn what_goes_out_of_the_catalog_is_shown_and_needs_a_yes() {
    let package = std::fs::read_to_string(case("valid/base-links.json")).expect("fixture");
    let package: serde_json::Value = serde_json::from_str(&package).expect("JSON");
    let mut whole = record(TEMPLATE, "vendas");
    whole["manifest"] = package["manifest"].clone();
    let server = holding("")
        .on(
            &format!("GET /v1/templates/{TEMPLATE}"),
            [Response::json(&whole)],
        )
        .serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&["template", "delete", "vendas"]).exits(2);
    assert!(
        ran.err.contains("vendas") && ran.err.contains("--yes"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains(" row"), "{}", ran.err);
    let words = ["template", "delete", TEMPLATE, "--format", "json"];
    let document = env.run(&words).exits(2).json();
    let tables = &document["errors"][0]["losses"]["tables"];
    assert!(
        tables.as_array().is_some_and(|tables| !tables.is_empty()),
        "{document}"
    );
    assert!(
        server
            .lines()
            .iter()
            .all(|line| !line.starts_with("DELETE"))
    );
}
