//! What is wrong with an unpacked folder.

use std::fmt;
use std::ops::Range;

use crate::finding::position::{LineColumn, Positions};

/// Something that keeps a folder from being packed: a file that is missing, foreign or malformed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutFault {
    /// The file, with `/` between folders.
    pub name: String,
    /// Where in it, when it is about a place.
    pub at: Option<LineColumn>,
    /// The bytes at fault (a byte-order mark not counted), when more than the line is known.
    pub span: Option<Range<usize>>,
    /// Which sort of mistake it is.
    pub kind: LayoutFaultKind,
    /// What is wrong.
    pub message: String,
}

/// The sorts of mistakes in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayoutFaultKind {
    /// Index and files do not fit together.
    Folder,
    /// A file, or a line of a file of rows, is not JSON.
    Syntax,
    /// A key appears twice in one object, and the object becomes part of the package.
    RepeatedKey,
    /// A key appears twice in the object that a file is.
    RepeatedPart,
}

impl LayoutFault {
    /// About a whole file.
    pub(super) fn file(name: &str, message: impl Into<String>) -> LayoutFault {
        LayoutFault {
            name: name.to_owned(),
            at: None,
            span: None,
            kind: LayoutFaultKind::Folder,
            message: message.into(),
        }
    }

    /// About bytes of a file.
    pub(super) fn span(
        name: &str,
        text: &[u8],
        span: Range<usize>,
        message: impl Into<String>,
    ) -> LayoutFault {
        let positions = Positions::find(text, vec![span.start]);
        LayoutFault {
            at: Some(positions.get(span.start)),
            span: Some(span),
            ..LayoutFault::file(name, message)
        }
    }

    /// About a line of the index.
    pub(super) fn line(line: usize, message: impl Into<String>) -> LayoutFault {
        LayoutFault {
            at: Some(LineColumn { line, column: 1 }),
            ..LayoutFault::file(super::INDEX, message)
        }
    }

    /// Of another kind.
    pub(super) fn kind(self, kind: LayoutFaultKind) -> LayoutFault {
        LayoutFault { kind, ..self }
    }
}

impl fmt::Display for LayoutFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(LineColumn { line, column }) => {
                write!(f, "{}:{line}:{column}: {}", self.name, self.message)
            }
            None => write!(f, "{}: {}", self.name, self.message),
        }
    }
}
