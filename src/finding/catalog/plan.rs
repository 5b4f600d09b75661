//! Family S: the plan.

use crate::finding::{Rule, Severity};

/// `S001` unknown-tool
pub static S001: Rule = Rule {
    code: "S001",
    name: "unknown-tool",
    severity: Severity::Error,
    summary: "a step names a tool that does not exist",
    help: "Use one of the tools of the plan format.",
    page: page!("pages/S001-unknown-tool.md"),
};

/// `S002` step-ref-missing
pub static S002: Rule = Rule {
    code: "S002",
    name: "step-ref-missing",
    severity: Severity::Error,
    summary: "a create step without `ref`",
    help: "Give the step a ref, so that others can name what it creates.",
    page: page!("pages/S002-step-ref-missing.md"),
};

/// `S003` step-ref-unexpected
pub static S003: Rule = Rule {
    code: "S003",
    name: "step-ref-unexpected",
    severity: Severity::Error,
    summary: "a step that declares nothing has a `ref`",
    help: "Remove the ref.",
    page: page!("pages/S003-step-ref-unexpected.md"),
};

/// `S004` ref-declared-twice
pub static S004: Rule = Rule {
    code: "S004",
    name: "ref-declared-twice",
    severity: Severity::Error,
    summary: "two steps declare one ref",
    help: "Give one of them another ref.",
    page: page!("pages/S004-ref-declared-twice.md"),
};

/// `S005` ref-used-before-declared
pub static S005: Rule = Rule {
    code: "S005",
    name: "ref-used-before-declared",
    severity: Severity::Error,
    summary: "a ref is used before the step that declares it",
    help: "Move the declaring step forward, or complete the value with an update step.",
    page: page!("pages/S005-ref-used-before-declared.md"),
};

/// `S006` ref-undeclared
pub static S006: Rule = Rule {
    code: "S006",
    name: "ref-undeclared",
    severity: Severity::Error,
    summary: "a used ref that nothing declares",
    help: "Correct the ref, or declare it.",
    page: page!("pages/S006-ref-undeclared.md"),
};

/// `S007` step-order
pub static S007: Rule = Rule {
    code: "S007",
    name: "step-order",
    severity: Severity::Error,
    summary: "a step stands behind steps of a later phase",
    help: "Move the step to its phase.",
    page: page!("pages/S007-step-order.md"),
};

/// `S008` rows-in-exported-plan
pub static S008: Rule = Rule {
    code: "S008",
    name: "rows-in-exported-plan",
    severity: Severity::Error,
    summary: "a row step, or create_workspace, in an exported plan",
    help: "Put rows into payloads, or mark the plan as written by hand.",
    page: page!("pages/S008-rows-in-exported-plan.md"),
};

/// `S009` bad-args
pub static S009: Rule = Rule {
    code: "S009",
    name: "bad-args",
    severity: Severity::Error,
    summary: "an argument or config value is missing or wrong",
    help: "Write the argument as the tool takes it.",
    page: page!("pages/S009-bad-args.md"),
};

/// `S010` view-config-shape
pub static S010: Rule = Rule {
    code: "S010",
    name: "view-config-shape",
    severity: Severity::Error,
    summary: "a view's `config` is not a list of exactly one object",
    help: "Wrap the object in a list.",
    page: page!("pages/S010-view-config-shape.md"),
};

/// `S011` workflow-not-draft
pub static S011: Rule = Rule {
    code: "S011",
    name: "workflow-not-draft",
    severity: Severity::Error,
    summary: "an automation that does not arrive as a draft",
    help: "Write `\"isDraft\": true`.",
    page: page!("pages/S011-workflow-not-draft.md"),
};

/// `S012` activation-travels
pub static S012: Rule = Rule {
    code: "S012",
    name: "activation-travels",
    severity: Severity::Error,
    summary: "an activation flag travels",
    help: "Remove it: activation is decided at the destination.",
    page: page!("pages/S012-activation-travels.md"),
};

/// `S013` published-false
pub static S013: Rule = Rule {
    code: "S013",
    name: "published-false",
    severity: Severity::Warning,
    summary: "`published` is present and not true",
    help: "Write true, or leave it out.",
    page: page!("pages/S013-published-false.md"),
};

/// `S014` needless-update
pub static S014: Rule = Rule {
    code: "S014",
    name: "needless-update",
    severity: Severity::Warning,
    summary: "an update step that carries nothing declared later",
    help: "Put the config into the create step and remove the update.",
    page: page!("pages/S014-needless-update.md"),
};

/// `S015` wrong-ref-kind
pub static S015: Rule = Rule {
    code: "S015",
    name: "wrong-ref-kind",
    severity: Severity::Error,
    summary: "a ref to something of the wrong kind",
    help: "Name a ref of the kind that belongs here.",
    page: page!("pages/S015-wrong-ref-kind.md"),
};

/// `S016` column-order
pub static S016: Rule = Rule {
    code: "S016",
    name: "column-order",
    severity: Severity::Warning,
    summary: "two columns of a table have the same order",
    help: "Number the columns 1, 2, 3.",
    page: page!("pages/S016-column-order.md"),
};

/// `S017` unknown-column-type
pub static S017: Rule = Rule {
    code: "S017",
    name: "unknown-column-type",
    severity: Severity::Error,
    summary: "a type or component that the definitions do not have",
    help: "Use one of the definitions' names.",
    page: page!("pages/S017-unknown-column-type.md"),
};

/// `S018` unknown-config-key
pub static S018: Rule = Rule {
    code: "S018",
    name: "unknown-config-key",
    severity: Severity::Warning,
    summary: "a config key that the definitions do not have",
    help: "Remove the key, or correct its name; a destination drops it.",
    page: page!("pages/S018-unknown-config-key.md"),
};

/// `S019` plan-summary-missing
pub static S019: Rule = Rule {
    code: "S019",
    name: "plan-summary-missing",
    severity: Severity::Warning,
    summary: "the plan has no summary",
    help: "Write one sentence about what the plan creates.",
    page: page!("pages/S019-plan-summary-missing.md"),
};

/// `S020` duplicate-name
pub static S020: Rule = Rule {
    code: "S020",
    name: "duplicate-name",
    severity: Severity::Error,
    summary: "two things of one parent are created with the same name",
    help: "Rename one of them.",
    page: page!("pages/S020-duplicate-name.md"),
};

/// `S021` bad-name
pub static S021: Rule = Rule {
    code: "S021",
    name: "bad-name",
    severity: Severity::Error,
    summary: "a technical name that the platform does not accept",
    help: "Use 1 to 63 characters without : , . { } \" and control characters, and no space at the ends.",
    page: page!("pages/S021-bad-name.md"),
};

/// `S022` link-column-mismatch
pub static S022: Rule = Rule {
    code: "S022",
    name: "link-column-mismatch",
    severity: Severity::Error,
    summary: "a column of another table than the one it belongs to",
    help: "Name a column of that table.",
    page: page!("pages/S022-link-column-mismatch.md"),
};
