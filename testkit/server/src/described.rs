//! What the OpenAPI document says of a body and of a response, held to every one that tests send and get.
//!
//! Each client of these tests looks here: a response with a member that its schema lacks, or without one that it
//! requires, fails the test that got it; so does a body that was accepted although its schema refuses it.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jsonschema::Validator;
use serde_json::{Map, Value, json};
use tplkit::definitions::Definitions;
use tplkit_server::api::document;
use tplkit_server::api::router::{RouteMatch, find};

use super::once_per_build;

/// More takes long to read and says no more.
const MOST: usize = 1_000_000;

static SCHEMAS: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let file = once_per_build::file("schemas.json", |file| {
        let document = document(Definitions::embedded());
        let schemas = document["components"]["schemas"].to_string();
        fs::write(file, schemas).expect("writes");
    });
    let schemas = fs::read_to_string(file).expect("reads");
    serde_json::from_str(&schemas).expect("schemas")
});

/// By component, as they are asked for: each test is a process of its own and needs few.
static VALIDATORS: Mutex<BTreeMap<String, Arc<Validator>>> = Mutex::new(BTreeMap::new());

fn validator(component: &str) -> Arc<Validator> {
    let mut known = VALIDATORS.lock().unwrap_or_else(PoisonError::into_inner);
    let validator = known.entry(component.to_owned()).or_insert_with(|| {
        let mut needed = Map::new();
        gather(component, &mut needed);
        let schema = json!({
            "$ref": format!("#/components/schemas/{component}"),
            "components": {"schemas": needed},
        });
        let options = jsonschema::options().should_validate_formats(true);
        Arc::new(options.build(&schema).expect("a schema"))
    });
    validator.clone()
}

/// A component and all that it refers to.
fn gather(component: &str, needed: &mut Map<String, Value>) {
    if needed.contains_key(component) {
        return;
    }
    let schema = SCHEMAS.get(component);
    let schema = schema.unwrap_or_else(|| panic!("{component} is not a component"));
    needed.insert(component.to_owned(), schema.clone());
    refer(schema, needed);
}

fn refer(schema: &Value, needed: &mut Map<String, Value>) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(to)) = members.get("$ref") {
                gather(to.trim_start_matches("#/components/schemas/"), needed);
            }
            members.values().for_each(|member| refer(member, needed));
        }
        Value::Array(items) => items.iter().for_each(|item| refer(item, needed)),
        _ => {}
    }
}

/// What of a document is not as its component says.
fn faults(component: &str, document: &Value) -> Vec<String> {
    validator(component)
        .iter_errors(document)
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect()
}

/// The component that describes the response to a request.
fn of_response(method: &str, path: &str, status: u16, media_type: &str) -> Option<&'static str> {
    if status >= 400 {
        return match media_type {
            "application/problem+json" => Some("Problem"),
            _ => Some("ExecutorProblem"),
        };
    }
    match find(method, path) {
        RouteMatch::Operation(operation, _) if matches!(status, 200..=203) => {
            operation.about.response
        }
        _ => None,
    }
}

/// Fails when a response is not as the document says, or when its body was accepted and should not have been.
pub(super) fn as_described(
    (method, path): (&str, &str),
    sent: &[u8],
    status: u16,
    media_type: &str,
    body: &str,
) {
    let path = path.split('?').next().unwrap_or_default();
    let component = of_response(method, path, status, media_type);
    let component = component.filter(|_| !body.is_empty() && body.len() < MOST);
    if let Some(component) = component {
        let faults = match serde_json::from_str(body) {
            Ok(document) => faults(component, &document),
            // Deeper than this reader goes, which cells may be.
            Err(error) if error.to_string().contains("recursion limit") => Vec::new(),
            Err(error) => vec![error.to_string()],
        };
        assert!(
            faults.is_empty(),
            "{method} {path} {status}: {faults:?} in {body}"
        );
    }
    let RouteMatch::Operation(operation, _) = find(method, path) else {
        return;
    };
    // A file may be anything.
    let accepted = status < 300 && sent.len() < MOST && !operation.takes_file();
    let request = operation.about.request.filter(|_| accepted);
    if let (Some(component), Ok(document)) = (request, serde_json::from_slice(sent)) {
        let faults = faults(component, &document);
        assert!(
            faults.is_empty(),
            "{method} {path} took {document}: {faults:?}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_too_many_and_one_too_few_are_faults() {
        let id = "01a0b1c2-0000-7000-8000-00000000000f";
        let channel = json!({
            "id": id, "organization_id": id, "name": "alarms",
            "created_at": "2026-01-15T09:30:00.000000Z",
        });
        assert_eq!(faults("Channel", &channel), Vec::<String>::new());
        let with = |name: &str, value: Value| {
            let mut changed = channel.clone();
            changed[name] = value;
            changed
        };
        let mut without = channel.clone();
        without.as_object_mut().expect("an object").remove("name");
        for wrong in [
            with("more", json!(1)),
            with("created_at", json!("yesterday")),
            with("name", Value::Null),
            without,
        ] {
            assert_eq!(faults("Channel", &wrong).len(), 1, "{wrong}");
            let page = json!({"items": [wrong], "next_cursor": null});
            assert_eq!(faults("ChannelPage", &page).len(), 1, "{page}");
        }
    }
}
