//! An example of each schema: its own, what stands in its place in the example of another, or one made of its types.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::document_parts::{list, members, referenced, text};

/// How far a made example goes into what it refers to.
const DEPTH: usize = 4;

/// What the document says by example.
pub(super) struct Examples<'d> {
    schemas: &'d Value,
    found: BTreeMap<&'d str, &'d Value>,
}

impl<'d> Examples<'d> {
    /// Looks through all examples of the document.
    pub(super) fn of_document(document: &'d Value) -> Examples<'d> {
        let components = &document["components"];
        let mut examples = Examples {
            schemas: &components["schemas"],
            found: BTreeMap::new(),
        };
        let own = || members(&components["examples"]).map(|(name, one)| (name, &one["value"]));
        for (name, example) in own() {
            examples.found.insert(name, example);
        }
        for (name, example) in own() {
            examples.collect(&components["schemas"][name], example);
        }
        examples
    }

    /// The example of a schema.
    pub(super) fn of(&self, name: &str) -> Value {
        let found = self.found.get(name).map(|example| (*example).clone());
        found.unwrap_or_else(|| self.made(&self.schemas[name], DEPTH))
    }

    /// Notes what stands in the place of other schemas.
    fn collect(&mut self, schema: &'d Value, example: &'d Value) {
        if example.is_null() {
            return;
        }
        if let Some(name) = referenced(schema) {
            if !self.found.contains_key(name) {
                self.found.insert(name, example);
                self.collect(&self.schemas[name], example);
            }
            return;
        }
        for (name, member) in members(&schema["properties"]) {
            self.collect(member, &example[name]);
        }
        for one in list(&schema["anyOf"]) {
            self.collect(one, example);
        }
        if let Some(first) = list(example).next() {
            self.collect(&schema["items"], first);
        }
        if let Some((_, first)) = members(example).next() {
            self.collect(&schema["additionalProperties"], first);
        }
    }

    /// A value that a schema allows.
    fn made(&self, schema: &Value, depth: usize) -> Value {
        if let Some(name) = referenced(schema) {
            let found = self.found.get(name).map(|example| (*example).clone());
            return found.unwrap_or_else(|| match depth {
                0 => json!({}),
                depth => self.made(&self.schemas[name], depth - 1),
            });
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        let first = ["enum", "anyOf", "oneOf"].map(|name| list(&schema[name]).next());
        match first {
            [Some(word), ..] => return word.clone(),
            [_, Some(one), _] | [_, _, Some(one)] => return self.made(one, depth),
            _ => {}
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds.first().map_or("", text),
            kind => text(kind),
        };
        match (kind, text(&schema["format"])) {
            ("string", "uuid") => json!("01a0b1c2-0000-7000-8000-000000000001"),
            ("string", "date-time") => json!("2026-01-15T09:30:00.000000Z"),
            ("string", _) => json!("text"),
            ("integer" | "number", _) => schema.get("minimum").cloned().unwrap_or(json!(1)),
            ("boolean", _) => json!(true),
            ("array", _) => json!([self.made(&schema["items"], depth)]),
            ("object", _) => {
                let made = members(&schema["properties"])
                    .map(|(name, member)| (name.clone(), self.made(member, depth)));
                Value::Object(made.collect::<Map<_, _>>())
            }
            _ => Value::Null,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Examples;

    #[test]
    fn every_schema_has_an_example() {
        let row = json!({"type": "object", "properties": {"id": {"type": "string"}}});
        let page =
            json!({"properties": {"items": {"items": {"$ref": "#/components/schemas/Row"}}}});
        let made = json!({"type": "object", "properties": {
            "row": {"$ref": "#/components/schemas/Row"},
            "self": {"$ref": "#/components/schemas/Made"},
            "kind": {"enum": ["a", "b"]},
            "many": {"type": "array", "items": {"type": ["integer", "null"]}},
        }});
        let document = json!({"components": {
            "schemas": {"Row": row, "Page": page, "Made": made},
            "examples": {"Page": {"value": {"items": [{"id": "R-1"}]}}},
        }});
        let examples = Examples::of_document(&document);
        assert_eq!(examples.of("Row"), json!({"id": "R-1"}));
        let made = examples.of("Made");
        assert_eq!(made["row"]["id"], "R-1");
        assert_eq!((&made["kind"], &made["many"]), (&json!("a"), &json!([1])));
        assert_eq!(made["self"]["self"]["kind"], "a");
    }
}
