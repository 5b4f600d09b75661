//! The hook, with the real pre-commit. It installs a wheel of this version that starts the program under
//! test; the one that is released is tried by `scripts/dist --test`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::{root, tool};
use crate::process::variable;
use crate::sessions::built_programs;

const WHEEL: &str = r##"
import sys, zipfile
folder, version, program = sys.argv[1:]
info = f"tplkit-{version}.dist-info"
files = {
    f"tplkit-{version}.data/scripts/tplkit": f"#!/bin/sh\nexec {program} \"$@\"\n",
    f"{info}/METADATA": f"Metadata-Version: 2.1\nName: tplkit\nVersion: {version}\n",
    f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-any\n",
}
files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
with zipfile.ZipFile(f"{folder}/tplkit-{version}-py3-none-any.whl", "w") as wheel:
    for name, text in files.items():
        entry = zipfile.ZipInfo(name)
        entry.external_attr = 0o100755 << 16
        wheel.writestr(entry, text)
"##;

fn git(folder: &Path, arguments: &[&str]) {
    let person = [
        "-c",
        "user.name=A",
        "-c",
        "user.email=a@example.com",
        "-c",
        "safe.directory=*",
    ];
    let output = Command::new("git")
        .args(person)
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("git");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A repository with what pre-commit reads of this one.
fn hooks(folder: &Path) {
    fs::create_dir(folder).expect("a folder");
    for name in [".pre-commit-hooks.yaml", "pyproject.toml"] {
        fs::copy(root().join(name), folder.join(name)).expect("copies");
    }
    git(folder, &["init", "--quiet"]);
    git(folder, &["add", "."]);
    git(folder, &["commit", "--quiet", "--message", "hooks"]);
}

#[test]
fn packages_are_checked_and_other_files_skipped() {
    let Some(pre_commit) = tool("pre-commit") else {
        return;
    };
    let build = root().join("target/tools/wheels");
    if !build.exists() {
        eprintln!(
            "SKIPPED: there is no {} (scripts/test fetches it)",
            build.display()
        );
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let [wheels, repository, project] =
        ["wheels", "hooks", "project"].map(|name| place.path().join(name));
    hooks(&repository);
    fs::create_dir(&wheels).expect("a folder");
    fs::create_dir(&project).expect("a folder");
    let program = built_programs(&root()).join("tplkit");
    let made = Command::new("python3")
        .args(["-c", WHEEL])
        .arg(&wheels)
        .arg(env!("CARGO_PKG_VERSION"))
        .arg(&program)
        .status();
    assert!(made.expect("python3").success());
    git(&project, &["init", "--quiet"]);
    fs::copy(root().join("examples/crm.json"), project.join("crm.json")).expect("copies");
    fs::write(project.join("package.json"), "{\"name\": \"x\"}\n").expect("writes");
    fs::write(project.join("settings.json"), "{ // no package\n}\n").expect("writes");
    git(&project, &["add", "."]);
    let path = variable("PATH").unwrap_or_default();
    let run = || -> Output {
        Command::new(&pre_commit)
            .args(["try-repo", "--all-files", "--verbose"])
            .arg(&repository)
            .arg("tplkit-check")
            .current_dir(&project)
            .env_clear()
            .env("PATH", &path)
            .env("HOME", place.path())
            .env("LC_ALL", "C.UTF-8")
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "safe.directory")
            .env("GIT_CONFIG_VALUE_0", "*")
            // No index: what is installed is what was made here.
            .env("PIP_NO_INDEX", "1")
            .env(
                "PIP_FIND_LINKS",
                format!("{} {}", wheels.display(), build.display()),
            )
            .output()
            .expect("starts")
    };
    let clean = run();
    let said = String::from_utf8_lossy(&clean.stdout);
    assert_eq!(
        clean.status.code(),
        Some(0),
        "{said}{}",
        String::from_utf8_lossy(&clean.stderr)
    );
    assert!(said.contains("1 package"), "{said}");
    let broken = root().join("examples/broken-invoices.json");
    fs::copy(broken, project.join("invoices.json")).expect("copies");
    git(&project, &["add", "."]);
    let found = run();
    let said = String::from_utf8_lossy(&found.stdout);
    assert_eq!(found.status.code(), Some(1), "{said}");
    assert!(
        said.contains("S006") && !said.contains("settings.json"),
        "{said}"
    );
}
