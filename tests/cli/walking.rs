//! Which files are checked.

use crate::support::{Place, Ran, faulty, tiny};

fn paths(ran: &Ran) -> Vec<String> {
    let document = ran.json();
    let files = document["files"].as_array().expect("list").iter();
    files
        .map(|file| file["path"].as_str().expect("text").to_owned())
        .collect()
}

#[test]
fn folders_are_walked_for_json_in_any_case() {
    let place = Place::with(&[
        ("d/a.json", &tiny()),
        ("d/b.JSON", &tiny()),
        ("d/deep/er/c.Json", &tiny()),
        ("d/d.txt", "no"),
        ("d/.hidden/e.json", "no"),
        ("d/.f.json", &tiny()),
    ]);
    let ran = place.run(&["check", "d", "--format", "json"]).exits(0);
    assert_eq!(
        paths(&ran),
        ["d/.f.json", "d/a.json", "d/b.JSON", "d/deep/er/c.Json"]
    );
}

#[test]
fn ignore_files_hold_outside_a_repository_too() {
    let place = Place::with(&[
        ("d/.gitignore", "skip.json\nout/\n"),
        ("d/.ignore", "also.json\n"),
        ("d/a.json", &tiny()),
        ("d/skip.json", "no"),
        ("d/also.json", "no"),
        ("d/out/b.json", "no"),
    ]);
    assert_eq!(
        paths(&place.run(&["check", "d", "--format", "json"]).exits(0)),
        ["d/a.json"]
    );
    // What is named is checked.
    place.run(&["check", "d/skip.json"]).exits(1);
}

#[test]
fn plain_files_are_counted_in_folders_and_findings_by_name() {
    let place = Place::with(&[
        ("d/a.json", &tiny()),
        ("d/list.json", "[1]"),
        ("d/o.json", "{\"a\":1}"),
        ("d/bad.json", "{"),
    ]);
    let document = place
        .run(&["check", "d", "--format", "json"])
        .exits(1)
        .json();
    assert_eq!(document["summary"]["files"], 4);
    assert_eq!(document["summary"]["packages"], 2);
    assert_eq!(document["summary"]["plain"], 2);
    std::fs::remove_file(place.path("d/bad.json")).expect("remove");
    let ran = place.run(&["check", "d"]).exits(0);
    assert_eq!(
        ran.out,
        "No findings in 1 package, 2 plain files skipped.\n"
    );
    for name in ["d/list.json", "d/o.json"] {
        let document = place
            .run(&["check", name, "--format", "json"])
            .exits(1)
            .json();
        assert_eq!(document["files"][0]["findings"][0]["code"], "J003");
        assert_eq!(document["files"][0]["kind"], "plain");
    }
    // Promotion measures a named object all the same, and skips it in a folder.
    let document = place
        .run(&["promote", "d/o.json", "--format", "json"])
        .exits(1)
        .json();
    assert_eq!(document["files"][0]["promotion"][0]["passed"], false);
    place.run(&["promote", "d"]).exits(0);
}

#[test]
fn a_folder_without_packages_is_fine_unless_one_is_required() {
    let place = Place::with(&[("d/list.json", "[1]")]);
    let ran = place.run(&["check", "d"]).exits(0);
    assert!(ran.err.contains("no package"), "{}", ran.err);
    place.run(&["check", "d", "--require-package"]).exits(1);
    std::fs::create_dir(place.path("empty")).expect("folder");
    place.run(&["check", "empty"]).exits(0);
    let document = place
        .run(&["check", "empty", "--require-package", "--format", "json"])
        .exits(1)
        .json();
    assert_eq!(document["outcome"], "findings");
}

#[test]
fn nothing_is_checked_twice() {
    let place = Place::with(&[("d/a.json", &tiny()), ("d/e/b.json", &tiny())]);
    let ran = place
        .run(&[
            "check",
            "d",
            "d/e",
            "d/a.json",
            "./d/a.json",
            "d",
            "--format",
            "json",
        ])
        .exits(0);
    assert_eq!(paths(&ran), ["d/a.json", "d/e/b.json"]);
}

#[cfg(unix)]
#[test]
fn links_are_followed_once() {
    use std::os::unix::fs::symlink;
    let place = Place::with(&[
        ("d/a.json", &tiny()),
        ("outside/b.json", &tiny()),
        ("d/e/c.json", &tiny()),
    ]);
    symlink("..", place.path("d/e/up")).expect("link");
    symlink("../outside", place.path("d/linked")).expect("link");
    symlink("a.json", place.path("d/again.json")).expect("link");
    symlink("../../d", place.path("outside/back")).expect("link");
    let ran = place.run(&["check", "d", "--format", "json"]).exits(0);
    assert_eq!(paths(&ran), ["d/a.json", "d/e/c.json", "d/linked/b.json"]);
    symlink("nowhere", place.path("d/gone.json")).expect("link");
    let ran = place.run(&["check", "d"]).exits(2);
    let dangling = "`d/gone.json` is a link to `nowhere`, and no file is there";
    assert!(ran.err.contains(dangling), "{}", ran.err);
    assert!(ran.err.contains("correct the link"), "{}", ran.err);
}

/// Emacs has one next to each file that is changed and not saved.
#[cfg(unix)]
#[test]
fn locks_of_an_editor_are_passed_over() {
    use std::os::unix::fs::symlink;
    let place = Place::with(&[("d/a.json", &tiny())]);
    symlink("me@here.1234:5", place.path("d/.#a.json")).expect("link");
    let ran = place.run(&["check", "d", "--format", "json"]).exits(0);
    assert_eq!(paths(&ran), ["d/a.json"]);
    // What is named is meant, and a file is no lock.
    place.run(&["check", "d/.#a.json"]).exits(2);
    place.write("d/.#b.json", &tiny());
    let ran = place.run(&["check", "d", "--format", "json"]).exits(0);
    assert_eq!(paths(&ran), ["d/.#b.json", "d/a.json"]);
}

#[cfg(unix)]
#[test]
fn many_folders_that_link_to_each_other_are_walked_in_no_time() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    for from in 0..12 {
        place.write(&format!("d/{from}/p.json"), &tiny());
        for to in 0..12 {
            symlink(format!("../{to}"), place.path(&format!("d/{from}/l{to}"))).expect("link");
        }
    }
    assert_eq!(
        paths(&place.run(&["check", "d", "--format", "json"]).exits(0)).len(),
        12
    );
}

#[cfg(unix)]
#[test]
fn names_that_are_no_text_work() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let place = Place::new();
    let name = OsStr::from_bytes(b"caf\xe9.json");
    if std::fs::write(place.dir.path().join(name), faulty()).is_err() {
        return; // Some file systems take only UTF-8.
    }
    for format in ["text", "json", "sarif", "github", "gitlab", "junit", "md"] {
        place.run(&["check", ".", "--format", format]).exits(1);
        let output = place
            .command(&["check", "--format", format])
            .arg(name)
            .output()
            .expect("run");
        assert_eq!(output.status.code(), Some(1));
    }
    let document = place.run(&["check", ".", "--format", "sarif"]).json();
    let uri = &document["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
        ["uri"];
    assert_eq!(uri, "caf%E9.json");
}

#[test]
fn named_files_that_are_no_packages_can_be_skipped() {
    let place = Place::with(&[
        ("p.json", &tiny()),
        ("settings.json", "{\"a\": 1}"),
        ("comments.json", "// no JSON\n{}"),
        ("cut.json", "{\"templateVersion\": 2,"),
    ]);
    let named = ["check", "p.json", "settings.json", "comments.json"];
    place.run(&named).exits(1);
    let skipping = [&named[..], &["--skip-plain"]].concat();
    let ran = place.run(&skipping).exits(0);
    assert!(ran.out.contains("2 plain files skipped"), "{}", ran.out);
    let ran = place.run(&["check", "cut.json", "--skip-plain"]).exits(1);
    assert!(ran.out.contains("J001"), "{}", ran.out);
    place
        .run(&["check", "settings.json", "--skip-plain"])
        .exits(0);
}

#[test]
fn where_there_are_findings_one_line_says_how_to_learn_more() {
    let place = Place::with(&[("p.json", &crate::support::faulty())]);
    let ran = place.run(&["check", "p.json"]).exits(1);
    assert_eq!(
        ran.err.matches("tplkit explain M00").count(),
        1,
        "{}",
        ran.err
    );
    for quiet in [&["-q"][..], &["--format", "json"], &["--format", "github"]] {
        let ran = place.run(&[&["check", "p.json"], quiet].concat());
        assert!(!ran.err.contains("explain"), "{}", ran.err);
    }
    let ran = place.run(&["check", "p.json", "--ignore", "M"]).exits(0);
    assert!(!ran.err.contains("explain"), "{}", ran.err);
}
