//! The direction of dependencies in the server: which of its top-level modules may name which, that no folders
//! inside of them name each other in a circle, and of files only those listed here.

use std::path::{Path, PathBuf};

use tplkit_testkit::direction::{
    Layer, assert_direction, assert_known_circles, assert_no_circles, read,
};

/// From the ground up: each module names only modules before it.
const LAYERS: &[Layer] = &[
    // What everything is made of.
    Layer {
        name: "values",
        modules: &[
            "context",
            "definitions",
            "ids",
            "refusal",
            "json_body",
            "paging",
            "spool",
            "json_schemas",
        ],
    },
    // What a process has, whatever it serves.
    Layer {
        name: "process",
        modules: &[
            "edge",
            "health",
            "histogram",
            "release_memory",
            "retention",
            "secret_key",
            "wake",
            "lanes",
            "cpu_threads",
            "static_file",
            "playground",
        ],
    },
    Layer {
        name: "store",
        modules: &["store"],
    },
    // Who calls, what was said to whom, and what is counted.
    Layer {
        name: "callers",
        modules: &["auth", "kept_responses", "metrics"],
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
    // Whole servers.
    Layer {
        name: "servers",
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

/// Statements are of the domain, where commands and jobs find them, too, or of a layer below it.
#[test]
fn requests_and_commands_have_no_statements() {
    let folders = [
        "routes",
        "call",
        "api",
        "http",
        "edge",
        "commands",
        "demo",
        "package_tests",
    ];
    let words = ["\"SELECT ", "\"INSERT INTO ", "\"UPDATE ", "\"DELETE FROM "];
    let found = files_with(&folders, &words);
    assert!(found.is_empty(), "{found:#?}");
}

/// The session alone knows whether the store has confirmed a caller, so a scope comes from it
/// (`Call::confirmed_scope`, `OptimisticSession::run`) and from nowhere else.
#[test]
fn requests_take_their_scope_from_the_session() {
    let words = [
        "Scope::Operator",
        "Scope::Authentication",
        "Scope::Caller",
        "Scope::from",
        ".scope()",
    ];
    let found = files_with(&["routes", "call", "api", "edge"], &words);
    assert!(found.is_empty(), "{found:#?}");
}

/// The files below folders of the source that have one of the words.
fn files_with(folders: &[&str], words: &[&str]) -> Vec<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
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
            if words.iter().any(|word| text.contains(*word)) {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn no_folders_name_each_other_in_a_circle() {
    assert_no_circles(&root());
    assert_no_circles(&root().with_file_name("main.rs"));
}

/// Circles of files of one folder. No new one is added: what both need moves into a file of its own.
const CIRCLES: &[&str] = &[
    "api::openapi: components, operation",
    "model: kind, statements",
];

#[test]
fn few_files_name_each_other_in_a_circle() {
    assert_known_circles(&root(), CIRCLES);
    assert_known_circles(&root().with_file_name("main.rs"), &[]);
}

#[test]
fn the_map_shows_the_layers() {
    let map = include_str!("../../docs/ARCHITECTURE.md");
    for layer in LAYERS {
        let modules = layer.modules.iter().map(|module| format!("`{module}`"));
        let modules = modules.collect::<Vec<_>>().join(", ");
        let row = format!("| {} | {modules} |", layer.name);
        assert!(
            map.lines().any(|line| line == row),
            "the table of layers lacks {row}"
        );
    }
}
