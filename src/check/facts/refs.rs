//! What refs stand for.

use crate::definitions::ReferenceKind;

/// What a ref stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Declared {
    /// Something of that kind.
    Kind(ReferenceKind),
    /// A workspace (the builtin, or a created one).
    Workspace,
    /// Something of an unknown tool or kind: no conclusions.
    Unknown,
    /// Nothing declares it.
    Nothing,
}

/// A ref that a dependency stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outside {
    /// Index of the dependency.
    pub dependency: usize,
    /// Index among its identity columns, when the ref is a column's.
    pub column: Option<usize>,
}
