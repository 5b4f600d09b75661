//! The direction of dependencies in the server: which of its top-level modules may name which, and that no folders
//! inside of them name each other in a circle.

use std::path::{Path, PathBuf};

use tplkit_testkit::direction::{Layer, assert_direction, assert_no_circles, read};

/// From the ground up: each module names only modules before it.
const LAYERS: &[Layer] = &[
    Layer {
        name: "ground",
        modules: &[
            "context",
            "definitions",
            "edge",
            "health",
            "histogram",
            "ids",
            "release_memory",
            "refusal",
            "retention",
            "secret_key",
            "wake",
            "json_body",
            "lanes",
            "cpu_threads",
            "paging",
            "static_file",
            "playground",
            "spool",
            "json_schemas",
        ],
    },
    Layer {
        name: "store",
        modules: &["store"],
    },
    Layer {
        name: "who asks, and what is counted",
        modules: &["auth", "metrics"],
    },
    Layer {
        name: "domain",
        modules: DOMAIN,
    },
    Layer {
        name: "HTTP",
        modules: &["http"],
    },
    Layer {
        name: "requests",
        modules: &["app", "call", "routes", "api"],
    },
    Layer {
        name: "whole servers",
        modules: &["local_client", "demo", "package_tests"],
    },
];

const DOMAIN: &[&str] = &[
    "identity",
    "files",
    "rows",
    "model",
    "automation",
    "workspace",
    "background",
    "jobs",
    "templates",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")
}

#[test]
fn modules_name_only_lower_modules() {
    assert_direction(&root(), LAYERS, "server/tests/direction.rs");
}

/// The order lets `http` name the domain; it stands next to it.
#[test]
fn http_knows_nothing_of_the_domain() {
    let modules = read(&root()).expect("the files of the server");
    let named: Vec<String> = modules
        .imports()
        .into_iter()
        .filter(|import| import.from == "http" && DOMAIN.contains(&import.to.as_str()))
        .map(|import| {
            format!(
                "{}:{} names {}",
                import.file.display(),
                import.line,
                import.to
            )
        })
        .collect();
    assert!(named.is_empty(), "{named:#?}");
}

/// Statements are of the domain, where commands and jobs find them, too.
#[test]
fn requests_and_commands_have_no_statements() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let folders = [
        "routes",
        "call",
        "api",
        "edge",
        "commands",
        "demo",
        "package_tests",
    ];
    let mut folders: Vec<PathBuf> = folders.iter().map(|name| source.join(name)).collect();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a file");
            let words = ["\"SELECT ", "\"INSERT INTO ", "\"UPDATE ", "\"DELETE FROM "];
            if words.iter().any(|word| text.contains(word)) {
                found.push(path);
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_folders_name_each_other_in_a_circle() {
    assert_no_circles(&root());
}
