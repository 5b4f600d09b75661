//! Family D: dependencies.

use crate::finding::{Rule, Severity};

/// `D001` unknown-dependency-kind
pub static D001: Rule = Rule {
    code: "D001",
    name: "unknown-dependency-kind",
    severity: Severity::Error,
    summary: "a dependency of a kind that does not exist",
    help: "Use one of the dependency kinds; a column's table is the dependency, never the column.",
    page: page!("pages/D001-unknown-dependency-kind.md"),
};

/// `D002` bad-form
pub static D002: Rule = Rule {
    code: "D002",
    name: "bad-form",
    severity: Severity::Error,
    summary: "`form` is neither uuid nor name",
    help: "Use uuid or name.",
    page: page!("pages/D002-bad-form.md"),
};

/// `D003` bad-resolution
pub static D003: Rule = Rule {
    code: "D003",
    name: "bad-resolution",
    severity: Severity::Error,
    summary: "`resolution` is not one of the three",
    help: "Use import or map.",
    page: page!("pages/D003-bad-resolution.md"),
};

/// `D004` proposed-skip
pub static D004: Rule = Rule {
    code: "D004",
    name: "proposed-skip",
    severity: Severity::Error,
    summary: "a package proposes to skip a dependency",
    help: "Propose import or map; whether to skip is decided where the package is applied.",
    page: page!("pages/D004-proposed-skip.md"),
};

/// `D005` detail-blueprint-mismatch
pub static D005: Rule = Rule {
    code: "D005",
    name: "detail-blueprint-mismatch",
    severity: Severity::Error,
    summary: "`detail` and `blueprint` disagree",
    help: "Say `blueprint` exactly when there is one.",
    page: page!("pages/D005-detail-blueprint-mismatch.md"),
};

/// `D006` blueprint-not-allowed
pub static D006: Rule = Rule {
    code: "D006",
    name: "blueprint-not-allowed",
    severity: Severity::Error,
    summary: "a blueprint for something that is not a table",
    help: "Remove the blueprint.",
    page: page!("pages/D006-blueprint-not-allowed.md"),
};

/// `D007` blueprint-shape
pub static D007: Rule = Rule {
    code: "D007",
    name: "blueprint-shape",
    severity: Severity::Error,
    summary: "a blueprint that does not create the table and its columns",
    help: "Hold one create_feature and then one create_column per identity column, `order` 1, 2, 3.",
    page: page!("pages/D007-blueprint-shape.md"),
};

/// `D008` duplicate-dependency
pub static D008: Rule = Rule {
    code: "D008",
    name: "duplicate-dependency",
    severity: Severity::Error,
    summary: "one ref is declared by two entries",
    help: "Keep one declaration of the ref.",
    page: page!("pages/D008-duplicate-dependency.md"),
};

/// `D009` proposal-mismatch
pub static D009: Rule = Rule {
    code: "D009",
    name: "proposal-mismatch",
    severity: Severity::Warning,
    summary: "the proposed resolution is not the one that follows from kind, form and blueprint",
    help: "Propose the resolution that follows.",
    page: page!("pages/D009-proposal-mismatch.md"),
};

/// `D010` ref-prefix
pub static D010: Rule = Rule {
    code: "D010",
    name: "ref-prefix",
    severity: Severity::Error,
    summary: "the ref's prefix is not the one of the dependency's kind",
    help: "Use the prefix of the kind.",
    page: page!("pages/D010-ref-prefix.md"),
};

/// `D011` channel-shape
pub static D011: Rule = Rule {
    code: "D011",
    name: "channel-shape",
    severity: Severity::Error,
    summary: "a channel dependency of the wrong shape",
    help: "A channel has form uuid, is required, has no blueprint and names no members.",
    page: page!("pages/D011-channel-shape.md"),
};

/// `D012` used-by-unknown-item
pub static D012: Rule = Rule {
    code: "D012",
    name: "used-by-unknown-item",
    severity: Severity::Error,
    summary: "`usedBy` names an item that is none",
    help: "Name the uid of the item that uses the dependency.",
    page: page!("pages/D012-used-by-unknown-item.md"),
};

/// `D013` used-by-wrong-target
pub static D013: Rule = Rule {
    code: "D013",
    name: "used-by-wrong-target",
    severity: Severity::Error,
    summary: "`usedBy` targets another uid than the dependency's",
    help: "Write the dependency's own uid.",
    page: page!("pages/D013-used-by-wrong-target.md"),
};

/// `D014` used-by-path-missing
pub static D014: Rule = Rule {
    code: "D014",
    name: "used-by-path-missing",
    severity: Severity::Error,
    summary: "the dependency is not used at that path",
    help: "Write the path, inside the args of the item's step, that holds the reference.",
    page: page!("pages/D014-used-by-path-missing.md"),
};

/// `D015` unused-dependency
pub static D015: Rule = Rule {
    code: "D015",
    name: "unused-dependency",
    severity: Severity::Warning,
    summary: "nothing uses the dependency",
    help: "Remove the dependency.",
    page: page!("pages/D015-unused-dependency.md"),
};

/// `D016` external-refs-mismatch
pub static D016: Rule = Rule {
    code: "D016",
    name: "external-refs-mismatch",
    severity: Severity::Error,
    summary: "`externalRefs` is not exactly the refs that come from outside",
    help: "List every ref that the steps use and no step declares, once.",
    page: page!("pages/D016-external-refs-mismatch.md"),
};

/// `D017` used-by-empty
pub static D017: Rule = Rule {
    code: "D017",
    name: "used-by-empty",
    severity: Severity::Warning,
    summary: "`usedBy` is empty",
    help: "List the uses, or remove the dependency.",
    page: page!("pages/D017-used-by-empty.md"),
};

/// `D018` use-not-listed
pub static D018: Rule = Rule {
    code: "D018",
    name: "use-not-listed",
    severity: Severity::Error,
    summary: "a use that no `usedBy` entry names",
    help: "Add an entry for this use.",
    page: page!("pages/D018-use-not-listed.md"),
};

/// `D019` identity-column-unused
pub static D019: Rule = Rule {
    code: "D019",
    name: "identity-column-unused",
    severity: Severity::Warning,
    summary: "an identity column that nothing uses",
    help: "Remove the column: only referenced columns belong there.",
    page: page!("pages/D019-identity-column-unused.md"),
};
