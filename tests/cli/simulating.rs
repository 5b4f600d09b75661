//! `tplkit simulate`.

use serde_json::Value;

use crate::support::{Place, case, faulty, tiny};

fn links() -> String {
    std::fs::read_to_string(case("valid/base-links.json")).expect("fixture")
}

/// Decisions for everything that the package with links does not bring.
const DECIDED: &str = "[resolutions.f_countries]\naction = \"import\"\n\n\
                       [resolutions.f_carriers]\naction = \"skip\"\n";

#[test]
fn a_package_is_applied_again_and_undone() {
    let place = Place::with(&[("p.json", &tiny())]);
    let ran = place.run(&["simulate", "p.json"]).exits(0);
    assert!(ran.out.contains("3 inserted"), "{}", ran.out);
    assert!(
        ran.out.contains("Again: 0 changes, 3 rows known"),
        "{}",
        ran.out
    );
    assert!(
        ran.out
            .contains("Undo: the workspace is what it was before"),
        "{}",
        ran.out
    );
    let document = place
        .run(&["simulate", "p.json", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(document["outcome"], "clean");
    assert_eq!(document["report"]["rows"]["f_notes"]["inserted"], 3);
    // What did not happen is not counted: nothing was deferred, and all ids are in the ledger.
    let notes = &document["report"]["rows"]["f_notes"];
    assert_eq!(notes["recorded"], 3);
    assert!(notes.get("linked").is_none(), "{notes}");
    assert_eq!(notes["failed"], 0);
    let again = &document["again"]["report"]["rows"]["f_notes"];
    assert!(again.get("recorded").is_none(), "{again}");
    assert_eq!(document["again"]["report"]["rows"]["f_notes"]["skipped"], 3);
    assert_eq!(
        document["again"]["report"]["rows"]["f_notes"]["inserted"],
        0
    );
    assert_eq!(document["again"]["changed"], false);
    assert_eq!(document["undo"]["restored"], true);
    assert_eq!(document["plan"]["rows"]["f_notes"]["insert"], 3);
    let digest = document["plan"]["digest"].as_str().expect("a digest");
    assert_eq!(digest.len(), 64);
}

#[test]
fn what_is_not_decided_is_refused_all_at_once() {
    let keyless = links().replacen(
        "\"keyColumn\":\"number\",\"keyUnique\":true",
        "\"keyColumn\":null,\"keyUnique\":false",
        1,
    );
    assert_ne!(keyless, links());
    let place = Place::with(&[("p.json", &keyless), ("r.toml", DECIDED)]);
    let ran = place.run(&["simulate", "p.json"]).exits(1);
    assert!(
        ran.out.contains("mapping_required f_carriers"),
        "{}",
        ran.out
    );
    assert!(
        ran.err.contains("tplkit resolve init p.json"),
        "{}",
        ran.err
    );
    let document = place
        .run(&[
            "simulate",
            "p.json",
            "--format=json",
            "--rows-mode",
            "f_orders=missingByKey",
        ])
        .exits(1)
        .json();
    assert_eq!(document["outcome"], "findings");
    let refusals = document["refusals"].as_array().expect("a list");
    let reported: Vec<_> = refusals
        .iter()
        .map(|refusal| (&refusal["code"], &refusal["ref"]))
        .collect();
    assert_eq!(reported.len(), 2, "{reported:?}");
    assert!(
        reported
            .iter()
            .any(|reported| *reported.0 == "mapping_required" && *reported.1 == "f_carriers")
    );
    assert!(
        reported
            .iter()
            .any(|reported| *reported.0 == "rows_mode_without_key" && *reported.1 == "f_orders")
    );
    place
        .run(&["simulate", "p.json", "--resolutions", "r.toml"])
        .exits(0);
}

#[test]
fn skipped_dependencies_are_reported_field_by_field() {
    let place = Place::with(&[("p.json", &links()), ("r.toml", DECIDED)]);
    let document = place
        .run(&[
            "simulate",
            "p.json",
            "--resolutions",
            "r.toml",
            "--format",
            "json",
        ])
        .exits(0)
        .json();
    let entries = document["report"]["unresolved"].as_array().expect("a list");
    let of = |reason: &str| -> Vec<&Value> {
        let found = entries.iter().filter(|entry| entry["reason"] == reason);
        found.collect()
    };
    let skipped = of("dependencia_saltada");
    assert!(!skipped.is_empty());
    assert!(skipped.iter().all(|entry| entry["ref"] == "f_carriers"));
    // What the package itself could not carry is distinguished.
    let brought = of("tabela_alvo_sem_linhas");
    assert_eq!(brought.len(), 1);
    assert_eq!(brought[0]["source"], "package");
}

#[test]
fn a_mapped_entity_gets_a_stand_in() {
    let map = "[resolutions.f_carriers]\naction = \"map\"\n\
               id = \"0198d0c4-6d0b-7a56-9c0e-3b1f7a2c4d5e\"\n\
               columns = { c_carriers_name = \"0198d0c4-6d0b-7a56-9c0e-3b1f7a2c4d5f\" }\n";
    let place = Place::with(&[("p.json", &links()), ("r.toml", map)]);
    let ran = place
        .run(&["simulate", "p.json", "--resolutions", "r.toml"])
        .exits(0);
    assert!(ran.err.contains("stand-in"), "{}", ran.err);
}

#[test]
fn names_of_the_destination_are_respected() {
    let place = Place::with(&[("p.json", &tiny())]);
    let document = place
        .run(&["simulate", "p.json", "--into", "p.json", "--format", "json"])
        .exits(0)
        .json();
    let renamed = document["report"]["renamed"].as_array().expect("a list");
    assert!(
        renamed
            .iter()
            .any(|entry| entry["ref"] == "f_notes" && entry["to"] == "notes_2"),
        "{renamed:?}"
    );
    // A saved workspace is a destination too.
    place
        .run(&["simulate", "p.json", "--save", "w.json", "-qq"])
        .exits(0);
    let again = place
        .run(&["simulate", "p.json", "--into", "w.json", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(again["report"]["renamed"], document["report"]["renamed"]);
}

#[test]
fn rows_can_be_left_out() {
    let place = Place::with(&[("p.json", &tiny())]);
    for words in [
        &["simulate", "p.json", "--format=json", "--no-rows"][..],
        &["simulate", "p.json", "--format=json", "--rows-mode", "none"],
        &[
            "simulate",
            "p.json",
            "--format=json",
            "--rows-mode",
            "$f_notes=none",
        ],
    ] {
        let document = place.run(words).exits(0).json();
        assert_eq!(
            document["report"]["rows"]["f_notes"]["inserted"], 0,
            "{words:?}"
        );
    }
    place
        .run(&["simulate", "p.json", "--rows-mode", "some"])
        .exits(2);
}

/// Three rows of a table with a unique column, two of them the same.
const TWICE: &str = r#"{"templateVersion":1,"plan":{"planVersion":1,
"id":"u_0198c0de-0000-4000-8000-000000000001","summary":"Codes","target":{"workspaceId":"$workspace"},
"metadata":{"source":"hand","generatedAt":"2026-01-01T00:00:00Z"},"externalRefs":[],"steps":[
{"uid":"u_0198c0de-0000-4000-8000-000000000002","tool":"create_feature","ref":"f_codes",
 "args":{"workspaceId":"$workspace","name":"codes","label":"Codes"}},
{"uid":"u_0198c0de-0000-4000-8000-000000000003","tool":"create_column","ref":"c_codes_code",
 "args":{"featureId":"$f_codes","name":"code","label":"Code","type":"text",
 "defaultComponent":"textfield","order":1,"config":{"unique":true}}},
{"uid":"u_0198c0de-0000-4000-8000-000000000004","tool":"insert_rows","args":{"featureId":"$f_codes",
 "rows":[{"data":{"code":"a"}},{"data":{"code":"b"}},{"data":{"code":"a"}}]}}]}}"#;

#[test]
fn rows_that_fail_are_a_partial_apply() {
    let place = Place::with(&[("p.json", TWICE)]);
    place.run(&["check", "p.json"]).exits(0);
    let ran = place.run(&["simulate", "p.json"]).exits(68);
    assert!(ran.out.contains("2 inserted, 1 FAILED"), "{}", ran.out);
    assert!(
        ran.out.contains("f_codes row 2: rows[2].data.code: "),
        "{}",
        ran.out
    );
    let message = "error: applied in part: 1 row failed\n";
    assert!(ran.err.contains(message), "{}", ran.err);
    let words = ["simulate", "p.json", "--format", "json"];
    let document = place.run(&words).exits(68).json();
    assert_eq!(document["outcome"], "partial");
    let planned = &document["plan"]["rows"]["f_codes"];
    let done = &document["report"]["rows"]["f_codes"];
    assert_eq!(
        (&planned["failed"], &done["failed"]),
        (&1.into(), &1.into())
    );
    // It is the rows that are accepted, not what is wrong otherwise.
    let words = [&words[..], &["--accept-failed-rows"]].concat();
    assert_eq!(place.run(&words).exits(0).json()["outcome"], "clean");
    place
        .run(&["simulate", "p.json", "--accept-failed-rows"])
        .exits(0);
}

#[test]
fn what_cannot_be_used_is_reported() {
    let place = Place::with(&[
        ("bad.json", &faulty()),
        ("p.json", &tiny()),
        ("r.toml", "[resolutions.f_x]\naction = \"keep\"\n"),
        ("unknown.toml", "[resolutions.f_x]\naction = \"skip\"\n"),
        ("plain.json", "[]"),
    ]);
    let ran = place.run(&["simulate", "bad.json"]).exits(1);
    assert!(ran.out.contains("M001"), "{}", ran.out);
    let ran = place
        .run(&["simulate", "p.json", "--resolutions", "r.toml"])
        .exits(2);
    assert!(ran.err.contains("r.toml"), "{}", ran.err);
    let ran = place
        .run(&["simulate", "p.json", "--resolutions", "unknown.toml"])
        .exits(1);
    assert!(
        ran.out.contains("unknown_resolution_ref f_x"),
        "{}",
        ran.out
    );
    let ran = place
        .run(&["simulate", "p.json", "--into", "plain.json"])
        .exits(2);
    assert!(ran.err.contains("plain.json"), "{}", ran.err);
    let ran = place
        .run(&["simulate", "p.json", "--into", "bad.json"])
        .exits(2);
    assert!(ran.err.contains("M001"), "{}", ran.err);
}

/// The small package with another label of its table, and a table more.
fn next() -> Value {
    let mut package: Value = serde_json::from_str(&tiny()).expect("JSON");
    let plan = &mut package["manifest"]["plan"];
    let steps = plan["steps"].as_array_mut().expect("steps");
    let table = steps.iter_mut().find(|step| step["ref"] == "f_notes");
    table.expect("a table")["args"]["label"] = "Notebook".into();
    steps.insert(1, serde_json::json!({"uid": "u_00000000-0000-4000-8000-0000000000f1", "tool": "create_feature", "ref": "f_extra",
        "args": {"workspaceId": "$workspace", "name": "extra", "label": "Extra"}}));
    let items = package["manifest"]["items"].as_array_mut().expect("items");
    items.push(serde_json::json!({"uid": "u_00000000-0000-4000-8000-0000000000f2", "kind": "feature", "ref": "f_extra", "label": "Extra"}));
    package
}

/// A workspace that has a table of that name already.
fn destination() -> Value {
    let mut package = next();
    let keep = |one: &Value| one["ref"] == "f_extra";
    let manifest = &mut package["manifest"];
    manifest["items"]
        .as_array_mut()
        .expect("items")
        .retain(keep);
    let steps = manifest["plan"]["steps"].as_array_mut();
    steps.expect("steps").retain(keep);
    package["payloads"] = serde_json::json!([]);
    package
}

#[test]
fn an_upgrade_is_tried_and_taken_back() {
    let place = Place::with(&[("old.json", &tiny()), ("new.json", &next().to_string())]);
    let upgrade = ["simulate", "new.json", "--upgrade", "--base", "old.json"];
    let ran = place.run(&upgrade).exits(0);
    for expected in [
        "Created: 1 table",
        "Changed\n  table \"Notes\", f_notes\n    label: ",
        "→ \"Notebook\"",
        "Again: 0 changes",
        "Undo: the workspace is what it was before",
    ] {
        assert!(ran.out.contains(expected), "{}", ran.out);
    }
    let json = [&upgrade[..], &["--format", "json"]].concat();
    let document = place.run(&json).exits(0).json();
    assert_eq!(document["plan"]["update"][0]["path"], "label");
    assert_eq!(document["report"]["structure_updated"], 1);
    assert_eq!(document["plan"]["base"]["job_id"], Value::Null);
}

#[test]
fn what_an_upgrade_asks_stands_first_with_the_line_to_write() {
    let place = Place::with(&[
        ("old.json", &tiny()),
        ("new.json", &next().to_string()),
        ("into.json", &destination().to_string()),
        ("r.toml", "[decisions.f_extra]\n\"*\" = \"create\"\n"),
    ]);
    let upgrade = [
        "simulate",
        "new.json",
        "--upgrade",
        "--base",
        "old.json",
        "--into",
        "into.json",
    ];
    let ran = place.run(&upgrade).exits(1);
    assert!(ran.out.contains("[decisions.\"f_extra\"]"), "{}", ran.out);
    assert!(
        ran.out.contains("# \"*\" = \"adopt\"  # or \"create\""),
        "{}",
        ran.out
    );
    let json = [&upgrade[..], &["--format", "json"]].concat();
    let document = place.run(&json).exits(1).json();
    assert_eq!(document["outcome"], "findings");
    assert_eq!(document["refusals"][0]["code"], "upgrade_conflicts");
    assert_eq!(document["plan"]["conflicts"][0]["code"], "name_taken");
    let decided = [&upgrade[..], &["--resolutions", "r.toml"]].concat();
    let ran = place.run(&decided).exits(0);
    assert!(ran.out.contains("extra -> extra_2"), "{}", ran.out);
}

#[test]
fn a_saved_workspace_is_upgraded_from_what_was_applied_there() {
    let place = Place::with(&[("old.json", &tiny()), ("new.json", &next().to_string())]);
    place
        .run(&["simulate", "old.json", "--save", "here.json"])
        .exits(0);
    let upgrade = ["simulate", "new.json", "--upgrade", "--into", "here.json"];
    let save = ["--save", "then.json", "--format", "json"];
    let document = place.run(&[&upgrade[..], &save].concat()).exits(0).json();
    assert_eq!(document["plan"]["update"][0]["path"], "label");
    assert_eq!(document["report"]["structure_updated"], 1);
    // What the upgrade did is known, too.
    let again = ["simulate", "new.json", "--upgrade", "--into", "then.json"];
    let json = [&again[..], &["--format", "json"]].concat();
    let document = place.run(&json).exits(0).json();
    assert_eq!(document["report"]["structure_updated"], 0);
    assert_eq!(document["plan"]["create"], serde_json::json!([]));
    // Nothing of that package was applied there.
    let other = tiny().replace("\"vendas\"", "\"compras\"");
    assert_ne!(other, tiny());
    place.write("other.json", &other);
    let words = ["simulate", "other.json", "--upgrade", "--into", "here.json"];
    let ran = place.run(&words).exits(2);
    assert!(ran.err.contains("--base"), "{}", ran.err);
}

#[test]
fn a_base_of_another_package_is_refused() {
    let mut other = next();
    other["manifest"]["id"] = "another".into();
    let place = Place::with(&[
        ("old.json", &other.to_string()),
        ("new.json", &next().to_string()),
    ]);
    let words = ["simulate", "new.json", "--upgrade", "--base", "old.json"];
    let ran = place.run(&words).exits(1);
    assert!(ran.out.contains("base_unrelated"), "{}", ran.out);
    assert!(ran.out.contains("the id `another`"), "{}", ran.out);
    let json = [&words[..], &["--format", "json"]].concat();
    let document = place.run(&json).exits(1).json();
    assert_eq!(document["refusals"][0]["code"], "base_unrelated");
}

#[test]
fn an_upgrade_says_what_it_lacks() {
    let place = Place::with(&[("old.json", &tiny()), ("new.json", &next().to_string())]);
    let ran = place.run(&["simulate", "new.json", "--upgrade"]).exits(2);
    assert!(ran.err.contains("--base"), "{}", ran.err);
    for flags in [
        &["--base", "old.json"][..],
        &["--conflicts", "ours"],
        &["--allow-downgrade"],
    ] {
        place
            .run(&[&["simulate", "new.json"][..], flags].concat())
            .exits(2);
    }
}

/// A package of an automation that sets a variable to a number.
fn setting(number: &str) -> String {
    let mut package: Value = serde_json::from_str(&tiny()).expect("JSON");
    let manifest = &mut package["manifest"];
    let step = serde_json::json!({"key": "var.set", "id": "stp_aaaaaaaaaaaa",
        "config": {"name": "x", "value": "(number)"}});
    let steps = manifest["plan"]["steps"].as_array_mut().expect("steps");
    let module = steps
        .iter()
        .position(|step| step["tool"] == "create_module");
    steps.insert(module.expect("a module"), serde_json::json!({"uid": "u_00000000-0000-4000-8000-0000000000f1", "tool": "create_workflow_v2", "ref": "w_a",
        "args": {"workspaceId": "$workspace", "name": "A", "label": "A", "triggerConfig": {"type": "manual"},
            "graphConfig": {"steps": [step]}, "isDraft": true, "published": true}}));
    let items = manifest["items"].as_array_mut().expect("items");
    items.push(serde_json::json!({"uid": "u_00000000-0000-4000-8000-0000000000f2", "kind": "workflow", "ref": "w_a", "label": "A",
        "stepIds": ["stp_aaaaaaaaaaaa"]}));
    package.to_string().replace("\"(number)\"", number)
}

#[test]
fn numbers_of_a_plan_keep_their_digits() {
    let place = Place::with(&[
        ("old.json", &setting("1.10")),
        ("new.json", &setting("2.50")),
    ]);
    let words = ["simulate", "new.json", "--upgrade", "--base", "old.json"];
    let ran = place
        .run(&[&words[..], &["--format", "json"]].concat())
        .exits(0);
    assert_eq!(ran.json()["plan"]["update"][0]["before"], 1.1);
    for expected in ["\"before\": 1.10,", "\"after\": 2.50\n"] {
        assert!(ran.out.contains(expected), "{}", ran.out);
    }
}
