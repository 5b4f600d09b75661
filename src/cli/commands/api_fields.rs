//! `--field` of `tplkit api`: a JSON body from words such as `a.b=text` and `n:=7`.

use serde_json::{Map, Value};

use crate::cli::error::CliError;

/// The body that the fields describe.
///
/// # Errors
/// A word is not a field, its JSON cannot be read, or two fields contradict each other.
pub(super) fn body(fields: &[String]) -> Result<Vec<u8>, CliError> {
    let mut root = Map::new();
    for field in fields {
        let (path, value) = read(field)?;
        let parts: Vec<&str> = path.split('.').collect();
        if parts.iter().any(|part| part.is_empty()) {
            return Err(usage(field, "a name between its dots is empty"));
        }
        put(&mut root, &parts, value).map_err(|why| usage(field, &why))?;
    }
    Ok(Value::Object(root).to_string().into_bytes())
}

/// `k=v` is a text, `k:=v` is JSON; whichever stands first.
fn read(field: &str) -> Result<(&str, Value), CliError> {
    let Some((name, value)) = field.split_once('=') else {
        return Err(usage(field, "it has no `=`"));
    };
    match name.strip_suffix(':') {
        None => Ok((name, Value::String(value.to_owned()))),
        Some(name) => match serde_json::from_str(value) {
            Ok(value) => Ok((name, value)),
            Err(error) => Err(usage(
                field,
                &format!("what follows `:=` is not JSON: {error}"),
            )),
        },
    }
}

fn put(into: &mut Map<String, Value>, path: &[&str], value: Value) -> Result<(), String> {
    match path {
        [] => Ok(()),
        [name] => match into.insert((*name).to_owned(), value) {
            None => Ok(()),
            Some(_) => Err(format!("`{name}` is given twice")),
        },
        [name, rest @ ..] => {
            let inner = into
                .entry((*name).to_owned())
                .or_insert_with(|| Value::Object(Map::new()));
            match inner {
                Value::Object(inner) => put(inner, rest, value),
                _ => Err(format!("`{name}` is a value, not an object")),
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
    fn fields_that_mean_nothing_are_refused() {
        for (fields, why) in [
            (&["label"][..], "no `=`"),
            (&["a:=x"], "not JSON"),
            (&["a..b=1"], "empty"),
            (&["=1"], "empty"),
            (&["a=1", "a=2"], "twice"),
            (&["a=1", "a.b=2"], "not an object"),
        ] {
            let message = of(fields).expect_err("is refused");
            assert!(message.contains(why), "{message}");
        }
    }
}
