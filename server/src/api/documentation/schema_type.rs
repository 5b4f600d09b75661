//! What a schema allows, in words: `list of Row`, `text or null`.
//!
//! In: a schema. Out: pieces of text, code and links to other schemas. Must not know HTML or Markdown.

use serde_json::Value;

use super::document_parts::{list, referenced, text};

/// A piece of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece<'d> {
    Words(String),
    /// As it stands in JSON.
    Code(String),
    /// The name of a schema.
    Schema(&'d str),
}

/// The type of a value; nothing where there is no schema.
pub(super) fn type_of(schema: &Value) -> Vec<Piece<'_>> {
    if let Some(name) = referenced(schema) {
        return vec![Piece::Schema(name)];
    }
    for alternatives in ["anyOf", "oneOf"] {
        if schema[alternatives].is_array() {
            let types = list(&schema[alternatives]).map(type_of);
            return joined(types.collect());
        }
    }
    if let Some(constant) = schema.get("const") {
        return vec![Piece::Code(constant.to_string())];
    }
    if schema["enum"].is_array() {
        let values = list(&schema["enum"]).map(|value| vec![Piece::Code(value.to_string())]);
        return joined(values.collect());
    }
    let names: Vec<&str> = match &schema["type"] {
        Value::Array(names) => names.iter().map(text).collect(),
        other => vec![text(other)],
    };
    if !schema.is_object() {
        return Vec::new();
    }
    joined(names.into_iter().map(|name| named(name, schema)).collect())
}

fn named<'d>(name: &str, schema: &'d Value) -> Vec<Piece<'d>> {
    let words = |words: &str| Piece::Words(words.to_owned());
    match name {
        "array" => {
            let mut pieces = vec![words("list of ")];
            pieces.extend(type_of(&schema["items"]));
            pieces
        }
        "object" if schema["additionalProperties"].is_object() => {
            let mut pieces = vec![words("object of ")];
            pieces.extend(type_of(&schema["additionalProperties"]));
            pieces
        }
        "string" => match text(&schema["format"]) {
            "uuid" => vec![words("UUID")],
            "date-time" => vec![words("instant (RFC 3339)")],
            "" => vec![words("text")],
            format => vec![words(format)],
        },
        "" => vec![words("any JSON")],
        name => vec![words(name)],
    }
}

/// The alternatives in one line.
fn joined(alternatives: Vec<Vec<Piece<'_>>>) -> Vec<Piece<'_>> {
    let last = alternatives.len().saturating_sub(1);
    let mut pieces = Vec::new();
    for (at, alternative) in alternatives.into_iter().enumerate() {
        match at {
            0 => {}
            at if at == last => pieces.push(Piece::Words(" or ".to_owned())),
            _ => pieces.push(Piece::Words(", ".to_owned())),
        }
        pieces.extend(alternative);
    }
    pieces
}

/// Bounds and defaults, in words.
pub(super) fn notes(schema: &Value) -> Vec<String> {
    let format = text(&schema["format"]);
    let bound = |name: &str| match (name, schema.get(name)?) {
        // What every number of its width has says nothing.
        ("minimum" | "maximum", _) if format.starts_with("uint") => None,
        ("minLength", least) if *least == 0 => None,
        (_, value) => Some(value.to_string()),
    };
    let ranges = [
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " entries"),
    ];
    let ranges =
        ranges
            .into_iter()
            .filter_map(|(least, most, unit)| match (bound(least), bound(most)) {
                (Some(least), Some(most)) => Some(format!("{least} to {most}{unit}")),
                (Some(least), None) => Some(format!("at least {least}{unit}")),
                (None, Some(most)) => Some(format!("at most {most}{unit}")),
                (None, None) => None,
            });
    let default = schema
        .get("default")
        .map(|value| format!("default {value}"));
    ranges.chain(default).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Piece, notes, type_of};

    fn type_text(schema: &Value) -> String {
        let pieces = type_of(schema).into_iter().map(|piece| match piece {
            Piece::Words(text) => text,
            Piece::Code(text) => format!("`{text}`"),
            Piece::Schema(name) => format!("[{name}]"),
        });
        pieces.collect()
    }

    #[test]
    fn types_are_written_in_words() {
        let row = json!({"$ref": "#/components/schemas/Row"});
        assert_eq!(
            type_text(&json!({"type": "array", "items": row})),
            "list of [Row]"
        );
        let maybe = json!({"anyOf": [row, {"type": "null"}]});
        assert_eq!(type_text(&maybe), "[Row] or null");
        let id = json!({"type": ["string", "null"], "format": "uuid"});
        assert_eq!(type_text(&id), "UUID or null");
        let words = json!({"type": "string", "enum": ["a", "b", "c"]});
        assert_eq!(type_text(&words), "`\"a\"`, `\"b\"` or `\"c\"`");
        let by_ref = json!({"type": "object", "additionalProperties": row});
        assert_eq!(type_text(&by_ref), "object of [Row]");
        assert_eq!(type_text(&json!({})), "any JSON");
        assert_eq!(type_text(&json!(null)), "");
        let limit = json!({"type": "integer", "minimum": 1, "maximum": 200, "default": 25});
        assert_eq!(notes(&limit), ["1 to 200", "default 25"]);
    }
}
