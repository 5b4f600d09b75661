//! Conditions between the fields of one entry of the manifest's lists.

use serde_json::{Value, json};

use super::pattern;
use crate::definitions::ReferenceKind;
use crate::package::format::{DEPENDENCY_KINDS, VERSION_2_LAYERS};

/// `key` has one of the words.
fn has(key: &str, words: &[&str]) -> Value {
    json!({"required": [key], "properties": {key: {"enum": words}}})
}

/// Version 2 has all its layers.
pub(super) fn manifest() -> Vec<Value> {
    let second =
        json!({"required": ["templateVersion"], "properties": {"templateVersion": {"const": 2}}});
    vec![json!({"if": second, "then": {"required": VERSION_2_LAYERS}})]
}

/// What each kind of item has, and what it has not.
pub(super) fn item() -> Vec<Value> {
    let letters = [
        ("feature", "f"),
        ("column", "c"),
        ("view", "v"),
        ("module", "m"),
        ("rail", "r"),
        ("workflow", "w"),
    ];
    let mut conditions = vec![
        json!({
            "if": has("kind", &["rows"]),
            "then": {"required": ["count", "dataClass"], "properties": {"ref": false}},
            "else": {"properties": {"count": false, "dataClass": false}},
        }),
        json!({
            "if": has("kind", &["workflow"]),
            "then": {"required": ["stepIds"]},
            "else": {"properties": {"stepIds": false}},
        }),
    ];
    conditions.extend(letters.map(|(kind, letter)| {
        json!({
            "if": has("kind", &[kind]),
            "then": {"required": ["ref"], "properties": {"ref": {"pattern": pattern::declaration(letter)}}},
        })
    }));
    conditions
}

/// What each kind of dependency is called and may bring.
pub(super) fn dependency() -> Vec<Value> {
    let mut conditions = vec![
        json!({
            "if": has("detail", &["blueprint"]),
            "then": {"required": ["blueprint"]},
            "else": {"properties": {"blueprint": false}},
        }),
        json!({
            "if": has("kind", &["feature"]),
            "else": {"properties": {"blueprint": false}},
        }),
        json!({
            "if": has("kind", &["channel"]),
            "then": {"properties": {
                "form": {"const": "uuid"},
                "required": {"const": true},
                "identity": {"properties": {"members": false}},
            }},
        }),
        json!({"properties": {"identity": {"properties": {"columns": {"items": {"properties": {
            "ref": {"pattern": pattern::declaration("c")},
        }}}}}}}),
    ];
    conditions.extend(DEPENDENCY_KINDS.iter().filter_map(|kind| {
        let prefix = pattern::prefix(ReferenceKind::parse(kind)?)?;
        Some(json!({
            "if": has("kind", &[kind]),
            "then": {"properties": {"ref": {"pattern": pattern::declaration(prefix)}}},
        }))
    }));
    conditions
}

/// Only row entries are counted; what an import alone writes is in no package.
pub(super) fn unresolved() -> Vec<Value> {
    vec![
        json!({"properties": {"ref": false, "required": false, "source": false}}),
        json!({
            "if": has("kind", &["rows"]),
            "then": {
                "if": has("reason", &["nao_exportavel"]),
                // The ids of files are emptied; earlier exporters left them.
                "then": {"properties": {"action": {"enum": ["valor mantido", "chave esvaziada"]}}},
                "else": {"properties": {"action": {"const": "valor mantido"}}},
            },
            "else": {"properties": {"count": false}},
        }),
    ]
}
