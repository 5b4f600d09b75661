//! `--fix`, `--diff`: the only times a check writes.

use std::fs;

use serde_json::Value;

use crate::support::{Place, case, fixable, tiny};

#[test]
fn fixes_are_written_and_only_what_is_wrong_changes() {
    let before = fixable();
    let place = Place::with(&[("p.json", &before)]);
    place.run(&["check", "p.json"]).exits(1);
    assert_eq!(place.read("p.json"), before);
    let document = place
        .run(&["check", "--fix", "p.json", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(document["files"][0]["fixed"], 1);
    let after = place.read("p.json");
    assert_ne!(after, before);
    let same = before.lines().filter(|line| after.contains(line)).count();
    assert!(same + 3 > before.lines().count());
    let again = place.run(&["check", "--fix", "p.json"]).exits(0);
    assert_eq!(
        (again.out.as_str(), place.read("p.json")),
        ("No findings in 1 package.\n", after)
    );
}

#[test]
fn the_mark_and_the_line_ends_stay() {
    let before = format!("\u{feff}{}", fixable().replace('\n', "\r\n"));
    let place = Place::with(&[("p.json", &before)]);
    place.run(&["check", "--fix", "p.json"]).exits(0);
    let after = place.read("p.json");
    assert!(after.starts_with("\u{feff}{\r\n"));
    assert!(after.matches("\r\n").count() + 1 >= before.matches("\r\n").count());
}

#[test]
fn a_rule_that_is_ignored_fixes_nothing() {
    let before = fixable();
    let place = Place::with(&[("p.json", &before)]);
    place
        .run(&["check", "--fix", "--ignore", "I010", "p.json"])
        .exits(0);
    assert_eq!(place.read("p.json"), before);
}

#[test]
fn a_diff_is_shown_and_nothing_written() {
    let before = fixable();
    let place = Place::with(&[("p.json", &before)]);
    for words in [
        &["check", "--diff", "p.json"][..],
        &["check", "--fix", "--diff", "p.json"],
    ] {
        let ran = place.run(words).exits(1);
        assert_eq!(place.read("p.json"), before);
        assert!(
            ran.out.starts_with("--- p.json\n+++ p.json\n@@ "),
            "{}",
            ran.out
        );
        assert!(ran.out.contains("\n-        \"count\": 1"), "{}", ran.out);
        assert_eq!(
            ran.err,
            "1 finding would be fixed\n`tplkit explain I010` shows more\n"
        );
    }
    let document = place
        .run(&["check", "--diff", "p.json", "--format=json"])
        .exits(1)
        .json();
    assert!(
        document["files"][0]["diff"]
            .as_str()
            .expect("text")
            .contains("+++ p.json")
    );
}

#[test]
fn standard_input_is_fixed_to_standard_output() {
    let place = Place::new();
    let ran = place
        .feed(&["check", "--fix", "-"], fixable().as_bytes())
        .exits(0);
    let document: Value = serde_json::from_str(&ran.out).expect("the fixed package");
    assert!(document["manifest"]["items"].is_array());
    assert!(ran.err.contains("1 finding fixed"), "{}", ran.err);
}

#[test]
fn in_a_document_fixed_standard_input_is_its_text() {
    let place = Place::new();
    for mark in ["", "\u{feff}"] {
        let before = format!("{mark}{}", fixable());
        let ran = place.feed(
            &["check", "--fix", "-", "--format", "json"],
            before.as_bytes(),
        );
        let document = ran.exits(0).json();
        let text = place.feed(&["check", "--fix", "-"], before.as_bytes()).out;
        assert_ne!(text, before);
        assert!(text.starts_with(mark));
        assert_eq!(document["files"][0]["text"], text);
    }
}

/// A package with one finding whose fix is a guess: a workspace that is not the builtin.
fn unsafely_fixable() -> String {
    let mut package: Value = serde_json::from_str(&tiny()).expect("JSON");
    let place = package.pointer_mut("/manifest/plan/steps/5/args/workspaceId");
    *place.expect("the module's step") = "main".into();
    serde_json::to_string_pretty(&package).expect("JSON")
}

#[test]
fn unsafe_fixes_need_their_own_word() {
    let before = unsafely_fixable();
    let place = Place::with(&[("p.json", &before)]);
    place.run(&["check", "--fix", "p.json"]).exits(1);
    assert_eq!(place.read("p.json"), before);
    // Alone it only says what would be possible.
    place.run(&["check", "--unsafe-fixes", "p.json"]).exits(1);
    assert_eq!(place.read("p.json"), before);
    place
        .run(&["check", "--fix", "--unsafe-fixes", "p.json"])
        .exits(0);
    assert_ne!(place.read("p.json"), before);
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let place = Place::with(&[("real/p.json", &fixable())]);
    let real = place.path("real/p.json");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("permissions");
    symlink("real/p.json", place.path("link.json")).expect("link");
    place.run(&["check", "--fix", "link.json"]).exits(0);
    assert!(
        fs::symlink_metadata(place.path("link.json"))
            .expect("there")
            .is_symlink()
    );
    assert_eq!(
        fs::metadata(&real).expect("there").permissions().mode() & 0o777,
        0o640
    );
    place.run(&["check", "real/p.json"]).exits(0);
    let names: Vec<_> = fs::read_dir(place.path("real")).expect("folder").collect();
    assert_eq!(names.len(), 1, "no temporary file is left");
}

#[test]
fn what_cannot_be_written_keeps_its_findings() {
    let before = fixable();
    let place = Place::with(&[("p.json", &before), ("q.json", &before)]);
    let locked = place.path("p.json");
    let mut permissions = fs::metadata(&locked).expect("there").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&locked, permissions).expect("permissions");
    let ran = place
        .run(&["check", "--fix", "p.json", "q.json", "--format", "json"])
        .exits(2);
    let document = ran.json();
    assert_eq!(document["outcome"], "failed");
    assert_eq!(document["errors"][0]["path"], "p.json");
    assert_eq!(
        document["errors"][0]["message"],
        "cannot write `p.json`: it is marked read-only"
    );
    let files = &document["files"];
    assert_eq!(files[0]["findings"][0]["code"], "I010");
    assert_eq!(files[0].get("fixed"), None);
    assert_eq!(files[1]["findings"], Value::Array(Vec::new()));
    assert_eq!(files[1]["fixed"], 1);
    assert_eq!(place.read("p.json"), before);
}

#[cfg(unix)]
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "kills are spread over the time that a whole run takes"
)]
fn a_killed_fix_leaves_the_old_file_or_the_new() {
    // Large enough that writing takes a while.
    let filler = format!("\"category\": \"{}\",\n    \"name\"", "x".repeat(4 << 20));
    let before = fixable().replacen("\"name\"", &filler, 1);
    let place = Place::with(&[("p.json", &before)]);
    let began = std::time::Instant::now();
    place.run(&["check", "--fix", "p.json"]).exits(0);
    let whole = began.elapsed();
    let after = place.read("p.json");
    assert_ne!(after, before);
    let mut ends = std::collections::BTreeSet::new();
    // From the very beginning to well after the end, the last tenths, where writing happens,
    // more closely.
    for percent in [1, 20, 40, 60, 70, 80, 85, 90, 95, 100, 110, 300] {
        let delay = whole * percent / 100;
        place.write("p.json", &before);
        let mut child = place
            .command(&["check", "--fix", "-q", "p.json"])
            .spawn()
            .expect("start");
        std::thread::sleep(delay);
        child.kill().ok();
        child.wait().expect("end");
        let now = place.read("p.json");
        assert!(now == before || now == after, "half a file after {delay:?}");
        ends.insert(now == after);
    }
    assert_eq!(
        ends.len(),
        2,
        "some runs are killed before the end and some after"
    );
}

/// What was surely meant may be written by a tool, but only who wrote it knows.
#[test]
fn the_one_name_that_is_near_is_an_unsafe_fix() {
    let text = tiny();
    for (right, wrong, code) in [
        ("\"create_view\"", "\"create_veiw\"", "S001"),
        ("\"$f_notes\"", "\"$f_nots\"", "S006"),
    ] {
        let broken = text.replacen(right, wrong, 1);
        assert_ne!(broken, text, "{right}");
        let place = Place::with(&[("p.json", &broken)]);
        let found = place.run(&["check", "p.json", "--format", "json"]).json();
        let findings = found["files"][0]["findings"].as_array().expect("findings");
        let meant = findings
            .iter()
            .find(|one| one["fix"]["safe"] == false && one["code"] == code);
        let meant = meant.unwrap_or_else(|| panic!("{code}: {findings:#?}"));
        assert_eq!(meant["fix"]["edits"][0]["text"], right, "{meant}");
        place.run(&["check", "--fix", "p.json"]);
        assert_eq!(place.read("p.json"), broken, "a safe run leaves it");
        place
            .run(&["check", "--fix", "--unsafe-fixes", "p.json"])
            .exits(0);
        assert_eq!(place.read("p.json"), text);
    }
}

/// Fields of rows, which are read on their own.
#[test]
fn the_one_field_of_a_row_that_is_near_is_an_unsafe_fix() {
    let text = fs::read_to_string(case("valid/base-links.json")).expect("fixture");
    for (right, wrong) in [
        ("{\"rowUid\":\"u_e1a5", "{\"rowUidd\":\"u_e1a5"),
        ("\"data\":{\"code\":\"B\"", "\"dta\":{\"code\":\"B\""),
    ] {
        let broken = text.replacen(right, wrong, 1);
        assert_ne!(broken, text, "{right}");
        let place = Place::with(&[("p.json", &broken)]);
        place.run(&["check", "--fix", "p.json"]);
        assert_eq!(place.read("p.json"), broken, "a safe run leaves it");
        place.run(&[
            "check",
            "--fix",
            "--unsafe-fixes",
            "--select",
            "J007",
            "p.json",
        ]);
        assert_eq!(place.read("p.json"), text);
    }
}
