//! The cells of rows that a step of a plan writes.

use crate::json::{Object, Value};
use crate::package::Tool;
use crate::package::model::Step;

/// The cells of the rows that a step inserts.
pub(super) fn inserted(step: &Step) -> Vec<String> {
    match (step.tool, step.args.get("rows")) {
        (Tool::InsertRow, _) => vec![data(&step.args)],
        (Tool::InsertRows, Some(Value::List(rows))) => {
            rows.iter().filter_map(Value::as_object).map(data).collect()
        }
        _ => Vec::new(),
    }
}

/// The cells of a row, as they are written: they are data, whatever they look like.
pub(super) fn data(row: &Object) -> String {
    match row.get("data") {
        Some(cells @ Value::Object(_)) => cells.write(),
        _ => "{}".to_owned(),
    }
}
