//! Envelope, manifest and its layers.

use super::{ENTRY, Field, Shape, Type, optional, required, ruled};
use crate::package::words::{Action, Reason};

/// Kinds of items.
pub(crate) const ITEM_KINDS: &[&str] = &[
    "feature", "column", "view", "module", "rail", "workflow", "rows",
];

/// Kinds of dependencies.
pub(crate) const DEPENDENCY_KINDS: &[&str] = &[
    "feature",
    "view",
    "module",
    "rail",
    "workflow",
    "workflowV2",
    "connection",
    "timerProfile",
    "channel",
];

/// Kinds that an `unresolved` entry may name.
pub(crate) const UNRESOLVED_KINDS: &[&str] = &[
    "feature",
    "column",
    "view",
    "module",
    "rail",
    "workflow",
    "workflowV2",
    "connection",
    "timerProfile",
    "channel",
    "file",
    "mailbox",
    "user",
    "rows",
];

/// Reasons of `unresolved` entries that a package may hold.
pub(crate) const EXPORT_REASONS: &[&str] = &[
    Reason::TargetGone.as_str(),
    Reason::NotSelected.as_str(),
    Reason::NotExportable.as_str(),
    Reason::UnknownEnvelope.as_str(),
    Reason::DeclaredLater.as_str(),
    Reason::NoRefMinted.as_str(),
    Reason::TargetWithoutRows.as_str(),
];

/// Reasons that only an import creates.
pub(crate) const IMPORT_REASONS: &[&str] = &[
    Reason::DependencySkipped.as_str(),
    Reason::RowRefDropped.as_str(),
    Reason::FeatureRefUnresolved.as_str(),
    Reason::PayloadCycle.as_str(),
];

/// What was done with an unresolved value.
pub(crate) const ACTIONS: &[&str] = &[
    Action::Emptied.as_str(),
    Action::Kept.as_str(),
    Action::Omitted.as_str(),
];

/// The layers that version 2 adds, and `plan`.
pub(crate) const VERSION_2_LAYERS: &[&str] = &[
    "source",
    "items",
    "dependencies",
    "unresolved",
    "redacted",
    "plan",
];

/// The file.
pub(crate) static ENVELOPE: Shape = Shape {
    name: "a package file",
    doc: "A template package: the manifest and the rows that travel with it.",
    fields: &[
        optional(
            "$schema",
            Type::Text,
            "The JSON Schema an editor validates the file with.",
        ),
        required(
            "manifest",
            Type::Object(&MANIFEST),
            "What the package holds and how it is created.",
        ),
        optional(
            "payloads",
            Type::List(&Type::Object(&ENTRY)),
            "The rows, one entry per rows item.",
        )
        .checked_by("J008"),
    ],
};

/// The manifest.
pub(crate) static MANIFEST: Shape = Shape {
    name: "the manifest",
    doc: "Catalog identity, contents, needs and the plan of a template.",
    fields: &[
        optional(
            "$schema",
            Type::Text,
            "The JSON Schema an editor validates the file with.",
        ),
        optional("id", Type::Text, "Identity in the publisher's catalog."),
        optional("name", Type::Text, "Technical name in the catalog."),
        optional("label", Type::Text, "Name shown in the catalog."),
        optional("description", Type::Text, "What the template is for."),
        optional("icon", Type::Text, "Icon shown in the catalog."),
        optional("color", Type::Text, "Colour shown in the catalog."),
        optional(
            "vocabulary",
            Type::Map,
            "Words of the field that the template uses.",
        ),
        optional("category", Type::Text, "Category of the catalog."),
        optional(
            "scope",
            Type::OneOf(&["organization", "workspace", "module", "feature"]),
            "How much the template holds.",
        )
        .checked_by("M001"),
        optional(
            "variables",
            Type::List(&Type::Object(&VARIABLE)),
            "What the template asks for.",
        ),
        optional(
            "blocks",
            Type::List(&Type::Map),
            "Building blocks of the catalog page.",
        ),
        optional("tags", Type::List(&Type::Text), "Words to find it by."),
        optional("semver", Type::Text, "Semantic version of the template.").checked_by("M003"),
        optional(
            "visibility",
            Type::OneOf(&["system", "org", "public"]),
            "Who sees it in the catalog.",
        )
        .checked_by("M002"),
        ruled(
            "templateVersion",
            Type::OneOfIntegers(&[1, 2]),
            "Version of this format.",
        )
        .checked_by("J004"),
        ruled(
            "source",
            Type::Object(&SOURCE),
            "Where the package was exported from.",
        ),
        ruled("items", Type::List(&Type::Object(&ITEM)), "What travels."),
        ruled(
            "dependencies",
            Type::List(&Type::Object(&DEPENDENCY)),
            "What is used and does not travel.",
        ),
        ruled(
            "unresolved",
            Type::List(&Type::Object(&UNRESOLVED)),
            "What could not be carried over, field by field.",
        ),
        ruled(
            "redacted",
            Type::List(&Type::Object(&REDACTED)),
            "Secrets that were cleared.",
        ),
        ruled(
            "plan",
            Type::Object(&PLAN),
            "The steps that create the structure.",
        ),
    ],
};

/// A variable.
pub(crate) static VARIABLE: Shape = Shape {
    name: "a variable",
    doc: "Something that the template asks for.",
    fields: &[
        required("key", Type::Text, "Its key, unique in the list."),
        required("label", Type::Text, "Its question."),
    ],
};

/// The source.
pub(crate) static SOURCE: Shape = Shape {
    name: "`source`",
    doc: "Where the package comes from, without any identifier.",
    fields: &[
        required(
            "workspaceName",
            Type::Text,
            "Name of the workspace exported from.",
        ),
        required("generatedAt", Type::Instant, "When it was exported.").checked_by("M004"),
        required(
            "definitionsVersion",
            Type::Text,
            "Version of the definitions used.",
        ),
    ],
};

/// An item.
pub(crate) static ITEM: Shape = Shape {
    name: "an item",
    doc: "Something that travels in the package.",
    fields: &[
        required("uid", Type::Uid, "Identity in the package.").checked_by("I001"),
        required("kind", Type::OneOf(ITEM_KINDS), "What it is.").checked_by("I003"),
        ruled(
            "ref",
            Type::Declaration,
            "The ref that its plan step declares; not for rows.",
        ),
        required("label", Type::Text, "Its label at the source."),
        ruled(
            "parent",
            Type::Text,
            "uid of the item of its table or module, when that travels too.",
        ),
        ruled("count", Type::Count, "Rows only: how many travel."),
        ruled(
            "dataClass",
            Type::OneOf(&["reference", "transactional"]),
            "Rows only: whether other tables link to them.",
        )
        .checked_by("I012"),
        ruled(
            "stepIds",
            Type::List(&Type::Text),
            "Automations only: ids of all steps of the graph.",
        ),
    ],
};

/// A dependency.
pub(crate) static DEPENDENCY: Shape = Shape {
    name: "a dependency",
    doc: "Something that the package uses and does not carry.",
    fields: &[
        required("uid", Type::Uid, "Identity in the package.").checked_by("I001"),
        required("kind", Type::OneOf(DEPENDENCY_KINDS), "What it is.").checked_by("D001"),
        required("ref", Type::Declaration, "The ref that stands for it."),
        required(
            "form",
            Type::OneOf(&["uuid", "name"]),
            "Whether configs name it by ref or by name.",
        )
        .checked_by("D002"),
        required(
            "required",
            Type::Flag,
            "False only when every use is optional and has a default.",
        ),
        required(
            "resolution",
            Type::OneOf(&["import", "map"]),
            "What the exporter proposes.",
        )
        .checked_by("D003"),
        required(
            "detail",
            Type::OneOf(&["blueprint", "identity"]),
            "Whether a blueprint stands below.",
        ),
        required("description", Type::Text, "What it is used for."),
        required(
            "identity",
            Type::Object(&IDENTITY),
            "How to recognise it at the destination.",
        ),
        required("usedBy", Type::List(&Type::Object(&USED_BY)), "Every use."),
        optional(
            "blueprint",
            Type::Object(&BLUEPRINT),
            "Tables only: steps that create a minimal one.",
        ),
    ],
};

/// A dependency's identity.
pub(crate) static IDENTITY: Shape = Shape {
    name: "an identity",
    doc: "How a dependency is recognised at the destination.",
    fields: &[
        required("name", Type::Text, "Technical name."),
        optional("label", Type::Text, "Label."),
        optional(
            "columns",
            Type::List(&Type::Object(&IDENTITY_COLUMN)),
            "Tables only: the columns that are used.",
        ),
    ],
};

/// A column of an identity.
pub(crate) static IDENTITY_COLUMN: Shape = Shape {
    name: "an identity column",
    doc: "A used column of a table that does not travel.",
    fields: &[
        required("uid", Type::Uid, "Identity in the package.").checked_by("I001"),
        required("ref", Type::Declaration, "The ref that stands for it."),
        required("name", Type::Text, "Technical name."),
        required("label", Type::Text, "Label."),
        required("type", Type::Text, "Column type."),
        required("defaultComponent", Type::Text, "Component."),
    ],
};

/// A use.
pub(crate) static USED_BY: Shape = Shape {
    name: "a `usedBy` entry",
    doc: "One use of a dependency.",
    fields: &[
        required("uid", Type::Text, "uid of the item that uses it."),
        required("targets", Type::Text, "uid of the dependency."),
        required(
            "path",
            Type::Text,
            "Dotted path inside the args of the item's step.",
        ),
        required("reason", Type::Text, "What the field is for."),
    ],
};

/// A blueprint.
pub(crate) static BLUEPRINT: Shape = Shape {
    name: "a blueprint",
    doc: "Steps that create a minimal table with the used columns.",
    fields: &[required(
        "steps",
        Type::List(&Type::Object(&STEP)),
        "One create_feature, then one create_column per identity column.",
    )],
};

/// An unresolved value.
pub(crate) static UNRESOLVED: Shape = Shape {
    name: "an `unresolved` entry",
    doc: "A value that could not be carried over.",
    fields: &[
        required(
            "uid",
            Type::Text,
            "uid of the item, or the plan's id for the workspace.",
        ),
        required(
            "path",
            Type::Text,
            "Dotted path inside the args of the item's step; `rows[].data.<column>` for cells.",
        ),
        required(
            "kind",
            Type::OneOf(UNRESOLVED_KINDS),
            "What it referred to.",
        ),
        required(
            "form",
            Type::OneOf(&["uuid", "name", "uuidOrName"]),
            "How the field names things.",
        ),
        optional(
            "sourceLabel",
            Type::Text,
            "Label of the target at the source.",
        ),
        required("reason", Type::OneOf(EXPORT_REASONS), "Why.").checked_by("U001"),
        required("action", Type::OneOf(ACTIONS), "What was done.").checked_by("U002"),
        optional("count", Type::Count, "Rows only: how many are covered."),
        ruled("ref", Type::Any, "Reports only: the skipped dependency.").checked_by("U003"),
        ruled(
            "required",
            Type::Any,
            "Reports only: the skipped dependency was required.",
        )
        .checked_by("U003"),
        ruled(
            "source",
            Type::Any,
            "Reports only: the entry comes from the package.",
        )
        .checked_by("U003"),
    ],
};

/// A redacted secret.
pub(crate) static REDACTED: Shape = Shape {
    name: "a `redacted` entry",
    doc: "A secret that was cleared.",
    fields: &[
        required(
            "uid",
            Type::Text,
            "uid of the item, or the plan's id for the workspace.",
        ),
        required(
            "path",
            Type::Text,
            "Dotted path inside the args of the item's step.",
        ),
        required("reason", Type::Text, "Why it was cleared."),
    ],
};

/// The plan.
pub(crate) static PLAN: Shape = Shape {
    name: "the plan",
    doc: "The steps that create the structure, in order.",
    fields: &[
        required(
            "planVersion",
            Type::OneOfIntegers(&[1]),
            "Version of the plan format.",
        )
        .checked_by("J004"),
        required("id", Type::Uid, "Identity of the plan.").checked_by("I001"),
        ruled(
            "summary",
            Type::Text,
            "One sentence that counts what is created.",
        ),
        required("target", Type::Object(&TARGET), "Where the plan applies."),
        required(
            "metadata",
            Type::Object(&METADATA),
            "Where the plan comes from.",
        ),
        required(
            "externalRefs",
            Type::List(&Type::Declaration),
            "Refs that are used and come from outside.",
        ),
        required("steps", Type::List(&Type::Object(&STEP)), "The steps."),
    ],
};

/// The plan's target.
pub(crate) static TARGET: Shape = Shape {
    name: "`target`",
    doc: "Where the plan applies.",
    fields: &[required("workspaceId", Type::Workspace, "Always $workspace.").checked_by("S009")],
};

/// The plan's metadata.
pub(crate) static METADATA: Shape = Shape {
    name: "`metadata`",
    doc: "Where the plan comes from.",
    fields: &[
        required(
            "source",
            Type::Text,
            "`export`, or another word for a plan written by hand.",
        ),
        required("generatedAt", Type::Instant, "When it was written.").checked_by("M004"),
    ],
};

/// A plan step.
pub(crate) static STEP: Shape = Shape {
    name: "a step",
    doc: "One call of a tool.",
    fields: &[
        required("uid", Type::Uid, "Identity in the plan.").checked_by("I001"),
        required("tool", Type::Text, "The tool.").checked_by("S001"),
        ruled(
            "ref",
            Type::Declaration,
            "The ref of what a create step makes.",
        ),
        required("args", Type::Args, "What the tool takes."),
    ],
};

/// Keys of the catalog identity, in canonical order.
pub(crate) fn catalog_fields() -> impl Iterator<Item = &'static Field> {
    MANIFEST
        .fields
        .iter()
        .take_while(|field| field.key != "templateVersion")
        .skip(1)
}
