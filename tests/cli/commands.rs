//! The commands next to `check` and `promote`.

use insta::assert_snapshot;
use serde_json::json;

use crate::support::{Place, case, tiny};

#[test]
fn explain_makes_sentences_of_fences() {
    let place = Place::new();
    let ran = place.run(&["explain", "unknown-item-kind"]).exits(0);
    assert_snapshot!(ran.out, @r#"
    # I003 unknown-item-kind

    An item's `kind` must be one of `feature`, `column`, `view`, `module`, `rail`, `workflow` and
    `rows`. Tools read what an item is from this word alone, never from the first letter of its ref;
    with an unknown word nobody can place the item in the tree of contents or find it again in the next
    edition.

    A table is called `feature`, and every view is a `view`, whatever its layout. Because the kind is
    unknown, the rules that depend on it keep quiet about this item, its children and its plan step.

    ## Failing

    In a small package, at /manifest/items/5/kind:

    ```json
    "grid"
    ```

    ## Fixed

    In a small package, at /manifest/items/5/kind:

    ```json
    "view"
    ```
    "#);
    assert_eq!(place.run(&["explain", "i003"]).exits(0).out, ran.out);
    assert!(!place.run(&["explain", "J001"]).out.contains("```json "));
    let ran = place.run(&["explain", "I03"]).exits(2);
    assert!(ran.err.contains("did you mean `I003`?"), "{}", ran.err);
}

#[test]
fn rules_are_listed() {
    let place = Place::new();
    let ran = place.run(&["rules"]).exits(0);
    assert!(
        ran.out.starts_with("J001  error    invalid-json"),
        "{}",
        ran.out
    );
    let document = place.run(&["rules", "--format", "json"]).exits(0).json();
    assert_eq!(
        document["rules"].as_array().expect("list").len(),
        ran.out.lines().count()
    );
}

#[test]
fn show_is_one_screen() {
    let place = Place::with(&[("p.json", &tiny())]);
    assert_snapshot!(place.run(&["show", "p.json"]).exits(0).out, @r#"
    Vendas, template version 2
    from workspace `Origem`, 2025-03-01T09:30:00.123Z
    8 plan steps: Creates 8 items.

    Items
      ├─ feature Notes  $f_notes
      │  ├─ column Title  $c_notes_title  text
      │  ├─ column Body  $c_notes_body  long_text
      │  ├─ column N  $c_notes_n  number
      │  ├─ rows Notes  3 rows, transactional
      │  └─ view Notes  $v_notes
      └─ module Main  $m_main
         └─ rail Home  $r_home

    Rows
      $f_notes: 3 rows of 5000, 1 KiB of 4096 KiB, within the limits; key column `title`

    Dependencies: the destination decides: none

    Unresolved: none

    Redacted: none
    "#);
    let document = place
        .run(&["show", "p.json", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(document["package"]["payloads"][0]["rows"], 3);
    assert_eq!(
        document["package"]["items"][0]["children"]
            .as_array()
            .expect("list")
            .len(),
        5
    );
}

#[test]
fn why_names_declarations_and_uses() {
    let place = Place::with(&[("p.json", &tiny())]);
    let ran = place.run(&["why", "p.json", "$v_notes"]).exits(0);
    assert_snapshot!(ran.out, @r#"
    $v_notes is declared by:
      p.json:145:18 /manifest/plan/steps/4/ref (create_view, plan step)
    $v_notes is named by:
      p.json:50:16 /manifest/items/5/ref (item `Notes` (view))
    $v_notes is used by:
      p.json:167:19 /manifest/plan/steps/6/args/config/0/views/0 (create_rail, plan step `home`)
      p.json:169:34 /manifest/plan/steps/6/args/config/0/defaultViewId (create_rail, plan step `home`)
    "#);
    assert_eq!(
        place.run(&["why", "p.json", "v_notes"]).exits(0).out,
        ran.out
    );
    let ran = place.run(&["why", "p.json", "v_note"]).exits(1);
    assert_snapshot!(ran.err, @r#"
    error: `p.json` does not know `$v_note`
      help: did you mean `$v_notes`? `tplkit show p.json` lists the refs
    "#);
    assert_eq!(ran.out, "");
}

/// A command that is suggested can be pasted, whatever the files are called.
#[test]
fn suggested_commands_quote_paths() {
    let links = std::fs::read_to_string(case("valid/base-links.json")).expect("fixture");
    let place = Place::with(&[("a b/q.json", &tiny()), ("a b/l.json", &links)]);
    for (words, code, suggested) in [
        (
            &["unpack", "a b/q.json", "a b/lay"][..],
            0,
            "pack 'a b/lay'",
        ),
        (
            &["pack", "a b/lay", "-o", "a b/new.json"],
            0,
            "check 'a b/new.json'",
        ),
        (&["pack", "a b"], 2, "unpack PKG 'a b'"),
        (&["why", "a b/q.json", "f_nothing"], 1, "show 'a b/q.json'"),
        (
            &["new", "Shed", "-o", "a b/shed.json"],
            0,
            "check 'a b/shed.json'",
        ),
        (&["simulate", "a b/l.json"], 1, "resolve init 'a b/l.json'"),
        (
            &[
                "resolve",
                "init",
                "a b/l.json",
                "--no-input",
                "-o",
                "a b/r.toml",
            ],
            0,
            "resolve check 'a b/l.json' 'a b/r.toml'",
        ),
    ] {
        let ran = place.run(words).exits(code);
        let suggested = format!("`tplkit {suggested}`");
        assert!(ran.err.contains(&suggested), "{words:?}: {}", ran.err);
    }
}

#[test]
fn a_file_that_is_no_package_cannot_be_shown() {
    let place = Place::with(&[("list.json", "[]"), ("broken.json", "{")]);
    for (name, code) in [("list.json", "J003"), ("broken.json", "J001")] {
        assert!(place.run(&["show", name]).exits(1).out.contains(code));
        assert!(place.run(&["why", name, "f_a"]).exits(1).out.contains(code));
        let document = |command| place.run(&[command, name, "--format", "json"]).json();
        assert_eq!(document("show"), document("check"), "{name}");
    }
}

#[test]
fn a_new_package_is_clean_and_promotes() {
    let place = Place::new();
    for name in ["Workshop", "Minha Oficina", "Café \"1\" & co"] {
        let ran = place.run(&["new", name]).exits(0);
        let checked = place.feed(
            &["check", "--promotion", "system", "--deny", "warnings", "-"],
            ran.out.as_bytes(),
        );
        checked.exits(0);
        place.feed(&["promote", "-"], ran.out.as_bytes()).exits(0);
        let formatted = place.feed(&["fmt", "--check", "-"], ran.out.as_bytes());
        assert_eq!(formatted.exits(0).out, "");
    }
    assert_ne!(
        place.run(&["new", "a"]).out,
        place.run(&["new", "a"]).out,
        "ids are fresh"
    );
    place.run(&["new", "a", "-o", "a.json"]).exits(0);
    place.run(&["check", "a.json"]).exits(0);
    place.run(&["new", "a", "-o", "a.json"]).exits(2);
    let ran = place.run(&["new", "a", "-o", "-"]).exits(0);
    assert!(
        ran.out.starts_with('{') && ran.err.is_empty(),
        "{}",
        ran.err
    );
    place.run(&["new", "…"]).exits(2);
}

#[test]
fn formatting_is_canonical_and_stays() {
    let place = Place::with(&[
        ("d/p.json", &tiny().replace("  ", "\t")),
        ("d/plain.json", "[ 1 ]"),
    ]);
    let ran = place.run(&["fmt", "--check", "d"]).exits(1);
    assert_eq!(ran.out, "d/p.json: not in canonical form\n");
    place.run(&["fmt", "d"]).exits(0);
    place.run(&["fmt", "--check", "d"]).exits(0);
    let text = place.read("d/p.json");
    assert_eq!(place.read("d/plain.json"), "[ 1 ]");
    assert_eq!(
        place.feed(&["fmt", "-"], tiny().as_bytes()).exits(0).out,
        text
    );
    place.write("e.json", &tiny());
    place.run(&["fmt", "e.json", "-o", "f.json"]).exits(0);
    let both = (tiny(), text.clone());
    assert_eq!((place.read("e.json"), place.read("f.json")), both);
    place.run(&["fmt", "e.json", "-o", "./e.json"]).exits(0);
    assert_eq!(place.read("e.json"), text);
    place.run(&["fmt", "d/plain.json"]).exits(1);
    place.run(&["fmt", "gone.json"]).exits(2);
    place.feed(&["fmt", "-"], b"{").exits(1);
}

#[test]
fn schemas_are_listed_and_written() {
    let place = Place::new();
    let names = place.run(&["schema"]).exits(0).out;
    assert!(names.lines().any(|name| name == "package"), "{names}");
    for name in names.lines() {
        let schema = place.run(&["schema", name]).exits(0).json();
        assert!(schema["$schema"].is_string(), "{name}");
    }
    let ran = place.run(&["schema", "nope"]).exits(2);
    assert!(ran.err.contains("there is no schema `nope`"), "{}", ran.err);
}

#[test]
fn automations_are_validated() {
    let good = r#"{"trigger_config": {"type": "cron", "config": {"mode": "daily", "atTime": "08:00", "timezone": "UTC"}},
        "graph_config": {"steps": []}}"#;
    let bad = good.replace("\"cron\"", "\"\"");
    let place = Place::with(&[
        ("good.json", good),
        ("bad.json", &bad),
        ("broken.json", "{"),
    ]);
    let validate =
        |name: &str, format: &str| place.run(&["automation", "validate", name, "--format", format]);
    let document = validate("good.json", "json").exits(0).json();
    assert_eq!(
        (&document["outcome"], &document["ok"]),
        (&"clean".into(), &true.into())
    );
    assert_eq!(document["issues"][0]["code"], "graph_empty");
    let document = validate("bad.json", "json").exits(1).json();
    assert_eq!(document["issues"][0]["code"], "trigger_missing");
    assert_eq!(document["issues"][0]["target"], "trigger");
    assert!(
        validate("bad.json", "text")
            .exits(1)
            .out
            .contains("A001 trigger_missing")
    );
    // A fix is named only where it can be made.
    place.write("near.json", &good.replace("\"cron\"", "\"crom\""));
    let near = validate("near.json", "text").exits(1).out;
    assert!(near.contains("Did you mean `cron`?"), "{near}");
    assert!(!near.contains("--fix"), "{near}");
    assert_eq!(
        validate("broken.json", "json").exits(1).json()["outcome"],
        "findings"
    );
    assert_eq!(
        validate("gone.json", "json").exits(2).json()["outcome"],
        "failed"
    );
    place.write("empty.json", "{}");
    let document = validate("empty.json", "json").exits(1).json();
    let reported: Vec<_> = document["issues"]
        .as_array()
        .expect("list")
        .iter()
        .map(|issue| (&issue["code"], &issue["target"], &issue["path"]))
        .collect();
    let expected = json!([
        ["trigger_missing", "trigger", "type"],
        ["step_config_invalid", "graph", ""]
    ]);
    assert_eq!(json!(reported), expected);
    place
        .feed(&["automation", "validate", "-"], bad.as_bytes())
        .exits(1);
    place.run(&["automation"]).exits(2);
}

#[test]
fn automations_are_executed_offline() {
    const TABLE: &str = "10000000-0000-4000-8000-00000000000a";
    let chain = r#"{"trigger_config": {"type": "manual"}, "graph_config": {"steps": [
        {"key": "feature.read", "id": "stp_00000000000r", "config": {"featureId": "TABLE", "orderBy": {"column": "n", "desc": true}}},
        {"key": "email.send", "config": {"to": "{{vars.trigger.to}}", "subject": "{{vars.steps.stp_00000000000r.count}} rows", "body": "<p>{{record.name}}</p>"}}]}}"#;
    let chain = chain.replace("TABLE", TABLE);
    let rows = format!(
        r#"{{"{TABLE}": [{{"n": 9, "name": "nine"}}, {{"n": 10, "name": "<ten>", EXACT}}]}}"#
    );
    let rows = rows.replace(
        "EXACT",
        r#""exact": 12345678901234567890123, "price": 1.10"#,
    );
    let place = Place::with(&[
        ("chain.json", chain.as_str()),
        ("rows.json", &rows),
        ("row.json", r#"{"to": "a@b.c"}"#),
        ("split.json", r#"{"to": "a@b.c\r\nBcc: d@e.f"}"#),
        ("broken.json", "{"),
        ("bad.json", &chain.replace("feature.read", "nope")),
    ]);
    let run = |more: &[&str]| {
        let all: Vec<&str> = ["automation", "run"]
            .into_iter()
            .chain(more.iter().copied())
            .collect();
        place.run(&all)
    };
    let executed = run(&[
        "chain.json",
        "--stub",
        "--row",
        "row.json",
        "--rows",
        "rows.json",
        "--format",
        "json",
    ]);
    let executed = executed.exits(0);
    let digits = r#""exact":12345678901234567890123,"price":1.10"#;
    assert!(executed.out.contains(digits), "{}", executed.out);
    let document = executed.json();
    assert_eq!(document["outcome"], "clean");
    assert_eq!(document["steps"][0]["output"]["count"], 2);
    let mail = &document["steps"][1];
    assert_eq!(
        (&mail["path"], &mail["status"]),
        (&"1".into(), &"succeeded".into())
    );
    assert_eq!(mail["input"]["subject"], "2 rows");
    assert_eq!(mail["input"]["body"], "<p>&lt;ten&gt;</p>");
    assert!(mail["id"].as_str().is_some_and(|id| id.starts_with("stp_")));
    assert_eq!(mail["envelope"]["records"][0]["data"]["n"], 10);
    let reported = run(&["chain.json", "--stub", "--row", "split.json"]).exits(1);
    assert!(
        reported.out.contains("1 email.send\n  with {}\n  fails: ")
            && reported.out.contains("{{vars.trigger.to}}"),
        "{}",
        reported.out
    );
    assert_eq!(
        run(&["bad.json", "--stub", "--format", "json"])
            .exits(1)
            .json()["outcome"],
        "findings"
    );
    for wrong in [
        &["chain.json"][..],
        &["gone.json", "--stub"],
        &["chain.json", "--stub", "--row", "broken.json"],
        &["chain.json", "--stub", "--rows", "gone.json"],
    ] {
        run(wrong).exits(2);
    }
    let example =
        |name: &str| format!("{}/examples/automations/{name}", env!("CARGO_MANIFEST_DIR"));
    let paid = run(&[
        &example("paid.json"),
        "--stub",
        "--row",
        &example("order.json"),
    ])
    .exits(0);
    assert!(
        paid.out.contains("Order 7 is paid") && paid.out.contains("3 steps."),
        "{}",
        paid.out
    );
}
