//! What PostgreSQL does with `json` and its own functions, for the statements that ask for cells: the
//! library's judgement as functions of SQL. They look at their arguments and at nothing else.
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

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result};
use tplkit::rows::query::like;
use tplkit::rows::{Cell, Decimal, fold, member, number_key, order_key, text_form};

/// Makes the functions known to a connection.
pub(super) fn register(connection: &Connection) -> Result<()> {
    let of_cell = |name: &str, form: fn(&str) -> Option<String>| {
        connection.create_scalar_function(name, 2, FLAGS, move |call| Ok(cell(call).and_then(form)))
    };
    of_cell("cell_text", |raw| Some(text_form(raw)?.into_owned()))?;
    of_cell("cell_key", order_key)?;
    of_cell("cell_number", |raw| number_key(&Decimal::new(digits(raw)?)))?;
    of_cell("cell_digits", |raw| Some(digits(raw)?.to_owned()))?;
    connection.create_scalar_function("cell_boolean", 2, FLAGS, |call| {
        Ok(match cell(call).map(Cell::new) {
            Some(Cell::Bool(value)) => Some(value),
            _ => None,
        })
    })?;
    let of_text = |name: &str, holds: fn(&str, &str) -> bool| {
        connection.create_scalar_function(name, 2, FLAGS, move |call| {
            Ok(text(call, 0)
                .zip(text(call, 1))
                .map(|(text, part)| holds(text, part)))
        })
    };
    of_text("text_like", |text, pattern| like(pattern, text))?;
    of_text("text_ilike", |text, pattern| like(pattern, &fold(text)))?;
    of_text("text_contains", |text, part| fold(text).contains(part))?;
    of_text("text_starts", |text, part| fold(text).starts_with(part))?;
    of_text("text_ends", |text, part| fold(text).ends_with(part))
}

const FLAGS: FunctionFlags = FunctionFlags::SQLITE_UTF8
    .union(FunctionFlags::SQLITE_DETERMINISTIC)
    .union(FunctionFlags::SQLITE_INNOCUOUS);

fn cell<'a>(call: &'a Context<'_>) -> Option<&'a str> {
    member(text(call, 0)?, text(call, 1)?)
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
