//! What is wrong with an unpacked folder.

use std::fmt;

use crate::finding::position::{LineColumn, Positions};

/// Something that keeps a folder from being packed: a file that is missing, foreign or malformed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, with `/` between folders.
    pub name: String,
    /// Where in it, when it is about a place.
    pub at: Option<LineColumn>,
    /// What is wrong.
    pub message: String,
}

impl Problem {
    /// About a whole file.
    pub(super) fn file(name: &str, message: impl Into<String>) -> Problem {
        Problem {
            name: name.to_owned(),
            at: None,
            message: message.into(),
        }
    }

    /// About a byte of a file.
    pub(super) fn offset(
        name: &str,
        text: &str,
        offset: usize,
        message: impl Into<String>,
    ) -> Problem {
        let positions = Positions::find(text.as_bytes(), vec![offset]);
        Problem {
            at: Some(positions.get(offset)),
            ..Problem::file(name, message)
        }
    }

    /// About a line of the index.
    pub(super) fn line(line: usize, message: impl Into<String>) -> Problem {
        Problem {
            at: Some(LineColumn { line, column: 1 }),
            ..Problem::file(super::INDEX, message)
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(LineColumn { line, column }) => {
                write!(f, "{}:{line}:{column}: {}", self.name, self.message)
            }
            None => write!(f, "{}: {}", self.name, self.message),
        }
    }
}
