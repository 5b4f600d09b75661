//! A real editor: Neovim opens a package, shows its finding, takes the fix and saves.
//!
//! It is set up as docs/EDITORS.md says. Without Neovim 0.11 or newer (`TPLKIT_NVIM`, what
//! `scripts/test` installs, or the one in the `PATH`) nothing is tested, and said so;
//! `TPLKIT_REQUIRE_NVIM=1` makes that a failure.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::client::TestFolder;
use crate::packages::indented;

#[expect(
    clippy::disallowed_methods,
    reason = "which editor to drive is said there"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn neovim() -> Option<PathBuf> {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/nvim/bin/nvim");
    let named = variable("TPLKIT_NVIM").map(PathBuf::from);
    let known = named.into_iter().chain([installed, PathBuf::from("nvim")]);
    known.into_iter().find(|program| is_new_enough(program))
}

fn is_new_enough(program: &Path) -> bool {
    let output = Command::new(program).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let version = text.unwrap_or_default();
    let version = version.strip_prefix("NVIM v").unwrap_or_default();
    let mut numbers = version
        .split(|character: char| !character.is_ascii_digit())
        .map(|number| number.parse::<u32>().unwrap_or_default());
    (numbers.next(), numbers.next()) >= (Some(0), Some(11))
}

#[test]
fn neovim_shows_a_finding_fixes_it_and_saves() {
    let Some(program) = neovim() else {
        assert!(
            variable("TPLKIT_REQUIRE_NVIM").is_none(),
            "there is no Neovim 0.11 or newer"
        );
        eprintln!(
            "\n##  SKIPPED: no Neovim 0.11 or newer (TPLKIT_NVIM), no real editor was tried\n"
        );
        return;
    };
    let page = include_str!("../../docs/EDITORS.md");
    let (_, set_up) = page.split_once("```lua\n").expect("a block of Lua");
    let (set_up, _) = set_up.split_once("```").expect("its end");
    let folder = TestFolder::new();
    let clean = indented("base-tiny");
    let text = clean.replacen(
        "\"label\": \"Notes\"",
        "\"label\": \"Notes\",\n        \"count\": 1",
        1,
    );
    folder.write("a.json", &text);
    folder.write(
        "drive.lua",
        &format!("{set_up}\n{}", include_str!("neovim.lua")),
    );
    let programs = Path::new(env!("CARGO_BIN_EXE_tplkit"))
        .parent()
        .expect("a folder");
    let path = format!(
        "{}:{}",
        programs.display(),
        variable("PATH").unwrap_or_default()
    );
    let output = Command::new(program)
        .args(["--headless", "-u", "NONE", "-i", "NONE", "-n", "-l"])
        .args([folder.path("drive.lua"), folder.path("a.json")])
        .env("PATH", path)
        .env("HOME", folder.path(""))
        .env("XDG_STATE_HOME", folder.path("state"))
        .env("XDG_CONFIG_HOME", folder.path("config"))
        .stdin(Stdio::null())
        .output()
        .expect("run");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["code"], "I010", "{report}");
    assert_eq!(
        (&report["source"], &report["client"]),
        (&"tplkit".into(), &"tplkit".into())
    );
    assert_eq!(report["count"], 1, "each finding once");
    assert_eq!(folder.read("a.json").trim_end(), clean);
}
