//! Family P: promotion to `system`.

use crate::finding::{Rule, Severity};

/// `P001` version-declared
pub static P001: Rule = Rule {
    code: "P001",
    name: "version-declared",
    severity: Severity::Error,
    summary: "the manifest declares its version",
    help: "Declare `templateVersion` 1 or 2.",
    page: page!("pages/P001-version-declared.md"),
};

/// `P002` no-tenant-identifiers
pub static P002: Rule = Rule {
    code: "P002",
    name: "no-tenant-identifiers",
    severity: Severity::Error,
    summary: "no tenant identifier occurs anywhere",
    help: "Remove or rename it: tenant identifiers never travel.",
    page: page!("pages/P002-no-tenant-identifiers.md"),
};

/// `P003` rows-have-payload
pub static P003: Rule = Rule {
    code: "P003",
    name: "rows-have-payload",
    severity: Severity::Error,
    summary: "every rows item has its payload entry",
    help: "Add the missing payload entry.",
    page: page!("pages/P003-rows-have-payload.md"),
};

/// `P004` counts-agree
pub static P004: Rule = Rule {
    code: "P004",
    name: "counts-agree",
    severity: Severity::Error,
    summary: "every rows item counts the rows that travel",
    help: "Write the number of rows.",
    page: page!("pages/P004-counts-agree.md"),
};

/// `P005` no-orphan-payload
pub static P005: Rule = Rule {
    code: "P005",
    name: "no-orphan-payload",
    severity: Severity::Error,
    summary: "every payload entry is declared by a rows item",
    help: "Add the item, or remove the entry.",
    page: page!("pages/P005-no-orphan-payload.md"),
};
