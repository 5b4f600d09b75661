//! Family I: items.

use crate::finding::{Rule, Severity};

/// `I001` bad-uid
pub static I001: Rule = Rule {
    code: "I001",
    name: "bad-uid",
    severity: Severity::Error,
    summary: "a uid that is not `u_` and a version 4 UUID",
    help: "Mint a new one: `u_` followed by a random (version 4) UUID.",
    page: page!("pages/I001-bad-uid.md"),
};

/// `I002` duplicate-uid
pub static I002: Rule = Rule {
    code: "I002",
    name: "duplicate-uid",
    severity: Severity::Error,
    summary: "the same uid appears twice",
    help: "Give every entry its own uid.",
    page: page!("pages/I002-duplicate-uid.md"),
};

/// `I003` unknown-item-kind
pub static I003: Rule = Rule {
    code: "I003",
    name: "unknown-item-kind",
    severity: Severity::Error,
    summary: "an item of a kind that does not exist",
    help: "Use feature, column, view, module, rail, workflow or rows.",
    page: page!("pages/I003-unknown-item-kind.md"),
};

/// `I004` item-ref-missing
pub static I004: Rule = Rule {
    code: "I004",
    name: "item-ref-missing",
    severity: Severity::Error,
    summary: "an item without `ref`",
    help: "Name the ref that the item's plan step declares.",
    page: page!("pages/I004-item-ref-missing.md"),
};

/// `I005` rows-item-with-ref
pub static I005: Rule = Rule {
    code: "I005",
    name: "rows-item-with-ref",
    severity: Severity::Error,
    summary: "a rows item with a `ref`",
    help: "Remove it: rows are declared by no plan step.",
    page: page!("pages/I005-rows-item-with-ref.md"),
};

/// `I006` item-ref-undeclared
pub static I006: Rule = Rule {
    code: "I006",
    name: "item-ref-undeclared",
    severity: Severity::Error,
    summary: "no plan step declares the item's ref",
    help: "Correct the ref, or add the step that creates the item.",
    page: page!("pages/I006-item-ref-undeclared.md"),
};

/// `I007` item-kind-mismatch
pub static I007: Rule = Rule {
    code: "I007",
    name: "item-kind-mismatch",
    severity: Severity::Error,
    summary: "the step that declares the item's ref creates another kind",
    help: "Make kind and step agree.",
    page: page!("pages/I007-item-kind-mismatch.md"),
};

/// `I008` unknown-parent
pub static I008: Rule = Rule {
    code: "I008",
    name: "unknown-parent",
    severity: Severity::Error,
    summary: "`parent` is not an item's uid",
    help: "Point at the item of the table or module, or leave `parent` out when it does not travel.",
    page: page!("pages/I008-unknown-parent.md"),
};

/// `I009` wrong-parent-kind
pub static I009: Rule = Rule {
    code: "I009",
    name: "wrong-parent-kind",
    severity: Severity::Error,
    summary: "the parent is an item of the wrong kind",
    help: "Columns, views and rows belong to a feature, rails to a module.",
    page: page!("pages/I009-wrong-parent-kind.md"),
};

/// `I010` count-misplaced
pub static I010: Rule = Rule {
    code: "I010",
    name: "count-misplaced",
    severity: Severity::Error,
    summary: "`count`, `dataClass` or `stepIds` on an item of another kind",
    help: "Remove the field.",
    page: page!("pages/I010-count-misplaced.md"),
};

/// `I011` rows-item-incomplete
pub static I011: Rule = Rule {
    code: "I011",
    name: "rows-item-incomplete",
    severity: Severity::Error,
    summary: "a rows item without `count` or `dataClass`",
    help: "Add both.",
    page: page!("pages/I011-rows-item-incomplete.md"),
};

/// `I012` data-class-mismatch
pub static I012: Rule = Rule {
    code: "I012",
    name: "data-class-mismatch",
    severity: Severity::Warning,
    summary: "`dataClass` differs from the one that the links give",
    help: "Let it be derived: `tplkit check --fix` writes it.",
    page: page!("pages/I012-data-class-mismatch.md"),
};

/// `I013` step-ids-mismatch
pub static I013: Rule = Rule {
    code: "I013",
    name: "step-ids-mismatch",
    severity: Severity::Error,
    summary: "`stepIds` are not the ids of the automation's steps",
    help: "List the ids of all steps of the graph, those in branches too.",
    page: page!("pages/I013-step-ids-mismatch.md"),
};

/// `I014` step-without-item
pub static I014: Rule = Rule {
    code: "I014",
    name: "step-without-item",
    severity: Severity::Error,
    summary: "a step creates something that no item names",
    help: "Add the item, or remove the step.",
    page: page!("pages/I014-step-without-item.md"),
};

/// `I015` bad-ref
pub static I015: Rule = Rule {
    code: "I015",
    name: "bad-ref",
    severity: Severity::Error,
    summary: "a ref outside the grammar, or with the wrong letter",
    help: "Write the letter of what is created (f, c, v, r, m, w), `_`, and letters, digits, `_` or `-`.",
    page: page!("pages/I015-bad-ref.md"),
};

/// `I016` parent-missing
pub static I016: Rule = Rule {
    code: "I016",
    name: "parent-missing",
    severity: Severity::Error,
    summary: "an item without `parent` although its table or module travels",
    help: "Add the uid of the item of its table or module.",
    page: page!("pages/I016-parent-missing.md"),
};

/// `I017` parent-disagrees
pub static I017: Rule = Rule {
    code: "I017",
    name: "parent-disagrees",
    severity: Severity::Error,
    summary: "the item's parent is not where its step creates it",
    help: "Make `parent` and the step's argument name the same table or module.",
    page: page!("pages/I017-parent-disagrees.md"),
};

/// `I018` duplicate-item
pub static I018: Rule = Rule {
    code: "I018",
    name: "duplicate-item",
    severity: Severity::Error,
    summary: "two items for one thing",
    help: "Remove one of the two.",
    page: page!("pages/I018-duplicate-item.md"),
};
