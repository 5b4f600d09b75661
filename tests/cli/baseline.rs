//! `--baseline`, `--write-baseline`.

use insta::assert_snapshot;

#[cfg(unix)]
use crate::support::Ran;
use crate::support::{Place, faulty, tiny};

#[test]
fn known_findings_are_left_out_wherever_they_move() {
    let place = Place::with(&[("d/p.json", &faulty())]);
    let ran = place
        .run(&["check", "d", "--baseline", "known.json", "--write-baseline"])
        .exits(0);
    assert_snapshot!(ran.err, @r#"
    2 findings written to `known.json`
    "#);
    assert_snapshot!(place.read("known.json"), @r#"
    {
      "schemaVersion": 1,
      "findings": [
        {
          "path": "d/p.json",
          "code": "M001",
          "pointer": "/manifest/scope",
          "message": "b8f02e0623cd818a37ef2de24f324f5d"
        },
        {
          "path": "d/p.json",
          "code": "M003",
          "pointer": "/manifest/semver",
          "message": "8ff2fc7829534c072e3f50047fcff3aa"
        }
      ]
    }
    "#);
    place
        .run(&["check", "d", "--baseline", "known.json"])
        .exits(0);
    // Lines move; the findings are still known.
    place.write("d/p.json", &format!("\n\n\n{}", faulty()));
    place
        .run(&["check", "d", "--baseline", "known.json"])
        .exits(0);
    // From another folder too.
    let output = place
        .command(&["check", "p.json", "--baseline", "../known.json"])
        .current_dir(place.path("d"))
        .output();
    assert_eq!(output.expect("run").status.code(), Some(0));
    // Another value is another mistake.
    place.write("d/p.json", &faulty().replace("everywhere", "nowhere"));
    let ran = place
        .run(&["check", "d", "--baseline", "known.json", "-v"])
        .exits(1);
    assert!(
        ran.out.contains("M001") && !ran.out.contains("M003"),
        "{}",
        ran.out
    );
    assert!(
        ran.err
            .contains("stale in the baseline: d/p.json M001 /manifest/scope"),
        "{}",
        ran.err
    );
}

#[test]
fn what_is_accepted_stays_so_when_the_file_is_formatted() {
    let name = "\"name\": {\n    \"z\": \"caf\\u00e9\",\r\n\t\"a\": [ 1,2 ]}";
    let wrong = tiny().replacen("\"name\": \"notes\"", name, 1);
    let place = Place::with(&[("p.json", &wrong)]);
    let check = ["check", "p.json", "--baseline", "known.json"];
    place
        .run(&[&check[..], &["--write-baseline"]].concat())
        .exits(0);
    place.run(&check).exits(0);
    place.run(&["fmt", "p.json"]).exits(0);
    assert_ne!(place.read("p.json"), wrong);
    place.run(&check).exits(0);
}

#[test]
fn broken_json_is_never_accepted() {
    let place = Place::with(&[("p.json", "{")]);
    place
        .run(&[
            "check",
            "p.json",
            "--baseline",
            "known.json",
            "--write-baseline",
        ])
        .exits(1);
    place
        .run(&["check", "p.json", "--baseline", "known.json"])
        .exits(1);
}

#[test]
fn a_clean_run_writes_an_empty_baseline() {
    let place = Place::with(&[("p.json", &tiny())]);
    place
        .run(&[
            "check",
            "p.json",
            "--baseline",
            "known.json",
            "--write-baseline",
        ])
        .exits(0);
    assert_eq!(
        place.read("known.json"),
        "{\n  \"schemaVersion\": 1,\n  \"findings\": []\n}\n"
    );
}

#[test]
fn what_is_accepted_of_other_files_stays_while_they_are_there() {
    let place = Place::with(&[("p.json", &faulty()), ("q.json", &faulty())]);
    let write = |name: &str| {
        let words = [
            "check",
            name,
            "--baseline",
            "known.json",
            "--write-baseline",
        ];
        place.run(&words).exits(0)
    };
    write(".");
    let both = place.read("known.json");
    let ran = write("q.json");
    assert_eq!(place.read("known.json"), both);
    assert!(ran.err.contains("next to 2 of other files"), "{}", ran.err);
    std::fs::remove_file(place.path("p.json")).expect("is removed");
    write("q.json");
    let one = place.read("known.json");
    assert!(!one.contains("p.json") && one.contains("q.json"), "{one}");
}

#[test]
fn what_could_not_be_read_is_no_reason_to_forget_what_was_accepted() {
    let place = Place::with(&[("p.json", &faulty()), ("q.json", &tiny())]);
    let write = |name: &str| {
        place.run(&[
            "check",
            name,
            "q.json",
            "--baseline",
            "known.json",
            "--write-baseline",
        ])
    };
    write("p.json").exits(0);
    let before = place.read("known.json");
    let ran = write("gone.json").exits(2);
    assert_eq!(place.read("known.json"), before);
    assert!(
        ran.err.contains("cannot read `gone.json`")
            && ran.err.contains("`known.json` is left as it is"),
        "{}",
        ran.err
    );
}

#[test]
fn a_baseline_that_is_missing_is_one_to_write() {
    let place = Place::with(&[("p.json", &faulty())]);
    let ran = place
        .run(&["check", "p.json", "--baseline", "nobase.json"])
        .exits(2);
    assert!(ran.err.contains("no baseline `nobase.json`"), "{}", ran.err);
    assert!(ran.err.contains("`--write-baseline`"), "{}", ran.err);
}

#[test]
fn an_empty_baseline_accepts_nothing() {
    let place = Place::with(&[("p.json", &faulty()), ("empty.json", "\n")]);
    let ran = place
        .run(&["check", "p.json", "--baseline", "empty.json"])
        .exits(1);
    assert!(ran.out.contains("0 in the baseline"), "{}", ran.out);
}

/// Which findings are known is no question of where the command stands: not for a link, not for a package outside.
#[cfg(unix)]
#[test]
fn a_package_has_one_name_in_a_baseline_however_it_is_named() {
    let place = Place::with(&[
        ("shared/p.json", &faulty()),
        ("proj/tplkit.toml", "baseline = \"known.json\"\n"),
    ]);
    std::os::unix::fs::symlink("../shared/p.json", place.path("proj/p.json")).expect("a link");
    let at = |folder: &str, path: &str, more: &[&str]| {
        let words = [&["check", path][..], more].concat();
        let output = place
            .command(&words)
            .current_dir(place.path(folder))
            .output();
        Ran::from(output.expect("runs"))
    };
    let absolute = |name: &str| place.path(name).to_str().expect("UTF-8").to_owned();
    let link = absolute("proj/p.json");
    at("proj", "p.json", &["--write-baseline"]).exits(0);
    let known = place.read("proj/known.json");
    assert!(known.contains("\"path\": \"p.json\""), "{known}");
    for (folder, path) in [
        ("proj", "p.json"),
        ("proj", "./p.json"),
        ("proj", "."),
        ("proj", link.as_str()),
        ("shared", "../proj/p.json"),
        ("", "proj/p.json"),
        ("", "proj"),
    ] {
        let ran = at(folder, path, &[]).exits(0);
        let accepted = ran.out.contains("2 in the baseline");
        assert!(accepted, "{folder} {path}: {}", ran.out);
    }
    // A baseline of the command line, next to which the package does not lie.
    let file = absolute("proj/in.json");
    let outside = absolute("shared/p.json");
    at("", &outside, &["--baseline", &file, "--write-baseline"]).exits(0);
    let known = place.read("proj/in.json");
    assert!(known.contains("\"path\": \"../shared/p.json\""), "{known}");
    for (folder, path) in [
        ("", outside.as_str()),
        ("", "shared/p.json"),
        ("shared", "p.json"),
        ("proj", "../shared/p.json"),
    ] {
        at(folder, path, &["--baseline", &file]).exits(0);
    }
}
