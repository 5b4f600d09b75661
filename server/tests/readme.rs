//! What the README shows of automations runs as it is written.

use std::path::Path;
use std::process::Command;

use crate::process::{database, variable};

/// The commands behind that heading, and the lines that they print.
fn session(readme: &str, heading: &str) -> (Vec<String>, Vec<String>) {
    let (_, rest) = readme.split_once(heading).expect("the heading");
    // The first session is that of the other program.
    let session = rest.split("```console\n").nth(2).expect("a session");
    let (session, _) = session.split_once("```").expect("an end");
    let (mut commands, mut printed) = (Vec::new(), Vec::new());
    for line in session.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => commands.push(command.to_owned()),
            None => printed.push(line.to_owned()),
        }
    }
    (commands, printed)
}

#[test]
fn an_automation_goes_from_file_to_fired() {
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
    let (commands, printed) = session(&readme, "### An automation, from file to fired");
    assert!(commands.len() >= 10, "{commands:?}");
    let folder = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(root.join("examples"), folder.path().join("examples"))
        .expect("links");
    let programs = Path::new(env!("CARGO_BIN_EXE_tplkit-server"))
        .parent()
        .expect("a folder");
    let path = variable("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-eu", "-c", &commands.join("\n")])
        .current_dir(folder.path())
        .env("PATH", format!("{}:{path}", programs.display()))
        .env("TPLKIT_DATABASE_URL", database(folder.path()))
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
