//! `tplkit plan --upgrade`, `apply --upgrade`, `report --upgrade`: what is asked of the server, how the commands end,
//! and what they show.

use serde_json::{Value, json};

use super::TestEnv;
use super::routes::{
    JOB, ORGANIZATION, Routes, TEMPLATE, WORKSPACE, apply_route, catalog, job, job_document, page,
    plan, plan_route, record, started,
};
use crate::scripted::{Received, Response, Scripted};
use crate::support::{case, tiny};
use crate::terminal::Terminal;

const COLUMN: &str = "0198c0de-0000-7000-8000-0000000000c1";

/// The plan of an upgrade that nothing is against.
pub(super) fn quiet() -> Value {
    plan(&json!({
        "create": [], "rows": {},
        "bind": [{"kind": "column", "ref": "c_city", "id": COLUMN, "name": "city"}],
        "base": {"job_id": JOB, "semver": "1.0.0"},
        "update": [
            {"kind": "column", "ref": "c_city", "id": COLUMN, "path": "config.required", "before": null, "after": true},
            {"kind": "column", "ref": "c_name", "id": JOB, "path": "label", "before": "Name", "after": "Full name"},
            {"kind": "column", "ref": "c_city", "id": COLUMN, "path": "icon", "before": "a", "after": "b"},
        ],
        "conflicts": [], "kept": [], "left": [], "renames": [], "unused": [],
    }))
}

/// The same with conflicts.
pub(super) fn asking() -> Value {
    let mut plan = quiet();
    plan["refusals"] = json!([{"code": "upgrade_conflicts", "ref": null, "detail": "decide"}]);
    plan["conflicts"] = json!([
        {"code": "changed", "kind": "column", "ref": "c_city", "id": COLUMN, "path": "label",
         "base": "City", "theirs": "Place", "ours": "Town"},
        {"code": "changed", "kind": "view", "ref": "v_list", "id": JOB, "path": "config.linked",
         "base": null, "theirs": "x", "ours": {"a": [COLUMN, 1.5]}, "absent": ["base"]},
        {"code": "changed", "kind": "column", "ref": "c_city", "id": COLUMN, "path": "config.help",
         "base": "h", "theirs": "i", "ours": null, "absent": ["ours"]},
        {"code": "removed_here", "kind": "view", "ref": "v_old", "id": JOB, "path": null,
         "base": null, "theirs": null, "ours": null},
        {"code": "required_empty", "kind": "column", "ref": "c_name", "id": JOB, "path": "config.required",
         "base": null, "theirs": true, "ours": null, "count": 12, "places": [JOB], "absent": ["base", "ours"]},
    ]);
    plan
}

pub(super) fn serve(plan: &Value) -> Scripted {
    catalog([job("completed")])
        .on(&plan_route(TEMPLATE), [Response::json(plan)])
        .serve()
}

/// The first body that was sent to a route.
pub(super) fn body(server: &Scripted, route: &str) -> Value {
    let received = server.received();
    let found = received.iter().find(|one: &&Received| one.line() == route);
    let body = found.map(|one| serde_json::from_str(&one.body).expect("JSON"));
    body.unwrap_or_default()
}

pub(super) fn words<'w>(command: &'w str, more: &[&'w str]) -> Vec<&'w str> {
    let head = [command, TEMPLATE, "--workspace", WORKSPACE, "--upgrade"];
    [&head[..], more].concat()
}

#[test]
fn flags_of_an_upgrade_need_it() {
    let env = TestEnv::with_key("http://127.0.0.1:1");
    for command in ["plan", "apply", "report"] {
        for flags in [
            &["--base", "p.json"][..],
            &["--job", JOB],
            &["--allow-downgrade"],
            &["--allow-destructive"],
            &["--conflicts", "ours"],
        ] {
            let words = [command, TEMPLATE, "--workspace", WORKSPACE];
            env.run(&[&words[..], flags].concat()).exits(2);
        }
    }
    env.run(&words("plan", &["--conflicts", "mine"])).exits(2);
    env.run(&words("plan", &["--job", "mine"])).exits(2);
    // Not a terminal, and nobody said yes.
    env.run(&words("apply", &[])).exits(2);
}

#[test]
fn a_plan_asks_with_what_was_said_and_shows_leaves_by_record() {
    let server = serve(&quiet());
    let env = TestEnv::with_key(&server.url);
    env.place.write(
        "r.toml",
        "[decisions.c_city]\nlabel = { take = \"ours\", ours = \"Town\" }\n",
    );
    let flags = [
        "--job",
        JOB,
        "--allow-downgrade",
        "--allow-destructive",
        "--conflicts",
        "theirs",
        "--resolutions",
        "r.toml",
    ];
    let ran = env.run(&words("plan", &flags)).exits(0);
    let sent = body(&server, &plan_route(TEMPLATE));
    let expected = json!({
        "workspaceId": WORKSPACE, "upgrade": true, "allowDowngrade": true, "allowDestructive": true,
        "baseJob": JOB, "conflicts": "theirs",
        "decisions": {"c_city": {"label": {"take": "ours", "ours": "Town"}}},
    });
    assert_eq!(sent, expected);
    let shown = "Changed\n  column \"city\", c_city\n    config.required: (none) → true\n    icon: \"a\" → \"b\"\n  column c_name\n    label: \"Name\" → \"Full name\"\n";
    assert!(ran.out.contains(shown), "{}", ran.out);
    env.run(&words("plan", &["--exit-code"])).exits(1);
    let as_json = words("plan", &["--exit-code", "--format", "json"]);
    let document = env.run(&as_json).exits(1).json();
    assert_eq!(document["outcome"], "findings");
    let nothing = plan(&json!({"create": [], "rows": {}}));
    let server = serve(&nothing);
    let env = TestEnv::with_key(&server.url);
    env.run(&words("plan", &["--exit-code"])).exits(0);
    let document = env.run(&as_json).exits(0).json();
    assert_eq!(document["outcome"], "clean");
}

#[test]
fn cells_that_are_left_out_are_counted() {
    let mut plan = asking();
    plan["conflicts_more"] = 1_500.into();
    let server = serve(&plan);
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&words("plan", &[])).exits(1);
    for part in ["1505 conflicts", "# and 1500 more cells"] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.out);
    }
    let ran = env.run(&words("plan", &["--format", "md"])).exits(1);
    for part in ["1505 conflicts", "… and 1500 more cells."] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.out);
    }
    env.run(&words("report", &["-o", "u.html"]));
    let page = std::fs::read_to_string(env.place.path("u.html")).expect("a page");
    for part in ["1505 conflicts", "… and 1500 more cells."] {
        assert!(page.contains(part), "{part}\n{page}");
    }
}

#[test]
fn conflicts_stand_first_with_their_values_and_the_line_that_decides() {
    let server = serve(&asking());
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&words("plan", &["-o", "saved.json"])).exits(1);
    assert!(!env.place.path("saved.json").exists());
    let shown = "[decisions.\"c_city\"]\n# column \"city\" (changed)\n# base: \"City\"\n# theirs: \"Place\"\n# ours: \"Town\"\n# \"label\" = { take = \"ours\", ours = \"Town\" }\n";
    assert!(ran.out.contains(shown), "{}", ran.out);
    let conflicts = ran.out.find("[decisions").expect("conflicts");
    let changed = ran.out.find("Changed").expect("changes");
    assert!(conflicts < changed, "{}", ran.out);
    assert!(ran.err.contains("resolve init"), "{}", ran.err);
    let document = env
        .run(&words("plan", &["--format", "json"]))
        .exits(1)
        .json();
    assert_eq!(document["outcome"], "findings");
    assert_eq!(document["plan"]["conflicts"][0]["path"], "label");
}

#[test]
fn what_an_upgrade_is_about_is_called_by_its_label() {
    let package = std::fs::read_to_string(case("valid/base-links.json")).expect("fixture");
    let mut package: Value = serde_json::from_str(&package).expect("JSON");
    let items = package["manifest"]["items"].as_array_mut().expect("items");
    items[0]["ref"] = "c_city".into();
    items[0]["label"] = "City\u{202e}".into();
    let mut whole = record(TEMPLATE, "sales");
    whole["manifest"] = package["manifest"].take();
    let mut planned = asking();
    planned["kept"] = json!([{"kind": "column", "ref": "c_city", "id": COLUMN, "path": "order",
        "base": 1, "ours": 2, "because": "decided"}]);
    planned["left"] = json!([{"kind": "feature", "ref": "f_old", "id": JOB, "name": "old", "label": "Old table",
        "rows": 2, "delete": false}]);
    planned["renames"] =
        json!([{"kind": "column", "ref": "c_city", "from": "c_town", "id": COLUMN}]);
    let server = catalog([job("completed")])
        .on(&plan_route(TEMPLATE), [Response::json(&planned)])
        .on(
            &format!("GET /v1/templates/{TEMPLATE}"),
            [Response::json(&whole)],
        )
        .serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&words("plan", &[])).exits(1);
    for line in [
        "# column \"City\\u{202e}\" (changed)",
        "  column \"City\\u{202e}\", c_city\n    config.required: (none) → true",
        "  column \"City\\u{202e}\", c_city order: 2 (decided)",
        "  table \"Old table\", f_old",
        "  column c_town → \"City\\u{202e}\", c_city: decide",
    ] {
        assert!(ran.out.contains(line), "{line}\n{}", ran.out);
    }
    let ran = env.run(&words("plan", &["--format", "md"])).exits(1);
    assert!(ran.out.contains("#### column City"), "{}", ran.out);
    assert!(ran.out.contains("table Old table `f_old`"), "{}", ran.out);
    let ran = env.run(&words("report", &[])).exits(0);
    assert!(ran.out.contains("column City"), "{}", ran.out);
}

#[test]
fn markdown_folds_and_is_bounded() {
    let mut long = asking();
    let leaf = |at: usize| json!({"kind": "view", "ref": format!("v_{at}"), "id": JOB, "path": "label", "before": "a|b", "after": "x"});
    long["update"] = (0..300).map(leaf).collect();
    let server = serve(&long);
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&words("plan", &["--format", "md"])).exits(1);
    // An item has six lines, and none of them is cut.
    assert!(
        (195..=200).contains(&ran.out.lines().count()),
        "{}",
        ran.out
    );
    let (_, changed) = ran.out.split_once("### Changed").expect("changes");
    let headings = changed.lines().filter(|line| line.starts_with("#### view"));
    let headings = headings.count();
    assert!(ran.out.starts_with("**Plan for"), "{}", ran.out);
    for part in [
        "<details><summary>",
        "#### column city `c_city`",
        "| Path | Before | After | Base | Why |",
        "| `label` | `\"Town\"` | `\"Place\"` | `\"City\"` | changed |",
        "| Path | Before | After |\n|---|---|---|\n",
        "more items, ",
    ] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.out);
    }
    let listed = ran
        .out
        .lines()
        .filter(|line| line.starts_with("| `label` | `\"a\\|b\"`"));
    let listed = listed.count();
    assert_eq!(listed, headings);
    let [items, lines] = left_out(&ran.out);
    // What comes after the changes is left out, too: an item a line.
    assert!(
        items == lines && (300 - listed..310 - listed).contains(&items),
        "{}",
        ran.out
    );
    assert!(ran.out.ends_with("\n</details>\n"), "{}", ran.out);
    let server = serve(&quiet());
    let ran = TestEnv::with_key(&server.url)
        .run(&words("plan", &["--format", "md"]))
        .exits(0);
    assert!(ran.out.lines().count() < 30, "{}", ran.out);
    assert!(!ran.out.contains("more item"), "{}", ran.out);
    // Of a record that has no room on its own the first leaves are shown.
    let leaf = |at: usize| json!({"kind": "view", "ref": "v_all", "id": JOB, "path": format!("config.{at}"), "before": 1, "after": 2});
    long["update"] = (0..300).map(leaf).collect();
    let server = serve(&long);
    let ran = TestEnv::with_key(&server.url)
        .run(&words("plan", &["--format", "md"]))
        .exits(1);
    assert_eq!(ran.out.lines().count(), 200, "{}", ran.out);
    let (_, changed) = ran.out.split_once("### Changed").expect("changes");
    let listed = changed
        .lines()
        .filter(|line| line.starts_with("| `config."));
    let listed = listed.count();
    let [items, lines] = left_out(&ran.out);
    assert_eq!(lines - (items - 1), 300 - listed, "{}", ran.out);
}

/// How many more items and lines a comment says there are.
fn left_out(out: &str) -> [usize; 2] {
    let line = out.lines().find(|line| line.starts_with("… and"));
    let words = line.expect("a line").split(' ');
    let numbers: Vec<usize> = words.filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().expect("two numbers")
}

#[test]
fn an_apply_sends_the_plan_that_it_saw_or_begins_nothing() {
    let server = serve(&quiet());
    let env = TestEnv::with_key(&server.url);
    env.run(&words("apply", &["--yes"])).exits(0);
    let sent = body(&server, &apply_route(TEMPLATE));
    assert_eq!(
        sent,
        json!({"workspaceId": WORKSPACE, "upgrade": true, "plan": "d1"})
    );
    for more in [&["--yes"][..], &["--dry-run"]] {
        let server = serve(&asking());
        let env = TestEnv::with_key(&server.url);
        let ran = env.run(&words("apply", more)).exits(1);
        assert!(ran.out.contains("[decisions.\"c_city\"]"), "{}", ran.out);
        assert_eq!(body(&server, &apply_route(TEMPLATE)), Value::Null);
    }
}

#[test]
fn an_upgrade_without_changes_exits_0() {
    let nothing = plan(&json!({"create": [], "rows": {}}));
    let server = serve(&nothing);
    let env = TestEnv::with_key(&server.url);
    env.run(&words("apply", &["--yes"])).exits(0);
    env.run(&words("apply", &["--dry-run"])).exits(0);
    env.run(&words("plan", &[])).exits(0);
}

#[test]
fn what_people_changed_meanwhile_is_a_partial_end() {
    let moved = json!([
        {"kind": "column", "ref": "c_city", "id": COLUMN, "path": "label"},
        {"ref": "f_clients", "uid": "u_1", "id": JOB, "column": "city"},
    ]);
    let report = json!({"rows": {}, "published": 0, "unresolved": [], "errors": [],
        "structure_updated": 1, "moved": moved});
    let done = || Response::json(&job_document("completed", &json!({"report": report})));
    let server = catalog([done(), done(), done()])
        .on(&plan_route(TEMPLATE), [Response::json(&quiet())])
        .serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&words("apply", &["--yes"])).exits(68);
    assert!(
        ran.err.contains("2 values changed by people meanwhile"),
        "{}",
        ran.err
    );
    for part in ["c_city", "label", "f_clients", "city"] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.out);
    }
    let words = words("apply", &["--yes", "--format", "json"]);
    let document = env.run(&words).exits(68).json();
    assert_eq!(document["outcome"], "partial");
    assert_eq!(document["job"]["report"]["moved"], moved, "{document}");
    env.run(&["job", "watch", JOB]).exits(68);
}

#[test]
fn a_package_that_people_went_by_is_sent_along() {
    let env = |planned: &Value| {
        let server = serve(planned);
        let env = TestEnv::with_key(&server.url);
        env.place.write("old.json", &tiny());
        env.place.run(&["unpack", "old.json", "old"]).exits(0);
        (server, env)
    };
    let based =
        plan(&json!({"create": [], "rows": {}, "base": {"job_id": null, "semver": "1.0.0"}}));
    for base in ["old.json", "old"] {
        for command in [
            words("plan", &["--base", base]),
            words("report", &["--base", base, "-o", "u.html"]),
            words("apply", &["--base", base, "--yes"]),
            [
                &["resolve", "init", TEMPLATE, "--workspace", WORKSPACE][..],
                &["--upgrade", "--base", base, "-o", "r.toml"],
            ]
            .concat(),
        ] {
            let (server, env) = env(&based);
            env.run(&command).exits(0);
            let sent = body(&server, &plan_route(TEMPLATE));
            assert_eq!(
                (
                    &sent["upgrade"],
                    &sent["base"]["manifest"]["templateVersion"]
                ),
                (&json!(true), &json!(2)),
                "{command:?}"
            );
            if command[0] == "apply" {
                let sent = body(&server, &apply_route(TEMPLATE));
                assert_eq!(sent["base"]["manifest"]["templateVersion"], 2);
            }
        }
    }
    // Refused, with the code of the server.
    for code in ["base_unrelated", "base_exists"] {
        let mut refused = based.clone();
        refused["refusals"] = json!([{"code": code, "ref": null, "detail": "no base"}]);
        let (server, env) = env(&refused);
        let ran = env.run(&words("plan", &["--base", "old.json"])).exits(1);
        assert!(ran.out.contains(code), "{}", ran.out);
        env.run(&words("apply", &["--base", "old.json", "--yes"]))
            .exits(1);
        assert_eq!(body(&server, &apply_route(TEMPLATE)), Value::Null);
    }
    // What only the server finds names the file.
    let document = json!({"code": "validation_failed",
    "detail": "/base/manifest/items/0: no ref; /base: odd",
    "errors": [
        {"path": "/base/manifest/items/0", "code": "I004", "message": "no ref"},
        {"path": "/base", "code": "J003", "message": "odd"},
        {"path": "workspaceId", "code": "validation_failed", "message": "is none"},
    ]});
    let refused = || Response::text(422, &document.to_string());
    let server = catalog([job("completed")])
        .on(&plan_route(TEMPLATE), [refused()])
        .serve();
    let fresh_env = TestEnv::with_key(&server.url);
    fresh_env.place.write("old.json", &tiny());
    let ran = fresh_env
        .run(&words("plan", &["--base", "old.json"]))
        .exits(1);
    for line in [
        "old.json: /manifest/items/0: no ref (I004)",
        "old.json: odd (J003)",
        "workspaceId: is none",
    ] {
        assert!(ran.err.contains(line), "{line}\n{}", ran.err);
    }
    assert!(!ran.err.contains("/base"), "{}", ran.err);
    // A file that is not a package is not sent.
    let (server, env) = env(&based);
    env.place.write("broken.json", "{\"templateVersion\": 2}");
    for command in ["plan", "apply"] {
        let base = |path| words(command, &["--base", path, "--format", "json"]);
        let yes = |words: Vec<&'static str>| match command {
            "apply" => [&words[..], &["--yes"]].concat(),
            _ => words,
        };
        let ran = env.run(&yes(base("broken.json"))).exits(1);
        assert!(ran.out.contains("broken.json"), "{}", ran.out);
        env.run(&yes(base("nowhere.json"))).exits(2);
    }
    env.run(&words("plan", &["--base", "old.json", "--job", JOB]))
        .exits(2);
    assert_eq!(body(&server, &plan_route(TEMPLATE)), Value::Null);
}

#[test]
fn a_plan_says_when_the_version_did_not_rise() {
    let version = |text: &str| tiny().replace("Vendas", text);
    let server = replaced_from(&quiet(), &tiny());
    let env = TestEnv::with_key(&server.url);
    let file = |more: &[&'static str]| {
        let head = ["plan", "p.json", "--workspace", WORKSPACE, "--upgrade"];
        [&head[..], more].concat()
    };
    env.place.write("p.json", &version("Outras"));
    let ran = env.run(&file(&["--require-version-bump"])).exits(1);
    assert!(ran.err.contains("the content changed"), "{}", ran.err);
    let as_json = file(&["--require-version-bump", "--format", "json"]);
    let document = env.run(&as_json).exits(1).json();
    assert_eq!(document["outcome"], "findings");
    env.run(&file(&[])).exits(0);
    // Nothing changed.
    env.place.write("p.json", &version("Vendas"));
    env.run(&file(&["--require-version-bump"])).exits(0);
    assert!(writes(&server).is_empty());
}

/// A catalog with a template that the small package replaces.
fn replaced(planned: &Value) -> Scripted {
    replaced_from(planned, "{}")
}

/// The same with the package that it has.
fn replaced_from(planned: &Value, stored: &str) -> Scripted {
    let mut template = record(TEMPLATE, "vendas");
    template["manifest"] = json!({"name": "vendas"});
    let workspace =
        json!({"id": WORKSPACE, "organization_id": ORGANIZATION, "name": "w", "label": "W"});
    Routes::new()
        .on("GET /v1/templates", [page(&[record(TEMPLATE, "vendas")])])
        .on(
            &format!("GET /v1/templates/{TEMPLATE}"),
            [Response::json(&template)],
        )
        .on(
            &format!("GET /v1/templates/{TEMPLATE}/package"),
            [Response::text(200, stored)],
        )
        .on(
            &format!("PUT /v1/templates/{TEMPLATE}/package"),
            [Response::json(&record(TEMPLATE, "vendas"))],
        )
        .on(
            &format!("GET /v1/workspaces/{WORKSPACE}"),
            [Response::json(&workspace)],
        )
        .on(&plan_route(TEMPLATE), [Response::json(planned)])
        .on(&apply_route(TEMPLATE), [started()])
        .on(&format!("GET /v1/template-jobs/{JOB}"), [job("completed")])
        .serve()
}

fn writes(server: &Scripted) -> Vec<String> {
    let lines = server.lines().into_iter();
    lines
        .filter(|line| !line.starts_with("GET ") && !line.ends_with("/plan"))
        .collect()
}

#[test]
fn a_file_means_the_template_that_it_replaces_and_a_refused_upgrade_pushes_nothing() {
    let file = |command: &'static str, more: &[&'static str]| {
        let head = [command, "p.json", "--workspace", WORKSPACE, "--upgrade"];
        [&head[..], more].concat()
    };
    let server = replaced(&quiet());
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &tiny());
    env.run(&file("plan", &[])).exits(0);
    env.run(&file("plan", &["--template", TEMPLATE])).exits(0);
    assert!(writes(&server).is_empty());
    let sent = body(&server, &plan_route(TEMPLATE));
    assert_eq!(sent["upgrade"], true);
    assert_eq!(sent["package"]["manifest"]["templateVersion"], 2);
    env.run(&file("apply", &["--yes"])).exits(0);
    let put = format!("PUT /v1/templates/{TEMPLATE}/package");
    assert_eq!(writes(&server), [put, apply_route(TEMPLATE)]);

    let server = replaced(&asking());
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &tiny());
    env.run(&file("apply", &["--yes"])).exits(1);
    assert!(writes(&server).is_empty());
}

#[test]
fn a_file_that_no_template_holds_has_no_base() {
    let server = super::files::taking(super::files::empty(), &json!({})).serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &tiny());
    for (command, more) in [("plan", &[][..]), ("apply", &["--yes"])] {
        let head = [
            command,
            "p.json",
            "--workspace",
            WORKSPACE,
            "--upgrade",
            "--format",
            "json",
        ];
        let document = env.run(&[&head[..], more].concat()).exits(1).json();
        assert_eq!(
            document["plan"]["refusals"][0]["code"], "no_base",
            "{document}"
        );
    }
    assert_eq!(super::files::writes(&server), Vec::<String>::new());
}

#[test]
fn a_saved_upgrade_is_carried_out_as_it_was_or_not_at_all() {
    let server = serve(&quiet());
    let env = TestEnv::with_key(&server.url);
    env.place.write("old.json", &tiny());
    env.run(&words("plan", &["--base", "old.json", "-o", "saved.json"]))
        .exits(0);
    let sent = body(&server, &plan_route(TEMPLATE));
    assert_eq!(sent["base"]["manifest"]["templateVersion"], 2);
    env.run(&["apply", "saved.json", "--upgrade"]).exits(2);
    env.run(&["apply", "saved.json"]).exits(0);
    let sent = body(&server, &apply_route(TEMPLATE));
    assert_eq!(
        (&sent["plan"], &sent["upgrade"]),
        (&json!("d1"), &json!(true))
    );
    assert_eq!(sent["base"]["manifest"]["templateVersion"], 2);
    // The base is another file by now.
    env.place
        .write("old.json", &tiny().replace("Vendas", "Outras"));
    env.run(&["apply", "saved.json"]).exits(6);
    // The server's plan is another one.
    let moved = catalog([job("completed")])
        .on(&plan_route(TEMPLATE), [Response::json(&quiet())])
        .on(
            &apply_route(TEMPLATE),
            [Response::problem(409, "plan_stale")],
        )
        .serve();
    let env = TestEnv::with_key(&moved.url);
    env.run(&words("plan", &["-o", "saved.json"])).exits(0);
    env.run(&["apply", "saved.json"]).exits(6);
}

#[test]
fn a_base_job_that_is_none_is_named() {
    let server = catalog([job("completed")])
        .on(
            &plan_route(TEMPLATE),
            [
                Response::problem(404, "not_found"),
                Response::json(&quiet()),
            ],
        )
        .serve();
    let env = TestEnv::with_key(&server.url);
    let ran = env.run(&words("plan", &["--job", JOB])).exits(1);
    assert!(
        ran.err.contains("`--job`") && ran.err.contains("tplkit job list"),
        "{}",
        ran.err
    );
}

#[test]
fn a_page_shows_the_sides_next_to_each_other() {
    let server = serve(&asking());
    let env = TestEnv::with_key(&server.url);
    env.run(&words("report", &["-o", "u.html"])).exits(0);
    let page = env.place.read("u.html");
    for part in [
        "<th scope=\"col\">Base</th><th scope=\"col\">New</th><th scope=\"col\">Destination</th>",
        "Conflicts",
        "Town",
        "default-src 'none'",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    env.run(&["report", TEMPLATE, "--upgrade"]).exits(2);
}

#[test]
fn a_terminal_asks_about_each_conflict() {
    let mut first = asking();
    first["conflicts"] = json!([first["conflicts"][0].clone()]);
    let server = catalog([job("completed")])
        .on(
            &plan_route(TEMPLATE),
            [Response::json(&first), Response::json(&quiet())],
        )
        .serve();
    let env = TestEnv::with_key(&server.url);
    let line = words("apply", &[]).join(" ");
    let Some(mut terminal) = Terminal::around(&env.command(&[]), &line) else {
        return;
    };
    terminal.shows("ours: \"Town\"");
    terminal.shows("> decide later");
    // Down from the last is the first.
    terminal.press("\u{1b}[B");
    terminal.shows("> ours");
    terminal.press("\r");
    terminal.shows("Apply it?");
    terminal.press("y\r");
    let (code, shown) = terminal.ends();
    assert_eq!(code, Some(0), "{shown}");
    let sent = body(&server, &apply_route(TEMPLATE));
    assert_eq!(
        sent["decisions"],
        json!({"c_city": {"label": {"take": "ours", "ours": "Town"}}})
    );

    let server = serve(&first);
    let env = TestEnv::with_key(&server.url);
    let Some(mut terminal) = Terminal::around(&env.command(&[]), &line) else {
        return;
    };
    terminal.shows("> decide later");
    terminal.press("\r");
    assert_eq!(terminal.ends().0, Some(1));
}
