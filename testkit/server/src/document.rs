//! Requests made from the table of operations and the OpenAPI document, for tests that ask everything
//! that can be asked, also what did not exist when they were written.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tplkit_server::api::operations::OPERATIONS;
use tplkit_server::call::operation::{Access, Operation};

use super::client::Client;

/// Ids by the names that paths, queries and bodies give them.
pub type Ids = BTreeMap<&'static str, String>;

/// The media type of bodies.
pub const JSON: &str = "application/json";

/// What follows the method: the path and what is sent along.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// With the query.
    pub path: String,
    /// Media type and bytes.
    pub body: Option<(&'static str, String)>,
}

/// The OpenAPI document.
#[derive(Debug)]
pub struct Document(Value);

/// The name of a known parameter that holds an id.
fn known(name: &str, ids: &Ids) -> Option<&'static str> {
    ids.keys().copied().find(|known| *known == name)
}

impl Document {
    /// The one that the server gives out.
    pub fn of(client: &Client) -> Document {
        Document(client.get("/v1/openapi.json").expect(200).json())
    }

    fn resolved<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let Some(to) = schema["$ref"].as_str() else {
            return schema;
        };
        let name = to.trim_start_matches("#/components/schemas/");
        self.resolved(&self.0["components"]["schemas"][name])
    }

    /// The least value that the schema takes, with ids by the names of properties.
    fn sample(&self, name: &str, schema: &Value, ids: &Ids) -> Value {
        let schema = self.resolved(schema);
        if let Some(choices) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
            return self.sample(name, &choices[0], ids);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(values) = schema["enum"].as_array() {
            return values[0].clone();
        }
        if let Some(name) = known(name, ids) {
            return ids[name].as_str().into();
        }
        let of = &schema["type"];
        match of.as_str().or(of[0].as_str()) {
            Some("object") => {
                let required = schema["required"].as_array().cloned().unwrap_or_default();
                let names = required.iter().filter_map(Value::as_str);
                let members: Map<String, Value> = names
                    .map(|name| {
                        let value = self.sample(name, &schema["properties"][name], ids);
                        (name.to_owned(), value)
                    })
                    .collect();
                members.into()
            }
            Some("array") => vec![self.sample(name, &schema["items"], ids)].into(),
            Some("integer" | "number") => 1.into(),
            Some("boolean") => true.into(),
            _ => "x".into(),
        }
    }

    fn schema(&self, operation: &Operation) -> Option<&Value> {
        let name = operation.about.request?;
        let schema = self.resolved(&self.0["components"]["schemas"][name]);
        Some(match schema["oneOf"].as_array() {
            Some(choices) => self.resolved(&choices[0]),
            None => schema,
        })
    }

    /// The names of the places where an operation takes ids.
    pub fn places(&self, operation: &Operation, ids: &Ids) -> Vec<&'static str> {
        let mut places: Vec<&'static str> = operation
            .parameters()
            .map(|name| {
                known(name, ids).unwrap_or_else(|| {
                    panic!("{operation:?}: add ids for {name} to the test that asks")
                })
            })
            .collect();
        let properties = self.schema(operation).map(|schema| &schema["properties"]);
        let properties = properties.and_then(Value::as_object);
        let names = properties.into_iter().flat_map(Map::keys);
        let queries = operation.about.query.iter().copied();
        for name in queries.chain(names.map(String::as_str)) {
            assert!(
                !name.ends_with("_id") || known(name, ids).is_some(),
                "{operation:?}: add ids for {name} to the test that asks"
            );
            places.extend(known(name, ids));
        }
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The plain request with those ids.
    pub fn request(&self, operation: &Operation, ids: &Ids) -> Request {
        let mut path = operation.path.to_owned();
        for (name, id) in ids {
            path = path.replace(&format!("{{{name}}}"), id);
        }
        let mut queries: Vec<String> = Vec::new();
        for name in operation.about.query {
            match known(name, ids) {
                Some(name) => queries.push(format!("{name}={}", ids[name])),
                None if *name == "op" => queries.push("op=count".to_owned()),
                None if *name == "name" => queries.push("name=x".to_owned()),
                None => {}
            }
        }
        if !queries.is_empty() {
            path = format!("{path}?{}", queries.join("&"));
        }
        let schema = self.schema(operation);
        let body = schema.map(|schema| {
            let mut body = self.sample("", schema, ids);
            // Optional ones, too.
            let properties = schema["properties"].as_object();
            for name in properties.into_iter().flat_map(Map::keys) {
                if let Some(name) = known(name, ids) {
                    body[name] = ids[name].as_str().into();
                }
            }
            (JSON, body.to_string())
        });
        Request { path, body }
    }

    /// What can be read by id without knowing more.
    pub fn readable() -> impl Iterator<Item = &'static Operation> {
        let all = OPERATIONS.iter();
        let all = all.filter(|operation| operation.access != Access::Public);
        all.filter(|operation| operation.method == "GET" && operation.path.contains('{'))
    }
}
