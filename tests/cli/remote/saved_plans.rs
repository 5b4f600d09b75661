//! Decisions and plans that are kept: saved plans of files, and resolutions against a workspace.

use serde_json::{Value, json};

use super::TestEnv;
use super::files::{built, empty, links, taking, writes};
use super::routes::{
    PUSHED, TEMPLATE, WORKSPACE, apply_route, page, plan, plan_route, record, started,
};
use crate::scripted::Response;
#[cfg(target_os = "linux")]
use crate::support::Ran;
use crate::support::tiny;

/// What the workspace's own plan of the small package is, as a server would give it.
fn plan_document(env: &TestEnv) -> Value {
    let words = [
        "plan",
        "p.json",
        "--workspace",
        WORKSPACE,
        "--format",
        "json",
    ];
    let mut plan = env.run(&words).exits(0).json()["plan"].clone();
    plan["digest"] = json!("that of the server");
    plan
}

#[test]
fn a_saved_plan_of_a_file_is_held_against_everything() {
    let first_server = taking(empty(), &json!({})).serve();
    let first = TestEnv::with_key(&first_server.url);
    first.place.write("p.json", &tiny());
    let report = plan_document(&first);

    let mut other = report.clone();
    other["rename"] =
        json!([{"kind": "feature", "ref": "f_notes", "from": "notes", "to": "notes_2"}]);
    for (planned, exit) in [(&report, 0), (&other, 6)] {
        let server = taking(empty(), planned).serve();
        let env = TestEnv::with_key(&server.url);
        env.place.write("p.json", &tiny());
        env.run(&[
            "plan",
            "p.json",
            "--workspace",
            WORKSPACE,
            "-o",
            "saved.json",
        ])
        .exits(0);
        assert_eq!(writes(&server), Vec::<String>::new());
        env.run(&["apply", "saved.json"]).exits(exit);
        let received = server.received();
        let applied = received
            .iter()
            .find(|one| one.line() == apply_route(PUSHED));
        let body = applied.map(|one| serde_json::from_str::<Value>(&one.body).expect("JSON"));
        let digest = body.map(|body| body["plan"].clone());
        let (expected, last) = match exit {
            0 => (Some(json!("that of the server")), apply_route(PUSHED)),
            _ => (None, format!("DELETE /v1/templates/{PUSHED}")),
        };
        assert_eq!(digest, expected);
        assert_eq!(writes(&server).last(), Some(&last));

        // The file is another one.
        env.place
            .write("p.json", &tiny().replace("Vendas", "Outras"));
        let before = writes(&server);
        let ran = env.run(&["apply", "saved.json"]).exits(6);
        assert!(ran.err.contains("has changed since"), "{}", ran.err);
        assert_eq!(writes(&server), before);
    }

    // The workspace is another one.
    let server = taking(built(&tiny()), &report).serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &tiny());
    first
        .run(&[
            "plan",
            "p.json",
            "--workspace",
            WORKSPACE,
            "-o",
            "saved.json",
        ])
        .exits(0);
    let saved = first
        .place
        .read("saved.json")
        .replace(&first_server.url, &server.url);
    env.place.write("saved.json", &saved);
    let ran = env.run(&["apply", "saved.json"]).exits(6);
    assert!(ran.err.contains("the workspace has changed"), "{}", ran.err);
    assert_eq!(writes(&server), Vec::<String>::new());
}

/// The files of a folder may be laid out anew, as long as they hold the same package.
#[test]
fn a_saved_plan_of_a_folder_is_bound_to_its_content() {
    let first_server = taking(empty(), &json!({})).serve();
    let first = TestEnv::with_key(&first_server.url);
    first.place.write("p.json", &tiny());
    let server = taking(empty(), &plan_document(&first)).serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &tiny());
    env.run(&["unpack", "p.json", "lay"]).exits(0);
    let words = ["plan", "lay", "--workspace", WORKSPACE, "-o", "saved.json"];
    env.run(&words).exits(0);
    let column = "lay/columns/notes_title.json";
    let text = env.place.read(column);
    let other = text.replace("\"Title\"", "\"Headline\"");
    assert_ne!(other, text);
    env.place.write(column, &other);
    let ran = env.run(&["apply", "saved.json"]).exits(6);
    assert!(ran.err.contains("has changed since"), "{}", ran.err);
    assert_eq!(writes(&server), Vec::<String>::new());
    let same: String = text.lines().map(str::trim).collect();
    env.place.write(column, &same);
    env.run(&["apply", "saved.json"]).exits(0);
    assert_eq!(writes(&server).last(), Some(&apply_route(PUSHED)));
}

/// So may a file, in which somebody has written keys of configs in an order of their own.
#[test]
fn a_saved_plan_of_a_file_is_bound_to_its_content() {
    let first_server = taking(empty(), &json!({})).serve();
    let first = TestEnv::with_key(&first_server.url);
    first.place.write("p.json", &tiny());
    let server = taking(empty(), &plan_document(&first)).serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &tiny());
    let words = ["plan", "p.json", "--workspace", WORKSPACE, "-o", "x.plan"];
    env.run(&words).exits(0);
    env.run(&["fmt", "p.json"]).exits(0);
    assert_ne!(env.place.read("p.json"), tiny());
    let formatted = env.place.read("p.json");
    env.place
        .write("p.json", &formatted.replace("\"Title\"", "\"Headline\""));
    let ran = env.run(&["apply", "x.plan"]).exits(6);
    let changed = ran.err.contains("p.json` has changed since");
    assert!(changed, "{}", ran.err);
    env.place.write("p.json", &formatted);
    env.run(&["apply", "x.plan"]).exits(0);
    assert_eq!(writes(&server).last(), Some(&apply_route(PUSHED)));
}

/// What a push replaces is the package that the plan was made against, or nothing is pushed.
#[test]
fn a_saved_plan_replaces_no_other_package_than_the_one_it_was_made_against() {
    let replace = format!("PUT /v1/templates/{TEMPLATE}/package");
    let held = |label: &str| {
        let mut package: Value = serde_json::from_str(&tiny()).expect("JSON");
        package["manifest"]["label"] = json!(label);
        Response::json(&package)
    };
    for (now, exit, why) in [
        (held("Before"), 0, "is replaced"),
        (held("Pushed meanwhile"), 6, "holds another package"),
        (
            Response::problem(404, "not_found"),
            6,
            "no longer in the catalog",
        ),
    ] {
        // Who plans looks twice: at what is replaced, and at its version.
        let server = taking(empty(), &json!({}))
            .on("GET /v1/templates", [page(&[record(TEMPLATE, "vendas")])])
            .on(
                &format!("GET /v1/templates/{TEMPLATE}/package"),
                [held("Before"), held("Before"), now],
            )
            .on(&replace, [Response::json(&record(TEMPLATE, "vendas"))])
            .on(&plan_route(TEMPLATE), [Response::json(&plan(&json!({})))])
            .on(&apply_route(TEMPLATE), [started()])
            .serve();
        let env = TestEnv::with_key(&server.url);
        env.place.write("p.json", &tiny());
        let words = ["plan", "p.json", "--workspace", WORKSPACE, "-o", "x.plan"];
        env.run(&words).exits(0);
        let ran = env.run(&["apply", "x.plan"]).exits(exit);
        assert!(ran.err.contains(why), "{}", ran.err);
        let pushed = writes(&server).contains(&replace);
        let applied = writes(&server).contains(&apply_route(TEMPLATE));
        assert_eq!((pushed, applied), (exit == 0, exit == 0));

        // A plan of an earlier program does not say what it replaces.
        let mut saved: Value = serde_json::from_str(&env.place.read("x.plan")).expect("JSON");
        let members = saved.as_object_mut().expect("an object");
        assert!(members.remove("replaced").is_some());
        env.place.write("x.plan", &saved.to_string());
        let before = server.lines().len();
        let ran = env.run(&["apply", "x.plan"]).exits(2);
        assert!(ran.err.contains("plan again"), "{}", ran.err);
        assert_eq!(server.lines().len(), before);
    }
}

#[test]
fn a_suggested_command_can_be_pasted() {
    let server = taking(empty(), &json!({})).serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("a b/l.json", &links());
    env.place.write("a b/p.json", &tiny());
    for (package, exit, suggested) in [
        ("a b/p.json", 0, "apply 'a b/é x.plan'"),
        ("a b/l.json", 1, "resolve init 'a b/l.json' --workspace"),
    ] {
        let words = ["plan", package, "--workspace", WORKSPACE];
        let ran = env.run(&[&words[..], &["-o", "a b/é x.plan"]].concat());
        let ran = ran.exits(exit);
        let suggested = format!("`tplkit {suggested}");
        assert!(ran.err.contains(&suggested), "{}", ran.err);
    }
}

/// JSON holds no path that is not UTF-8: nothing is saved, and the command says so.
#[cfg(target_os = "linux")]
#[test]
fn a_path_that_a_plan_cannot_hold_is_named() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let server = taking(empty(), &json!({})).serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &tiny());
    let name = OsStr::from_bytes(b"p\xff.json");
    let path = env.place.dir.path().join(name);
    std::fs::rename(env.place.path("p.json"), path).expect("renames");
    for form in ["text", "json"] {
        let words = ["plan", "--workspace", WORKSPACE, "--format", form];
        let mut command = env.command(&words);
        command.args(["-o", "x.plan"]).arg(name);
        let ran = Ran::from(command.output().expect("run")).exits(2);
        let named = ran.err.contains("p\u{fffd}.json` is not UTF-8");
        assert!(named && !ran.err.contains("is saved"), "{}", ran.err);
        assert!(!env.place.path("x.plan").exists());
    }
}

/// A file that no template holds is not pushed next to a template of its own id.
#[test]
fn a_saved_plan_of_a_new_template_makes_no_second_one() {
    let text = {
        let mut package: Value = serde_json::from_str(&tiny()).expect("JSON");
        package["manifest"]["id"] = json!("sales");
        package.to_string()
    };
    let first_server = taking(empty(), &json!({})).serve();
    let first = TestEnv::with_key(&first_server.url);
    first.place.write("p.json", &text);
    let report = plan_document(&first);
    let mut theirs = record(TEMPLATE, "theirs");
    theirs["manifest"] = json!({"id": "sales", "name": "theirs"});
    let [none, one] = [page(&[]), page(&[record(TEMPLATE, "theirs")])];
    let two = page(&[record(TEMPLATE, "theirs"), record(PUSHED, "theirs")]);
    for (now, more, exit) in [
        (&none, &[][..], 0),
        (&one, &[], 6),
        (&two, &[], 6),
        (&one, &["--new"], 0),
    ] {
        // With `--new` nobody looks what there is.
        let mut lists = vec![none.clone(); usize::from(more.is_empty())];
        lists.push(now.clone());
        let server = taking(empty(), &report)
            .on("GET /v1/templates", lists)
            .on(
                &format!("GET /v1/templates/{TEMPLATE}"),
                [Response::json(&theirs)],
            )
            .on(
                &format!("GET /v1/templates/{PUSHED}"),
                [Response::json(&theirs)],
            )
            .on(
                &format!("GET /v1/templates/{TEMPLATE}/package"),
                [Response::text(200, &links())],
            )
            .serve();
        let env = TestEnv::with_key(&server.url);
        env.place.write("p.json", &text);
        let words = ["plan", "p.json", "--workspace", WORKSPACE, "-o", "x.plan"];
        env.run(&[&words[..], more].concat()).exits(0);
        let ran = env.run(&["apply", "x.plan"]).exits(exit);
        let written = writes(&server);
        if exit == 0 {
            assert_eq!(written.last(), Some(&apply_route(PUSHED)));
        } else {
            assert!(ran.err.contains("by now"), "{}", ran.err);
            assert_eq!(written, Vec::<String>::new());
        }
    }
}

/// What a plan maps to may go before it is carried out.
#[test]
fn a_plan_whose_mapped_table_went_is_stale() {
    let far = links()
        .replace("\"countries\"", "\"x\"")
        .replace("\"clients\"", "\"carriers\"");
    let there = built(&far);
    let table = there
        .structure
        .features
        .iter()
        .find(|table| table.name == "carriers");
    let table = table.expect("a table");
    let name = table.columns.iter().find(|column| column.name == "name");
    let resolutions = format!(
        "[resolutions.f_carriers]\naction = \"map\"\nid = \"{}\"\ncolumns.c_carriers_name = \"{}\"\n",
        table.id,
        name.expect("a column").id
    );
    let mut gone = there.clone();
    gone.structure.features.retain(|kept| kept.id != table.id);
    let (before, after) = (
        taking(there.clone(), &json!({})).serve(),
        taking(gone, &json!({})).serve(),
    );
    let env = TestEnv::with_key(&before.url);
    env.place.write("p.json", &links());
    env.place.write("r.toml", &resolutions);
    let words = [
        "plan",
        "p.json",
        "--workspace",
        WORKSPACE,
        "--resolutions",
        "r.toml",
    ];
    env.run(&[&words[..], &["-o", "saved.json"]].concat())
        .exits(0);
    // To the command it is the same server: only the table is not there any more.
    let saved = env
        .place
        .read("saved.json")
        .replace(&before.url, &after.url);
    let env = TestEnv::with_key(&after.url);
    env.place.write("saved.json", &saved);
    let path = serde_json::from_str::<Value>(&saved).expect("JSON")["package"]["path"].clone();
    std::fs::write(path.as_str().expect("a path"), links()).expect("the package is where it was");
    let ran = env.run(&["apply", "saved.json"]).exits(6);
    assert!(ran.err.contains("plan again"), "{}", ran.err);
    let document = env
        .run(&["apply", "saved.json", "--format", "json"])
        .exits(6)
        .json();
    assert_eq!(document["outcome"], "failed");
    assert_eq!(writes(&after), Vec::<String>::new());
}

#[test]
fn a_refused_plan_is_not_saved() {
    let server = taking(empty(), &json!({})).serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("l.json", &links());
    let words = [
        "plan",
        "l.json",
        "--workspace",
        WORKSPACE,
        "--out",
        "saved.json",
    ];
    env.run(&words).exits(1);
    assert!(!env.place.path("saved.json").exists());
    let ran = env.feed(
        &["plan", "-", "--workspace", WORKSPACE, "--out", "saved.json"],
        &tiny(),
    );
    assert!(ran.exits(2).err.contains("standard input"));
}

#[test]
fn a_workspace_of_the_server_is_decided_against() {
    let far = links()
        .replace("\"countries\"", "\"x\"")
        .replace("\"clients\"", "\"carriers\"")
        .replace("\"Clients\"", "\"Carriers\"");
    let server = taking(built(&far), &json!({}))
        .on("GET /v1/templates", [page(&[record(TEMPLATE, "vendas")])])
        .on(
            &format!("GET /v1/templates/{TEMPLATE}/package"),
            [Response::text(200, &links())],
        )
        .serve();
    let env = TestEnv::with_key(&server.url);
    env.place.write("p.json", &links());
    for subject in ["p.json", "vendas", TEMPLATE] {
        let words = ["resolve", "suggest", subject, "--workspace", WORKSPACE];
        let ran = env.run(&words).exits(0);
        assert!(ran.out.contains("f_carriers\n  "), "{}", ran.out);
        let words = ["resolve", "init", subject, "--workspace", WORKSPACE];
        let ran = env.run(&words).exits(0);
        assert!(ran.out.contains("# candidate "), "{}", ran.out);
        let words = ["resolve", "check", subject, "--workspace", WORKSPACE];
        let ran = env.run(&words).exits(1);
        assert!(
            ran.out.contains("mapping_required f_carriers"),
            "{}",
            ran.out
        );
    }
    env.place.write("r.toml", "[resolutions.f_carriers]\naction = \"map\"\nid = \"00000000-0000-4000-8000-000000000000\"\n");
    let words = [
        "resolve",
        "check",
        "vendas",
        "r.toml",
        "--workspace",
        WORKSPACE,
    ];
    let ran = env.run(&words).exits(1);
    assert!(
        ran.out.contains("mapping_feature_not_found f_carriers"),
        "{}",
        ran.out
    );
    env.run(&["resolve", "suggest", "p.json"]).exits(2);
    env.run(&[
        "resolve",
        "check",
        "p.json",
        "--workspace",
        WORKSPACE,
        "--into",
        "x",
    ])
    .exits(2);
    assert_eq!(writes(&server), Vec::<String>::new());
}
