//! Names of records that the destination does not have any more, as values of the package hold them
//! while an upgrade is worked out: they keep which record it was, and what the value was.

use crate::json::{Object, Value};

/// Stands in no name and no id.
const MARK: char = '\u{0}';

/// The text of a use of a ref, marked.
pub(super) fn marked(reference: &str, text: &str) -> String {
    format!("{MARK}{reference}{MARK}{text}")
}

/// The ref and the text of a marked use.
fn read(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix(MARK)?.split_once(MARK)
}

/// The refs of all marked uses in a value.
pub(super) fn refs(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(value, &mut found);
    found
}

fn collect(value: &Value, found: &mut Vec<String>) {
    let mut note = |text: &str| found.extend(read(text).map(|(reference, _)| reference.to_owned()));
    match value {
        Value::String(text) => note(text),
        Value::List(elements) => elements.iter().for_each(|one| collect(one, found)),
        Value::Object(members) => {
            members.keys().for_each(|key| note(key));
            members.values().for_each(|one| collect(one, found));
        }
        _ => {}
    }
}

/// The value without marks.
pub(super) fn plain(value: &Value) -> Value {
    let text = |text: &str| read(text).map_or(text, |(_, text)| text).to_owned();
    match value {
        Value::String(held) => text(held).into(),
        Value::List(elements) => Value::List(elements.iter().map(plain).collect()),
        Value::Object(members) => {
            let members = members.iter();
            Value::Object(members.map(|(key, one)| (text(key), plain(one))).collect())
        }
        other => other.clone(),
    }
}

/// An object without what is marked: elements of lists and members go.
pub(super) fn without(object: &Object) -> Object {
    let members = object.iter().filter(|(key, value)| {
        let text = value.as_str().and_then(read);
        read(key).is_none() && text.is_none()
    });
    members
        .map(|(key, value)| (key.clone(), cut(value)))
        .collect()
}

/// The same of what is inside a value.
pub(super) fn cut(value: &Value) -> Value {
    match value {
        Value::Object(object) => without(object).into(),
        Value::List(elements) => {
            let kept = elements
                .iter()
                .filter(|one| one.as_str().and_then(read).is_none());
            Value::List(kept.map(cut).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::{marked, plain, refs, without};
    use crate::json::{Object, Value};

    #[test]
    fn what_is_marked_is_found_taken_back_and_left_out() {
        let gone: Value = marked("c_a", "a").into();
        let list = Value::List(vec!["b".into(), gone.clone()]);
        let object = Object::from_iter([("list".to_owned(), list), ("one".to_owned(), gone)]);
        let value = Value::Object(object.clone());
        assert_eq!(refs(&value), ["c_a", "c_a"]);
        assert_eq!(plain(&value).write(), r#"{"list":["b","a"],"one":"a"}"#);
        assert_eq!(Value::from(without(&object)).write(), r#"{"list":["b"]}"#);
    }
}
