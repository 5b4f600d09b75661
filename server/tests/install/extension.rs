//! The extension of VS Code: its own tests, with a stand-in for the editor, and what its manifest says.

use std::process::Command;

use serde_json::Value;

use super::{root, text, tool};

#[test]
fn its_tests_pass() {
    let Some(node) = tool("node") else {
        return;
    };
    let folder = root().join("editors/vscode");
    let output = Command::new(node)
        .args(["--test", "test/"])
        .current_dir(folder)
        .output()
        .expect("starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
}

#[test]
fn what_its_manifest_names_is_there() {
    let folder = root().join("editors/vscode");
    let manifest: Value = serde_json::from_str(&text("editors/vscode/package.json")).expect("JSON");
    let main = manifest["main"].as_str().expect("a file");
    for file in [
        main,
        "formatting.js",
        "packages.js",
        "program.js",
        "README.md",
        "LICENSE.txt",
        "LICENSE-MIT",
        "LICENSE-APACHE",
    ] {
        assert!(folder.join(file).exists(), "{file}");
    }
    // The packer of extensions takes one list of files, and this is that of what stays out.
    assert!(manifest.get("files").is_none());
    let left_out = text("editors/vscode/.vscodeignore");
    assert!(left_out.lines().any(|line| line == "test/**"), "{left_out}");
    // No range: what was tried is what people get.
    let client = manifest["dependencies"]["vscode-languageclient"]
        .as_str()
        .expect("a version");
    assert!(
        client.starts_with(|first: char| first.is_ascii_digit()),
        "{client}"
    );
    // Settings that a folder could use against somebody are not taken from one that nobody trusts.
    let restricted = &manifest["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"];
    assert_eq!(restricted, &serde_json::json!(["tplkit.path"]));
    let events = manifest["activationEvents"].as_array().expect("events");
    for event in [
        "onLanguage:json",
        "onLanguage:tplkitindex",
        "workspaceContains:**/tplkit.toml",
    ] {
        assert!(events.iter().any(|known| known == event), "{event}");
    }
    // Schemas are those of the catalog, and settings those of its page.
    let catalog: Value = serde_json::from_str(&text("schemas/store/catalog.json")).expect("JSON");
    let contributes = &manifest["contributes"];
    assert_eq!(contributes["jsonValidation"][0]["url"], catalog[0]["url"]);
    assert_eq!(contributes["tomlValidation"][0]["url"], catalog[1]["url"]);
    let page = text("editors/vscode/README.md");
    let settings = contributes["configuration"]["properties"]
        .as_object()
        .expect("settings");
    for name in settings.keys() {
        assert!(page.contains(&format!("| `{name}` |")), "{name}");
    }
}
