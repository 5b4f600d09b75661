//! What a check says: one finding per mistake, as data.

use std::ops::Range;

use super::rule::{Rule, Severity};
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

    /// Where the value stands.
    pub fn value(node: Node<'_>) -> Place {
        Place {
            pointer: node.pointer(),
            span: node.span(),
        }
    }

    /// Where the member's key stands.
    pub fn key(node: Node<'_>) -> Place {
        Place {
            pointer: node.pointer(),
            span: node.key_span(),
        }
    }
}

/// Another place that helps to understand a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// Where.
    pub place: Place,
    /// What is there.
    pub message: String,
}

/// One replacement of bytes in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Bytes that go (empty for an insertion).
    pub span: Range<usize>,
    /// Text that comes.
    pub text: String,
}

/// A fix that a tool can make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What it does, as an imperative.
    pub title: String,
    /// Whether the meaning of the package stays what its author surely meant.
    pub safe: bool,
    /// Edits that do not overlap, in any order.
    pub edits: Vec<Edit>,
}

/// One mistake in a file.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule that speaks.
    pub rule: &'static Rule,
    /// The weight, after configuration.
    pub severity: Severity,
    /// The narrowest value at fault.
    pub place: Place,
    /// What is wrong, naming the value.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Other places.
    pub related: Vec<Related>,
    /// A fix, when there is a mechanical one.
    pub fix: Option<Fix>,
}

impl Finding {
    /// A finding of `rule` at `place` with the rule's own severity and help.
    pub fn new(rule: &'static Rule, place: Place, message: impl Into<String>) -> Finding {
        Finding {
            rule,
            severity: rule.severity,
            place,
            message: message.into(),
            help: rule.help.to_owned(),
            related: Vec::new(),
            fix: None,
        }
    }

    /// At a value.
    pub fn at(rule: &'static Rule, node: Node<'_>, message: impl Into<String>) -> Finding {
        Finding::new(rule, Place::value(node), message)
    }

    /// At a member's key.
    pub fn at_key(rule: &'static Rule, node: Node<'_>, message: impl Into<String>) -> Finding {
        Finding::new(rule, Place::key(node), message)
    }

    /// With help of its own.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Finding {
        self.help = help.into();
        self
    }

    /// With a related place.
    #[must_use]
    pub fn related(mut self, node: Node<'_>, message: impl Into<String>) -> Finding {
        self.related.push(Related {
            place: Place::value(node),
            message: message.into(),
        });
        self
    }

    /// With a fix.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Finding {
        self.fix = Some(fix);
        self
    }
}
