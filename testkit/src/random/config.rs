//! Short ways to write configs.

use tplkit::json::{Object, Value};
use tplkit::workspace::Id;

/// An object of these members.
pub(super) fn object<const N: usize>(members: [(&str, Value); N]) -> Object {
    let members = members.into_iter();
    members
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// The value of an object of these members.
pub(super) fn value<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(object(members))
}

/// A list of texts.
pub(super) fn texts<T: AsRef<str>>(texts: &[T]) -> Value {
    Value::List(texts.iter().map(|text| text.as_ref().into()).collect())
}

/// An id as configs hold it.
pub(super) fn id(id: Id) -> Value {
    Value::from(id.to_string())
}

/// A whole number.
pub(super) fn integer(number: usize) -> Value {
    Value::from(i64::try_from(number).unwrap_or_default())
}
