//! `check` for people.

use insta::assert_snapshot;

use crate::support::{Place, faulty, tiny, warned};

#[test]
fn findings_are_shown_with_their_line() {
    let place = Place::with(&[("p.json", &faulty())]);
    let ran = place.run(&["check", "p.json"]).exits(1);
    assert_snapshot!(ran.out, @r#"
    error[M001 bad-scope]: there is no scope "everywhere"
     --> p.json:4:14  /manifest/scope
      |
    4 |     "scope": "everywhere",
      |              ^^^^^^^^^^^^
      = help: Use organization, workspace, module or feature.

    warning[M003 bad-semver]: "one" is not a semantic version
     --> p.json:5:15  /manifest/semver
      |
    5 |     "semver": "one",
      |               ^^^^^
      = help: Write MAJOR.MINOR.PATCH, for example 1.4.0.

    1 error, 1 warning in 1 package.
    "#);
    assert_eq!(ran.err, "`tplkit explain M001` shows more\n");
}

#[test]
fn a_clean_package_says_so() {
    let place = Place::with(&[("p.json", &tiny())]);
    let ran = place.run(&["check", "p.json"]).exits(0);
    assert_eq!(
        (ran.out.as_str(), ran.err.as_str()),
        ("No findings in 1 package.\n", "")
    );
    let ran = place.run(&["check", "p.json", "-q"]).exits(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
    let ran = place.run(&["check", "p.json", "-v"]).exits(0);
    assert_eq!(ran.err, "p.json: package, 0 findings, 0 fixed\n");
}

#[test]
fn quiet_twice_leaves_only_the_exit_code() {
    let place = Place::with(&[("p.json", &faulty())]);
    let ran = place.run(&["check", "p.json", "-qq"]).exits(1);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
}

#[test]
fn warnings_pass_unless_denied() {
    let place = Place::with(&[("p.json", &warned())]);
    place.run(&["check", "p.json"]).exits(0);
    place
        .run(&["check", "p.json", "--deny", "warnings"])
        .exits(1);
    place.run(&["check", "p.json", "--deny", "M003"]).exits(1);
    place
        .run(&["check", "p.json", "--deny=bad-semver"])
        .exits(1);
    place.run(&["check", "p.json", "--deny", "R"]).exits(0);
    place
        .run(&["check", "p.json", "--deny", "warnings", "--ignore", "M003"])
        .exits(0);
}

#[test]
fn rules_are_selected_by_code_prefix_and_name() {
    let place = Place::with(&[("p.json", &faulty())]);
    place.run(&["check", "p.json", "--select", "M003"]).exits(0);
    place.run(&["check", "p.json", "--select", "M"]).exits(1);
    place.run(&["check", "p.json", "--select", "R,S"]).exits(0);
    place
        .run(&["check", "p.json", "--ignore", "bad-scope"])
        .exits(0);
    place.run(&["check", "p.json", "--warn", "M001"]).exits(0);
    let ran = place.run(&["check", "p.json", "--select", "M01"]).exits(2);
    assert!(ran.err.contains("did you mean `M001`?"), "{}", ran.err);
}

#[test]
fn broken_json_is_never_silenced() {
    let place = Place::with(&[("p.json", "{\n  \"a\": [1, 2,]\n}\n")]);
    let ran = place
        .run(&["check", "p.json", "--ignore", "all", "--warn", "J001"])
        .exits(1);
    assert_snapshot!(ran.out, @r#"
    error[J001 invalid-json]: a comma before the closing bracket is not allowed in JSON
     --> p.json:2:13
      |
    2 |   "a": [1, 2,]
      |             ^
      = help: Fix the text at this place; nothing else can be checked before it parses.

    1 error in 1 package.
    "#);
}

#[test]
fn colour_comes_when_asked_for() {
    let place = Place::with(&[("p.json", &faulty())]);
    assert!(!place.run(&["check", "p.json"]).out.contains('\u{1b}'));
    assert!(
        place
            .run(&["check", "p.json", "--color", "always"])
            .out
            .contains("\u{1b}[1m")
    );
    let mut command = place.command(&["check", "p.json", "--color=auto"]);
    let output = command.env("NO_COLOR", "1").output().expect("run");
    assert!(!output.stdout.contains(&0x1b));
}

#[test]
fn statistics_count_per_rule() {
    let place = Place::with(&[("a.json", &faulty()), ("b.json", &warned())]);
    let ran = place.run(&["check", ".", "--statistics"]).exits(1);
    assert_snapshot!(ran.out, @r#"
    2  M003  bad-semver
    1  M001  bad-scope
    "#);
    let document = place
        .run(&["check", ".", "--statistics", "--format", "json"])
        .exits(1)
        .json();
    assert_eq!(document["statistics"][0]["code"], "M003");
    assert_eq!(document["statistics"][0]["count"], 2);
}

#[test]
fn a_late_place_in_a_line_of_megabytes_is_cut_to_a_window() {
    let filler = "x".repeat(3 << 20);
    let text = format!(
        "{{\"manifest\":{{\"templateVersion\":1,\"description\":\"{filler}\",\"plan\":tru}}}}"
    );
    let place = Place::with(&[("p.json", &text)]);
    let ran = place.run(&["check", "p.json"]).exits(1);
    assert!(ran.out.len() < 1000, "{}", ran.out.len());
    assert_snapshot!(ran.out, @r#"
    error[J001 invalid-json]: this is not a JSON literal (only true, false and null are)
     --> p.json:1:3145786
      |
    1 | …xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","plan":tru}}
      |                                                                                                 ^
      = help: Fix the text at this place; nothing else can be checked before it parses.

    1 error in 1 package.
    "#);
    let document = place
        .run(&["check", "p.json", "--format=json"])
        .exits(1)
        .json();
    assert_eq!(
        document["files"][0]["findings"][0]["column"],
        text.find("tru}").expect("there") + 1
    );
}

#[test]
fn promotion_shows_every_rule() {
    let text = tiny().replacen(
        "\"label\": \"Vendas\"",
        "\"label\": \"see workspace_id\"",
        1,
    );
    let place = Place::with(&[("p.json", &text)]);
    let ran = place.run(&["promote", "p.json"]).exits(1);
    assert_snapshot!(ran.out, @r#"
    p.json promotion to `system`: 4 of 5 rules hold
      passed  P001 version-declared: the manifest declares its version
      failed  P002 no-tenant-identifiers: no tenant identifier occurs anywhere
              4:14 /manifest/label: the text holds `workspace_id`
              help: Remove or rename it: tenant identifiers never travel.
      passed  P003 rows-have-payload: every rows item has its payload entry
      passed  P004 counts-agree: every rows item counts the rows that travel
      passed  P005 no-orphan-payload: every payload entry is declared by a rows item

    0 of 1 package can be promoted to `system`.
    "#);
    place.run(&["check", "p.json"]).exits(0);
    place
        .run(&["check", "p.json", "--promotion", "system"])
        .exits(1);
    place
        .run(&["check", "p.json", "--promotion", "org"])
        .exits(2);
}

#[test]
fn promotion_alone_counts_what_can_be_promoted_and_no_findings() {
    let place = Place::with(&[
        ("d/p.json", &tiny()),
        ("d/q.json", &faulty()),
        ("d/broken.json", "{"),
        ("d/plain.json", "[]"),
    ]);
    let last = |words: &[&str]| {
        let out = place.run(words).out;
        out.lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(
        last(&["promote", "d"]),
        "2 of 3 packages can be promoted to `system`, 1 plain file skipped."
    );
    assert_eq!(
        last(&["promote", "d/q.json"]),
        "1 of 1 package can be promoted to `system`."
    );
    assert_eq!(
        last(&["check", "d/p.json", "--promotion", "system"]),
        "No findings in 1 package; 1 of 1 can be promoted."
    );
}

#[test]
fn what_is_no_package_is_counted_as_a_file() {
    let place = Place::with(&[("p.json", "{}")]);
    let ran = place.run(&["check", "p.json"]).exits(1);
    assert!(ran.out.ends_with("\n1 error in 1 file.\n"), "{}", ran.out);
    assert_eq!(ran.err, "`tplkit explain J003` shows more\n");
}
