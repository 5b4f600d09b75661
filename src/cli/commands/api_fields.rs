//! `--field` of `tplkit api`: a JSON body from words such as `a.b=text` and `n:=7`. JSON is sent as it was typed:
//! numbers keep their digits.

use indexmap::IndexMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::cli::error::CliError;

type Members = IndexMap<String, Field>;

/// The value of a member.
enum Field {
    Text(String),
    /// As it was typed.
    Json(Box<RawValue>),
    /// Of names with dots.
    Object(Members),
}

impl Field {
    /// What names with dots go into; nothing where it is not an object.
    fn members(&mut self) -> Option<&mut Members> {
        if let Field::Json(typed) = self {
            let typed: IndexMap<String, Box<RawValue>> = serde_json::from_str(typed.get()).ok()?;
            let members = typed.into_iter();
            let members = members.map(|(name, value)| (name, Field::Json(value)));
            *self = Field::Object(members.collect());
        }
        match self {
            Field::Object(members) => Some(members),
            Field::Text(_) | Field::Json(_) => None,
        }
    }
}

impl Serialize for Field {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Field::Text(text) => text.serialize(serializer),
            Field::Json(typed) => typed.serialize(serializer),
            Field::Object(members) => members.serialize(serializer),
        }
    }
}

/// The body that the fields describe.
///
/// # Errors
/// A word is not a field, its JSON cannot be read, or two fields contradict each other.
pub(super) fn body(fields: &[String]) -> Result<Vec<u8>, CliError> {
    let mut root = Members::new();
    for field in fields {
        let (path, value) = read(field)?;
        let parts: Vec<&str> = path.split('.').collect();
        if parts.iter().any(|part| part.is_empty()) {
            return Err(usage(field, "a name between its dots is empty"));
        }
        put(&mut root, &parts, value).map_err(|why| usage(field, &why))?;
    }
    Ok(serde_json::to_vec(&root).expect("fields write themselves as JSON"))
}

/// `k=v` is a text, `k:=v` is JSON; whichever stands first.
fn read(field: &str) -> Result<(&str, Field), CliError> {
    let Some((name, value)) = field.split_once('=') else {
        return Err(usage(field, "it has no `=`"));
    };
    match name.strip_suffix(':') {
        None => Ok((name, Field::Text(value.to_owned()))),
        Some(name) => match serde_json::from_str(value) {
            Ok(value) => Ok((name, Field::Json(value))),
            Err(error) => Err(usage(
                field,
                &format!("what follows `:=` is not JSON: {error}"),
            )),
        },
    }
}

fn put(into: &mut Members, path: &[&str], value: Field) -> Result<(), String> {
    match path {
        [] => Ok(()),
        [name] => match into.insert((*name).to_owned(), value) {
            None => Ok(()),
            Some(_) => Err(format!("`{name}` is given twice")),
        },
        [name, rest @ ..] => {
            let inner = into
                .entry((*name).to_owned())
                .or_insert_with(|| Field::Object(Members::new()));
            match inner.members() {
                Some(inner) => put(inner, rest, value),
                None => Err(format!("`{name}` is a value, not an object")),
            }
        }
    }
}

fn usage(field: &str, why: &str) -> CliError {
    // The value may be meant to be secret.
    let name = field.split('=').next().unwrap_or_default();
    CliError::Usage {
        message: format!("`--field {}`: {why}", name.escape_debug()),
        help: "write `--field name=text`, `--field name:=JSON`, or `--field outer.inner=text`"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::body;

    fn of(fields: &[&str]) -> Result<Value, String> {
        let fields: Vec<String> = fields.iter().map(|field| (*field).to_owned()).collect();
        let body = body(&fields).map_err(|error| error.to_string())?;
        serde_json::from_slice(&body).map_err(|error| error.to_string())
    }

    #[test]
    fn fields_are_texts_json_or_nested() {
        let fields = [
            "label=Shop = 1",
            "order:=7",
            "url=a:=b",
            "config.tags:=[1,\"x\"]",
            "config.nested.note=",
        ];
        let expected = json!({"label": "Shop = 1", "order": 7, "url": "a:=b",
            "config": {"tags": [1, "x"], "nested": {"note": ""}}});
        assert_eq!(of(&fields), Ok(expected));
    }

    #[test]
    fn json_is_sent_as_it_was_typed() {
        for typed in [
            "12345678901234567890123",
            "1.10",
            "1e2",
            "-0",
            "0.1000000000000000055511151231257827",
            "1e400",
            "{\"a\": 1.0, \"a\": [2]}",
        ] {
            let fields = [format!("n:={typed}"), "o.p=q".to_owned()];
            let sent = body(&fields).expect("fields");
            let expected = format!("{{\"n\":{typed},\"o\":{{\"p\":\"q\"}}}}");
            assert_eq!(String::from_utf8_lossy(&sent), expected);
        }
        // Names with dots go into an object that was typed.
        let fields = ["o:={\"a\": 1.10}", "o.b.c=d"].map(str::to_owned);
        let sent = body(&fields).expect("fields");
        assert_eq!(sent, br#"{"o":{"a":1.10,"b":{"c":"d"}}}"#);
    }

    #[test]
    fn fields_that_mean_nothing_are_refused() {
        for (fields, why) in [
            (&["label"][..], "no `=`"),
            (&["a:=x"], "not JSON"),
            (&["a..b=1"], "empty"),
            (&["=1"], "empty"),
            (&["a=1", "a=2"], "twice"),
            (&["a=1", "a.b=2"], "not an object"),
            (&["a:=[1]", "a.b=2"], "not an object"),
            (&["a:={\"b\":1}", "a.b=2"], "twice"),
        ] {
            let message = of(fields).expect_err("is refused");
            assert!(message.contains(why), "{message}");
        }
    }
}
