//! Compares values for conditions and cases.
//!
//! Numbers, and texts that look like numbers, compare by amount; everything else compares as text.
//! An empty value is the empty text.

use std::cmp::Ordering;

use super::value_text::text_of;
use crate::json::{Number, Value};
use crate::rows::Decimal;

/// The digits of a number, or of a text that is one.
pub(in crate::automation) fn digits(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.as_str().to_owned()),
        Value::String(text) => Number::parse(text.trim()).map(|number| number.as_str().to_owned()),
        _ => None,
    }
}

/// How two values stand to each other.
pub(in crate::automation) fn compare(one: &Value, other: &Value) -> Ordering {
    match (digits(one), digits(other)) {
        (Some(one), Some(other)) => Decimal::new(&one).cmp(&Decimal::new(&other)),
        _ => text_of(one).cmp(&text_of(other)),
    }
}

/// Whether two values are the same to an automation.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    compare(one, other).is_eq()
}

/// Whether nothing is there.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::List(elements) => elements.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether the condition holds; nothing for an operator that does not exist.
pub(super) fn holds(op: &str, left: &Value, right: &Value) -> Option<bool> {
    let order = || compare(left, right);
    Some(match op {
        "eq" => order().is_eq(),
        "neq" => order().is_ne(),
        "gt" => order().is_gt(),
        "gte" => order().is_ge(),
        "lt" => order().is_lt(),
        "lte" => order().is_le(),
        "contains" => match left {
            Value::List(elements) => elements.iter().any(|element| same(element, right)),
            other => text_of(other).contains(&text_of(right)),
        },
        "isEmpty" => is_empty(left),
        "isNotEmpty" => !is_empty(left),
        _ => return None,
    })
}
