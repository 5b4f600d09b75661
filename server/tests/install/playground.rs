//! The playground of a released server: built from the commit that the server is built from.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::{root, tool};

/// Builds nothing but a page that counts its builds; `now` says what the sources are.
const BUILDER: &str = r#"#!/bin/sh
set -e
cd "$(dirname "$0")/.."
if [ "$1" = --stamp ]; then cat now; exit; fi
[ ! -e unavailable ] || exit 3
mkdir -p target/playground
echo built >>target/playground/index.html
cat now >target/playground.stamp
"#;

fn run(program: &Path, folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn write(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;

    fs::create_dir_all(path.parent().expect("a folder")).expect("is made");
    fs::write(path, text).expect("is written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("may run");
}

#[test]
fn a_page_of_another_commit_or_of_a_changed_tree_is_built_anew() {
    let Some(python) = tool("python3") else {
        return;
    };
    let place = TempDir::new().expect("a folder");
    let place = place.path();
    write(&place.join("scripts/playground"), BUILDER);
    let script = "import sys; sys.dont_write_bytecode = True; sys.path.insert(0, sys.argv[1])
from dist import playground
print(playground.bundle(sys.argv[2]))";
    let packaging = root().join("packaging");
    let bundle = |sources: &str| {
        fs::write(place.join("now"), sources).expect("is written");
        let folders = [&packaging, place].map(|path| path.to_str().expect("a name"));
        run(&python, place, &["-c", script, folders[0], folders[1]])
    };
    let builds = || {
        let page = fs::read_to_string(place.join("target/playground/index.html"));
        page.expect("a page").lines().count()
    };
    let page = place.join("target/playground");
    let page = page.to_str().expect("a name");
    for (sources, built) in [
        ("one clean\n", 1),
        ("one clean\n", 1),
        ("two clean\n", 2),
        ("two changed\n", 3),
        ("two changed\n", 4),
        ("two clean\n", 5),
        ("two clean\n", 5),
        ("unknown\n", 6),
        ("unknown\n", 7),
    ] {
        assert_eq!(bundle(sources), page);
        assert_eq!(builds(), built, "{sources}");
    }
    // One that says nothing of what it was built from.
    fs::remove_file(place.join("target/playground.stamp")).expect("is removed");
    bundle("unknown\n");
    assert_eq!(builds(), 8);
    // A page of other sources does not replace one that cannot be built.
    fs::write(place.join("unavailable"), "").expect("is written");
    assert_eq!(bundle("three clean\n"), "None");
}

#[test]
fn the_playground_knows_what_it_is_built_from() {
    let Some(git) = tool("git") else { return };
    let place = TempDir::new().expect("a folder");
    let place = place.path();
    let script = fs::read_to_string(root().join("scripts/playground")).expect("reads");
    let copied = place.join("scripts/playground");
    write(&copied, &script);
    let stamp = || run(&copied, place, &["--stamp"]);
    assert_eq!(stamp(), "unknown");
    run(&git, place, &["init", "-q"]);
    assert_eq!(stamp(), "unknown");
    run(&git, place, &["add", "."]);
    let author = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
    let commit = [&author[..], &["commit", "-q", "-m", "one"]].concat();
    run(&git, place, &commit);
    let head = run(&git, place, &["rev-parse", "HEAD"]);
    assert_eq!(stamp(), format!("{head} clean"));
    fs::write(place.join("more"), "").expect("is written");
    assert_eq!(stamp(), format!("{head} changed"));
    // Sources inside another repository are not of its commit.
    let inner = place.join("inner/scripts/playground");
    write(&inner, &script);
    assert_eq!(run(&inner, place, &["--stamp"]), "unknown");
}
