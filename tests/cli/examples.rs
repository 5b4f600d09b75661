//! Every command shows examples, and those that need no server run as they are written.

use std::path::Path;

use tplkit_testkit::help::{Example, ExampleFolder, Help, each_command_has_two, read};

use crate::support::Place;

/// Commands that need a server whatever their arguments are.
const REMOTE: [&str; 16] = [
    "api",
    "apply",
    "doctor",
    "drift",
    "export",
    "files",
    "job",
    "login",
    "logout",
    "plan",
    "profile",
    "rows",
    "status",
    "template",
    "whoami",
    "workspace",
];

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_tplkit"))
}

#[test]
fn every_command_shows_two_examples() {
    each_command_has_two(&read(program()));
}

#[test]
fn examples_without_a_server_run_as_they_are_written() {
    let folder = ExampleFolder::new(program(), Path::new(env!("CARGO_MANIFEST_DIR")));
    let help = read(program());
    let examples: Vec<&Example> = help
        .iter()
        .filter(|help| !is_remote(help))
        .flat_map(|help| &help.examples)
        .filter(|example| !example.line.contains("$WORKSPACE"))
        .filter(|example| has_store() || !example.line.contains("--server"))
        .collect();
    assert!(examples.len() > 40, "{}", examples.len());
    let faults: Vec<String> = examples
        .into_iter()
        .filter_map(|example| folder.fault(example, &[]))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// Whether the program is there that makes stores: it is of another package.
fn has_store() -> bool {
    let name = format!("tplkit-server{}", std::env::consts::EXE_SUFFIX);
    program().with_file_name(name).is_file()
}

fn is_remote(help: &Help) -> bool {
    let command = help.command.split(' ').nth(1);
    command.is_some_and(|command| REMOTE.contains(&command))
}

/// clap's own command has no flags; ours is a command like the others.
#[test]
fn help_has_help() {
    let place = Place::with(&[]);
    for words in [
        ["help", "--help"].as_slice(),
        &["help", "-h"],
        &["template", "help", "--help"],
    ] {
        let ran = place.run(words).exits(0);
        let (_, examples) = ran.out.split_once("\nExamples:\n").expect("examples");
        assert!(examples.contains("  tplkit "), "{words:?}: {examples}");
    }
}
