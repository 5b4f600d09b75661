//! Family A: automations; their names are the codes of the API.

use crate::finding::{Rule, Severity};

/// `A001` `trigger_missing`
pub static A001: Rule = Rule {
    code: "A001",
    name: "trigger_missing",
    severity: Severity::Error,
    summary: "an automation without a trigger type",
    help: "Choose a trigger.",
    page: page!("pages/A001-trigger_missing.md"),
};

/// `A002` `trigger_unknown_key`
pub static A002: Rule = Rule {
    code: "A002",
    name: "trigger_unknown_key",
    severity: Severity::Error,
    summary: "a trigger that does not exist",
    help: "Use a trigger of the definitions.",
    page: page!("pages/A002-trigger_unknown_key.md"),
};

/// `A003` `trigger_config_invalid`
pub static A003: Rule = Rule {
    code: "A003",
    name: "trigger_config_invalid",
    severity: Severity::Error,
    summary: "a trigger setting is missing or wrong",
    help: "Write the setting as the trigger takes it.",
    page: page!("pages/A003-trigger_config_invalid.md"),
};

/// `A004` `graph_empty`
pub static A004: Rule = Rule {
    code: "A004",
    name: "graph_empty",
    severity: Severity::Warning,
    summary: "an automation without steps",
    help: "Add a step.",
    page: page!("pages/A004-graph_empty.md"),
};

/// `A005` `unknown_step_key`
pub static A005: Rule = Rule {
    code: "A005",
    name: "unknown_step_key",
    severity: Severity::Error,
    summary: "a step of a kind that does not exist",
    help: "Use a step key of the definitions.",
    page: page!("pages/A005-unknown_step_key.md"),
};

/// `A006` `duplicate_step_id`
pub static A006: Rule = Rule {
    code: "A006",
    name: "duplicate_step_id",
    severity: Severity::Error,
    summary: "two steps share an id",
    help: "Give every step its own id.",
    page: page!("pages/A006-duplicate_step_id.md"),
};

/// `A007` `unknown_var`
pub static A007: Rule = Rule {
    code: "A007",
    name: "unknown_var",
    severity: Severity::Error,
    summary: "a token for a variable that nothing sets",
    help: "Set the variable in an earlier step, or correct its name.",
    page: page!("pages/A007-unknown_var.md"),
};

/// `A008` `unknown_step_ref`
pub static A008: Rule = Rule {
    code: "A008",
    name: "unknown_step_ref",
    severity: Severity::Error,
    summary: "a token for a step that has not run by then",
    help: "Name an earlier step.",
    page: page!("pages/A008-unknown_step_ref.md"),
};

/// `A009` `unknown_step_output`
pub static A009: Rule = Rule {
    code: "A009",
    name: "unknown_step_output",
    severity: Severity::Error,
    summary: "a token for an output that the step does not announce",
    help: "Use one of the step's outputs.",
    page: page!("pages/A009-unknown_step_output.md"),
};

/// `A010` `trigger_row_write_target_mismatch`
pub static A010: Rule = Rule {
    code: "A010",
    name: "trigger_row_write_target_mismatch",
    severity: Severity::Error,
    summary: "the row that fired is written as if it were of another table",
    help: "Target the trigger's table, or write with another mode.",
    page: page!("pages/A010-trigger_row_write_target_mismatch.md"),
};

/// `A011` `reactive_cycle_column_overlap`
pub static A011: Rule = Rule {
    code: "A011",
    name: "reactive_cycle_column_overlap",
    severity: Severity::Error,
    summary: "an automation that fires itself",
    help: "Watch other columns than the ones written.",
    page: page!("pages/A011-reactive_cycle_column_overlap.md"),
};

/// `A012` `branches_all_empty`
pub static A012: Rule = Rule {
    code: "A012",
    name: "branches_all_empty",
    severity: Severity::Warning,
    summary: "a branching step without any steps in its branches",
    help: "Fill a branch, or remove the step.",
    page: page!("pages/A012-branches_all_empty.md"),
};

/// `A013` `chain_has_no_delivery`
pub static A013: Rule = Rule {
    code: "A013",
    name: "chain_has_no_delivery",
    severity: Severity::Warning,
    summary: "an automation that delivers nothing",
    help: "Add a step that writes, sends or calls.",
    page: page!("pages/A013-chain_has_no_delivery.md"),
};

/// `A014` `self_recursion`
pub static A014: Rule = Rule {
    code: "A014",
    name: "self_recursion",
    severity: Severity::Error,
    summary: "an automation that runs itself",
    help: "Run another automation.",
    page: page!("pages/A014-self_recursion.md"),
};

/// `A015` `envelope_mismatch`
pub static A015: Rule = Rule {
    code: "A015",
    name: "envelope_mismatch",
    severity: Severity::Error,
    summary: "a step reads records where none can be",
    help: "Read rows before this step.",
    page: page!("pages/A015-envelope_mismatch.md"),
};

/// `A016` `step_config_invalid`
pub static A016: Rule = Rule {
    code: "A016",
    name: "step_config_invalid",
    severity: Severity::Error,
    summary: "a step setting is missing or wrong",
    help: "Write the setting as the step takes it.",
    page: page!("pages/A016-step_config_invalid.md"),
};

/// `A017` `bad_step_id`
pub static A017: Rule = Rule {
    code: "A017",
    name: "bad_step_id",
    severity: Severity::Error,
    summary: "a step id of the wrong form",
    help: "Write `stp_` and twelve letters or digits.",
    page: page!("pages/A017-bad_step_id.md"),
};

/// `A018` `expression_syntax`
pub static A018: Rule = Rule {
    code: "A018",
    name: "expression_syntax",
    severity: Severity::Error,
    summary: "a token that cannot be read",
    help: "Write for example {{vars.name}} or {{record.column}}.",
    page: page!("pages/A018-expression_syntax.md"),
};

/// `A019` `trigger_is_step`
pub static A019: Rule = Rule {
    code: "A019",
    name: "trigger_is_step",
    severity: Severity::Error,
    summary: "a step stands where the trigger belongs",
    help: "Move it into the graph and choose a trigger.",
    page: page!("pages/A019-trigger_is_step.md"),
};
