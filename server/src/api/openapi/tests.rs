//! Tests: the document is complete, consistent and free of leftovers.

mod bodies;

use std::collections::BTreeSet;

use serde_json::Value;
use tplkit::definitions::Definitions;

use super::texts::{EXAMPLES, TEXTS};
use super::{parameters, schemas};
use crate::api::document;
use crate::api::operations::OPERATIONS;

#[test]
fn every_operation_is_described() {
    for operation in &OPERATIONS {
        let about = &operation.about;
        assert!(!about.summary.is_empty(), "{operation:?}");
        let takes = about.request.is_some();
        assert!(!takes || operation.has_body(), "{operation:?}");
        assert!(takes || operation.method != "PATCH", "{operation:?}");
        let responds = operation.statuses.iter().any(|s| matches!(s, 200..=203));
        let responds = responds && operation.path != "/docs" && !operation.gives_file();
        assert_eq!(about.response.is_some(), responds, "{operation:?}");
        for name in about.query_components {
            assert!(parameters::query(name).is_some(), "{operation:?} {name}");
        }
    }
}

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(to)) = members.get("$ref") {
                found.insert(to.trim_start_matches("#/components/").to_owned());
            }
            members.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[test]
fn every_component_is_there_and_used() {
    let document = document(Definitions::embedded());
    let mut used = BTreeSet::new();
    references(&document, &mut used);
    let mut known = BTreeSet::new();
    for part in ["schemas", "parameters", "responses", "examples"] {
        let components = document["components"][part].as_object();
        let names = components.expect("components").keys();
        known.extend(names.map(|name| format!("{part}/{name}")));
    }
    assert_eq!(used, known);
}

#[test]
fn operations_have_short_names_of_their_own() {
    let mut ids = BTreeSet::new();
    for operation in &OPERATIONS {
        let id = operation.about.id;
        let words = id.split('_').collect::<Vec<_>>();
        assert!(!id.is_empty(), "{operation:?}");
        assert!(words.len() <= 4, "{id}");
        assert!(!words.contains(&"by"), "{id}");
        assert!(ids.insert(id), "{id}");
    }
}

#[test]
fn everything_is_described() {
    let document = document(Definitions::embedded());
    for tag in document["tags"].as_array().expect("tags") {
        assert_ne!(tag["description"], "", "{tag}");
    }
    for part in ["schemas", "parameters"] {
        let components = document["components"][part].as_object();
        for (name, component) in components.expect("components") {
            let text = component["description"].as_str().unwrap_or_default();
            assert!(!text.is_empty(), "{part}/{name}: describe it in texts.json");
            described(name, component);
        }
    }
    for methods in document["paths"].as_object().expect("paths").values() {
        for operation in methods.as_object().expect("methods").values() {
            assert_ne!(operation["description"], "", "{operation}");
        }
    }
}

/// Every property describes itself or refers to something that does.
fn described(component: &str, schema: &Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Object(properties)) = members.get("properties") {
                for (name, property) in properties {
                    let described = ["description", "$ref"];
                    let described = described.iter().any(|key| property.get(key).is_some());
                    assert!(described, "{component}.{name}: describe it in texts.json");
                }
            }
            members
                .values()
                .for_each(|value| self::described(component, value));
        }
        Value::Array(items) => items
            .iter()
            .for_each(|value| self::described(component, value)),
        _ => {}
    }
}

/// The components and properties that do not describe themselves: with an empty name the component.
fn undescribed() -> BTreeSet<(String, String)> {
    fn walk(family: &str, schema: &Value, found: &mut BTreeSet<(String, String)>) {
        match schema {
            Value::Object(members) => {
                if let Some(Value::Object(properties)) = members.get("properties") {
                    for (name, property) in properties {
                        let described = ["description", "$ref"];
                        if !described.iter().any(|key| property.get(key).is_some()) {
                            found.insert((family.to_owned(), name.clone()));
                        }
                    }
                }
                members
                    .values()
                    .for_each(|member| walk(family, member, found));
            }
            Value::Array(items) => items.iter().for_each(|item| walk(family, item, found)),
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    for (name, schema) in schemas::all(Definitions::embedded()) {
        if schema.get("description").is_none() {
            found.insert((name.clone(), String::new()));
        }
        walk(name.split('.').next().unwrap_or(&name), &schema, &mut found);
    }
    found
}

#[test]
fn every_text_is_used() {
    let document = document(Definitions::embedded());
    let components = &document["components"];
    for name in TEXTS.schemas.keys() {
        assert!(
            components["schemas"].get(name).is_some(),
            "{name} is not a schema"
        );
    }
    let undescribed = undescribed();
    for name in TEXTS.schemas.keys() {
        let place = (name.clone(), String::new());
        assert!(undescribed.contains(&place), "{name} describes itself");
    }
    for name in TEXTS.properties.keys() {
        let used = match name.split_once('.') {
            Some((component, property)) => {
                undescribed.contains(&(component.to_owned(), property.to_owned()))
            }
            None => undescribed.iter().any(|(component, property)| {
                let own = format!("{component}.{property}");
                property == name && !TEXTS.properties.contains_key(&own)
            }),
        };
        assert!(
            used,
            "{name} is not a property, or it is described elsewhere"
        );
    }
    for name in TEXTS.parameters.keys() {
        let known = components["parameters"].get(format!("path_{name}"));
        assert!(known.is_some(), "{name} is not a parameter");
    }
    for name in TEXTS.tags.keys() {
        let mut tags = document["tags"].as_array().expect("tags").iter();
        assert!(
            tags.any(|tag| tag["name"] == name.as_str()),
            "{name} is not a tag"
        );
    }
}

/// Objects say whether they are open: generators of clients read silence as "no members".
#[test]
fn objects_say_whether_they_are_open() {
    fn walk(place: &str, schema: &Value) {
        match schema {
            Value::Object(members) => {
                let object = match &members.get("type") {
                    Some(Value::Array(names)) => names.contains(&"object".into()),
                    Some(name) => *name == "object",
                    None => false,
                };
                let says = members.contains_key("additionalProperties");
                assert!(!object || says, "{place}: {schema}");
                for (name, member) in members {
                    walk(&format!("{place}/{name}"), member);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| walk(place, item)),
            _ => {}
        }
    }
    let document = document(Definitions::embedded());
    walk("", &document["components"]["schemas"]);
    let cells = &document["components"]["schemas"]["Cells"];
    assert_eq!(cells["additionalProperties"], true);
}

/// What generators of clients stumble over: a default that makes a member of a body required, and a component that has
/// the name they give to a member which has none.
#[test]
fn generators_of_clients_find_no_traps() {
    fn pascal(words: &str) -> String {
        let words = words.split(['_', '.', '-']);
        let word = |word: &str| word[..1].to_uppercase() + &word[1..];
        words.filter(|word| !word.is_empty()).map(word).collect()
    }
    fn walk(place: &str, schema: &Value, components: &Value) {
        if let Some(Value::Object(properties)) = schema.get("properties") {
            for (name, property) in properties {
                assert!(
                    property.get("default").is_none(),
                    "{place}.{name}: a default"
                );
                let own = pascal(place) + &pascal(name);
                // Of these alone it makes a type.
                let named = property["type"] == "object" || property.get("enum").is_some();
                assert!(
                    !named || components.get(&own).is_none(),
                    "{place}.{name}: {own}"
                );
            }
        }
        match schema {
            Value::Object(members) => members
                .values()
                .for_each(|member| walk(place, member, components)),
            Value::Array(items) => items.iter().for_each(|item| walk(place, item, components)),
            _ => {}
        }
    }
    let document = document(Definitions::embedded());
    let components = &document["components"]["schemas"];
    for (name, schema) in components.as_object().expect("schemas") {
        walk(name, schema, components);
    }
}

/// What two places say is said once and referred to.
#[test]
fn nothing_is_written_twice() {
    let document = document(Definitions::embedded());
    let mut seen: std::collections::BTreeMap<String, &str> = std::collections::BTreeMap::new();
    let schemas = document["components"]["schemas"].as_object();
    for (name, schema) in schemas.expect("schemas") {
        let large = schema["properties"]
            .as_object()
            .is_some_and(|all| all.len() > 4);
        if large && let Some(other) = seen.insert(schema["properties"].to_string(), name) {
            panic!("{name} and {other} are the same");
        }
    }
    for methods in document["paths"].as_object().expect("paths").values() {
        for operation in methods.as_object().expect("methods").values() {
            for parameter in operation["parameters"].as_array().expect("parameters") {
                assert!(parameter["$ref"].is_string(), "{parameter}");
            }
            let responses = operation["responses"].as_object().expect("responses");
            for (status, response) in responses {
                let refusal = status.starts_with(['4', '5']);
                assert_eq!(response["$ref"].is_string(), refusal, "{response}");
            }
        }
    }
}

/// What reads a file takes the headers that choose a part of it, and lists the refusal of one whose bytes are gone.
#[test]
fn files_are_read_in_parts() {
    let document = document(Definitions::embedded());
    for path in ["/v1/files/{file_id}/content", "/v1/file-links/{file_id}"] {
        let operation = &document["paths"][path]["get"];
        let parameters = operation["parameters"].as_array().expect("parameters");
        for name in ["range", "if_range", "if_match", "if_none_match"] {
            let component = format!("#/components/parameters/header_{name}");
            let mut known = parameters.iter();
            assert!(
                known.any(|one| one["$ref"] == component.as_str()),
                "{path} {name}"
            );
        }
        let damaged = &operation["responses"]["500"]["$ref"];
        assert_eq!(*damaged, "#/components/responses/problem_500", "{path}");
        let description = operation["description"].as_str().unwrap_or_default();
        assert!(description.contains("`HEAD`"), "{path}");
    }
    let record = &document["paths"]["/v1/files/{file_id}"]["get"];
    assert!(record["responses"].get("500").is_none());
}

/// Each body and each response has an example that its own schema takes.
#[test]
fn examples_are_examples() {
    // These two are documents of hundreds of kilobytes; the server itself serves the example, and a test
    // reads it there.
    let too_large = ["OpenApi", "Definitions"];
    let document = document(Definitions::embedded());
    let components = &document["components"];
    for operation in &OPERATIONS {
        let about = &operation.about;
        for name in about.request.into_iter().chain(about.response) {
            let example = &components["examples"][name]["value"];
            if example.is_null() {
                assert!(too_large.contains(&name), "{name}: add it to examples.json");
                continue;
            }
            let schema = serde_json::json!({
                "$ref": format!("#/components/schemas/{name}"),
                "components": {"schemas": components["schemas"]},
            });
            let validator = jsonschema::options()
                .should_validate_formats(true)
                .build(&schema)
                .expect("a schema");
            let faults: Vec<String> = validator
                .iter_errors(example)
                .map(|fault| format!("{}: {fault}", fault.instance_path()))
                .collect();
            assert!(faults.is_empty(), "{name}: {faults:?}");
        }
    }
    for name in EXAMPLES.keys() {
        assert!(
            components["schemas"].get(name).is_some(),
            "{name} is not a schema"
        );
    }
}

/// What is read is what is written where both have a name in common, and no two types share a name.
#[test]
fn a_name_is_of_one_component() {
    let document = document(Definitions::embedded());
    let (read, written) = (schemas::bodies(), schemas::responses());
    for (name, schema) in &read {
        let other = written.get(name);
        assert!(other.is_none_or(|other| other == schema), "{name}");
    }
    let schemas = document["components"]["schemas"].as_object();
    for name in schemas.expect("schemas").keys() {
        // So a second type of that name would be called.
        assert!(
            !name.ends_with(|last: char| last.is_ascii_digit()),
            "{name}"
        );
    }
}

#[test]
fn it_says_where_it_is_served_and_whose_it_is() {
    let document = document(Definitions::embedded());
    assert_eq!(document["servers"][0]["url"], "/");
    assert!(document["info"]["contact"]["url"].is_string());
    assert!(document["info"]["license"]["identifier"].is_string());
}

/// The members of an object, by what holds them, and whether each has to be there.
fn members(schema: &Value, root: &Value, place: &str, found: &mut BTreeSet<(String, bool)>) {
    if let Some(Value::String(to)) = schema.get("$ref") {
        let to = root.pointer(to.trim_start_matches('#'));
        return members(to.expect("a component"), root, place, found);
    }
    let required = schema["required"].as_array();
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let is_required = required.is_some_and(|all| all.contains(&name.as_str().into()));
        let place = format!("{place}/{name}");
        found.insert((place.clone(), is_required));
        members(member, root, &place, found);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get(key).filter(|inner| inner.is_object()) {
            members(inner, root, &format!("{place}/*"), found);
        }
    }
    for choice in schema["anyOf"].as_array().into_iter().flatten() {
        members(choice, root, place, found);
    }
}

/// Reports and plans are published as files, too: those have the same members.
#[test]
fn reports_and_plans_are_those_of_the_published_schemas() {
    let document = document(Definitions::embedded());
    for (component, published) in [
        ("TemplateJobReport", "job-report"),
        ("Plan", "plan-preview"),
    ] {
        let (mut here, mut there) = (BTreeSet::new(), BTreeSet::new());
        let own = &document["components"]["schemas"][component];
        members(own, &document, "", &mut here);
        let file = tplkit::package::schema::schema(published).expect("a schema");
        members(&file, &file, "", &mut there);
        let only = |these: &BTreeSet<(String, bool)>, others: &BTreeSet<(String, bool)>| {
            these.difference(others).cloned().collect::<Vec<_>>()
        };
        assert_eq!(only(&here, &there), [], "{component} has more");
        assert_eq!(only(&there, &here), [], "{published} has more");
        assert!(here.len() > 40, "{here:?}");
    }
}
