//! Family X: what a package must not contain.

use crate::finding::{Rule, Severity};

/// `X001` source-id-leak
pub static X001: Rule = Rule {
    code: "X001",
    name: "source-id-leak",
    severity: Severity::Error,
    summary: "an id of the source travels",
    help: "Replace it by a ref, or empty the field and name it in `unresolved`.",
    page: page!("pages/X001-source-id-leak.md"),
};

/// `X002` secret-leak
pub static X002: Rule = Rule {
    code: "X002",
    name: "secret-leak",
    severity: Severity::Error,
    summary: "a secret travels",
    help: "Empty the field and name it in `redacted`.",
    page: page!("pages/X002-secret-leak.md"),
};

/// `X003` secret-shaped
pub static X003: Rule = Rule {
    code: "X003",
    name: "secret-shaped",
    severity: Severity::Warning,
    summary: "a text that looks like a secret",
    help: "Revoke the secret if it is one, and remove it.",
    page: page!("pages/X003-secret-shaped.md"),
};

/// `X004` tenant-id-leak
pub static X004: Rule = Rule {
    code: "X004",
    name: "tenant-id-leak",
    severity: Severity::Warning,
    summary: "a tenant identifier occurs",
    help: "Remove or rename it: the package cannot be promoted with it.",
    page: page!("pages/X004-tenant-id-leak.md"),
};
