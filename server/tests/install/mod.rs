//! What people install and what CI runs: the action, the hook, the manifests, the extension of the editor.
//! The forms that take a release build are tried by `scripts/dist --test`.

mod action;
mod extension;
mod forge;
mod hook;
mod manifests;
#[cfg(unix)]
mod playground;
mod scripts;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::variable;

fn root() -> PathBuf {
    let parent = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    parent.expect("a root").to_owned()
}

fn text(name: &str) -> String {
    let path = root().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A program that `scripts/test` installs, or that is in `PATH`; says when there is none.
#[expect(clippy::print_stderr, reason = "says what is not tested")]
fn tool(name: &str) -> Option<PathBuf> {
    let installed = root().join("target/tools/bin").join(name);
    let installed = [installed, PathBuf::from(name)];
    let found = installed
        .into_iter()
        .find(|path| Command::new(path).arg("--version").output().is_ok());
    if found.is_none() {
        eprintln!("SKIPPED: there is no {name} (scripts/test installs it)");
        let required = variable("TPLKIT_REQUIRE_TOOLS").is_some_and(|value| value != "0");
        assert!(!required, "{name} is required here (TPLKIT_REQUIRE_TOOLS)");
    }
    found
}

/// The document of a YAML file, as JSON; says when nothing here reads YAML.
#[expect(clippy::print_stderr, reason = "says what is not tested")]
fn yaml(text: &str) -> Option<serde_json::Value> {
    let python = tool("python")?;
    let script =
        "import sys, json, yaml; print(json.dumps(yaml.safe_load(sys.argv[1]), default=str))";
    let output = Command::new(python).args(["-c", script, text]).output();
    let output = output.expect("starts");
    let error = String::from_utf8_lossy(&output.stderr);
    if error.contains("No module named 'yaml'") {
        eprintln!("SKIPPED: this Python reads no YAML (scripts/test installs one that does)");
        return None;
    }
    assert!(output.status.success(), "{error}\n{text}");
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}
