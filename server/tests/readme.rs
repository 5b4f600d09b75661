//! What the README shows of the server runs as it is written.

use std::path::Path;
use std::process::Command;

use crate::process::{database, variable};

/// The commands behind that heading that begin with a server, and the lines that they print.
fn session(readme: &str, heading: &str) -> (Vec<String>, Vec<String>) {
    let (_, rest) = readme.split_once(heading).expect("the heading");
    let mut sessions = rest.split("```console\n");
    let session = sessions.find(|session| session.starts_with("$ tplkit-server serve"));
    let (session, _) = session
        .expect("a session")
        .split_once("```")
        .expect("an end");
    let (mut commands, mut printed) = (Vec::new(), Vec::new());
    for line in session.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => commands.push(command.to_owned()),
            None => printed.push(line.to_owned()),
        }
    }
    (commands, printed)
}

/// Runs the session behind a heading in an empty folder, as somebody who has just built both programs.
#[expect(clippy::print_stderr, reason = "says what is not tested")]
fn run(heading: &str) {
    for program in ["curl", "jq"] {
        let there = Command::new(program).arg("--version").output();
        if !there.is_ok_and(|output| output.status.success()) {
            eprintln!("SKIPPED: there is no {program}");
            return;
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("a root");
    let readme = std::fs::read_to_string(root.join("README.md")).expect("reads");
    let (mut commands, printed) = session(&readme, heading);
    assert!(commands.len() >= 10, "{commands:?}");
    // The server ends with the session, also when that fails half way.
    commands.insert(1, "trap 'kill $! 2>/dev/null || true' EXIT".to_owned());
    let programs = Path::new(env!("CARGO_BIN_EXE_tplkit-server"))
        .parent()
        .expect("a folder");
    if !programs.join("tplkit").exists() {
        // Tests of this package alone do not build the other program.
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--package", "tplkit", "--bin", "tplkit"]);
        let target = programs.parent().expect("a folder");
        let built = cargo
            .current_dir(root)
            .env("CARGO_TARGET_DIR", target)
            .status();
        assert!(built.expect("cargo runs").success());
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(root.join("examples"), folder.path().join("examples"))
        .expect("links");
    let path = variable("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-eu", "-c", &commands.join("\n")])
        .current_dir(folder.path())
        .env("PATH", format!("{}:{path}", programs.display()))
        .env("HOME", folder.path())
        .env("XDG_CONFIG_HOME", folder.path())
        .env("TPLKIT_DATABASE_URL", database(folder.path()))
        .env_remove("TPLKIT_URL")
        .env_remove("TPLKIT_TOKEN")
        .output()
        .expect("runs");
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{out} {}",
        String::from_utf8_lossy(&output.stderr)
    );
    for line in printed {
        assert!(out.lines().any(|other| other == line), "{line}: {out}");
    }
}

#[test]
fn a_template_goes_from_file_to_workspace_and_back() {
    run("### A template, from file to workspace and back");
}

#[test]
fn an_automation_goes_from_file_to_fired() {
    run("### An automation, from file to fired");
}
