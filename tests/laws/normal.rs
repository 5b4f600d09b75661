//! A package without what differs from one export to the next although nothing else does: uids,
//! and the identities that rows get where they enter.

use std::collections::HashMap;

use tplkit::json::{Object, Value};

/// The package with uids and identities replaced by the order of their appearance.
pub(crate) fn normal(text: &str) -> Result<String, String> {
    let mut value = Value::parse(text).map_err(|error| error.to_string())?;
    if let Value::Object(envelope) = &mut value
        && let Some(Value::List(payloads)) = envelope.get_mut("payloads")
    {
        payloads.iter_mut().for_each(entry);
    }
    let mut seen = HashMap::new();
    rename(&mut value, &mut seen);
    Ok(value.write().replace("},{", "},\n{"))
}

/// Link cells by the automatic identity hold what their row was given where it entered.
fn entry(entry: &mut Value) {
    let Value::Object(entry) = entry else { return };
    let Some(Value::List(rows)) = entry.get_mut("rows") else {
        return;
    };
    for row in rows {
        let Value::Object(row) = row else { continue };
        let refs = row.get("refs").and_then(Value::as_object).cloned();
        let Some(Value::Object(data)) = row.get_mut("data") else {
            continue;
        };
        for (column, target) in refs.iter().flatten() {
            if let Some(cell) = data.get_mut(column).filter(|_| minted(target)) {
                *cell = Value::from("minted");
            }
        }
    }
}

fn minted(target: &Value) -> bool {
    let by_identity = |triple: &Object| {
        let column = triple.get("valueColumn").and_then(Value::as_str);
        column.is_none_or(|column| column == "id")
    };
    match target.get("rows").and_then(Value::as_list) {
        Some(rows) => {
            let mut triples = rows.iter().filter_map(Value::as_object);
            triples.all(by_identity)
        }
        None => target.as_object().is_some_and(by_identity),
    }
}

fn rename(value: &mut Value, seen: &mut HashMap<String, usize>) {
    match value {
        Value::String(text) if tplkit::package::uid::is_uid(text) => {
            let next = seen.len();
            let number = *seen.entry(text.clone()).or_insert(next);
            *text = format!("u{number}");
        }
        Value::List(elements) => elements.iter_mut().for_each(|one| rename(one, seen)),
        Value::Object(members) => members.values_mut().for_each(|one| rename(one, seen)),
        _ => {}
    }
}
