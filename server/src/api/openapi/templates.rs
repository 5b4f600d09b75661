//! The schemas of templates and their payloads.

use serde_json::{Value, json};
use tplkit::package::size::MOST_DESCRIPTION;

use super::schemas::{closed_object, id, instant, integer, label, nullable, record, text, to};

/// The uid of something in a package.
pub(super) fn uid() -> Value {
    let hex = "[0-9a-fA-F]";
    let pattern = format!("^u_{hex}{{8}}-{hex}{{4}}-4{hex}{{3}}-[89abAB]{hex}{{3}}-{hex}{{12}}$");
    json!({"type": "string", "pattern": pattern})
}

/// What is to travel in a package.
fn export() -> Value {
    let ids = json!({"type": "array", "items": {"type": "string", "format": "uuid"}});
    record(
        &[],
        json!({
            "features": ids, "views": ids, "modules": ids, "rails": ids, "workflows": ids,
            "rows": {"oneOf": [{"type": "string", "enum": ["none", "all"]}, ids]},
            "identity": {"type": "object", "description": "Catalog fields of the package: `name`, `label`, …"},
            "onto": {"type": "string", "format": "uuid", "description":
                "A visible template whose identity the package takes over: uids, refs, rows that are still the \
                 same, and the catalog fields that `identity` does not give. Without a selection, what it holds \
                 travels."},
        }),
    )
}

/// A package file. Unknown members are a finding, no refusal.
fn package() -> Value {
    json!({
        "type": "object",
        "description": "A package file: `manifest` and `payloads`, or a bare manifest.",
        "properties": {
            "manifest": to("Manifest"),
            "payloads": {"type": "array", "items": to("PayloadEntry")},
        },
    })
}

/// The rows of one table in a package.
fn payload_entry() -> Value {
    let columns = json!({"type": "array", "items": {"type": "string"}});
    json!({
        "type": "object",
        "properties": {
            "itemUid": uid(), "featureRef": text(), "columns": columns,
            "keyColumn": nullable("string"), "keyUnique": {"type": "boolean"}, "count": integer(),
            "rows": {"type": "array", "items": to("PayloadRow")},
        },
        "required": [
            "itemUid", "featureRef", "columns", "keyColumn", "keyUnique", "count", "rows",
        ],
    })
}

fn payload_row() -> Value {
    json!({
        "type": "object",
        "properties": {
            "uid": uid(),
            "data": to("Cells"),
            "refs": {"type": "object"},
        },
        "required": ["uid", "data"],
    })
}

/// All of them.
pub(super) fn all() -> Vec<(&'static str, Value)> {
    let visibility = to("Visibility");
    let tags = json!({"type": "array", "items": {"type": "string"}});
    let manifest = to("Manifest");
    let template = json!({
        "id": id(), "organization_id": id(), "name": nullable("string"), "label": nullable("string"),
        "description": nullable("string"), "category": nullable("string"),
        "scope": {"type": ["string", "null"], "enum": ["organization", "workspace", "module", "feature", null]},
        "visibility": visibility, "semver": nullable("string"), "tags": tags,
        "template_version": {"type": "integer", "enum": [1, 2]},
        "created_at": instant(), "updated_at": instant(),
    });
    let mut with_manifest = template.clone();
    with_manifest["manifest"] = manifest.clone();
    vec![
        ("Manifest", json!({"type": "object"})),
        (
            "Visibility",
            json!({"type": "string", "enum": ["system", "org", "public"]}),
        ),
        ("Template", closed_object(template)),
        ("TemplateWhole", closed_object(with_manifest)),
        (
            "TemplateCreate",
            record(
                &["organization_id", "manifest"],
                json!({"organization_id": id(), "manifest": manifest}),
            ),
        ),
        (
            "TemplatePatch",
            record(
                &[],
                json!({
                    "visibility": visibility, "name": text(), "label": label(),
                    "description": {"type": ["string", "null"], "maxLength": MOST_DESCRIPTION},
                    "category": nullable("string"), "tags": tags,
                }),
            ),
        ),
        ("Package", package()),
        ("Export", export()),
        ("PayloadEntry", payload_entry()),
        ("PayloadRow", payload_row()),
        (
            "Payload",
            closed_object(json!({
                "item_uid": uid(), "row_count": integer(), "created_at": instant(),
                "updated_at": instant(), "entry": to("PayloadEntry"),
            })),
        ),
    ]
}
