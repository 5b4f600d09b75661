//! What the manifests of the packages say agrees with `Cargo.toml`, and with each other.

use serde_json::Value;

use super::{root, text, yaml};
use crate::sessions::built_programs;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn json(name: &str) -> Value {
    serde_json::from_str(&text(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Whether the text holds each of these.
fn says(name: &str, wanted: &[String]) {
    let text = text(name);
    for wanted in wanted {
        assert!(text.contains(wanted), "{name} does not say {wanted:?}");
    }
}

#[test]
fn everything_is_of_one_version() {
    let package = json("packaging/npm/tplkit/package.json");
    assert_eq!(package["version"], VERSION);
    let platforms = package["optionalDependencies"]
        .as_object()
        .expect("platforms");
    assert!(platforms.contains_key("@tplkit/linux-x64"));
    for (name, version) in platforms {
        assert_eq!(version, VERSION, "{name}");
    }
    // A script at installation is what this form does without.
    assert!(package.get("scripts").is_none());
    assert_eq!(json("editors/vscode/package.json")["version"], VERSION);
    says(
        "pyproject.toml",
        &[
            format!("version = \"{VERSION}\""),
            format!("dependencies = [\"tplkit=={VERSION}\"]"),
        ],
    );
    says("action.yml", &[format!("default: {VERSION}\n")]);
    says(
        "packaging/homebrew/tplkit.rb",
        &[format!("version \"{VERSION}\"")],
    );
    says(
        "docs/CI.md",
        &[
            format!("uses: tplkit/tplkit@v{VERSION}\n"),
            format!("rev: v{VERSION}\n"),
            format!("tplkit=={VERSION}\n"),
        ],
    );
}

/// The first lines of a section of a TOML file.
fn section<'t>(text: &'t str, name: &str) -> &'t str {
    let (_, rest) = text
        .split_once(&format!("[{name}]\n"))
        .unwrap_or_else(|| panic!("no [{name}]"));
    rest.split("\n[").next().expect("its lines")
}

#[test]
fn archives_are_found_by_the_names_that_they_have() {
    let archive = "{ repo }/releases/download/v{ version }/tplkit-{ version }-{ target }.tar.gz";
    for name in ["Cargo.toml", "server/Cargo.toml"] {
        let manifest = text(name);
        let binstall = section(&manifest, "package.metadata.binstall");
        assert!(
            binstall.contains(&format!("pkg-url = \"{archive}\"")),
            "{binstall}"
        );
        assert!(
            binstall.contains("bin-dir = \"tplkit-{ version }-{ target }/{ bin }{ binary-ext }\""),
            "{binstall}"
        );
        assert!(binstall.contains("pkg-fmt = \"tgz\""), "{binstall}");
    }
    let formula = text("packaging/homebrew/tplkit.rb");
    let address = format!(
        "{}/releases/download/v#{{version}}/tplkit-#{{version}}-",
        env!("CARGO_PKG_REPOSITORY")
    );
    assert_eq!(formula.matches(&address).count(), 4, "{formula}");
    assert_eq!(formula.matches("sha256 \"").count(), 4, "{formula}");
}

#[test]
fn the_formula_installs_completions_and_manual_pages_of_both_programs() {
    let formula = text("packaging/homebrew/tplkit.rb");
    assert!(
        formula.contains("%w[tplkit tplkit-server].each do |program|"),
        "{formula}"
    );
    let shells = ["bash", "zsh", "fish"];
    let line = "generate_completions_from_executable(bin/program, \"completions\", shells: [:bash, :zsh, :fish])";
    assert!(formula.contains(line), "{formula}");
    assert!(
        formula.contains("safe_popen_read(bin/program, \"man\")"),
        "{formula}"
    );
    let words = shells.map(|shell| vec!["completions", shell]);
    let programs = built_programs(&root());
    for program in ["tplkit", "tplkit-server"].map(|name| programs.join(name)) {
        for words in words.iter().chain([&vec!["man"]]) {
            let output = std::process::Command::new(&program)
                .args(words)
                .output()
                .expect("runs");
            assert!(
                output.status.success() && !output.stdout.is_empty(),
                "{program:?} {words:?}"
            );
        }
    }
}

#[test]
fn the_formula_of_a_release_has_its_digests() {
    let folder = tempfile::tempdir().expect("a folder");
    let sums = folder.path().join("SHA256SUMS");
    let targets = [
        "aarch64-apple-darwin",
        "x86_64-apple-darwin",
        "aarch64-unknown-linux-musl",
        "x86_64-unknown-linux-musl",
    ];
    let line = |(at, target): (usize, &str)| {
        format!("{:064x}  tplkit-{VERSION}-{target}.tar.gz\n", at + 10)
    };
    let lines: String = targets.into_iter().enumerate().map(line).collect();
    std::fs::write(&sums, lines).expect("writes");
    let filled = |sums: &std::path::Path| {
        let mut command = std::process::Command::new("python3");
        command.arg(root().join("packaging/release/homebrew.py"));
        command.arg(sums).output()
    };
    let Ok(output) = filled(&sums) else {
        eprintln!("SKIPPED: there is no python3");
        return;
    };
    let formula = String::from_utf8(output.stdout).expect("UTF-8");
    let digests: Vec<String> = formula
        .lines()
        .filter_map(|line| line.trim().strip_prefix("sha256 "))
        .map(str::to_owned)
        .collect();
    let expected: Vec<String> = (10..14).map(|at: usize| format!("\"{at:064x}\"")).collect();
    assert_eq!(digests, expected, "{formula}");
    // An archive without a digest is not a release.
    std::fs::write(&sums, "").expect("writes");
    assert!(!filled(&sums).expect("starts").status.success());
}

#[test]
fn both_wheels_are_of_one_maturin_and_hold_the_licences() {
    let [first, second] = ["tplkit", "tplkit-server"].map(|name| {
        let project = text(&format!("packaging/{name}/pyproject.toml"));
        assert!(
            project.contains(&format!("\nname = \"{name}\"\n")),
            "{project}"
        );
        assert!(
            section(&project, "tool.maturin").contains("bindings = \"bin\"\n"),
            "{project}"
        );
        assert!(
            section(&project, "tool.maturin").contains("profile = \"dist\"\n"),
            "{project}"
        );
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            assert_eq!(text(&format!("packaging/{name}/{licence}")), text(licence));
        }
        let requires = project.lines().find(|line| line.starts_with("requires = "));
        requires.expect("a build system").to_owned()
    });
    assert!(first.contains("maturin=="), "{first}");
    assert_eq!(first, second);
}

#[test]
fn lock_files_name_no_addresses_of_downloads() {
    for folder in ["packaging/npm/tplkit", "editors/vscode"] {
        for lock in ["package-lock.json", "npm-shrinkwrap.json"] {
            let path = root().join(folder).join(lock);
            let text = std::fs::read_to_string(path).unwrap_or_default();
            assert!(!text.contains("\"resolved\""), "{folder}/{lock}");
        }
    }
}

/// The blocks of a document in a language.
fn blocks(document: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let parts = document.split(&fence).skip(1);
    parts
        .map(|rest| rest.split("```").next().expect("an end").to_owned())
        .collect()
}

#[test]
fn the_snippets_are_whole_and_short() {
    let document = text("docs/CI.md");
    let blocks = blocks(&document, "yaml");
    assert!(blocks.len() >= 4);
    for block in &blocks {
        if yaml(block).is_none() {
            break;
        }
    }
    for block in blocks
        .iter()
        .filter(|block| block.contains("uses: tplkit/tplkit@"))
    {
        let (_, steps) = block.split_once("steps:\n").expect("steps");
        let lines = steps.lines().filter(|line| !line.trim().is_empty()).count();
        assert!(lines <= 5, "{steps}");
    }
    // Every input is explained.
    let action = text("action.yml");
    let inputs = action.split("\ninputs:\n").nth(1).expect("inputs");
    let inputs = inputs.split("\nruns:").next().expect("an end");
    let names = inputs
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'));
    for name in names.filter(|name| !name.starts_with(' ')) {
        assert!(document.contains(&format!("| `{name}` |")), "{name}");
    }
}
