//! Formats for other tools, held against their schemas.

use std::path::Path;
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Place, faulty, fixable, tiny};

/// Findings, a failed promotion, a broken file, a plain one, a missing one, and odd names.
fn many_reports() -> Place {
    let leak = tiny().replacen(
        "\"label\": \"Vendas\"",
        "\"label\": \"see workspace_id\"",
        1,
    );
    Place::with(&[
        ("d/a b,c:d%.json", &faulty()),
        ("d/leak.json", &leak),
        ("d/broken.json", "{\"a\": \"\u{1}\"}"),
        ("d/plain.json", "[]"),
    ])
}

fn report(place: &Place, format: &str) -> String {
    place
        .run(&[
            "check",
            "d",
            "gone.json",
            "--promotion",
            "system",
            "--format",
            format,
        ])
        .exits(2)
        .out
}

#[test]
fn sarif_is_valid() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/schemas/sarif-schema-2.1.0.json");
    let schema: Value =
        serde_json::from_str(&std::fs::read_to_string(schema).expect("schema")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for place in [many_reports(), Place::with(&[("d/p.json", &tiny())])] {
        let log: Value = serde_json::from_str(&report(&place, "sarif")).expect("JSON");
        let errors: Vec<String> = validator
            .iter_errors(&log)
            .map(|error| format!("{error} at {}", error.instance_path()))
            .collect();
        assert_eq!(errors, Vec::<String>::new());
    }
    let log: Value = serde_json::from_str(&report(&many_reports(), "sarif")).expect("JSON");
    let results = log["runs"][0]["results"].as_array().expect("list");
    let ids: Vec<&str> = results
        .iter()
        .filter_map(|result| result["ruleId"].as_str())
        .collect();
    assert_eq!(ids, ["M001", "M003", "J001", "P002"]);
    let rules = &log["runs"][0]["tool"]["driver"]["rules"];
    for result in results {
        let index = result["ruleIndex"].to_string();
        let rule = rules.pointer(&format!("/{index}/id"));
        assert_eq!(rule, Some(&result["ruleId"]));
    }
}

/// What code scanning services ask for beyond the schema.
#[test]
fn sarif_describes_rules_and_keeps_help_apart() {
    let text = report(&many_reports(), "sarif");
    let log: Value = serde_json::from_str(&text).expect("JSON");
    let driver = &log["runs"][0]["tool"]["driver"];
    let rules = driver["rules"].as_array().expect("rules");
    assert!(!rules.is_empty());
    for rule in rules {
        for words in [
            &rule["shortDescription"]["text"],
            &rule["fullDescription"]["text"],
            &rule["help"]["text"],
        ] {
            let words = words.as_str().expect("words");
            assert!(
                words.len() > 10 && words.ends_with(['.', '!', '?']),
                "{words}"
            );
            assert!(!words.contains(['\n', '#']), "{words}");
        }
        let page = rule["help"]["markdown"].as_str().expect("a page");
        let fences: Vec<&str> = page
            .lines()
            .filter(|line| line.starts_with("```"))
            .collect();
        assert!(!fences.is_empty(), "{page}");
        assert!(
            fences
                .iter()
                .all(|fence| ["```", "```json"].contains(fence)),
            "{fences:?}"
        );
    }
    for result in log["runs"][0]["results"].as_array().expect("results") {
        let message = result["message"]["text"].as_str().expect("a message");
        let help = result["properties"]["help"].as_str().expect("help");
        assert!(message.ends_with(['.', '!', '?']), "{message}");
        assert!(!help.is_empty() && !message.contains(help), "{message}");
    }
}

#[test]
fn sarif_counts_the_bytes_of_a_fix_from_the_start_of_the_file() {
    for mark in ["", "\u{feff}"] {
        let text = format!("{mark}{}", fixable());
        let place = Place::with(&[("p.json", &text)]);
        let ran = place
            .run(&["check", "p.json", "--format", "sarif"])
            .exits(1);
        let log: Value = serde_json::from_str(&ran.out).expect("JSON");
        let change = &log["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0];
        let region = &change["replacements"][0]["deletedRegion"];
        let number =
            |key: &str| usize::try_from(region[key].as_u64().expect("a number")).expect("fits");
        let start = number("byteOffset");
        let gone = text.get(start..start + number("byteLength"));
        assert_eq!(gone.map(str::trim), Some(",\n        \"count\": 1"));
    }
}

#[test]
fn junit_is_valid() {
    let text = report(&many_reports(), "junit");
    assert_eq!(text.matches("<testsuite ").count(), 5);
    assert_eq!(text.matches("<failure ").count(), 3);
    assert_eq!(text.matches("<error ").count(), 1);
    assert_eq!(text.matches("<skipped>").count(), 1);
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/schemas/JUnit.xsd");
    let place = Place::with(&[("report.xml", &text)]);
    let mut xmllint = Command::new("xmllint");
    xmllint
        .args(["--noout", "--nonet", "--schema"])
        .arg(schema)
        .arg(place.path("report.xml"));
    match xmllint.stdin(Stdio::null()).output() {
        Ok(output) => assert!(
            output.status.success(),
            "{}\n{text}",
            String::from_utf8_lossy(&output.stderr)
        ),
        // Not every machine has it; what is above and the shape of the tags must do.
        Err(_) => {
            assert!(text.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>"));
        }
    }
}

#[test]
fn gitlab_issues_have_what_its_documentation_asks_for() {
    let text = report(&many_reports(), "gitlab");
    let issues: Vec<Value> = serde_json::from_str(&text).expect("a list");
    assert_eq!(issues.len(), 4);
    let mut digests: Vec<&str> = issues
        .iter()
        .filter_map(|issue| issue["fingerprint"].as_str())
        .collect();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), 4);
    for issue in &issues {
        assert!(issue["description"].is_string() && issue["check_name"].is_string());
        assert!(
            ["info", "minor", "major", "critical", "blocker"]
                .contains(&issue["severity"].as_str().expect("text"))
        );
        assert!(issue["location"]["path"].is_string());
        assert!(
            issue["location"]["lines"]["begin"]
                .as_u64()
                .expect("number")
                >= 1
        );
    }
    // Digests stay when lines move.
    let place = Place::with(&[("d/a b,c:d%.json", &format!("\n\n{}", faulty()))]);
    let moved: Vec<Value> = serde_json::from_str(&report(&place, "gitlab")).expect("a list");
    assert_eq!(moved[0]["fingerprint"], issues[0]["fingerprint"]);
}

#[test]
fn github_annotations_are_escaped() {
    let text = report(&many_reports(), "github");
    assert_snapshot!(text, @r#"
    ::error file=gone.json::cannot read `gone.json`: No such file or directory (os error 2)
    ::error file=d/a b%2Cc%3Ad%25.json,line=4,endLine=4,col=14,endColumn=25,title=M001 bad-scope::there is no scope "everywhere"%0Aat /manifest/scope%0Ahelp: Use organization, workspace, module or feature.
    ::warning file=d/a b%2Cc%3Ad%25.json,line=5,endLine=5,col=15,endColumn=19,title=M003 bad-semver::"one" is not a semantic version%0Aat /manifest/semver%0Ahelp: Write MAJOR.MINOR.PATCH, for example 1.4.0.
    ::error file=d/broken.json,line=1,endLine=1,col=8,endColumn=8,title=J001 invalid-json::a control character must be escaped in a string%0Ahelp: Fix the text at this place; nothing else can be checked before it parses.
    ::error file=d/leak.json,line=4,endLine=4,col=14,endColumn=31,title=P002 no-tenant-identifiers::the text holds `workspace_id`%0Aat /manifest/label%0Ahelp: Remove or rename it: tenant identifiers never travel.
    "#);
}

#[test]
fn markdown_fits_a_pull_request() {
    assert_snapshot!(report(&many_reports(), "md"), @r#"
    ### tplkit: failed

    2 errors, 1 warning in 3 packages, 1 plain file skipped; 1 of 2 can be promoted.

    - :x: `gone.json`: cannot read `gone.json`: No such file or directory (os error 2)

    #### `d/a b,c:d%.json`

    Promotion to `system`: :white_check_mark: P001 version-declared, :white_check_mark: P002 no-tenant-identifiers, :white_check_mark: P003 rows-have-payload, :white_check_mark: P004 counts-agree, :white_check_mark: P005 no-orphan-payload

    | Severity | Rule | Place | What and how to fix it |
    |---|---|---|---|
    | :x: error | **M001** bad-scope | 4:14 `/manifest/scope` | there is no scope "everywhere"<br>Use organization, workspace, module or feature. |
    | :warning: warning | **M003** bad-semver | 5:15 `/manifest/semver` | "one" is not a semantic version<br>Write MAJOR.MINOR.PATCH, for example 1.4.0. |

    #### `d/broken.json`

    | Severity | Rule | Place | What and how to fix it |
    |---|---|---|---|
    | :x: error | **J001** invalid-json | 1:8 | a control character must be escaped in a string<br>Fix the text at this place; nothing else can be checked before it parses. |

    #### `d/leak.json`

    Promotion to `system`: :white_check_mark: P001 version-declared, :x: P002 no-tenant-identifiers, :white_check_mark: P003 rows-have-payload, :white_check_mark: P004 counts-agree, :white_check_mark: P005 no-orphan-payload

    | Severity | Rule | Place | What and how to fix it |
    |---|---|---|---|
    | :x: failed | **P002** no-tenant-identifiers | 4:14 `/manifest/label` | the text holds `workspace_id`<br>Remove or rename it: tenant identifiers never travel. |
    "#);
}

#[test]
fn markdown_has_the_totals_of_the_other_formats() {
    let place = many_reports();
    place
        .run(&["check", "d", "--baseline", "known.json", "--write-baseline"])
        .exits(1);
    for (words, totals) in [
        (
            &["check", "d", "gone.json", "--promotion", "system"][..],
            "3 errors, 1 warning in 4 packages, 1 plain file skipped; 2 of 3 can be promoted.",
        ),
        (
            &["check", "d", "--baseline", "known.json"],
            "2 errors in 4 packages, 1 plain file skipped, 3 in the baseline.",
        ),
        (
            &["promote", "d"],
            "2 of 4 packages can be promoted to `system`, 1 plain file skipped.",
        ),
        (&["check", "d/plain.json"], "1 error in 1 file."),
        (
            &["check", "d/plain.json", "--skip-plain"],
            "No findings in 0 packages, 1 plain file skipped.",
        ),
        (&["check", "gone.json"], ""),
        (
            &["check", "d/fix.json", "--fix"],
            "No findings in 1 package, 1 fixed.",
        ),
    ] {
        let out = |format: &str| {
            // Each run finds what is to be fixed.
            place.write("d/fix.json", &fixable());
            place.run(&[words, &["--format", format]].concat()).out
        };
        let (md, text, json) = (out("md"), out("text"), out("json"));
        assert!(totals.is_empty() || text.lines().any(|line| line == totals));
        let counted = md.lines().nth(2).unwrap_or_default();
        assert!(
            counted == totals || totals.is_empty() && counted.starts_with("- :x: "),
            "{words:?}\n{md}"
        );
        let json: Value = serde_json::from_str(&json).expect("JSON");
        for (severity, sign) in [("errors", "| :x: error |"), ("warnings", "| :warning: ")] {
            let rows = md.lines().filter(|line| line.starts_with(sign)).count();
            assert_eq!(json["summary"][severity], rows, "{words:?}\n{md}");
        }
    }
}

#[test]
fn reports_can_be_written_to_a_file() {
    let place = many_reports();
    let ran = place
        .run(&["check", "d", "--format", "sarif", "-o", "report.sarif"])
        .exits(1);
    assert_eq!(ran.out, "");
    let log: Value = serde_json::from_str(&place.read("report.sarif")).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
}
