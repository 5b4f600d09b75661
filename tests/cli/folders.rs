//! A folder that holds an unpacked package is checked as that package, and never green when it is not.

use std::fs;

use serde_json::Value;

use crate::support::{Place, Ran, faulty, fixable, tiny};

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

/// Some editors begin a file with a mark of its encoding.
#[test]
fn the_index_may_begin_with_a_mark() {
    let place = place();
    let index = place.read("fine/tplkit.index");
    let named = "features/notes.json";
    assert!(index.contains("notes.json"), "{index}");
    let summary = |place: &Place| {
        let ran = place.run(&["check", "fine", "--format", "json"]);
        ran.json()["summary"].clone()
    };
    let before = summary(&place);
    place.write("fine/tplkit.index", &format!("\u{feff}{index}"));
    assert_eq!(summary(&place), before);
    let named = format!("fine/{named}");
    let ran = place.run(&["check", &named, "--format", "json"]);
    assert_eq!(ran.json()["summary"], before);
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
            let code = if text == Some("{") { "J001" } else { "J010" };
            assert!(ran.out.contains(code), "{words:?}: {}", ran.out);
            assert!(
                ran.out.contains(&format!("fine/{name}:1:")),
                "{words:?}: {}",
                ran.out
            );
        }
        // No flag makes it green, and nothing else works on a part of a package.
        let ran = place.run(&["check", "fine", "--ignore", "all"]).exits(1);
        assert!(!ran.out.contains("No findings"), "{}", ran.out);
        for words in [
            &["show", "fine"][..],
            &["why", "fine", "f_notes"],
            &["graph", "fine", "--format", "dot"],
            &["report", "fine"],
            &["diff", "fine", "p.json"],
            &["simulate", "fine"],
            &["resolve", "init", "fine"],
            &["migrate", "fine"],
            &["unpack", "fine", "other"],
        ] {
            let ran = place.run(words).exits(1);
            assert!(ran.out.contains("fine/"), "{words:?}: {}", ran.out);
        }
        place.run(&["fmt", "fine"]).exits(1);
        let ran = place.run(&["check", "fine", "--format", "json"]).exits(1);
        let found = files(&ran);
        assert_eq!(found[0].0, "fine");
        assert!(!found[0].1.is_empty(), "{found:?}");
    }
}

#[test]
fn fixes_are_written_into_the_small_files() {
    let place = Place::with(&[("p.json", &fixable())]);
    place.run(&["unpack", "p.json", "lay"]).exits(0);
    let before = place.run(&["pack", "lay"]).exits(0).out;
    let ran = place.run(&["check", "lay", "--diff"]).exits(1);
    assert!(ran.out.starts_with("--- lay/"), "{}", ran.out);
    assert_eq!(place.run(&["pack", "lay"]).exits(0).out, before);
    place.run(&["check", "p.json", "--fix"]);
    place.run(&["fmt", "p.json"]).exits(0);
    let ran = place.run(&["check", "lay", "--fix"]);
    assert!(ran.out.contains("fixed"), "{}", ran.out);
    assert_eq!(
        place.run(&["pack", "lay"]).exits(0).out,
        place.read("p.json")
    );
    // Where there is nothing to fix, nothing is touched.
    place.write("good.json", &tiny());
    place.run(&["unpack", "good.json", "fine"]).exits(0);
    let written = |name: &str| {
        let about = fs::metadata(place.path(name)).expect("is there");
        about.modified().expect("a time")
    };
    let before = written("fine/template.json");
    place.run(&["check", "fine", "--fix"]).exits(0);
    assert_eq!(written("fine/template.json"), before);
}

#[test]
fn findings_name_the_small_file_in_every_format() {
    let place = place();
    let ran = place.run(&["check", "lay", "--format", "json"]).exits(1);
    let document = ran.json();
    let findings = document["files"][0]["findings"].as_array().expect("a list");
    for finding in findings {
        let file = finding["file"].as_str().expect("a file");
        let text = place.read(&format!("lay/{file}"));
        let number = |key: &str| usize::try_from(finding[key].as_u64().expect(key)).expect("fits");
        let before = &text[..number("offset")];
        assert_eq!(
            number("line"),
            before.matches('\n').count() + 1,
            "{finding}"
        );
        assert!(text.is_char_boundary(number("offset") + number("length")));
        for related in finding["related"].as_array().expect("a list") {
            assert!(
                related["file"].is_string() && related["length"].is_u64(),
                "{related}"
            );
        }
    }
    let file = findings[0]["file"].as_str().expect("a file");
    let line = findings[0]["line"].as_u64().expect("a line");
    let shown = format!("lay/{file}:{line}:");
    let ran = place.run(&["check", "lay"]).exits(1);
    assert!(ran.out.contains(&shown), "{}", ran.out);
    for (format, words) in [
        ("github", vec![format!("file=lay/{file},line={line},")]),
        ("gitlab", vec![format!("\"path\": \"lay/{file}\"")]),
        ("sarif", vec![format!("\"uri\": \"lay/{file}\"")]),
        ("junit", vec!["classname=\"lay\"".to_owned(), shown.clone()]),
        ("md", vec![format!("`lay/{file}` {line}:")]),
    ] {
        let ran = place.run(&["check", "lay", "--format", format]).exits(1);
        for word in words {
            assert!(ran.out.contains(&word), "{format}, {word}: {}", ran.out);
        }
    }
    // The packed file has no file in its document.
    let document = place.run(&["check", "p.json", "--format", "json"]).json();
    assert_eq!(document["files"][0]["findings"][0].get("file"), None);
}

/// Every command that takes a package takes its folder, and says the same of it.
#[test]
fn a_folder_is_a_package_in_every_command() {
    let place = place();
    place.run(&["fmt", "good.json"]).exits(0);
    place.write("other.json", &tiny().replace("\"Title\"", "\"Headline\""));
    place.run(&["unpack", "other.json", "second"]).exits(0);
    for (file, folder) in [
        (vec!["show", "good.json"], vec!["show", "fine"]),
        (vec!["show", "good.json"], vec!["show", "fine/tplkit.index"]),
        (
            vec!["show", "good.json"],
            vec!["show", "fine/columns/notes_title.json"],
        ),
        (
            vec!["graph", "good.json", "--format", "dot"],
            vec!["graph", "fine", "--format", "dot"],
        ),
        (
            vec!["diff", "good.json", "other.json", "--rows"],
            vec!["diff", "fine", "second", "--rows"],
        ),
        (
            vec!["resolve", "init", "good.json"],
            vec!["resolve", "init", "fine"],
        ),
    ] {
        let (one, other) = (place.run(&file).exits(0), place.run(&folder).exits(0));
        assert_eq!(one.out, other.out, "{folder:?}");
    }
    let ran = place.run(&["why", "fine", "c_notes_title"]).exits(0);
    assert!(
        ran.out.contains("fine/columns/notes_title.json:"),
        "{}",
        ran.out
    );
    let document = place
        .run(&["why", "fine", "c_notes_title", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(document["declared"][0]["file"], "columns/notes_title.json");
    place.run(&["simulate", "fine"]).exits(0);
    place
        .run(&["simulate", "good.json", "--into", "second"])
        .exits(0);
    place.run(&["report", "fine", "-o", "page.html"]).exits(0);
    assert!(place.read("page.html").contains("Notes"));
    place.run(&["promote", "fine"]);
    place.run(&["fmt", "--check", "fine"]).exits(0);
    let ran = place.run(&["migrate", "fine"]).exits(0);
    assert_eq!(ran.out, place.run(&["pack", "fine"]).out);
    // A folder of another sort is none.
    fs::create_dir(place.path("empty")).expect("a folder");
    let ran = place.run(&["show", "empty"]).exits(2);
    assert!(ran.err.contains("tplkit.index"), "{}", ran.err);
}

#[test]
fn a_package_is_written_as_a_folder() {
    let place = place();
    place.write(
        "old.json",
        include_str!("../fixtures/cases/valid/bare-v1.json"),
    );
    place.run(&["migrate", "old.json", "-o", "new/"]).exits(0);
    place.run(&["check", "new"]).exits(0);
    let first = place.run(&["pack", "new"]).exits(0).out;
    // A folder that is there is replaced as `unpack --force` does.
    place.write("new/README.md", "mine");
    place.run(&["migrate", "new", "-o", "new"]).exits(0);
    assert_eq!(place.run(&["pack", "new"]).exits(0).out, first);
    assert_eq!(place.read("new/README.md"), "mine");
    place.run(&["migrate", "good.json", "-o", "new"]).exits(0);
    assert_eq!(
        place.run(&["pack", "new"]).exits(0).out,
        place.run(&["pack", "fine"]).exits(0).out
    );
}

#[test]
fn formatting_keeps_names() {
    let place = place();
    let canonical = place.read("fine/columns/notes_title.json");
    let minified: String = canonical.split('\n').map(str::trim).collect();
    place.write("fine/columns/notes_title.json", &minified);
    let ran = place.run(&["fmt", "--check", "fine"]).exits(1);
    assert!(
        ran.out.contains("fine: not in canonical form"),
        "{}",
        ran.out
    );
    let document = place
        .run(&["fmt", "fine/template.json", "fine", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(document["files"].as_array().expect("a list").len(), 1);
    assert_eq!(document["files"][0]["changed"], true);
    assert_eq!(place.read("fine/columns/notes_title.json"), canonical);
    place.run(&["fmt", "fine", "-o", "packed.json"]).exits(0);
    assert_eq!(place.read("packed.json"), place.run(&["pack", "fine"]).out);
}

#[test]
fn a_folder_has_a_baseline() {
    let place = place();
    let words = ["check", "lay", "--baseline", "known.json"];
    place
        .run(&[&words[..], &["--write-baseline"]].concat())
        .exits(0);
    place.run(&words).exits(0);
    assert!(place.read("known.json").contains("\"path\": \"lay\""));
    // What is not whole is never accepted.
    place.write("lay/views/more.json", "{}");
    let ran = place
        .run(&[&words[..], &["--write-baseline"]].concat())
        .exits(1);
    assert!(ran.out.contains("J010"), "{}", ran.out);
    place.run(&words).exits(1);
}

#[test]
fn an_ignored_folder_is_not_entered_and_no_package_is_no_failure() {
    let place = place();
    fs::create_dir(place.path("repo")).expect("a folder");
    for name in ["lay", "fine"] {
        fs::rename(place.path(name), place.path(&format!("repo/{name}"))).expect("is moved");
    }
    place.write("repo/.gitignore", "lay/\n");
    let ran = place.run(&["check", "repo", "--format", "json"]).exits(0);
    let paths: Vec<String> = files(&ran).into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["repo/fine"]);
    place.run(&["check", "repo/lay"]).exits(1);
    fs::create_dir(place.path("none")).expect("a folder");
    let ran = place.run(&["check", "none"]).exits(0);
    assert!(ran.err.contains("no package"), "{}", ran.err);
    place.run(&["check", "none", "--require-package"]).exits(1);
}

#[test]
fn a_folder_of_no_package_is_walked_and_formatted_as_ever() {
    let place = Place::with(&[("d/a.json", &tiny()), ("d/tplkit.index.json", "[]")]);
    let ran = place.run(&["check", "d", "--format", "json"]).exits(0);
    assert_eq!(files(&ran).len(), 2);
    place.run(&["unpack", "d/a.json", "lay"]).exits(0);
    place.run(&["fmt", "--check", "lay"]).exits(0);
}

#[test]
fn a_package_has_one_digest_however_it_is_laid_out() {
    let place = Place::with(&[("p.json", &tiny())]);
    place.run(&["fmt", "p.json"]).exits(0);
    place.run(&["unpack", "p.json", "lay"]).exits(0);
    let compact: Value = serde_json::from_str(&place.read("p.json")).expect("JSON");
    place.write("q.json", &compact.to_string());
    assert_ne!(place.read("p.json"), place.read("q.json"));
    let digest = |path: &str| {
        let ran = place.run(&["simulate", path, "--format", "json"]).exits(0);
        ran.json()["plan"]["digest"].clone()
    };
    let expected = digest("p.json");
    assert!(expected.is_string());
    for path in ["q.json", "lay"] {
        assert_eq!(digest(path), expected, "{path}");
    }
}
