//! The dependencies of a package, and what becomes of one.

use indexmap::IndexMap;

use super::bindings::Binding;
use crate::check::Checked;
use crate::package::model::Dependency;
use crate::workspace::Id;

/// What becomes of a dependency.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum DependencyDecision<'p> {
    /// Its blueprint is carried out.
    Import,
    /// It is this.
    Map(Binding<'p>, IndexMap<String, Id>),
    /// Configs name it, and the name is one here too.
    Named,
    /// All that it held becomes empty.
    Skip,
}

/// The dependencies of a package.
pub(super) fn dependencies<'p>(package: &'p Checked<'_>) -> &'p [Dependency] {
    let layers = package.manifest.layers();
    layers.map_or(&[], |layers| &layers.dependencies)
}
