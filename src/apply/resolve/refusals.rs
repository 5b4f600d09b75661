//! What several refusals of dependencies, columns and modes say.

use crate::apply::Refusal;
use crate::finding::suggest;
use crate::package::model::Dependency;
use crate::problem::Code;

/// A ref that a request names and the package does not have.
pub(super) fn unknown<'c>(
    reference: &str,
    what: &str,
    known: impl IntoIterator<Item = &'c str> + Clone,
) -> Refusal {
    let help = suggest::help(reference, known).unwrap_or_default();
    let detail = format!("`{reference}` {what}. {help}");
    Refusal::about(Code::UnknownResolutionRef, reference, detail.trim_end())
}

/// What people know a dependency by.
pub(super) fn called(dependency: &Dependency) -> String {
    let identity = &dependency.identity;
    let label = identity.label.as_ref().unwrap_or(&identity.name);
    format!(
        "the {} {label:?} (`{}`)",
        dependency.kind.noun(),
        dependency.reference
    )
}
