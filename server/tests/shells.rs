//! Completion as somebody has it who types.

use std::path::Path;

use tplkit_testkit::typing::completed;

/// What is typed before the tabulator, and what the last word becomes.
const TYPED: [(&str, &str); 5] = [
    ("tplkit-server ser", "serve"),
    ("tplkit-server serve --no-w", "--no-worker"),
    ("tplkit-server serve --log-format j", "json"),
    ("tplkit-server admin reset-p", "reset-password"),
    ("tplkit-server admin automation act", "activate"),
];

fn completes(shell: &str) {
    let program = Path::new(env!("CARGO_BIN_EXE_tplkit-server"));
    let folder = tempfile::tempdir().expect("a folder");
    let lines = TYPED.map(|(line, _)| line);
    if let Some(words) = completed(shell, program, folder.path(), &lines) {
        assert_eq!(words, TYPED.map(|(_, word)| word));
    }
}

#[test]
fn bash_completes_commands_options_and_values() {
    completes("bash");
}

#[test]
fn fish_completes_commands_options_and_values() {
    completes("fish");
}

#[test]
fn zsh_completes_commands_options_and_values() {
    completes("zsh");
}
