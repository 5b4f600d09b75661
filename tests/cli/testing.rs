//! `tplkit test`: the tests that a package declares.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Place, Ran, tiny};

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples")
        .join(name);
    path.to_string_lossy().into_owned()
}

/// The small package with one test.
fn with(test: &str) -> Place {
    let place = Place::new();
    place.write("p.json", &tiny());
    place.write("tests/one.toml", test);
    place
}

fn test(place: &Place, more: &[&str]) -> Ran {
    place.run(&[&["test", "p.json"][..], more].concat())
}

fn failures(ran: &Ran) -> Value {
    ran.json()["tests"][0]["failures"].clone()
}

#[test]
fn the_tests_of_the_examples_pass() {
    for name in ["inventory", "service-desk"] {
        let (package, tests) = (
            example(&format!("{name}.json")),
            example(&format!("tests/{name}")),
        );
        let words = ["test", &package, "--tests", &tests, "--require-tests"];
        Place::new().run(&words).exits(0);
    }
}

#[test]
fn what_is_otherwise_is_reported() {
    let place = with("[expect]\ncreated = { feature = 1 }\nrenamed = 0\n");
    let ran = test(&place, &[]).exits(0);
    assert!(
        ran.out.contains("1 test: 1 passed, 0 failed."),
        "{}",
        ran.out
    );
    place.write(
        "tests/one.toml",
        "[expect]\ncreated = { feature = 7 }\nrenamed = 3\n",
    );
    let ran = test(&place, &["--format", "json"]).exits(1);
    let document = ran.json();
    assert_eq!(
        (&document["outcome"], &document["schemaVersion"]),
        (&json!("findings"), &json!(1))
    );
    let one = &document["tests"][0];
    assert_eq!(
        (&one["name"], &one["passed"]),
        (&json!("one"), &json!(false))
    );
    assert!(
        one["file"]
            .as_str()
            .is_some_and(|file| file.ends_with("one.toml"))
    );
    assert_eq!(
        failures(&ran),
        json!([
            {"path": "expect.created.feature", "expected": 7, "found": 1},
            {"path": "expect.renamed", "expected": 3, "found": 0},
        ])
    );
    let ran = test(&place, &["--format", "junit"]).exits(1);
    assert!(
        ran.out.contains("tests=\"1\" failures=\"1\""),
        "{}",
        ran.out
    );
}

#[test]
fn faults_of_a_file_have_their_place() {
    for (text, line, column) in [
        ("[given]\nnow = 2026-01-01T00:00:00Z\nnever = 1\n", 3, 1),
        ("\n[expect]\n  creates = 1\n", 3, 3),
        ("[[fire]]\nautomation = \"nobody\"\n", 2, 14),
        ("[given]\nnow = \"noon\"\n", 2, 7),
        ("[expect]\ncreated = -1\n", 2, 11),
        ("[given]\nrows = { f_x = \"some\" }\n", 2, 16),
        (
            "[given]\nrows = { \"$f_x\" = \"none\", f_x = \"all\" }\n",
            2,
            27,
        ),
        ("[expect\n", 1, 8),
        ("[expect]\nundo = \"half\"\n", 2, 8),
        ("[expect.inserted]\nf_cleints = 0\n", 2, 1),
        ("[expect]\ncreated = { feature = 1, colum = 0 }\n", 2, 26),
    ] {
        let place = with(text);
        let document = test(&place, &["--format", "json"]).exits(2).json();
        let error = &document["errors"][0];
        assert_eq!(
            (&error["line"], &error["column"]),
            (&json!(line), &json!(column)),
            "{text} {error}"
        );
        let ran = test(&place, &[]).exits(2);
        assert!(
            ran.err.contains(&format!("one.toml:{line}:{column}: ")),
            "{}",
            ran.err
        );
    }
}

#[test]
fn without_tests_there_is_a_note() {
    let place = Place::new();
    place.write("p.json", &tiny());
    let ran = test(&place, &[]).exits(0);
    assert!(ran.err.contains("no tests"), "{}", ran.err);
    let document = test(&place, &["--require-tests", "--format", "json"])
        .exits(1)
        .json();
    assert_eq!(document["tests"], json!([]));
    test(&place, &["--tests", "nowhere"]).exits(2);
}

/// Nothing that is called a test is passed over.
#[cfg(unix)]
#[test]
fn a_test_that_cannot_be_read_is_no_test_that_passed() {
    let place = with("");
    // Emacs has one next to each file that is changed and not saved.
    std::os::unix::fs::symlink("me@here.1234:5", place.path("tests/.#one.toml")).expect("a link");
    test(&place, &[]).exits(0);
    std::os::unix::fs::symlink("gone.toml", place.path("tests/two.toml")).expect("a link");
    let ran = test(&place, &[]).exits(2);
    assert!(ran.err.contains("two.toml"), "{}", ran.err);
    std::fs::remove_file(place.path("tests/two.toml")).expect("is removed");
    let _socket = std::os::unix::net::UnixListener::bind(place.path("tests/two.toml"));
    let ran = test(&place, &[]).exits(2);
    assert!(ran.err.contains("it is not a file"), "{}", ran.err);
}

#[test]
fn a_snapshot_is_compared_once_it_is_there() {
    let place = with("");
    test(&place, &["--update"]).exits(0);
    test(&place, &[]).exits(0);
    let snapshot = place.read("tests/one.snap");
    place.write("tests/one.snap", &snapshot.replacen('0', "5", 1));
    let ran = test(&place, &["--format", "json"]).exits(1);
    assert_eq!(failures(&ran)[0]["path"], "snapshot");
    test(&place, &["--update"]).exits(0);
    assert_eq!(place.read("tests/one.snap"), snapshot);
}

#[test]
fn an_unpacked_folder_has_its_tests_inside() {
    let place = Place::new();
    place.write("p.json", &tiny());
    place.run(&["unpack", "p.json", "lay"]).exits(0);
    place.write(
        "lay/tests/one.toml",
        "[expect]\ncreated = { feature = 1 }\n",
    );
    let ran = place.run(&["test", "lay"]).exits(0);
    assert!(ran.out.contains("1 passed"), "{}", ran.out);
    place.run(&["check", "lay"]).exits(0);
}

#[test]
fn an_upgrade_is_tested_with_a_base() {
    let place = with(
        "[given]\nbase = \"../old.json\"\n[expect]\ncreated = 0\nstructure_updated = { feature = 1 }\n",
    );
    place.write("old.json", &tiny());
    let mut package: Value = serde_json::from_str(&tiny()).expect("JSON");
    let steps = package["manifest"]["plan"]["steps"]
        .as_array_mut()
        .expect("steps");
    let table = steps
        .iter_mut()
        .find(|step| step["tool"] == "create_feature");
    table.expect("a table")["args"]["label"] = "Another".into();
    place.write("p.json", &package.to_string());
    test(&place, &[]).exits(0);
    package["manifest"]["id"] = "another".into();
    place.write("old.json", &package.to_string());
    let ran = test(&place, &[]).exits(2);
    assert!(
        ran.err.contains("is another package (`base_unrelated`)"),
        "{}",
        ran.err
    );
}
