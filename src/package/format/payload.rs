//! Row payloads.

use super::{Presence, Shape, Type, optional, required};

/// A payload entry.
pub(crate) static ENTRY: Shape = Shape {
    name: "a payload entry",
    doc: "The rows of one table.",
    fields: &[
        required("featureRef", Type::Declaration, "The ref of the table."),
        required("itemUid", Type::Text, "uid of the rows item."),
        required("count", Type::Count, "Number of rows."),
        required(
            "keyColumn",
            Type::TextOrNull,
            "Column by which the destination may match rows.",
        ),
        required(
            "keyUnique",
            Type::Flag,
            "Whether its values were found filled and distinct.",
        ),
        required(
            "columns",
            Type::List(&Type::Text),
            "The columns that rows carry, in table order.",
        ),
        required("rows", Type::List(&Type::Object(&ROW)), "The rows."),
    ],
};

/// A row.
pub(crate) static ROW: Shape = Shape {
    name: "a row",
    doc: "One row.",
    fields: &[
        required("uid", Type::Uid, "Identity in the package.").checked_by("I001"),
        required("data", Type::Data, "Cells by column name."),
        optional(
            "refs",
            Type::MapOf(&CELL_REF),
            "By column name: the rows that link cells point at.",
        ),
    ],
};

/// What a link cell points at. Either one row, or `rows` for a list.
pub(crate) static CELL_REF: Shape = Shape {
    name: "a row ref",
    doc: "The row that a link cell points at; `rows` for a cell that holds a list.",
    fields: &[
        super::ruled("rowUid", Type::Text, "uid of the row."),
        super::ruled("featureRef", Type::Declaration, "The ref of its table."),
        optional(
            "valueColumn",
            Type::Text,
            "The column whose value the cell holds.",
        ),
        super::Field {
            key: "rows",
            ty: Type::List(&Type::Object(&CELL_REF)),
            need: Presence::Ruled,
            rule: None,
            doc: "The rows that the elements of a list point at, in order.",
        },
    ],
};
