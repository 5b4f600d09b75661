//! What is wrong with an unpacked folder.

use std::fmt;
use std::ops::Range;

use crate::finding::position::{LineColumn, Positions};

/// Something that keeps a folder from being packed: a file that is missing, foreign or malformed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, with `/` between folders.
    pub name: String,
    /// Where in it, when it is about a place.
    pub at: Option<LineColumn>,
    /// The bytes at fault (a byte-order mark not counted), when more than the line is known.
    pub span: Option<Range<usize>>,
    /// Which sort of mistake it is.
    pub kind: ProblemKind,
    /// What is wrong.
    pub message: String,
}

/// The sorts of mistakes in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// Index and files do not fit together.
    Folder,
    /// A file, or a line of a file of rows, is no JSON.
    Syntax,
    /// A key stands twice in one object, and the object becomes part of the package.
    RepeatedKey,
    /// A key stands twice in the object that a file is.
    RepeatedPart,
}

impl Problem {
    /// About a whole file.
    pub(super) fn file(name: &str, message: impl Into<String>) -> Problem {
        Problem {
            name: name.to_owned(),
            at: None,
            span: None,
            kind: ProblemKind::Folder,
            message: message.into(),
        }
    }

    /// About bytes of a file.
    pub(super) fn span(
        name: &str,
        text: &[u8],
        span: Range<usize>,
        message: impl Into<String>,
    ) -> Problem {
        let positions = Positions::find(text, vec![span.start]);
        Problem {
            at: Some(positions.get(span.start)),
            span: Some(span),
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

    /// Of another kind.
    pub(super) fn kind(self, kind: ProblemKind) -> Problem {
        Problem { kind, ..self }
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
