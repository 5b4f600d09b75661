//! The files of the layout as shapes of the format, so that the canonical writer knows them.

use crate::package::format::{
    DEPENDENCY, ENTRY, ENVELOPE, Field, ITEM, MANIFEST, Presence, REDACTED, STEP, Shape, Type,
    UNRESOLVED,
};

/// `template.json`: the manifest without its lists, and what is around it in a file.
///
/// Its key is not `manifest`, or a check of the folder would take it for a package.
pub(super) static TEMPLATE: Shape = Shape {
    name: "`template.json`",
    doc: "What belongs to no entry of a list.",
    fields: &[
        part("template", Type::Object(&MANIFEST)),
        part("file", Type::Object(&ENVELOPE)),
    ],
};

/// The file of an item, of a dependency, or of what has no item.
pub(super) static UNIT: Shape = Shape {
    name: "a file of the layout",
    doc: "An entry with its steps and what it could not carry.",
    fields: &[
        part("item", Type::Object(&ITEM)),
        part("dependency", Type::Object(&DEPENDENCY)),
        part("payload", Type::Object(&ENTRY)),
        part("unresolved", Type::List(&Type::Object(&UNRESOLVED))),
        part("redacted", Type::List(&Type::Object(&REDACTED))),
        part("steps", Type::List(&Type::Object(&STEP))),
    ],
};

const fn part(key: &'static str, ty: Type) -> Field {
    Field {
        key,
        ty,
        need: Presence::Optional,
        rule: None,
        doc: "",
    }
}
