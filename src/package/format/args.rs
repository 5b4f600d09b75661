//! The args of every tool. Wrong arguments are S009, whatever is wrong with them.

use super::{Configured, Field, Shape, Type, optional, required};
use crate::definitions::ReferenceKind;

const WORKSPACE: Field = required("workspaceId", Type::Workspace, "Always $workspace.");
const NAME: Field = required("name", Type::Name, "Technical name.");
const LABEL: Field = required("label", Type::Text, "Label.");
const FEATURE: Field = required("featureId", Type::Use(ReferenceKind::Feature), "The table.");
const MODULE: Field = required("moduleId", Type::Use(ReferenceKind::Module), "The module.");

/// `create_workspace`
pub(crate) static CREATE_WORKSPACE: Shape = Shape {
    name: "create_workspace",
    doc: "Creates a workspace.",
    fields: &[required("name", Type::Text, "Name."), LABEL],
};

/// `create_feature`
pub(crate) static CREATE_FEATURE: Shape = Shape {
    name: "create_feature",
    doc: "Creates a table.",
    fields: &[
        WORKSPACE,
        NAME,
        LABEL,
        optional("config", Type::Config(Configured::Feature), "Its config."),
    ],
};

/// `create_column`
pub(crate) static CREATE_COLUMN: Shape = Shape {
    name: "create_column",
    doc: "Creates a column.",
    fields: &[
        FEATURE,
        NAME,
        LABEL,
        required("type", Type::Text, "Column type of the definitions."),
        required(
            "defaultComponent",
            Type::Text,
            "Component of the definitions.",
        ),
        required("order", Type::Integer, "Position in the table."),
        optional("config", Type::Config(Configured::Column), "Its config."),
    ],
};

/// `create_view`
pub(crate) static CREATE_VIEW: Shape = Shape {
    name: "create_view",
    doc: "Creates a view.",
    fields: &[
        FEATURE,
        NAME,
        LABEL,
        required("type", Type::Text, "View type of the definitions."),
        required(
            "config",
            Type::ListOfOneConfig(Configured::View),
            "A list of exactly one object.",
        )
        .checked_by("S010"),
    ],
};

/// `create_workflow_v2`
pub(crate) static CREATE_WORKFLOW_V2: Shape = Shape {
    name: "create_workflow_v2",
    doc: "Creates an automation as a draft.",
    fields: &[
        WORKSPACE,
        required("name", Type::Text, "Name."),
        LABEL,
        required(
            "triggerConfig",
            Type::Object(&TRIGGER_CONFIG),
            "What starts it.",
        ),
        required("graphConfig", Type::Object(&GRAPH_CONFIG), "What it does."),
        required("isDraft", Type::True, "Always true.").checked_by("S011"),
        optional(
            "published",
            Type::True,
            "Present when the source had an active version.",
        )
        .checked_by("S013"),
    ],
};

/// A trigger.
pub(crate) static TRIGGER_CONFIG: Shape = Shape {
    name: "a trigger",
    doc: "What starts an automation.",
    fields: &[
        super::ruled("type", Type::Text, "Trigger of the definitions.").checked_by("A001"),
        optional("config", Type::Map, "Its settings.").checked_by("A003"),
    ],
};

/// A graph.
pub(crate) static GRAPH_CONFIG: Shape = Shape {
    name: "a graph",
    doc: "The steps of an automation, in order.",
    fields: &[super::ruled(
        "steps",
        Type::List(&Type::Object(&GRAPH_STEP)),
        "The steps.",
    )
    .checked_by("A004")],
};

/// A step of a graph.
pub(crate) static GRAPH_STEP: Shape = Shape {
    name: "an automation step",
    doc: "One step of an automation.",
    fields: &[
        super::ruled("key", Type::Text, "Step of the definitions.").checked_by("A005"),
        optional(
            "id",
            Type::Text,
            "`stp_` and twelve letters or digits; names the outputs.",
        )
        .checked_by("A017"),
        optional("config", Type::Map, "Its settings.").checked_by("A016"),
        optional("name", Type::Text, "A name for people."),
    ],
};

/// `create_module`
pub(crate) static CREATE_MODULE: Shape = Shape {
    name: "create_module",
    doc: "Creates a module.",
    fields: &[
        WORKSPACE,
        NAME,
        LABEL,
        optional("icon", Type::Text, "Icon."),
        optional("order", Type::Integer, "Position."),
        optional("config", Type::Config(Configured::Module), "Its config."),
    ],
};

/// `create_rail`
pub(crate) static CREATE_RAIL: Shape = Shape {
    name: "create_rail",
    doc: "Creates a navigation entry.",
    fields: &[
        MODULE,
        NAME,
        LABEL,
        optional("order", Type::Integer, "Position."),
        required(
            "config",
            Type::ListOfConfigs(Configured::Rail),
            "A list of objects.",
        ),
    ],
};

/// `update_module`
pub(crate) static UPDATE_MODULE: Shape = Shape {
    name: "update_module",
    doc: "Replaces a module's config.",
    fields: &[
        MODULE,
        required(
            "config",
            Type::Config(Configured::Module),
            "The whole new config.",
        ),
    ],
};

/// `update_workspace`
pub(crate) static UPDATE_WORKSPACE: Shape = Shape {
    name: "update_workspace",
    doc: "Replaces the workspace's config.",
    fields: &[
        WORKSPACE,
        required(
            "config",
            Type::Config(Configured::Workspace),
            "The whole new config.",
        ),
    ],
};

/// `update_feature`
pub(crate) static UPDATE_FEATURE: Shape = Shape {
    name: "update_feature",
    doc: "Replaces a table's config.",
    fields: &[
        FEATURE,
        required(
            "config",
            Type::Config(Configured::Feature),
            "The whole new config.",
        ),
    ],
};

/// `update_column`
pub(crate) static UPDATE_COLUMN: Shape = Shape {
    name: "update_column",
    doc: "Replaces a column's config.",
    fields: &[
        required("columnId", Type::Use(ReferenceKind::Column), "The column."),
        required(
            "config",
            Type::Config(Configured::Column),
            "The whole new config.",
        ),
    ],
};

/// `update_view`
pub(crate) static UPDATE_VIEW: Shape = Shape {
    name: "update_view",
    doc: "Replaces a view's config.",
    fields: &[
        required("viewId", Type::Use(ReferenceKind::View), "The view."),
        required(
            "config",
            Type::ListOfOneConfig(Configured::View),
            "A list of exactly one object.",
        )
        .checked_by("S010"),
    ],
};

static ROW_DATA: Shape = Shape {
    name: "a new row",
    doc: "Cells to write.",
    fields: &[required("data", Type::Data, "Cells by column name.")],
};

static ROW_CHANGE: Shape = Shape {
    name: "a row change",
    doc: "Cells to change.",
    fields: &[
        required("id", Type::Text, "The row."),
        required("data", Type::Data, "Cells by column name."),
    ],
};

/// `insert_row`
pub(crate) static INSERT_ROW: Shape = Shape {
    name: "insert_row",
    doc: "Writes one row.",
    fields: &[
        FEATURE,
        required("data", Type::Data, "Cells by column name."),
    ],
};

/// `insert_rows`
pub(crate) static INSERT_ROWS: Shape = Shape {
    name: "insert_rows",
    doc: "Writes rows.",
    fields: &[
        FEATURE,
        required("rows", Type::List(&Type::Object(&ROW_DATA)), "The rows."),
    ],
};

/// `update_row`
pub(crate) static UPDATE_ROW: Shape = Shape {
    name: "update_row",
    doc: "Changes one row.",
    fields: &[
        required("rowId", Type::Text, "The row."),
        required("data", Type::Data, "Cells by column name."),
        optional("merge", Type::Flag, "Whether other cells stay."),
    ],
};

/// `bulk_update_rows`
pub(crate) static BULK_UPDATE_ROWS: Shape = Shape {
    name: "bulk_update_rows",
    doc: "Changes rows.",
    fields: &[
        FEATURE,
        required("rows", Type::List(&Type::Object(&ROW_CHANGE)), "The rows."),
    ],
};
