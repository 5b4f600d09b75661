//! Terminal sessions in documents: every `$ tplkit …` line is run, and what it prints compared. A line
//! `$ cargo run --quiet -- …` is one of them, without the build.
//!
//! In a session, a line `…` stands for any number of lines, and `; echo $?` after a command shows
//! its exit code. `UPDATE=1` writes what is printed into the document, sessions with `…` aside.

use std::fs;
use std::io::{Read as _, Seek as _};
use std::path::Path;
use std::process::Command;

const PAGES: [&str; 2] = ["README.md", "examples/README.md"];
const ANYTHING: &str = "…";

/// How a session begins that needs no installed program.
const BUILT: &str = "cargo run --quiet -- ";

/// A part of a document.
enum Part {
    /// Lines that are kept as they are.
    Text(String),
    /// A command with what it is said to print.
    Run { command: String, shown: Vec<String> },
}

fn parts(page: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut session = false;
    for line in page.lines() {
        if line.starts_with("```") {
            session = line == "```console";
            parts.push(Part::Text(line.to_owned()));
        } else if line.starts_with("$ tplkit-server serve") {
            // What asks a server is run as a whole by its own tests.
            session = false;
            parts.push(Part::Text(line.to_owned()));
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| session) {
            if command.starts_with("tplkit ") || command.starts_with(BUILT) {
                let command = command.to_owned();
                let shown = Vec::new();
                parts.push(Part::Run { command, shown });
            } else {
                parts.push(Part::Text(line.to_owned()));
            }
        } else if let Some(Part::Run { shown, .. }) = parts.last_mut().filter(|_| session) {
            shown.push(line.to_owned());
        } else {
            parts.push(Part::Text(line.to_owned()));
        }
    }
    parts
}

/// What the command prints, both streams in the order in which they were written.
fn run(command: &str) -> Vec<String> {
    let (words, wants_code) = match command.strip_suffix("; echo $?") {
        Some(words) => (words, true),
        None => (command, false),
    };
    let words = match words.strip_prefix(BUILT) {
        Some(words) => format!("tplkit {words}"),
        None => words.to_owned(),
    };
    assert!(
        !words.contains(['\'', '"', '|', '>']),
        "no shell here: {command}"
    );
    let mut output = tempfile::tempfile().expect("a file");
    let status = Command::new(env!("CARGO_BIN_EXE_tplkit"))
        .args(words.split_whitespace().skip(1))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("NO_COLOR", "1")
        .stdout(output.try_clone().expect("the same file"))
        .stderr(output.try_clone().expect("the same file"))
        .status()
        .expect("the command starts");
    let mut printed = String::new();
    output.rewind().expect("a plain file");
    output.read_to_string(&mut printed).expect("UTF-8");
    if wants_code {
        let code = status.code().expect("it was not killed");
        printed.push_str(&code.to_string());
    }
    printed
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

/// Whether the lines are what is shown.
fn fits(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first == ANYTHING => {
            (0..=printed.len()).any(|skipped| fits(rest, &printed[skipped..]))
        }
        Some((first, rest)) => printed.first() == Some(first) && fits(rest, &printed[1..]),
    }
}

#[test]
fn sessions_in_documents_are_true() {
    #[expect(
        clippy::disallowed_methods,
        reason = "asked for by whoever runs the tests"
    )]
    let update = std::env::var_os("UPDATE").is_some();
    let mut wrong = Vec::new();
    for name in PAGES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        let page = fs::read_to_string(&path).expect("the document");
        let mut lines = Vec::new();
        for part in parts(&page) {
            match part {
                Part::Text(line) => lines.push(line),
                Part::Run { command, shown } => {
                    let printed = run(&command);
                    let fitting = fits(&shown, &printed);
                    let fixed = shown.iter().any(|line| line == ANYTHING);
                    if !fitting && (fixed || !update) {
                        wrong.push(format!("{name}: $ {command}\n{}", printed.join("\n")));
                    }
                    lines.push(format!("$ {command}"));
                    lines.extend(if fitting || fixed { shown } else { printed });
                }
            }
        }
        let written = lines.join("\n") + "\n";
        if update && written != page {
            fs::write(&path, written).expect("the document can be written");
        }
    }
    assert!(
        wrong.is_empty(),
        "a document shows something else (UPDATE=1 writes it):\n\n{}",
        wrong.join("\n\n")
    );
}
