//! Proposals, as editors show them.

use std::ops::Range;

/// What a proposal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionKind {
    /// A ref, a uid or a name of something.
    Reference,
    /// A key.
    Key,
    /// A word of the format or of the definitions.
    Word,
    /// A path in an expression.
    Expression,
}

/// A proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// What is shown and looked for.
    pub label: String,
    /// A few words next to it.
    pub detail: String,
    /// Markdown about it.
    pub documentation: Option<String>,
    /// What it is.
    pub kind: CompletionKind,
    /// What is written.
    pub text: String,
    /// What the typed text is compared with.
    pub filter: String,
}

/// The proposals at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completions {
    /// The bytes that an accepted proposal replaces.
    pub replace: Range<usize>,
    /// In the order in which they are to be shown.
    pub items: Vec<Completion>,
}
