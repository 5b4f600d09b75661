//! Where a finding is, before lines and columns are computed.

use std::ops::Range;

use crate::json::Node;

/// A place in a file: the pointer people and tools address it by, and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// JSON Pointer (RFC 6901); empty for the whole file.
    pub pointer: String,
    /// Bytes of the text (a byte-order mark not counted).
    pub span: Range<usize>,
}

impl Place {
    /// The beginning of the file.
    pub fn file() -> Place {
        Place {
            pointer: String::new(),
            span: 0..0,
        }
    }

    /// Where the value is.
    pub fn value(node: Node<'_>) -> Place {
        Place {
            pointer: node.pointer(),
            span: node.span(),
        }
    }

    /// Where the member's key is.
    pub fn key(node: Node<'_>) -> Place {
        Place {
            pointer: node.pointer(),
            span: node.key_span(),
        }
    }
}
