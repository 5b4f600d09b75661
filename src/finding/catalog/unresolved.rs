//! Family U: unresolved and redacted values.

use crate::finding::{Rule, Severity};

/// `U001` unknown-reason
pub static U001: Rule = Rule {
    code: "U001",
    name: "unknown-reason",
    severity: Severity::Error,
    summary: "a reason that does not exist",
    help: "Use one of the reasons of the format.",
    page: page!("pages/U001-unknown-reason.md"),
};

/// `U002` unknown-action
pub static U002: Rule = Rule {
    code: "U002",
    name: "unknown-action",
    severity: Severity::Error,
    summary: "an action that does not exist",
    help: "Use `chave esvaziada`, `valor mantido` or `chave omitida`.",
    page: page!("pages/U002-unknown-action.md"),
};

/// `U003` executor-only-field
pub static U003: Rule = Rule {
    code: "U003",
    name: "executor-only-field",
    severity: Severity::Error,
    summary: "a field or reason that only an import writes",
    help: "Remove it: it belongs in the report of an apply.",
    page: page!("pages/U003-executor-only-field.md"),
};

/// `U004` unresolved-unknown-uid
pub static U004: Rule = Rule {
    code: "U004",
    name: "unresolved-unknown-uid",
    severity: Severity::Error,
    summary: "the entry's uid is neither an item's nor the plan's",
    help: "Name the item that the entry is about.",
    page: page!("pages/U004-unresolved-unknown-uid.md"),
};

/// `U005` source-label-is-id
pub static U005: Rule = Rule {
    code: "U005",
    name: "source-label-is-id",
    severity: Severity::Error,
    summary: "an id stands where a label belongs",
    help: "Write the label, or leave it out: ids of the source must not travel.",
    page: page!("pages/U005-source-label-is-id.md"),
};

/// `U006` not-aggregated
pub static U006: Rule = Rule {
    code: "U006",
    name: "not-aggregated",
    severity: Severity::Error,
    summary: "row cells are reported one by one",
    help: "Write one entry per column, with a count and no index.",
    page: page!("pages/U006-not-aggregated.md"),
};

/// `U007` count-on-config-entry
pub static U007: Rule = Rule {
    code: "U007",
    name: "count-on-config-entry",
    severity: Severity::Error,
    summary: "`count` on an entry that is not about rows",
    help: "Remove the count.",
    page: page!("pages/U007-count-on-config-entry.md"),
};

/// `U008` redacted-still-set
pub static U008: Rule = Rule {
    code: "U008",
    name: "redacted-still-set",
    severity: Severity::Error,
    summary: "a redacted field still holds a value",
    help: "Empty the field.",
    page: page!("pages/U008-redacted-still-set.md"),
};

/// `U009` emptied-still-set
pub static U009: Rule = Rule {
    code: "U009",
    name: "emptied-still-set",
    severity: Severity::Warning,
    summary: "a field said to be emptied or left out is still there",
    help: "Empty the field, or correct the action.",
    page: page!("pages/U009-emptied-still-set.md"),
};

/// `U010` wrong-action
pub static U010: Rule = Rule {
    code: "U010",
    name: "wrong-action",
    severity: Severity::Error,
    summary: "the action does not fit the reason",
    help: "Write the action that belongs to this kind of entry.",
    page: page!("pages/U010-wrong-action.md"),
};
