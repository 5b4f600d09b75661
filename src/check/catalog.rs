//! The catalog: every rule, in the order in which they are listed and reported.
//!
//! Code, name and severity are the contract with every reader of a report; the page beside each
//! rule (`rules/<code>-<name>.md`) explains it and holds the examples that the tests run.

use super::rule::{Rule, Severity};

/// The rule of that code (in any case) or name.
pub fn find(code_or_name: &str) -> Option<&'static Rule> {
    let wanted = code_or_name.trim();
    RULES
        .iter()
        .find(|rule| {
            rule.code.eq_ignore_ascii_case(wanted) || rule.name.eq_ignore_ascii_case(wanted)
        })
        .copied()
}

/// `J001` invalid-json
pub static J001: Rule = Rule {
    code: "J001",
    name: "invalid-json",
    severity: Severity::Error,
    summary: "the file is not well-formed JSON",
    help: "Mend the text at this place; nothing else can be checked before it parses.",
    page: include_str!("rules/J001-invalid-json.md"),
};

/// `J002` duplicate-key
pub static J002: Rule = Rule {
    code: "J002",
    name: "duplicate-key",
    severity: Severity::Error,
    summary: "an object holds the same key twice",
    help: "Keep one of the two members.",
    page: include_str!("rules/J002-duplicate-key.md"),
};

/// `J003` not-a-package
pub static J003: Rule = Rule {
    code: "J003",
    name: "not-a-package",
    severity: Severity::Error,
    summary: "the file is JSON, but no template package",
    help: "Name a package file, or declare `templateVersion` in the manifest.",
    page: include_str!("rules/J003-not-a-package.md"),
};

/// `J004` unsupported-version
pub static J004: Rule = Rule {
    code: "J004",
    name: "unsupported-version",
    severity: Severity::Error,
    summary: "a version number that this format does not have",
    help: "Use `templateVersion` 1 or 2 and `planVersion` 1, as JSON integers.",
    page: include_str!("rules/J004-unsupported-version.md"),
};

/// `J005` wrong-type
pub static J005: Rule = Rule {
    code: "J005",
    name: "wrong-type",
    severity: Severity::Error,
    summary: "a value of the wrong JSON type, pattern or enumeration",
    help: "Write a value of the expected type.",
    page: include_str!("rules/J005-wrong-type.md"),
};

/// `J006` missing-field
pub static J006: Rule = Rule {
    code: "J006",
    name: "missing-field",
    severity: Severity::Error,
    summary: "a required field is absent",
    help: "Add the field.",
    page: include_str!("rules/J006-missing-field.md"),
};

/// `J007` unknown-field
pub static J007: Rule = Rule {
    code: "J007",
    name: "unknown-field",
    severity: Severity::Warning,
    summary: "a field that the format does not define",
    help: "Remove the field, or correct its name.",
    page: include_str!("rules/J007-unknown-field.md"),
};

/// `J008` payloads-not-array
pub static J008: Rule = Rule {
    code: "J008",
    name: "payloads-not-array",
    severity: Severity::Error,
    summary: "`payloads` is present and no list",
    help: "Write a list, or leave `payloads` out.",
    page: include_str!("rules/J008-payloads-not-array.md"),
};

/// `J009` nul-character
pub static J009: Rule = Rule {
    code: "J009",
    name: "nul-character",
    severity: Severity::Error,
    summary: "U+0000 in a key or a string",
    help: "Remove the character: no store can hold it.",
    page: include_str!("rules/J009-nul-character.md"),
};

/// `M001` bad-scope
pub static M001: Rule = Rule {
    code: "M001",
    name: "bad-scope",
    severity: Severity::Error,
    summary: "`scope` is none of the four scopes",
    help: "Use organization, workspace, module or feature.",
    page: include_str!("rules/M001-bad-scope.md"),
};

/// `M002` bad-visibility
pub static M002: Rule = Rule {
    code: "M002",
    name: "bad-visibility",
    severity: Severity::Error,
    summary: "`visibility` is none of the three",
    help: "Use system, org or public.",
    page: include_str!("rules/M002-bad-visibility.md"),
};

/// `M003` bad-semver
pub static M003: Rule = Rule {
    code: "M003",
    name: "bad-semver",
    severity: Severity::Warning,
    summary: "`semver` is no semantic version",
    help: "Write MAJOR.MINOR.PATCH, for example 1.4.0.",
    page: include_str!("rules/M003-bad-semver.md"),
};

/// `M004` bad-generated-at
pub static M004: Rule = Rule {
    code: "M004",
    name: "bad-generated-at",
    severity: Severity::Error,
    summary: "an instant that is no RFC 3339 date-time with a zone",
    help: "Write for example 2026-03-01T09:30:00Z.",
    page: include_str!("rules/M004-bad-generated-at.md"),
};

/// `M005` version-2-layer-missing
pub static M005: Rule = Rule {
    code: "M005",
    name: "version-2-layer-missing",
    severity: Severity::Error,
    summary: "a version 2 manifest without one of its layers",
    help: "Add the layer; an empty list is enough where nothing is to be said.",
    page: include_str!("rules/M005-version-2-layer-missing.md"),
};

/// `M006` duplicate-variable
pub static M006: Rule = Rule {
    code: "M006",
    name: "duplicate-variable",
    severity: Severity::Error,
    summary: "two variables share a key",
    help: "Give every variable its own key.",
    page: include_str!("rules/M006-duplicate-variable.md"),
};

/// `M007` missing-identity
pub static M007: Rule = Rule {
    code: "M007",
    name: "missing-identity",
    severity: Severity::Warning,
    summary: "a catalog entry without name or label",
    help: "Give the template a `name` and a `label`.",
    page: include_str!("rules/M007-missing-identity.md"),
};

/// `I001` bad-uid
pub static I001: Rule = Rule {
    code: "I001",
    name: "bad-uid",
    severity: Severity::Error,
    summary: "a uid that is not `u_` and a version 4 UUID",
    help: "Mint a new one: `u_` followed by a random (version 4) UUID.",
    page: include_str!("rules/I001-bad-uid.md"),
};

/// `I002` duplicate-uid
pub static I002: Rule = Rule {
    code: "I002",
    name: "duplicate-uid",
    severity: Severity::Error,
    summary: "the same uid stands twice",
    help: "Give every entry its own uid.",
    page: include_str!("rules/I002-duplicate-uid.md"),
};

/// `I003` unknown-item-kind
pub static I003: Rule = Rule {
    code: "I003",
    name: "unknown-item-kind",
    severity: Severity::Error,
    summary: "an item of a kind that does not exist",
    help: "Use feature, column, view, module, rail, workflow or rows.",
    page: include_str!("rules/I003-unknown-item-kind.md"),
};

/// `I004` item-ref-missing
pub static I004: Rule = Rule {
    code: "I004",
    name: "item-ref-missing",
    severity: Severity::Error,
    summary: "an item without `ref`",
    help: "Name the ref that the item's plan step declares.",
    page: include_str!("rules/I004-item-ref-missing.md"),
};

/// `I005` rows-item-with-ref
pub static I005: Rule = Rule {
    code: "I005",
    name: "rows-item-with-ref",
    severity: Severity::Error,
    summary: "a rows item with a `ref`",
    help: "Remove it: rows are declared by no plan step.",
    page: include_str!("rules/I005-rows-item-with-ref.md"),
};

/// `I006` item-ref-undeclared
pub static I006: Rule = Rule {
    code: "I006",
    name: "item-ref-undeclared",
    severity: Severity::Error,
    summary: "no plan step declares the item's ref",
    help: "Correct the ref, or add the step that creates the item.",
    page: include_str!("rules/I006-item-ref-undeclared.md"),
};

/// `I007` item-kind-mismatch
pub static I007: Rule = Rule {
    code: "I007",
    name: "item-kind-mismatch",
    severity: Severity::Error,
    summary: "the step that declares the item's ref creates another kind",
    help: "Make kind and step agree.",
    page: include_str!("rules/I007-item-kind-mismatch.md"),
};

/// `I008` unknown-parent
pub static I008: Rule = Rule {
    code: "I008",
    name: "unknown-parent",
    severity: Severity::Error,
    summary: "`parent` is no item's uid",
    help: "Point at the item of the table or module, or leave `parent` out when it does not travel.",
    page: include_str!("rules/I008-unknown-parent.md"),
};

/// `I009` wrong-parent-kind
pub static I009: Rule = Rule {
    code: "I009",
    name: "wrong-parent-kind",
    severity: Severity::Error,
    summary: "the parent is an item of the wrong kind",
    help: "Columns, views and rows belong to a feature, rails to a module.",
    page: include_str!("rules/I009-wrong-parent-kind.md"),
};

/// `I010` count-misplaced
pub static I010: Rule = Rule {
    code: "I010",
    name: "count-misplaced",
    severity: Severity::Error,
    summary: "`count`, `dataClass` or `stepIds` on an item of another kind",
    help: "Remove the field.",
    page: include_str!("rules/I010-count-misplaced.md"),
};

/// `I011` rows-item-incomplete
pub static I011: Rule = Rule {
    code: "I011",
    name: "rows-item-incomplete",
    severity: Severity::Error,
    summary: "a rows item without `count` or `dataClass`",
    help: "Add both.",
    page: include_str!("rules/I011-rows-item-incomplete.md"),
};

/// `I012` data-class-mismatch
pub static I012: Rule = Rule {
    code: "I012",
    name: "data-class-mismatch",
    severity: Severity::Warning,
    summary: "`dataClass` differs from the one that the links give",
    help: "Let it be derived: `tplkit check --fix` writes it.",
    page: include_str!("rules/I012-data-class-mismatch.md"),
};

/// `I013` step-ids-mismatch
pub static I013: Rule = Rule {
    code: "I013",
    name: "step-ids-mismatch",
    severity: Severity::Error,
    summary: "`stepIds` are not the ids of the automation's steps",
    help: "List the ids of all steps of the graph, those in branches too.",
    page: include_str!("rules/I013-step-ids-mismatch.md"),
};

/// `I014` step-without-item
pub static I014: Rule = Rule {
    code: "I014",
    name: "step-without-item",
    severity: Severity::Error,
    summary: "a step creates something that no item names",
    help: "Add the item, or remove the step.",
    page: include_str!("rules/I014-step-without-item.md"),
};

/// `I015` bad-ref
pub static I015: Rule = Rule {
    code: "I015",
    name: "bad-ref",
    severity: Severity::Error,
    summary: "a ref outside the grammar, or with the wrong letter",
    help: "Write the letter of what is created (f, c, v, r, m, w), `_`, and letters, digits, `_` or `-`.",
    page: include_str!("rules/I015-bad-ref.md"),
};

/// `I016` parent-missing
pub static I016: Rule = Rule {
    code: "I016",
    name: "parent-missing",
    severity: Severity::Error,
    summary: "an item without `parent` although its table or module travels",
    help: "Add the uid of the item of its table or module.",
    page: include_str!("rules/I016-parent-missing.md"),
};

/// `I017` parent-disagrees
pub static I017: Rule = Rule {
    code: "I017",
    name: "parent-disagrees",
    severity: Severity::Error,
    summary: "the item's parent is not where its step creates it",
    help: "Make `parent` and the step's argument name the same table or module.",
    page: include_str!("rules/I017-parent-disagrees.md"),
};

/// `I018` duplicate-item
pub static I018: Rule = Rule {
    code: "I018",
    name: "duplicate-item",
    severity: Severity::Error,
    summary: "two items for one thing",
    help: "Remove one of the two.",
    page: include_str!("rules/I018-duplicate-item.md"),
};

/// `D001` unknown-dependency-kind
pub static D001: Rule = Rule {
    code: "D001",
    name: "unknown-dependency-kind",
    severity: Severity::Error,
    summary: "a dependency of a kind that does not exist",
    help: "Use one of the dependency kinds; a column's table is the dependency, never the column.",
    page: include_str!("rules/D001-unknown-dependency-kind.md"),
};

/// `D002` bad-form
pub static D002: Rule = Rule {
    code: "D002",
    name: "bad-form",
    severity: Severity::Error,
    summary: "`form` is neither uuid nor name",
    help: "Use uuid or name.",
    page: include_str!("rules/D002-bad-form.md"),
};

/// `D003` bad-resolution
pub static D003: Rule = Rule {
    code: "D003",
    name: "bad-resolution",
    severity: Severity::Error,
    summary: "`resolution` is none of the three",
    help: "Use import or map.",
    page: include_str!("rules/D003-bad-resolution.md"),
};

/// `D004` proposed-skip
pub static D004: Rule = Rule {
    code: "D004",
    name: "proposed-skip",
    severity: Severity::Error,
    summary: "a package proposes to skip a dependency",
    help: "Propose import or map; whether to skip is decided where the package is applied.",
    page: include_str!("rules/D004-proposed-skip.md"),
};

/// `D005` detail-blueprint-mismatch
pub static D005: Rule = Rule {
    code: "D005",
    name: "detail-blueprint-mismatch",
    severity: Severity::Error,
    summary: "`detail` and `blueprint` disagree",
    help: "Say `blueprint` exactly when there is one.",
    page: include_str!("rules/D005-detail-blueprint-mismatch.md"),
};

/// `D006` blueprint-not-allowed
pub static D006: Rule = Rule {
    code: "D006",
    name: "blueprint-not-allowed",
    severity: Severity::Error,
    summary: "a blueprint for something that is no table",
    help: "Remove the blueprint.",
    page: include_str!("rules/D006-blueprint-not-allowed.md"),
};

/// `D007` blueprint-shape
pub static D007: Rule = Rule {
    code: "D007",
    name: "blueprint-shape",
    severity: Severity::Error,
    summary: "a blueprint that does not create the table and its columns",
    help: "Hold one create_feature and then one create_column per identity column, `order` 1, 2, 3.",
    page: include_str!("rules/D007-blueprint-shape.md"),
};

/// `D008` duplicate-dependency
pub static D008: Rule = Rule {
    code: "D008",
    name: "duplicate-dependency",
    severity: Severity::Error,
    summary: "one ref is declared by two entries",
    help: "Keep one declaration of the ref.",
    page: include_str!("rules/D008-duplicate-dependency.md"),
};

/// `D009` proposal-mismatch
pub static D009: Rule = Rule {
    code: "D009",
    name: "proposal-mismatch",
    severity: Severity::Warning,
    summary: "the proposed resolution is not the one that follows from kind, form and blueprint",
    help: "Propose the resolution that follows.",
    page: include_str!("rules/D009-proposal-mismatch.md"),
};

/// `D010` ref-prefix
pub static D010: Rule = Rule {
    code: "D010",
    name: "ref-prefix",
    severity: Severity::Error,
    summary: "the ref's prefix is not the one of the dependency's kind",
    help: "Use the prefix of the kind.",
    page: include_str!("rules/D010-ref-prefix.md"),
};

/// `D011` channel-shape
pub static D011: Rule = Rule {
    code: "D011",
    name: "channel-shape",
    severity: Severity::Error,
    summary: "a channel dependency of the wrong shape",
    help: "A channel has form uuid, is required, has no blueprint and names no members.",
    page: include_str!("rules/D011-channel-shape.md"),
};

/// `D012` used-by-unknown-item
pub static D012: Rule = Rule {
    code: "D012",
    name: "used-by-unknown-item",
    severity: Severity::Error,
    summary: "`usedBy` names an item that is none",
    help: "Name the uid of the item that uses the dependency.",
    page: include_str!("rules/D012-used-by-unknown-item.md"),
};

/// `D013` used-by-wrong-target
pub static D013: Rule = Rule {
    code: "D013",
    name: "used-by-wrong-target",
    severity: Severity::Error,
    summary: "`usedBy` targets another uid than the dependency's",
    help: "Write the dependency's own uid.",
    page: include_str!("rules/D013-used-by-wrong-target.md"),
};

/// `D014` used-by-path-missing
pub static D014: Rule = Rule {
    code: "D014",
    name: "used-by-path-missing",
    severity: Severity::Error,
    summary: "the dependency is not used at that path",
    help: "Write the path, inside the args of the item's step, that holds the reference.",
    page: include_str!("rules/D014-used-by-path-missing.md"),
};

/// `D015` unused-dependency
pub static D015: Rule = Rule {
    code: "D015",
    name: "unused-dependency",
    severity: Severity::Warning,
    summary: "nothing uses the dependency",
    help: "Remove the dependency.",
    page: include_str!("rules/D015-unused-dependency.md"),
};

/// `D016` external-refs-mismatch
pub static D016: Rule = Rule {
    code: "D016",
    name: "external-refs-mismatch",
    severity: Severity::Error,
    summary: "`externalRefs` is not exactly the refs that come from outside",
    help: "List every ref that the steps use and no step declares, once.",
    page: include_str!("rules/D016-external-refs-mismatch.md"),
};

/// `D017` used-by-empty
pub static D017: Rule = Rule {
    code: "D017",
    name: "used-by-empty",
    severity: Severity::Warning,
    summary: "`usedBy` is empty",
    help: "List the uses, or remove the dependency.",
    page: include_str!("rules/D017-used-by-empty.md"),
};

/// `D018` use-not-listed
pub static D018: Rule = Rule {
    code: "D018",
    name: "use-not-listed",
    severity: Severity::Error,
    summary: "a use that no `usedBy` entry names",
    help: "Add an entry for this use.",
    page: include_str!("rules/D018-use-not-listed.md"),
};

/// `D019` identity-column-unused
pub static D019: Rule = Rule {
    code: "D019",
    name: "identity-column-unused",
    severity: Severity::Warning,
    summary: "an identity column that nothing uses",
    help: "Remove the column: only referenced columns belong there.",
    page: include_str!("rules/D019-identity-column-unused.md"),
};

/// `U001` unknown-reason
pub static U001: Rule = Rule {
    code: "U001",
    name: "unknown-reason",
    severity: Severity::Error,
    summary: "a reason that does not exist",
    help: "Use one of the reasons of the format.",
    page: include_str!("rules/U001-unknown-reason.md"),
};

/// `U002` unknown-action
pub static U002: Rule = Rule {
    code: "U002",
    name: "unknown-action",
    severity: Severity::Error,
    summary: "an action that does not exist",
    help: "Use `chave esvaziada`, `valor mantido` or `chave omitida`.",
    page: include_str!("rules/U002-unknown-action.md"),
};

/// `U003` executor-only-field
pub static U003: Rule = Rule {
    code: "U003",
    name: "executor-only-field",
    severity: Severity::Error,
    summary: "a field or reason that only an import writes",
    help: "Remove it: it belongs in the report of an apply.",
    page: include_str!("rules/U003-executor-only-field.md"),
};

/// `U004` unresolved-unknown-uid
pub static U004: Rule = Rule {
    code: "U004",
    name: "unresolved-unknown-uid",
    severity: Severity::Error,
    summary: "the entry's uid is neither an item's nor the plan's",
    help: "Name the item that the entry is about.",
    page: include_str!("rules/U004-unresolved-unknown-uid.md"),
};

/// `U005` source-label-is-id
pub static U005: Rule = Rule {
    code: "U005",
    name: "source-label-is-id",
    severity: Severity::Error,
    summary: "an id stands where a label belongs",
    help: "Write the label, or leave it out: ids of the source must not travel.",
    page: include_str!("rules/U005-source-label-is-id.md"),
};

/// `U006` not-aggregated
pub static U006: Rule = Rule {
    code: "U006",
    name: "not-aggregated",
    severity: Severity::Error,
    summary: "row cells are reported one by one",
    help: "Write one entry per column, with a count and no index.",
    page: include_str!("rules/U006-not-aggregated.md"),
};

/// `U007` count-on-config-entry
pub static U007: Rule = Rule {
    code: "U007",
    name: "count-on-config-entry",
    severity: Severity::Error,
    summary: "`count` on an entry that is not about rows",
    help: "Remove the count.",
    page: include_str!("rules/U007-count-on-config-entry.md"),
};

/// `U008` redacted-still-set
pub static U008: Rule = Rule {
    code: "U008",
    name: "redacted-still-set",
    severity: Severity::Error,
    summary: "a redacted field still holds a value",
    help: "Empty the field.",
    page: include_str!("rules/U008-redacted-still-set.md"),
};

/// `U009` emptied-still-set
pub static U009: Rule = Rule {
    code: "U009",
    name: "emptied-still-set",
    severity: Severity::Warning,
    summary: "a field said to be emptied or left out is still there",
    help: "Empty the field, or correct the action.",
    page: include_str!("rules/U009-emptied-still-set.md"),
};

/// `U010` wrong-action
pub static U010: Rule = Rule {
    code: "U010",
    name: "wrong-action",
    severity: Severity::Error,
    summary: "the action does not fit the reason",
    help: "Write the action that belongs to this kind of entry.",
    page: include_str!("rules/U010-wrong-action.md"),
};

/// `S001` unknown-tool
pub static S001: Rule = Rule {
    code: "S001",
    name: "unknown-tool",
    severity: Severity::Error,
    summary: "a step names a tool that does not exist",
    help: "Use one of the tools of the plan format.",
    page: include_str!("rules/S001-unknown-tool.md"),
};

/// `S002` step-ref-missing
pub static S002: Rule = Rule {
    code: "S002",
    name: "step-ref-missing",
    severity: Severity::Error,
    summary: "a create step without `ref`",
    help: "Give the step a ref, so that others can name what it creates.",
    page: include_str!("rules/S002-step-ref-missing.md"),
};

/// `S003` step-ref-unexpected
pub static S003: Rule = Rule {
    code: "S003",
    name: "step-ref-unexpected",
    severity: Severity::Error,
    summary: "a step that declares nothing has a `ref`",
    help: "Remove the ref.",
    page: include_str!("rules/S003-step-ref-unexpected.md"),
};

/// `S004` ref-declared-twice
pub static S004: Rule = Rule {
    code: "S004",
    name: "ref-declared-twice",
    severity: Severity::Error,
    summary: "two steps declare one ref",
    help: "Give one of them another ref.",
    page: include_str!("rules/S004-ref-declared-twice.md"),
};

/// `S005` ref-used-before-declared
pub static S005: Rule = Rule {
    code: "S005",
    name: "ref-used-before-declared",
    severity: Severity::Error,
    summary: "a ref is used before the step that declares it",
    help: "Move the declaring step forward, or complete the value with an update step.",
    page: include_str!("rules/S005-ref-used-before-declared.md"),
};

/// `S006` ref-undeclared
pub static S006: Rule = Rule {
    code: "S006",
    name: "ref-undeclared",
    severity: Severity::Error,
    summary: "a used ref that nothing declares",
    help: "Correct the ref, or declare it.",
    page: include_str!("rules/S006-ref-undeclared.md"),
};

/// `S007` step-order
pub static S007: Rule = Rule {
    code: "S007",
    name: "step-order",
    severity: Severity::Error,
    summary: "a step of an earlier phase after one of a later phase",
    help: "Move the step to its phase.",
    page: include_str!("rules/S007-step-order.md"),
};

/// `S008` rows-in-exported-plan
pub static S008: Rule = Rule {
    code: "S008",
    name: "rows-in-exported-plan",
    severity: Severity::Error,
    summary: "a row step, or create_workspace, in an exported plan",
    help: "Put rows into payloads, or mark the plan as written by hand.",
    page: include_str!("rules/S008-rows-in-exported-plan.md"),
};

/// `S009` bad-args
pub static S009: Rule = Rule {
    code: "S009",
    name: "bad-args",
    severity: Severity::Error,
    summary: "an argument or config value is missing or wrong",
    help: "Write the argument as the tool takes it.",
    page: include_str!("rules/S009-bad-args.md"),
};

/// `S010` view-config-shape
pub static S010: Rule = Rule {
    code: "S010",
    name: "view-config-shape",
    severity: Severity::Error,
    summary: "a view's `config` is not a list of exactly one object",
    help: "Wrap the object in a list.",
    page: include_str!("rules/S010-view-config-shape.md"),
};

/// `S011` workflow-not-draft
pub static S011: Rule = Rule {
    code: "S011",
    name: "workflow-not-draft",
    severity: Severity::Error,
    summary: "an automation that does not arrive as a draft",
    help: "Write `\"isDraft\": true`.",
    page: include_str!("rules/S011-workflow-not-draft.md"),
};

/// `S012` activation-travels
pub static S012: Rule = Rule {
    code: "S012",
    name: "activation-travels",
    severity: Severity::Error,
    summary: "an activation flag travels",
    help: "Remove it: activation is decided at the destination.",
    page: include_str!("rules/S012-activation-travels.md"),
};

/// `S013` published-false
pub static S013: Rule = Rule {
    code: "S013",
    name: "published-false",
    severity: Severity::Warning,
    summary: "`published` is present and not true",
    help: "Write true, or leave it out.",
    page: include_str!("rules/S013-published-false.md"),
};

/// `S014` needless-update
pub static S014: Rule = Rule {
    code: "S014",
    name: "needless-update",
    severity: Severity::Warning,
    summary: "an update step that carries nothing declared later",
    help: "Put the config into the create step and remove the update.",
    page: include_str!("rules/S014-needless-update.md"),
};

/// `S015` wrong-ref-kind
pub static S015: Rule = Rule {
    code: "S015",
    name: "wrong-ref-kind",
    severity: Severity::Error,
    summary: "a ref to something of the wrong kind",
    help: "Name a ref of the kind that belongs here.",
    page: include_str!("rules/S015-wrong-ref-kind.md"),
};

/// `S016` column-order
pub static S016: Rule = Rule {
    code: "S016",
    name: "column-order",
    severity: Severity::Warning,
    summary: "two columns of a table have the same order",
    help: "Number the columns 1, 2, 3.",
    page: include_str!("rules/S016-column-order.md"),
};

/// `S017` unknown-column-type
pub static S017: Rule = Rule {
    code: "S017",
    name: "unknown-column-type",
    severity: Severity::Error,
    summary: "a type or component that the definitions do not have",
    help: "Use one of the definitions' names.",
    page: include_str!("rules/S017-unknown-column-type.md"),
};

/// `S018` unknown-config-key
pub static S018: Rule = Rule {
    code: "S018",
    name: "unknown-config-key",
    severity: Severity::Warning,
    summary: "a config key that the definitions do not have",
    help: "Remove the key, or correct its name; a destination drops it.",
    page: include_str!("rules/S018-unknown-config-key.md"),
};

/// `S019` plan-summary-missing
pub static S019: Rule = Rule {
    code: "S019",
    name: "plan-summary-missing",
    severity: Severity::Warning,
    summary: "the plan has no summary",
    help: "Write one sentence about what the plan creates.",
    page: include_str!("rules/S019-plan-summary-missing.md"),
};

/// `S020` duplicate-name
pub static S020: Rule = Rule {
    code: "S020",
    name: "duplicate-name",
    severity: Severity::Error,
    summary: "two things of one parent are created with the same name",
    help: "Rename one of them.",
    page: include_str!("rules/S020-duplicate-name.md"),
};

/// `S021` bad-name
pub static S021: Rule = Rule {
    code: "S021",
    name: "bad-name",
    severity: Severity::Error,
    summary: "a technical name that the platform does not accept",
    help: "Use 1 to 63 characters without : , . { } \" and control characters, and no space at the ends.",
    page: include_str!("rules/S021-bad-name.md"),
};

/// `S022` link-column-mismatch
pub static S022: Rule = Rule {
    code: "S022",
    name: "link-column-mismatch",
    severity: Severity::Error,
    summary: "a column of another table than the one it belongs to",
    help: "Name a column of that table.",
    page: include_str!("rules/S022-link-column-mismatch.md"),
};

/// `R001` payload-duplicate
pub static R001: Rule = Rule {
    code: "R001",
    name: "payload-duplicate",
    severity: Severity::Error,
    summary: "two payload entries for one rows item",
    help: "Merge the entries.",
    page: include_str!("rules/R001-payload-duplicate.md"),
};

/// `R002` payload-table-mismatch
pub static R002: Rule = Rule {
    code: "R002",
    name: "payload-table-mismatch",
    severity: Severity::Error,
    summary: "an entry's table is not its item's table",
    help: "Make `featureRef` the ref of the rows item's table.",
    page: include_str!("rules/R002-payload-table-mismatch.md"),
};

/// `R003` row-count-mismatch
pub static R003: Rule = Rule {
    code: "R003",
    name: "row-count-mismatch",
    severity: Severity::Error,
    summary: "an entry's `count` is not its number of rows",
    help: "Write the number of rows.",
    page: include_str!("rules/R003-row-count-mismatch.md"),
};

/// `R004` undeclared-column
pub static R004: Rule = Rule {
    code: "R004",
    name: "undeclared-column",
    severity: Severity::Error,
    summary: "a row holds a column that the entry does not list",
    help: "List the column in `columns`, or remove the cell.",
    page: include_str!("rules/R004-undeclared-column.md"),
};

/// `R005` column-not-in-table
pub static R005: Rule = Rule {
    code: "R005",
    name: "column-not-in-table",
    severity: Severity::Error,
    summary: "the entry lists a column that its table does not have",
    help: "Correct the name, or create the column.",
    page: include_str!("rules/R005-column-not-in-table.md"),
};

/// `R006` column-unused
pub static R006: Rule = Rule {
    code: "R006",
    name: "column-unused",
    severity: Severity::Warning,
    summary: "a listed column that no row carries, or the list is not in table order",
    help: "List exactly the columns that rows carry, in the table's order.",
    page: include_str!("rules/R006-column-unused.md"),
};

/// `R007` identity-travels
pub static R007: Rule = Rule {
    code: "R007",
    name: "identity-travels",
    severity: Severity::Error,
    summary: "the automatic identity column travels",
    help: "Remove it: the destination mints its own ids.",
    page: include_str!("rules/R007-identity-travels.md"),
};

/// `R008` key-column-invalid
pub static R008: Rule = Rule {
    code: "R008",
    name: "key-column-invalid",
    severity: Severity::Error,
    summary: "a key column by which rows cannot be matched",
    help: "Name a text column of `columns` that is no link, or null.",
    page: include_str!("rules/R008-key-column-invalid.md"),
};

/// `R009` key-not-unique
pub static R009: Rule = Rule {
    code: "R009",
    name: "key-not-unique",
    severity: Severity::Error,
    summary: "the key column is said to be unique and is not",
    help: "Fill and distinguish the keys, or write null and false.",
    page: include_str!("rules/R009-key-not-unique.md"),
};

/// `R010` key-flag-without-column
pub static R010: Rule = Rule {
    code: "R010",
    name: "key-flag-without-column",
    severity: Severity::Error,
    summary: "`keyColumn` and `keyUnique` contradict each other",
    help: "Name a verified key with true, or write null and false.",
    page: include_str!("rules/R010-key-flag-without-column.md"),
};

/// `R011` ref-on-plain-column
pub static R011: Rule = Rule {
    code: "R011",
    name: "ref-on-plain-column",
    severity: Severity::Error,
    summary: "a row ref where no link can be",
    help: "Remove the ref.",
    page: include_str!("rules/R011-ref-on-plain-column.md"),
};

/// `R012` ref-target-missing
pub static R012: Rule = Rule {
    code: "R012",
    name: "ref-target-missing",
    severity: Severity::Error,
    summary: "a row ref to a row that does not travel",
    help: "Point at a row of the package, or remove the ref and keep the value.",
    page: include_str!("rules/R012-ref-target-missing.md"),
};

/// `R013` ref-shape
pub static R013: Rule = Rule {
    code: "R013",
    name: "ref-shape",
    severity: Severity::Error,
    summary: "a row ref whose shape does not fit its cell",
    help: "One triple for a scalar cell, `rows` with at most as many triples for a list.",
    page: include_str!("rules/R013-ref-shape.md"),
};

/// `R014` ref-value-mismatch
pub static R014: Rule = Rule {
    code: "R014",
    name: "ref-value-mismatch",
    severity: Severity::Error,
    summary: "the row pointed at holds another value than the cell",
    help: "Point at the row that holds the value.",
    page: include_str!("rules/R014-ref-value-mismatch.md"),
};

/// `R015` ref-without-value-column
pub static R015: Rule = Rule {
    code: "R015",
    name: "ref-without-value-column",
    severity: Severity::Warning,
    summary: "a row ref without `valueColumn`",
    help: "Name the column whose value the cell holds.",
    page: include_str!("rules/R015-ref-without-value-column.md"),
};

/// `R016` entry-too-large
pub static R016: Rule = Rule {
    code: "R016",
    name: "entry-too-large",
    severity: Severity::Warning,
    summary: "a payload entry over 5000 rows or 4 MiB",
    help: "Travel with fewer rows.",
    page: include_str!("rules/R016-entry-too-large.md"),
};

/// `R017` value-not-storable
pub static R017: Rule = Rule {
    code: "R017",
    name: "value-not-storable",
    severity: Severity::Error,
    summary: "a cell that its column cannot store",
    help: "Write a value of the column's type.",
    page: include_str!("rules/R017-value-not-storable.md"),
};

/// `R018` unique-violated
pub static R018: Rule = Rule {
    code: "R018",
    name: "unique-violated",
    severity: Severity::Error,
    summary: "a repeated value in a unique column",
    help: "Make the values distinct.",
    page: include_str!("rules/R018-unique-violated.md"),
};

/// `R019` required-empty
pub static R019: Rule = Rule {
    code: "R019",
    name: "required-empty",
    severity: Severity::Error,
    summary: "a required cell is empty",
    help: "Fill the cell.",
    page: include_str!("rules/R019-required-empty.md"),
};

/// `R020` ref-wrong-table
pub static R020: Rule = Rule {
    code: "R020",
    name: "ref-wrong-table",
    severity: Severity::Error,
    summary: "a row ref into another table than the column links to",
    help: "Point into the linked table.",
    page: include_str!("rules/R020-ref-wrong-table.md"),
};

/// `R021` link-without-ref
pub static R021: Rule = Rule {
    code: "R021",
    name: "link-without-ref",
    severity: Severity::Warning,
    summary: "a link cell matches a travelling row and has no ref",
    help: "Add the ref, so that the link survives the import.",
    page: include_str!("rules/R021-link-without-ref.md"),
};

/// `R022` currency-rounds
pub static R022: Rule = Rule {
    code: "R022",
    name: "currency-rounds",
    severity: Severity::Warning,
    summary: "more decimals than the currency column keeps",
    help: "Round the amount here, where it can be seen.",
    page: include_str!("rules/R022-currency-rounds.md"),
};

/// `R023` payload-missing
pub static R023: Rule = Rule {
    code: "R023",
    name: "payload-missing",
    severity: Severity::Error,
    summary: "a rows item without its payload entry",
    help: "Add the entry, or remove the item.",
    page: include_str!("rules/R023-payload-missing.md"),
};

/// `R024` payload-orphan
pub static R024: Rule = Rule {
    code: "R024",
    name: "payload-orphan",
    severity: Severity::Error,
    summary: "a payload entry that no rows item declares",
    help: "Add the item, or remove the entry.",
    page: include_str!("rules/R024-payload-orphan.md"),
};

/// `R025` item-count-mismatch
pub static R025: Rule = Rule {
    code: "R025",
    name: "item-count-mismatch",
    severity: Severity::Error,
    summary: "a rows item's `count` is not its entry's number of rows",
    help: "Write the number of rows.",
    page: include_str!("rules/R025-item-count-mismatch.md"),
};

/// `R026` dropped-link-unreported
pub static R026: Rule = Rule {
    code: "R026",
    name: "dropped-link-unreported",
    severity: Severity::Error,
    summary: "links to a table without rows that no `unresolved` entry reports",
    help: "Report the column with reason `tabela_alvo_sem_linhas`.",
    page: include_str!("rules/R026-dropped-link-unreported.md"),
};

/// `A001` `trigger_missing`
pub static A001: Rule = Rule {
    code: "A001",
    name: "trigger_missing",
    severity: Severity::Error,
    summary: "an automation without a trigger type",
    help: "Choose a trigger.",
    page: include_str!("rules/A001-trigger_missing.md"),
};

/// `A002` `trigger_unknown_key`
pub static A002: Rule = Rule {
    code: "A002",
    name: "trigger_unknown_key",
    severity: Severity::Error,
    summary: "a trigger that does not exist",
    help: "Use a trigger of the definitions.",
    page: include_str!("rules/A002-trigger_unknown_key.md"),
};

/// `A003` `trigger_config_invalid`
pub static A003: Rule = Rule {
    code: "A003",
    name: "trigger_config_invalid",
    severity: Severity::Error,
    summary: "a trigger setting is missing or wrong",
    help: "Write the setting as the trigger takes it.",
    page: include_str!("rules/A003-trigger_config_invalid.md"),
};

/// `A004` `graph_empty`
pub static A004: Rule = Rule {
    code: "A004",
    name: "graph_empty",
    severity: Severity::Warning,
    summary: "an automation without steps",
    help: "Add a step.",
    page: include_str!("rules/A004-graph_empty.md"),
};

/// `A005` `unknown_step_key`
pub static A005: Rule = Rule {
    code: "A005",
    name: "unknown_step_key",
    severity: Severity::Error,
    summary: "a step of a kind that does not exist",
    help: "Use a step key of the definitions.",
    page: include_str!("rules/A005-unknown_step_key.md"),
};

/// `A006` `duplicate_step_id`
pub static A006: Rule = Rule {
    code: "A006",
    name: "duplicate_step_id",
    severity: Severity::Error,
    summary: "two steps share an id",
    help: "Give every step its own id.",
    page: include_str!("rules/A006-duplicate_step_id.md"),
};

/// `A007` `unknown_var`
pub static A007: Rule = Rule {
    code: "A007",
    name: "unknown_var",
    severity: Severity::Error,
    summary: "a token for a variable that nothing sets",
    help: "Set the variable in an earlier step, or correct its name.",
    page: include_str!("rules/A007-unknown_var.md"),
};

/// `A008` `unknown_step_ref`
pub static A008: Rule = Rule {
    code: "A008",
    name: "unknown_step_ref",
    severity: Severity::Error,
    summary: "a token for a step that has not run by then",
    help: "Name an earlier step.",
    page: include_str!("rules/A008-unknown_step_ref.md"),
};

/// `A009` `unknown_step_output`
pub static A009: Rule = Rule {
    code: "A009",
    name: "unknown_step_output",
    severity: Severity::Error,
    summary: "a token for an output that the step does not announce",
    help: "Use one of the step's outputs.",
    page: include_str!("rules/A009-unknown_step_output.md"),
};

/// `A010` `trigger_row_write_target_mismatch`
pub static A010: Rule = Rule {
    code: "A010",
    name: "trigger_row_write_target_mismatch",
    severity: Severity::Error,
    summary: "the row that fired is written as if it were of another table",
    help: "Target the trigger's table, or write with another mode.",
    page: include_str!("rules/A010-trigger_row_write_target_mismatch.md"),
};

/// `A011` `reactive_cycle_column_overlap`
pub static A011: Rule = Rule {
    code: "A011",
    name: "reactive_cycle_column_overlap",
    severity: Severity::Error,
    summary: "an automation that fires itself",
    help: "Watch other columns than the ones written.",
    page: include_str!("rules/A011-reactive_cycle_column_overlap.md"),
};

/// `A012` `branches_all_empty`
pub static A012: Rule = Rule {
    code: "A012",
    name: "branches_all_empty",
    severity: Severity::Warning,
    summary: "a branching step without any steps in its branches",
    help: "Fill a branch, or remove the step.",
    page: include_str!("rules/A012-branches_all_empty.md"),
};

/// `A013` `chain_has_no_delivery`
pub static A013: Rule = Rule {
    code: "A013",
    name: "chain_has_no_delivery",
    severity: Severity::Warning,
    summary: "an automation that delivers nothing",
    help: "Add a step that writes, sends or calls.",
    page: include_str!("rules/A013-chain_has_no_delivery.md"),
};

/// `A014` `self_recursion`
pub static A014: Rule = Rule {
    code: "A014",
    name: "self_recursion",
    severity: Severity::Error,
    summary: "an automation that runs itself",
    help: "Run another automation.",
    page: include_str!("rules/A014-self_recursion.md"),
};

/// `A015` `envelope_mismatch`
pub static A015: Rule = Rule {
    code: "A015",
    name: "envelope_mismatch",
    severity: Severity::Error,
    summary: "a step reads records where none can be",
    help: "Read rows before this step.",
    page: include_str!("rules/A015-envelope_mismatch.md"),
};

/// `A016` `step_config_invalid`
pub static A016: Rule = Rule {
    code: "A016",
    name: "step_config_invalid",
    severity: Severity::Error,
    summary: "a step setting is missing or wrong",
    help: "Write the setting as the step takes it.",
    page: include_str!("rules/A016-step_config_invalid.md"),
};

/// `A017` `bad_step_id`
pub static A017: Rule = Rule {
    code: "A017",
    name: "bad_step_id",
    severity: Severity::Error,
    summary: "a step id of the wrong form",
    help: "Write `stp_` and twelve letters or digits.",
    page: include_str!("rules/A017-bad_step_id.md"),
};

/// `A018` `expression_syntax`
pub static A018: Rule = Rule {
    code: "A018",
    name: "expression_syntax",
    severity: Severity::Error,
    summary: "a token that cannot be read",
    help: "Write for example {{vars.name}} or {{record.column}}.",
    page: include_str!("rules/A018-expression_syntax.md"),
};

/// `A019` `trigger_is_step`
pub static A019: Rule = Rule {
    code: "A019",
    name: "trigger_is_step",
    severity: Severity::Error,
    summary: "a step stands where the trigger belongs",
    help: "Move it into the graph and choose a trigger.",
    page: include_str!("rules/A019-trigger_is_step.md"),
};

/// `P001` version-declared
pub static P001: Rule = Rule {
    code: "P001",
    name: "version-declared",
    severity: Severity::Error,
    summary: "the manifest declares its version",
    help: "Declare `templateVersion` 1 or 2.",
    page: include_str!("rules/P001-version-declared.md"),
};

/// `P002` no-tenant-identifiers
pub static P002: Rule = Rule {
    code: "P002",
    name: "no-tenant-identifiers",
    severity: Severity::Error,
    summary: "no tenant identifier occurs anywhere",
    help: "Remove or rename it: tenant identifiers never travel.",
    page: include_str!("rules/P002-no-tenant-identifiers.md"),
};

/// `P003` rows-have-payload
pub static P003: Rule = Rule {
    code: "P003",
    name: "rows-have-payload",
    severity: Severity::Error,
    summary: "every rows item has its payload entry",
    help: "Add the missing payload entry.",
    page: include_str!("rules/P003-rows-have-payload.md"),
};

/// `P004` counts-agree
pub static P004: Rule = Rule {
    code: "P004",
    name: "counts-agree",
    severity: Severity::Error,
    summary: "every rows item counts the rows that travel",
    help: "Write the number of rows.",
    page: include_str!("rules/P004-counts-agree.md"),
};

/// `P005` no-orphan-payload
pub static P005: Rule = Rule {
    code: "P005",
    name: "no-orphan-payload",
    severity: Severity::Error,
    summary: "every payload entry is declared by a rows item",
    help: "Add the item, or remove the entry.",
    page: include_str!("rules/P005-no-orphan-payload.md"),
};

/// `X001` source-id-leak
pub static X001: Rule = Rule {
    code: "X001",
    name: "source-id-leak",
    severity: Severity::Error,
    summary: "an id of the source travels",
    help: "Replace it by a ref, or empty the field and name it in `unresolved`.",
    page: include_str!("rules/X001-source-id-leak.md"),
};

/// `X002` secret-leak
pub static X002: Rule = Rule {
    code: "X002",
    name: "secret-leak",
    severity: Severity::Error,
    summary: "a secret travels",
    help: "Empty the field and name it in `redacted`.",
    page: include_str!("rules/X002-secret-leak.md"),
};

/// `X003` secret-shaped
pub static X003: Rule = Rule {
    code: "X003",
    name: "secret-shaped",
    severity: Severity::Warning,
    summary: "a text that looks like a secret",
    help: "Revoke the secret if it is one, and remove it.",
    page: include_str!("rules/X003-secret-shaped.md"),
};

/// `X004` tenant-id-leak
pub static X004: Rule = Rule {
    code: "X004",
    name: "tenant-id-leak",
    severity: Severity::Warning,
    summary: "a tenant identifier occurs",
    help: "Remove or rename it: the package cannot be promoted with it.",
    page: include_str!("rules/X004-tenant-id-leak.md"),
};

/// All rules.
pub static RULES: &[&Rule] = &[
    &J001, &J002, &J003, &J004, &J005, &J006, &J007, &J008, &J009, &M001, &M002, &M003, &M004,
    &M005, &M006, &M007, &I001, &I002, &I003, &I004, &I005, &I006, &I007, &I008, &I009, &I010,
    &I011, &I012, &I013, &I014, &I015, &I016, &I017, &I018, &D001, &D002, &D003, &D004, &D005,
    &D006, &D007, &D008, &D009, &D010, &D011, &D012, &D013, &D014, &D015, &D016, &D017, &D018,
    &D019, &U001, &U002, &U003, &U004, &U005, &U006, &U007, &U008, &U009, &U010, &S001, &S002,
    &S003, &S004, &S005, &S006, &S007, &S008, &S009, &S010, &S011, &S012, &S013, &S014, &S015,
    &S016, &S017, &S018, &S019, &S020, &S021, &S022, &R001, &R002, &R003, &R004, &R005, &R006,
    &R007, &R008, &R009, &R010, &R011, &R012, &R013, &R014, &R015, &R016, &R017, &R018, &R019,
    &R020, &R021, &R022, &R023, &R024, &R025, &R026, &A001, &A002, &A003, &A004, &A005, &A006,
    &A007, &A008, &A009, &A010, &A011, &A012, &A013, &A014, &A015, &A016, &A017, &A018, &A019,
    &P001, &P002, &P003, &P004, &P005, &X001, &X002, &X003, &X004,
];
