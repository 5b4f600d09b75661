//! The top-level modules of the library stand in one order: each names only modules before it. Inside of them,
//! and of the command line, folders do not name each other in a circle, and of files only those listed here.

use std::path::Path;

use tplkit_testkit::direction::{Layer, assert_direction, assert_known_circles, assert_no_circles};

const LAYERS: &[Layer] = &[
    // What everything is made of.
    Layer {
        name: "ground",
        modules: &[
            "json",
            "maps",
            "printable",
            "toml_text",
            "markup",
            "problem",
            "definitions",
            "rows",
            "package",
            "context",
            "finding",
            "contents",
            "layout",
            "workspace",
        ],
    },
    // What is right and what is wrong.
    Layer {
        name: "check",
        modules: &["automation", "check"],
    },
    // What makes packages and workspaces of packages and workspaces.
    Layer {
        name: "act",
        modules: &[
            "upgrade",
            "apply",
            "migrate",
            "export",
            "simulate",
            "package_tests",
            "starter",
        ],
    },
    // What people and other machines see.
    Layer {
        name: "show",
        modules: &[
            "diff",
            "graph",
            "report",
            "client",
            "language",
            "diagnostics",
        ],
    },
];

#[test]
fn no_module_names_one_above_it() {
    assert_direction(Path::new("src/lib.rs"), LAYERS, "tests/direction.rs");
}

#[test]
fn no_folders_name_each_other_in_a_circle() {
    assert_no_circles(Path::new("src/lib.rs"));
    assert_no_circles(Path::new("src/main.rs"));
}

/// Circles of files of one folder. No new one is added: what both need moves into a file of its own.
const CIRCLES: &[&str] = &[
    "apply::request: decisions, read",
    "check::rows: cells, reparse",
    "client: error, problem, response",
    "json: outline, skip",
    "package::canonical: copy, order, row, value, writer",
    "package::model: payload, tree",
    "package::schema: configs, shapes, steps",
    "workspace::memory: contradictions, state",
];

/// Those of the command line.
const CIRCLES_OF_THE_COMMAND_LINE: &[&str] = &[
    "cli: file_check, folder_check",
    "cli: interrupt_message, output",
    "cli::commands: command_line, completion",
];

#[test]
fn few_files_name_each_other_in_a_circle() {
    assert_known_circles(Path::new("src/lib.rs"), CIRCLES);
    assert_known_circles(Path::new("src/main.rs"), CIRCLES_OF_THE_COMMAND_LINE);
}

#[test]
fn the_map_shows_the_layers() {
    let map = include_str!("../docs/ARCHITECTURE.md");
    for layer in LAYERS {
        let modules = layer.modules.iter().map(|module| format!("`{module}`"));
        let modules = modules.collect::<Vec<_>>().join(", ");
        let row = format!("| {} | {modules} |", layer.name);
        assert!(
            map.lines().any(|line| line == row),
            "the table of layers lacks {row}"
        );
        for module in layer.modules {
            let named = [format!("`src/{module}`"), format!("`src/{module}.rs`")];
            let has_row = named.iter().any(|path| map.contains(path));
            assert!(has_row, "the map has no row for {module}");
        }
    }
}
