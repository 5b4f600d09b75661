//! What the documents show in terminals is what happens: the sessions of a document run one after the
//! other, in one folder that is empty at first, with the programs that the document installs and nothing
//! else of this repository.
//!
//! A block ```` ```console ```` is a session. Lines that begin with `$ ` are commands, `…` alone stands for
//! lines that are left out, `…` within a line for text that is. A session that shows any output shows all
//! of standard output; lines of standard error may be left out. A walk-through is one session: its blocks are
//! typed into one terminal, with text between them.

mod compare;
mod document;
mod shell;

use std::path::{Path, PathBuf};
use std::process::Command;

use self::document::Document;
use self::shell::Shell;
pub(crate) use self::shell::built_programs;
use crate::cluster;

/// The document that says what to install.
const README: &str = "README.md";

/// What readers of the first page go on to, with what it installs.
const SERVER_README: &str = "server/README.md";
const SERVER: &str = "docs/SERVER.md";

/// A walk-through.
const UPGRADES: &str = "examples/upgrades/README.md";

fn root() -> PathBuf {
    let parent = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    parent.expect("a root").to_owned()
}

/// The tools that sessions may use next to ours. Without one of them nothing can be run.
#[expect(clippy::print_stderr, reason = "says what is not tested")]
fn tools_are_there() -> bool {
    for tool in ["sh", "curl", "jq", "git"] {
        let output = Command::new(tool).arg("--version").output();
        // `dash` knows no `--version`; that it starts is enough.
        if output.is_err() {
            eprintln!("SKIPPED: there is no {tool}");
            return false;
        }
    }
    let checkout = Command::new("git")
        .args(["-c", "safe.directory=*", "rev-parse", "--git-dir"])
        .current_dir(root())
        .output();
    if !checkout.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: this is not a checkout that could be cloned");
        return false;
    }
    true
}

/// Runs the sessions of a document.
fn run(name: &str) {
    run_document(name, &Document::read(&root(), name));
}

/// Runs a document's sessions and gives everything that is not as shown.
fn run_document(name: &str, document: &Document) {
    run_in(name, document, |shell| shell);
}

/// The same in a shell that is set up further.
fn run_in(name: &str, document: &Document, set_up: impl FnOnce(Shell) -> Shell) {
    if !tools_are_there() {
        return;
    }
    let readme = Document::read(&root(), README);
    let mut programs = document.installs();
    if name != README {
        // Whoever reads on has installed what the first page says.
        programs.extend(readme.installs());
    }
    let folder = tempfile::tempdir().expect("a folder");
    let shell = set_up(Shell::new(folder.path(), &root(), &programs));
    let mut faults = Vec::new();
    let mut commands = 0;
    for session in &document.sessions {
        let Some(session) = session.without_long_commands() else {
            continue;
        };
        let outputs = shell.run(&session);
        commands += outputs.len();
        faults.extend(compare::faults(&session, &outputs));
    }
    assert!(commands > 0, "{name} has no session");
    assert!(
        faults.is_empty(),
        "{name} shows something else:\n\n{}",
        faults.join("\n\n")
    );
}

#[test]
fn the_readme_runs_as_it_is_written() {
    run(README);
}

#[test]
fn the_readme_of_the_server_runs_as_it_is_written() {
    run(SERVER_README);
}

#[test]
fn the_page_about_the_server_runs_as_it_is_written() {
    run(SERVER);
}

#[test]
fn backup_and_restore_with_postgresql_run_as_they_are_written() {
    let (Some(cluster), Some(programs)) = (cluster::shared(), cluster::programs()) else {
        return;
    };
    let document = Document::with_postgres(&root(), SERVER);
    run_in(SERVER, &document, |shell| {
        shell.with_postgres(&programs.folder, &cluster.socket())
    });
}

#[test]
fn the_walk_through_of_an_upgrade_runs_as_it_is_written() {
    let document = Document::read(&root(), UPGRADES);
    run_document(UPGRADES, &document.in_one_terminal());
}

/// Commands hold no placeholders and wait for nothing without an end.
#[test]
fn commands_can_be_typed_as_they_stand() {
    for name in [README, SERVER_README, SERVER, UPGRADES] {
        let document = Document::read(&root(), name);
        for command in document.sessions.iter().flat_map(|session| &session.steps) {
            let text = &command.text;
            assert!(!text.contains('…'), "{name}: {text}");
            assert!(!text.contains("until "), "{name} may wait for ever: {text}");
            let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let mut words =
                words.filter(|word| ["ID", "WORKFLOW_ID", "TEMPLATE_ID"].contains(word));
            assert_eq!(words.next(), None, "{name}: {text}");
        }
    }
}
