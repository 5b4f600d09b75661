//! Family M: the catalog identity.

use crate::finding::{Rule, Severity};

/// `M001` bad-scope
pub static M001: Rule = Rule {
    code: "M001",
    name: "bad-scope",
    severity: Severity::Error,
    summary: "`scope` is not one of the four scopes",
    help: "Use organization, workspace, module or feature.",
    page: page!("pages/M001-bad-scope.md"),
};

/// `M002` bad-visibility
pub static M002: Rule = Rule {
    code: "M002",
    name: "bad-visibility",
    severity: Severity::Error,
    summary: "`visibility` is not one of the three",
    help: "Use system, org or public.",
    page: page!("pages/M002-bad-visibility.md"),
};

/// `M003` bad-semver
pub static M003: Rule = Rule {
    code: "M003",
    name: "bad-semver",
    severity: Severity::Warning,
    summary: "`semver` is not a semantic version",
    help: "Write MAJOR.MINOR.PATCH, for example 1.4.0.",
    page: page!("pages/M003-bad-semver.md"),
};

/// `M004` bad-generated-at
pub static M004: Rule = Rule {
    code: "M004",
    name: "bad-generated-at",
    severity: Severity::Error,
    summary: "an instant that is not an RFC 3339 date-time with a zone",
    help: "Write for example 2026-03-01T09:30:00Z.",
    page: page!("pages/M004-bad-generated-at.md"),
};

/// `M005` version-2-layer-missing
pub static M005: Rule = Rule {
    code: "M005",
    name: "version-2-layer-missing",
    severity: Severity::Error,
    summary: "a version 2 manifest without one of its layers",
    help: "Add the layer; an empty list is enough where nothing is to be said.",
    page: page!("pages/M005-version-2-layer-missing.md"),
};

/// `M006` duplicate-variable
pub static M006: Rule = Rule {
    code: "M006",
    name: "duplicate-variable",
    severity: Severity::Error,
    summary: "two variables share a key",
    help: "Give every variable its own key.",
    page: page!("pages/M006-duplicate-variable.md"),
};

/// `M007` missing-identity
pub static M007: Rule = Rule {
    code: "M007",
    name: "missing-identity",
    severity: Severity::Warning,
    summary: "a catalog entry without name or label",
    help: "Give the template a `name` and a `label`.",
    page: page!("pages/M007-missing-identity.md"),
};

/// `M008` text-too-long
pub static M008: Rule = Rule {
    code: "M008",
    name: "text-too-long",
    severity: Severity::Error,
    summary: "a label or a description that is longer than servers store",
    help: "Shorten it: a label has at most 255 characters, a description 10,000.",
    page: page!("pages/M008-text-too-long.md"),
};
