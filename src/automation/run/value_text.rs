//! A value inside a text.

use crate::json::Value;
use crate::rows::text_form;

/// What a value is in a text: nothing for what is empty.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => text_form(&other.write()).unwrap_or_default().into_owned(),
    }
}
