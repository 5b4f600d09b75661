//! A folder that holds an unpacked package is checked as that package, and never green when it is not.

use std::fs;

use serde_json::Value;

use crate::support::{Place, Ran, faulty, mendable, tiny};

/// The small package with an error and a warning, as a file and as a folder.
fn place() -> Place {
    let place = Place::with(&[("p.json", &faulty()), ("good.json", &tiny())]);
    place.run(&["unpack", "p.json", "lay"]).exits(0);
    place.run(&["unpack", "good.json", "fine"]).exits(0);
    place
}

fn files(ran: &Ran) -> Vec<(String, Vec<(String, String)>)> {
    let document = ran.json();
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let files = document["files"].as_array().expect("a list").iter();
    files
        .map(|file| {
            let findings = file["findings"].as_array().expect("a list").iter();
            let findings = findings.map(|one| (text(&one["code"]), text(&one["pointer"])));
            (text(&file["path"]), findings.collect())
        })
        .collect()
}

#[test]
fn a_folder_has_the_findings_of_its_package() {
    let place = place();
    let expected = files(&place.run(&["check", "p.json", "--format", "json"]).exits(1));
    let ran = place.run(&["check", "lay", "--format", "json"]).exits(1);
    let found = files(&ran);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "lay");
    assert_eq!(found[0].1, expected[0].1);
    let document = ran.json();
    assert_eq!(
        (
            &document["files"][0]["kind"],
            &document["summary"]["packages"]
        ),
        (&"package".into(), &1.into())
    );
    let document = place
        .run(&["check", "fine", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(
        (
            &document["summary"]["packages"],
            &document["summary"]["plain"]
        ),
        (&1.into(), &0.into())
    );
    // Its index or a file of it, on its own, means the same.
    for path in ["lay/tplkit.index", "lay/template.json"] {
        let words = ["check", path, "lay", "--format", "json"];
        assert_eq!(files(&place.run(&words).exits(1)).len(), 1, "{path}");
        let ran = place.run(&["check", path, "--format", "json"]).exits(1);
        assert_eq!(files(&ran), found, "{path}");
    }
    let expected = place.run(&["promote", "p.json", "--format", "json"]);
    let found = place.run(&["promote", "lay", "--format", "json"]);
    assert_eq!(found.code, expected.code);
    let (found, expected) = (found.json(), expected.json());
    let passed = |document: &Value| {
        let verdicts = document["files"][0]["promotion"]
            .as_array()
            .expect("verdicts")
            .iter();
        verdicts
            .map(|one| (one["code"].clone(), one["passed"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(passed(&found), passed(&expected));
}

#[test]
fn a_walk_meets_folders_and_whatever_else_lies_there() {
    let place = place();
    fs::create_dir(place.path("repo")).expect("a folder");
    for name in ["lay", "fine"] {
        fs::rename(place.path(name), place.path(&format!("repo/{name}"))).expect("is moved");
    }
    place.write("repo/fine/notes.json", "[1]");
    place.write("repo/fine/more/q.json", &tiny());
    place.write("repo/.gitignore", "tplkit.index\nfeatures/\n");
    let ran = place.run(&["check", "repo", "--format", "json"]).exits(1);
    let paths: Vec<String> = files(&ran).into_iter().map(|(path, _)| path).collect();
    assert_eq!(
        paths,
        [
            "repo/fine",
            "repo/fine/more/q.json",
            "repo/fine/notes.json",
            "repo/lay"
        ]
    );
    let summary = &ran.json()["summary"];
    assert_eq!(
        (&summary["packages"], &summary["plain"]),
        (&3.into(), &1.into())
    );
    let mut command = place.command(&["check", ".", "--format", "json"]);
    command.current_dir(place.path("repo/lay"));
    let ran = Ran::from(command.output().expect("runs")).exits(1);
    assert_eq!(files(&ran)[0].0, ".");
}

#[test]
fn a_broken_folder_is_a_finding() {
    for (name, text) in [
        ("tplkit.index", Some("nonsense\n")),
        ("tplkit.index", Some("")),
        ("template.json", Some("{")),
        ("template.json", None),
        ("features/more.json", Some("{}")),
    ] {
        let place = place();
        match text {
            Some(text) => place.write(&format!("fine/{name}"), text),
            None => fs::remove_file(place.path("fine/template.json")).expect("is removed"),
        }
        for words in [
            &["check", "fine"][..],
            &["promote", "fine"],
            &["check", "."],
        ] {
            let ran = place.run(words).exits(1);
            assert!(
                ran.out.contains("cannot be packed"),
                "{words:?}: {}",
                ran.out
            );
            assert!(ran.out.contains(name), "{words:?}: {}", ran.out);
        }
        let ran = place.run(&["check", "fine", "--format", "json"]).exits(1);
        let found = files(&ran);
        assert_eq!(found[0].0, "fine");
        assert!(!found[0].1.is_empty(), "{found:?}");
    }
}

#[test]
fn fixes_of_a_folder_are_shown_and_not_written() {
    let place = Place::with(&[("p.json", &mendable())]);
    place.run(&["unpack", "p.json", "lay"]).exits(0);
    let before = place.run(&["pack", "lay"]).exits(0).out;
    let ran = place.run(&["check", "lay", "--fix"]).exits(2);
    assert!(ran.err.contains("tplkit pack lay"), "{}", ran.err);
    let ran = place.run(&["check", "lay", "--diff"]).exits(1);
    assert!(ran.out.starts_with("--- lay\n"), "{}", ran.out);
    assert_eq!(place.run(&["pack", "lay"]).exits(0).out, before);
    // Where there is nothing to fix, nothing is said.
    place.write("good.json", &tiny());
    place.run(&["unpack", "good.json", "fine"]).exits(0);
    place.run(&["check", "fine", "--fix"]).exits(0);
}

#[test]
fn a_folder_of_no_package_is_walked_and_formatted_as_ever() {
    let place = Place::with(&[("d/a.json", &tiny()), ("d/tplkit.index.json", "[]")]);
    let ran = place.run(&["check", "d", "--format", "json"]).exits(0);
    assert_eq!(files(&ran).len(), 2);
    place.run(&["unpack", "d/a.json", "lay"]).exits(0);
    place.run(&["fmt", "--check", "lay"]).exits(0);
}
