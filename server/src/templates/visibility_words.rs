//! The words for the visibility of a template.

/// What a template may be visible to.
pub(super) const VISIBILITIES: [&str; 3] = ["system", "org", "public"];
