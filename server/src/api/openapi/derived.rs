//! Schemas made from the types that are read and written.
//!
//! Goes in: types with `JsonSchema`. Comes out: components by name. A response is described as `serde` writes
//! it, a body as its `read` fills it. Objects are closed: what a type does not have, it neither writes nor takes.

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

use crate::json_schemas::NULL_TOO;

/// Where components refer to one another.
const PATH: &str = "/components/schemas";

/// Components that are made from types.
pub(super) struct DerivedComponents {
    generator: SchemaGenerator,
}

impl DerivedComponents {
    /// Of responses.
    pub(super) fn of_responses() -> DerivedComponents {
        DerivedComponents::new(SchemaSettings::draft2020_12().for_serialize(), true)
    }

    /// Of bodies.
    pub(super) fn of_bodies() -> DerivedComponents {
        DerivedComponents::new(SchemaSettings::draft2020_12().for_deserialize(), false)
    }

    fn new(mut settings: SchemaSettings, written: bool) -> DerivedComponents {
        PATH.clone_into(settings.definitions_path.to_mut());
        settings.meta_schema = None;
        DerivedComponents {
            generator: settings
                .with_transform(PlainSchemas { written })
                .into_generator(),
        }
    }

    /// Adds a type, with everything that it refers to.
    pub(super) fn with<T: JsonSchema>(mut self) -> DerivedComponents {
        self.generator.subschema_for::<T>();
        self
    }

    /// All of them.
    pub(super) fn finish(mut self) -> Map<String, Value> {
        self.generator.take_definitions(true)
    }
}

/// Schemas as generators of clients and people read them most easily.
#[derive(Debug, Clone)]
struct PlainSchemas {
    /// Whether it is about what is written. What is read has defaults.
    written: bool,
}

impl Transform for PlainSchemas {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(members) = schema.as_object_mut() {
            one_line(members);
            words(members);
            close(members);
            absent_or_there(members);
            defaults(members, self.written);
        }
        transform_subschemas(self, schema);
        if let Some(members) = schema.as_object_mut() {
            members.remove(NULL_TOO);
        }
    }
}

/// Doc comments are broken into lines for those who read the code.
fn one_line(members: &mut Map<String, Value>) {
    if let Some(Value::String(text)) = members.get_mut("description") {
        *text = text.replace('\n', " ");
    }
}

/// An enum whose variants have doc comments is an enum all the same.
fn words(members: &mut Map<String, Value>) {
    let variants = members.get("oneOf").and_then(Value::as_array);
    let word = |variant: &Value| {
        variant
            .get("const")
            .filter(|word| word.is_string())
            .cloned()
    };
    let all: Option<Vec<Value>> = variants.and_then(|all| all.iter().map(word).collect());
    if let Some(all) = all {
        members.remove("oneOf");
        members.insert("type".to_owned(), "string".into());
        members.insert("enum".to_owned(), all.into());
    }
}

/// What has named members has no others.
fn close(members: &mut Map<String, Value>) {
    if members.contains_key("properties") && !members.contains_key("additionalProperties") {
        members.insert("additionalProperties".to_owned(), false.into());
    }
}

/// A member that need not be there is not null where it is.
fn absent_or_there(members: &mut Map<String, Value>) {
    let required = members.get("required").and_then(Value::as_array).cloned();
    let required = required.unwrap_or_default();
    let Some(Value::Object(properties)) = members.get_mut("properties") else {
        return;
    };
    for (name, property) in properties {
        let Value::Object(property) = property else {
            continue;
        };
        let optional = !required.contains(&name.as_str().into());
        if optional && !property.contains_key(NULL_TOO) {
            without_null(property);
        }
    }
}

/// A default says what a member is that a body leaves out, if it is anything.
fn defaults(members: &mut Map<String, Value>, written: bool) {
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            if written || property.get("default").is_some_and(Value::is_null) {
                property.remove("default");
            }
        }
    }
}

fn without_null(property: &mut Map<String, Value>) {
    if let Some(Value::Array(names)) = property.get_mut("type") {
        names.retain(|name| name != "null");
        if let [name] = &names[..] {
            property["type"] = name.clone();
        }
    }
    if let Some(Value::Array(choices)) = property.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(choice)] = &choices[..] {
            let choice = choice.clone();
            property.remove("anyOf");
            // What the member itself says goes before what its type says of itself.
            for (key, value) in choice {
                property.entry(key).or_insert(value);
            }
        }
    }
    if let Some(Value::Array(words)) = property.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Serialize;
    use serde_json::json;

    use super::DerivedComponents;
    use crate::json_schemas::{Nullable, UtcInstant};

    /// What may stand
    /// in a line.
    #[derive(Serialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[expect(dead_code, reason = "its schema alone is looked at")]
    enum Word {
        /// The first.
        OneTwo,
        /// The second.
        Three,
    }

    /// A document.
    #[derive(Serialize, JsonSchema)]
    struct Document {
        /// May be null.
        nullable: Option<Word>,
        /// May be missing.
        #[serde(skip_serializing_if = "Option::is_none")]
        optional: Option<Word>,
        /// May be both.
        #[serde(skip_serializing_if = "Option::is_none")]
        both: Option<Nullable<UtcInstant>>,
    }

    #[test]
    fn a_schema_says_what_is_written() {
        let made = DerivedComponents::of_responses()
            .with::<Document>()
            .finish();
        let word = json!({"$ref": "#/components/schemas/Word"});
        assert_eq!(
            made["Word"],
            json!({
                "type": "string", "enum": ["one_two", "three"],
                "description": "What may stand in a line.",
            })
        );
        let document = &made["Document"];
        assert_eq!(document["additionalProperties"], false);
        assert_eq!(document["required"], json!(["nullable"]));
        let properties = &document["properties"];
        assert_eq!(
            properties["nullable"]["anyOf"],
            json!([word, {"type": "null"}])
        );
        assert_eq!(properties["optional"]["$ref"], word["$ref"]);
        assert_eq!(properties["optional"]["description"], "May be missing.");
        assert_eq!(properties["both"]["type"], json!(["string", "null"]));
    }

    #[test]
    fn a_body_says_what_is_taken() {
        let made = DerivedComponents::of_bodies().with::<Document>().finish();
        let document = &made["Document"];
        assert!(document.get("required").is_none(), "{document}");
        let word = "#/components/schemas/Word";
        assert_eq!(document["properties"]["nullable"]["$ref"], word);
    }
}
