//! Completion as somebody has it who types.

use std::path::Path;

use tplkit_testkit::typing::completed;

use crate::support::{Place, tiny};

/// What is typed before the tabulator, and what the last word becomes.
const TYPED: [(&str, &str); 12] = [
    ("tplkit expl", "explain"),
    ("tplkit check p.json --sel", "--select"),
    ("tplkit explain R00", "R001"),
    ("tplkit explain ref-undec", "ref-undeclared"),
    ("tplkit check --deny J001,ref-undec", "J001,ref-undeclared"),
    ("tplkit plan p.json --profile a", "ana"),
    ("tplkit plan p.json --target sta", "staging"),
    ("tplkit why p.json c_notes_b", "c_notes_body"),
    ("tplkit check p.j", "p.json"),
    ("tplkit check p.json --select=R00", "--select=R001"),
    (
        "tplkit graph p.json --focus=c_notes_b",
        "--focus=c_notes_body",
    ),
    ("tplkit why ~/p.json c_notes_b", "c_notes_body"),
];

fn completes(shell: &str) {
    let target = "[targets.staging]\nurl = \"https://example.org\"\n";
    let profile = "[ana]\nurl = \"https://a.test\"\n";
    let place = Place::with(&[
        ("p.json", &tiny()),
        ("tplkit.toml", target),
        ("config/tplkit/profiles.toml", profile),
    ]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let path = place.path("config/tplkit/profiles.toml");
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(path, private).expect("chmod");
    }
    let program = Path::new(env!("CARGO_BIN_EXE_tplkit"));
    let lines = TYPED.map(|(line, _)| line);
    if let Some(words) = completed(shell, program, place.dir.path(), &lines) {
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

/// zsh runs the script at the first completion, which has to complete already.
#[test]
fn zsh_completes_commands_options_and_values() {
    completes("zsh");
}
