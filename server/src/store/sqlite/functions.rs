//! SQL functions for SQLite that read cells, where PostgreSQL has `json` operators and functions of
//! its own. They are pure.
//!
//! | Function | Gives |
//! |---|---|
//! | `cell_text(data, key)` | the text form; nothing of a cell that is absent or null |
//! | `cell_key(data, key)` | the order key of a number column |
//! | `cell_number(data, key)` | the order key of a JSON number; nothing of all else |
//! | `cell_digits(data, key)` | a JSON number as it is written; nothing of all else |
//! | `cell_boolean(data, key)` | 1 and 0 of the booleans; nothing of all else |
//! | `text_like(text, pattern)` | whether it is of the pattern, in which only `*` is special |
//! | `text_ilike(text, pattern)` | the same without case; here and below, what is looked for is folded |
//! | `text_contains(text, part)`, `text_starts(…)`, `text_ends(…)` | whether it has that part, without case |
//! | `cell_eq(data, key, text)`, `cell_neq(…)`, `cell_lt(…)`, `cell_lte(…)`, `cell_gt(…)`, `cell_gte(…)` | how the text form compares; nothing of a cell that is absent or null |
//! | `cell_like(data, key, pattern)`… | as `text_like` and the others, of the text form |
//!
//! The last two rows only save time in scans: they compare a cell without building its text.

use std::cmp::Ordering;
use std::sync::Arc;

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result};
use tplkit::rows::query::like;
use tplkit::rows::{Cell, Decimal, Key, fold, number_key, order_key, text_form};

/// By the ends of their names.
type NamedFunctions<T, const N: usize> = [(&'static str, T); N];

/// Tests of a text.
const TESTS: NamedFunctions<fn(&str, &str) -> bool, 5> = [
    ("like", |text, pattern| like(pattern, text)),
    ("ilike", |text, pattern| like(pattern, &fold(text))),
    ("contains", |text, part| fold(text).contains(part)),
    ("starts", |text, part| fold(text).starts_with(part)),
    ("ends", |text, part| fold(text).ends_with(part)),
];

/// Comparisons of a text with another.
const COMPARISONS: NamedFunctions<fn(Ordering) -> bool, 6> = [
    ("eq", Ordering::is_eq),
    ("neq", Ordering::is_ne),
    ("lt", Ordering::is_lt),
    ("lte", Ordering::is_le),
    ("gt", Ordering::is_gt),
    ("gte", Ordering::is_ge),
];

/// Makes the functions known to a connection.
pub(super) fn register(connection: &Connection) -> Result<()> {
    let of_cell =
        |name: &str, form: fn(&str) -> Option<String>| {
            connection
                .create_scalar_function(name, 2, FLAGS, move |call| Ok(cell(call)?.and_then(form)))
        };
    of_cell("cell_text", |raw| Some(text_form(raw)?.into_owned()))?;
    of_cell("cell_key", order_key)?;
    of_cell("cell_number", |raw| number_key(&Decimal::new(digits(raw)?)))?;
    of_cell("cell_digits", |raw| Some(digits(raw)?.to_owned()))?;
    connection.create_scalar_function("cell_boolean", 2, FLAGS, |call| {
        Ok(match cell(call)?.map(Cell::new) {
            Some(Cell::Bool(value)) => Some(value),
            _ => None,
        })
    })?;
    for (name, holds) in TESTS {
        connection.create_scalar_function(&*format!("text_{name}"), 2, FLAGS, move |call| {
            Ok(text(call, 0)
                .zip(text(call, 1))
                .map(|(text, part)| holds(text, part)))
        })?;
        connection.create_scalar_function(&*format!("cell_{name}"), 3, FLAGS, move |call| {
            let form = cell(call)?.and_then(text_form);
            Ok(form
                .zip(text(call, 2))
                .map(|(text, part)| holds(&text, part)))
        })?;
    }
    for (name, holds) in COMPARISONS {
        connection.create_scalar_function(&*format!("cell_{name}"), 3, FLAGS, move |call| {
            let (ValueRef::Text(row), ValueRef::Text(other)) = (call.get_raw(0), call.get_raw(2))
            else {
                return Ok(None);
            };
            // The order of texts is that of their bytes.
            Ok(key(call)?.text(row).map(|text| holds((*text).cmp(other))))
        })?;
    }
    Ok(())
}

const FLAGS: FunctionFlags = FunctionFlags::SQLITE_UTF8
    .union(FunctionFlags::SQLITE_DETERMINISTIC)
    .union(FunctionFlags::SQLITE_INNOCUOUS);

/// The cell of the first argument whose key is the second.
fn cell<'a>(call: &'a Context<'_>) -> Result<Option<&'a str>> {
    let ValueRef::Text(row) = call.get_raw(0) else {
        return Ok(None);
    };
    Ok(key(call)?.cell(row))
}

/// The second argument: made ready once for a statement, as long as it is a parameter.
fn key(call: &Context<'_>) -> Result<Arc<Key>> {
    call.get_or_create_aux(1, |key| key.as_str().map(Key::new))
}

fn text<'a>(call: &'a Context<'_>, index: usize) -> Option<&'a str> {
    match call.get_raw(index) {
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

fn digits(raw: &str) -> Option<&str> {
    match Cell::new(raw) {
        Cell::Number(token) => Some(token),
        _ => None,
    }
}
