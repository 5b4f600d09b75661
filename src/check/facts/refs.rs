//! The targets of refs.

use super::Facts;
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
pub struct ExternalRef {
    /// Index of the dependency.
    pub dependency: usize,
    /// Index among its identity columns, when the ref is a column's.
    pub column: Option<usize>,
}

impl<'d> Facts<'d> {
    /// The name for people of what a ref stands for (without dollar): its label, else its name.
    pub fn name_of(&self, reference: &str) -> Option<&'d str> {
        if let Some(index) = self.declaring_step(reference) {
            let step = &self.steps[index];
            return step.title();
        }
        let outside = self.outside(reference)?;
        let identity = self.dependencies[outside.dependency].node.get("identity")?;
        let of = match outside.column {
            Some(column) => identity.get("columns")?.at(column)?,
            None => identity,
        };
        let label = of.get_str("label").filter(|label| !label.is_empty());
        label.or_else(|| of.get_str("name"))
    }
}
