//! Decisions and plans that are kept: saved plans of files, and resolutions against a workspace.

use serde_json::{Value, json};

use super::Desk;
use super::files::{built, empty, links, taking, writes};
use super::routes::{PUSHED, TEMPLATE, WORKSPACE, apply_route, page, record};
use crate::scripted::Response;
use crate::support::tiny;

/// What the workspace's own plan of the small package is, as a server would give it.
fn plan_document(desk: &Desk) -> Value {
    let words = [
        "plan",
        "p.json",
        "--workspace",
        WORKSPACE,
        "--format",
        "json",
    ];
    let mut plan = desk.run(&words).exits(0).json()["plan"].clone();
    plan["digest"] = json!("that of the server");
    plan
}

#[test]
fn a_saved_plan_of_a_file_is_held_against_everything() {
    let first_server = taking(empty(), &json!({})).serve();
    let first = Desk::with_key(&first_server.url);
    first.place.write("p.json", &tiny());
    let report = plan_document(&first);

    let mut other = report.clone();
    other["rename"] =
        json!([{"kind": "feature", "ref": "f_notes", "from": "notes", "to": "notes_2"}]);
    for (planned, exit) in [(&report, 0), (&other, 6)] {
        let server = taking(empty(), planned).serve();
        let desk = Desk::with_key(&server.url);
        desk.place.write("p.json", &tiny());
        desk.run(&[
            "plan",
            "p.json",
            "--workspace",
            WORKSPACE,
            "-o",
            "saved.json",
        ])
        .exits(0);
        assert_eq!(writes(&server), Vec::<String>::new());
        desk.run(&["apply", "saved.json"]).exits(exit);
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
        desk.place
            .write("p.json", &tiny().replace("Vendas", "Outras"));
        let before = writes(&server);
        let ran = desk.run(&["apply", "saved.json"]).exits(6);
        assert!(ran.err.contains("has changed since"), "{}", ran.err);
        assert_eq!(writes(&server), before);
    }

    // The workspace is another one.
    let server = taking(built(&tiny()), &report).serve();
    let desk = Desk::with_key(&server.url);
    desk.place.write("p.json", &tiny());
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
    desk.place.write("saved.json", &saved);
    let ran = desk.run(&["apply", "saved.json"]).exits(6);
    assert!(ran.err.contains("the workspace has changed"), "{}", ran.err);
    assert_eq!(writes(&server), Vec::<String>::new());
}

/// The files of a folder may be laid out anew, as long as they hold the same package.
#[test]
fn a_saved_plan_of_a_folder_is_bound_to_its_content() {
    let first_server = taking(empty(), &json!({})).serve();
    let first = Desk::with_key(&first_server.url);
    first.place.write("p.json", &tiny());
    let server = taking(empty(), &plan_document(&first)).serve();
    let desk = Desk::with_key(&server.url);
    desk.place.write("p.json", &tiny());
    desk.run(&["unpack", "p.json", "lay"]).exits(0);
    let words = ["plan", "lay", "--workspace", WORKSPACE, "-o", "saved.json"];
    desk.run(&words).exits(0);
    let column = "lay/columns/notes_title.json";
    let text = desk.place.read(column);
    let other = text.replace("\"Title\"", "\"Headline\"");
    assert_ne!(other, text);
    desk.place.write(column, &other);
    let ran = desk.run(&["apply", "saved.json"]).exits(6);
    assert!(ran.err.contains("has changed since"), "{}", ran.err);
    assert_eq!(writes(&server), Vec::<String>::new());
    let same: String = text.lines().map(str::trim).collect();
    desk.place.write(column, &same);
    desk.run(&["apply", "saved.json"]).exits(0);
    assert_eq!(writes(&server).last(), Some(&apply_route(PUSHED)));
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
    let desk = Desk::with_key(&before.url);
    desk.place.write("p.json", &links());
    desk.place.write("r.toml", &resolutions);
    let words = [
        "plan",
        "p.json",
        "--workspace",
        WORKSPACE,
        "--resolutions",
        "r.toml",
    ];
    desk.run(&[&words[..], &["-o", "saved.json"]].concat())
        .exits(0);
    // To the command it is the same server: only the table is not there any more.
    let saved = desk
        .place
        .read("saved.json")
        .replace(&before.url, &after.url);
    let desk = Desk::with_key(&after.url);
    desk.place.write("saved.json", &saved);
    let path = serde_json::from_str::<Value>(&saved).expect("JSON")["package"]["path"].clone();
    std::fs::write(path.as_str().expect("a path"), links()).expect("the package is where it was");
    let ran = desk.run(&["apply", "saved.json"]).exits(6);
    assert!(ran.err.contains("plan again"), "{}", ran.err);
    let document = desk
        .run(&["apply", "saved.json", "--format", "json"])
        .exits(6)
        .json();
    assert_eq!(document["outcome"], "failed");
    assert_eq!(writes(&after), Vec::<String>::new());
}

#[test]
fn a_refused_plan_is_not_saved() {
    let server = taking(empty(), &json!({})).serve();
    let desk = Desk::with_key(&server.url);
    desk.place.write("l.json", &links());
    let words = [
        "plan",
        "l.json",
        "--workspace",
        WORKSPACE,
        "--out",
        "saved.json",
    ];
    desk.run(&words).exits(1);
    assert!(!desk.place.path("saved.json").exists());
    let ran = desk.feed(
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
    let desk = Desk::with_key(&server.url);
    desk.place.write("p.json", &links());
    for subject in ["p.json", "vendas", TEMPLATE] {
        let words = ["resolve", "suggest", subject, "--workspace", WORKSPACE];
        let ran = desk.run(&words).exits(0);
        assert!(ran.out.contains("f_carriers\n  "), "{}", ran.out);
        let words = ["resolve", "init", subject, "--workspace", WORKSPACE];
        let ran = desk.run(&words).exits(0);
        assert!(ran.out.contains("# candidate "), "{}", ran.out);
        let words = ["resolve", "check", subject, "--workspace", WORKSPACE];
        let ran = desk.run(&words).exits(1);
        assert!(
            ran.out.contains("mapping_required f_carriers"),
            "{}",
            ran.out
        );
    }
    desk.place.write("r.toml", "[resolutions.f_carriers]\naction = \"map\"\nid = \"00000000-0000-4000-8000-000000000000\"\n");
    let words = [
        "resolve",
        "check",
        "vendas",
        "r.toml",
        "--workspace",
        WORKSPACE,
    ];
    let ran = desk.run(&words).exits(1);
    assert!(
        ran.out.contains("mapping_feature_not_found f_carriers"),
        "{}",
        ran.out
    );
    desk.run(&["resolve", "suggest", "p.json"]).exits(2);
    desk.run(&[
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
