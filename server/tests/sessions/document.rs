//! A document as its terminal sessions.

use std::collections::BTreeSet;
use std::path::Path;

/// The sessions of a document, in order.
pub(super) struct Document {
    pub(super) sessions: Vec<Session>,
}

/// One block of commands and what they print.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) steps: Vec<Step>,
}

/// A command and the lines under it.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) text: String,
    pub(super) shown: Vec<String>,
}

/// What takes too long for a test of documents, or changes the machine.
const LONG: [&str; 6] = [
    "cargo install",
    "cargo run",
    "cargo bench",
    "cargo test",
    "./scripts/",
    ".ci/run",
];

impl Document {
    pub(super) fn read(root: &Path, name: &str) -> Document {
        let text = std::fs::read_to_string(root.join(name)).expect("the document");
        let mut sessions = Vec::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if line == "```console" {
                let block = lines.by_ref().take_while(|line| *line != "```");
                sessions.push(Session::parse(block));
            }
        }
        Document { sessions }
    }

    /// The sessions that need a PostgreSQL server, which others skip: text blocks under a mark.
    pub(super) fn with_postgres(root: &Path, name: &str) -> Document {
        let text = std::fs::read_to_string(root.join(name)).expect("the document");
        let marked = text.split("<!-- session with PostgreSQL -->").skip(1);
        let blocks = marked.map(|rest| {
            let lines = rest.lines().skip_while(|line| *line != "```text").skip(1);
            Session::parse(lines.take_while(|line| *line != "```"))
        });
        Document {
            sessions: blocks.collect(),
        }
    }

    /// All of it typed into one terminal: what a block starts or sets is there in the next.
    pub(super) fn in_one_terminal(self) -> Document {
        let sessions = self.sessions.into_iter();
        let steps = sessions.flat_map(|session| session.steps).collect();
        Document {
            sessions: vec![Session { steps }],
        }
    }

    /// The programs of this repository that the document's install lines put into `PATH`.
    pub(super) fn installs(&self) -> BTreeSet<&'static str> {
        let steps = self.sessions.iter().flat_map(|session| &session.steps);
        let lines = steps.flat_map(|step| step.text.split("&&"));
        lines
            .filter(|line| line.contains("cargo install"))
            .map(|line| {
                if line.contains("server") {
                    "tplkit-server"
                } else {
                    "tplkit"
                }
            })
            .collect()
    }
}

impl Session {
    fn parse<'t>(lines: impl Iterator<Item = &'t str>) -> Session {
        let mut steps: Vec<Step> = Vec::new();
        for line in lines {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push(Step {
                    text: command.to_owned(),
                    shown: Vec::new(),
                }),
                // A command that goes on in the next line.
                (None, Some(step)) if step.shown.is_empty() && step.text.ends_with('\\') => {
                    step.text = format!("{}\n{line}", step.text);
                }
                (None, Some(step)) => step.shown.push(line.to_owned()),
                (None, None) => panic!("a session begins with a command: {line}"),
            }
        }
        Session { steps }
    }

    /// The session without what this test does not run; nothing if nothing is left.
    pub(super) fn without_long_commands(&self) -> Option<Session> {
        let is_short = |step: &&Step| !LONG.iter().any(|long| step.text.contains(long));
        let steps: Vec<Step> = self.steps.iter().filter(is_short).cloned().collect();
        (!steps.is_empty()).then_some(Session { steps })
    }

    /// Whether it shows output; one that shows none is only run.
    pub(super) fn shows_output(&self) -> bool {
        self.steps.iter().any(|step| !step.shown.is_empty())
    }
}
