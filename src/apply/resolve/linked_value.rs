//! What cells of a link column hold where people have changed what the column shows.

use super::bindings::{Binding, Bindings};
use super::built::BuiltColumn;
use crate::apply::LinkedValue;
use crate::json::Value;

/// What cells of a column hold of the rows that they point at, as the column is once the structure is written.
pub(super) fn of(built: &BuiltColumn, bindings: &Bindings<'_>) -> LinkedValue {
    // What stands for nothing at the destination is an empty text.
    let config = |key: &str| {
        let text = built.column.config.get(key).and_then(Value::as_str);
        text.filter(|text| !text.is_empty())
    };
    let bound = |reference: &Option<String>| {
        let binding = bindings.of(reference.as_deref()?);
        match binding {
            Binding::Record(record) if !record.gone => Some(record),
            _ => None,
        }
    };
    let Some(table) = bound(&built.link.table) else {
        return LinkedValue::AsPackaged;
    };
    if config("linkedFeatureId").is_some_and(|linked| linked != table.id.to_string()) {
        return LinkedValue::Unknown;
    }
    let Some(shown) = config("linkedValueColumn") else {
        return LinkedValue::AsPackaged;
    };
    match bound(&built.link.value) {
        Some(column) if column.name == shown => LinkedValue::AsPackaged,
        // A column that is not there any more: what the package names has no value here.
        _ => LinkedValue::Column(shown.to_owned()),
    }
}
