//! Logs the SQL statements that are sent to the store, to find slow or wrong ones.
//!
//! It shows the types of parameters, never values, so the log contains no user data. Off by
//! default; `TPLKIT_LOG=sql` turns it on for `serve` and `worker`.

use tracing::Level;

use super::Value;
use super::statement::Statement;

/// The target of the events, for filters.
pub const TARGET: &str = "sql";

/// Shows words without parameters: `BEGIN`, `COMMIT` and their like.
pub(super) fn control(words: &str) {
    tracing::event!(target: TARGET, Level::DEBUG, sql = words, "statement");
}

/// Shows one statement with the types of its parameters.
pub(super) fn statement(text: &str, parameters: &[Value]) {
    repeated(text, parameters, 1);
}

/// Shows statements in the order in which they leave; one that leaves many times in a row is shown once.
pub(super) fn statements(sent: &[(&Statement, &[Value])]) {
    if !tracing::enabled!(target: TARGET, Level::DEBUG) {
        return;
    }
    let alike = |a: &(&Statement, &[Value]), b: &(&Statement, &[Value])| std::ptr::eq(a.0, b.0);
    for alike in sent.chunk_by(alike) {
        let (statement, parameters) = alike[0];
        repeated(&statement.text, parameters, alike.len());
    }
}

fn repeated(text: &str, parameters: &[Value], times: usize) {
    if !tracing::enabled!(target: TARGET, Level::DEBUG) {
        return;
    }
    let types: Vec<&str> = parameters.iter().map(type_of).collect();
    let types = types.join(", ");
    let times = (times > 1).then_some(times);
    tracing::event!(target: TARGET, Level::DEBUG, sql = text, types, times, "statement");
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Id(_) => "uuid",
        Value::Ids(_) => "uuid[]",
        Value::Text(_) => "text",
        Value::Texts(_) => "text[]",
        Value::Int(_) => "bigint",
        Value::Ints(_) => "bigint[]",
        Value::Bool(_) => "boolean",
        Value::Bytes(_) => "bytea",
        Value::List(_) => "list",
    }
}
