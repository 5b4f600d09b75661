//! The JSON documents of commands other than `check` and `promote`: `schemaVersion`, `outcome`,
//! then members of each command.

use indexmap::IndexMap;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tplkit::finding::render::ReportError;
use tplkit::json::Value as Json;
use tplkit::printable;

/// The version of every JSON document that the tool writes.
const SCHEMA_VERSION: u32 = 1;

/// Writes a document; `body` must be an object.
pub(crate) fn write(outcome: &str, body: &Value) -> String {
    let mut document = Map::new();
    document.insert("schemaVersion".to_owned(), json!(SCHEMA_VERSION));
    document.insert("outcome".to_owned(), json!(outcome));
    if let Value::Object(members) = body {
        document.extend(members.clone());
    }
    // A value always serializes.
    let text = serde_json::to_string_pretty(&Value::Object(document)).unwrap_or_default();
    printable::json(&(text + "\n"))
}

/// Writes a document whose members stay as they were written: numbers keep their digits.
pub(crate) fn write_raw(outcome: &str, members: &[(&str, &RawValue)]) -> String {
    let (version, outcome) = (raw(&json!(SCHEMA_VERSION)), raw(&json!(outcome)));
    let head = [("schemaVersion", &*version), ("outcome", &*outcome)];
    let all: IndexMap<&str, &RawValue> = head.into_iter().chain(members.iter().copied()).collect();
    // What is raw always serializes.
    printable::json(&(serde_json::to_string_pretty(&all).unwrap_or_default() + "\n"))
}

/// Writes a document in which some members of `body`, which must be an object, are others, and numbers keep their digits.
pub(crate) fn write_exact(outcome: &str, body: &Value, members: &[(&str, Json)]) -> String {
    let mut document = Map::new();
    document.insert("schemaVersion".to_owned(), json!(SCHEMA_VERSION));
    document.insert("outcome".to_owned(), json!(outcome));
    document.extend(body.as_object().cloned().unwrap_or_default());
    let mut document: IndexMap<String, Json> = document
        .into_iter()
        .map(|(key, value)| (key, exact(&value)))
        .collect();
    for (key, value) in members {
        document.insert((*key).to_owned(), value.clone());
    }
    let document = Json::Object(document);
    // A value always serializes.
    let text = serde_json::to_string_pretty(&Digits(&document)).unwrap_or_default();
    printable::json(&(text + "\n"))
}

/// A value whose numbers are written with their digits; one that no value of other readers holds (`1e400`) as text.
struct Digits<'v>(&'v Json);

impl Serialize for Digits<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Number(number) => {
                let digits = number.as_str();
                if serde_json::from_str::<Value>(digits).is_err() {
                    return serializer.serialize_str(digits);
                }
                let raw = RawValue::from_string(digits.to_owned()).map_err(S::Error::custom)?;
                raw.serialize(serializer)
            }
            Json::String(text) => serializer.serialize_str(text),
            Json::List(elements) => serializer.collect_seq(elements.iter().map(Digits)),
            Json::Object(members) => {
                let members = members.iter();
                serializer.collect_map(members.map(|(key, value)| (key, Digits(value))))
            }
        }
    }
}

/// What a document says of something, for [`write_exact`].
pub(crate) fn exact(shown: &impl Serialize) -> Json {
    exact_text(&serde_json::to_string(shown).expect("what documents show writes itself as JSON"))
}

/// The same of a text that is JSON already; nothing of one that is not.
pub(crate) fn exact_text(text: &str) -> Json {
    Json::parse(text).unwrap_or_default()
}

/// What a document says of something. A number that no value holds (`1e400`) is given as text: what stands next to it is
/// not lost with it.
pub(crate) fn of(shown: &impl Serialize) -> Value {
    value(&serde_json::to_string(shown).expect("what documents show writes itself as JSON"))
}

/// The same of a text that is JSON already; nothing of one that is not.
pub(crate) fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Json::parse(text).map_or(Value::Null, by_leaves))
}

fn by_leaves(value: Json) -> Value {
    match value {
        Json::Null => Value::Null,
        Json::Bool(value) => value.into(),
        Json::Number(number) => {
            let digits = number.as_str();
            serde_json::from_str(digits).unwrap_or_else(|_| digits.into())
        }
        Json::String(text) => text.into(),
        Json::List(elements) => elements.into_iter().map(by_leaves).collect(),
        Json::Object(members) => {
            let members = members.into_iter();
            members
                .map(|(key, value)| (key, by_leaves(value)))
                .collect()
        }
    }
}

/// A value as one that stays as it is written.
pub(crate) fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).expect("a value writes itself as JSON")
}

/// A page of the API, with the bytes of its items.
pub(crate) fn page(items: &[Box<RawValue>], next_cursor: Option<&str>) -> Box<RawValue> {
    let items: Vec<&str> = items.iter().map(|item| item.get()).collect();
    let (items, next) = (items.join(","), json!(next_cursor));
    let text = format!("{{\"items\":[{items}],\"next_cursor\":{next}}}");
    RawValue::from_string(text).expect("items are JSON")
}

/// The `errors` member, in the form that reports have too.
pub(crate) fn errors(report_errors: &[ReportError]) -> Value {
    let errors = report_errors.iter().map(|report_error| {
        let mut error = json!({"message": report_error.message});
        if let Some(path) = &report_error.path {
            error["path"] = json!(path.to_string_lossy());
        }
        if let Some(help) = &report_error.help {
            error["help"] = json!(help);
        }
        error
    });
    json!({"errors": errors.collect::<Vec<_>>()})
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tplkit::json::Value;

    use super::{exact_text, of, value, write_exact};

    #[test]
    fn numbers_keep_their_digits_and_their_place() {
        let body = json!({"a": null, "b": [1]});
        let members = [("a", exact_text(r#"{"n":[1.10,1e400,-0.0],"t":"é"}"#))];
        let expected = "{\n  \"schemaVersion\": 1,\n  \"outcome\": \"clean\",\n  \"a\": {\n    \"n\": [\n      1.10,\n      \"1e400\",\n      -0.0\n    ],\n    \"t\": \"é\"\n  },\n  \"b\": [\n    1\n  ]\n}\n";
        assert_eq!(write_exact("clean", &body, &members), expected);
    }

    #[test]
    fn a_number_that_no_value_holds_takes_nothing_with_it() {
        let text = r#"{"a":[1.5,-1e400,"é"],"b":{"c":null,"d":true},"e":1E400}"#;
        let expected =
            json!({"a": [1.5, "-1e400", "é"], "b": {"c": null, "d": true}, "e": "1E400"});
        assert_eq!(value(text), expected);
        let own = Value::parse(text).expect("JSON");
        assert_eq!(of(&own), expected);
        assert_eq!(value("{\"a\": 1}"), json!({"a": 1}));
    }
}
