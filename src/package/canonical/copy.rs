//! The fast way for a row: written while it is scanned, as long as it is in order.
//!
//! Most files come from an exporter that already writes members in canonical order. The first
//! member that is not sends the row the other way, over the tape.

use super::order::{Columns, Order};
use super::row::open;
use super::writer::declared;
use crate::json::scan::Scanner;
use crate::json::{SyntaxError, decode, scalar, write_string_to};
use crate::package::format::Type;

/// Appends the next value to `out` on one line. Gives false, with `out` and the scanner anywhere,
/// when members are out of order or repeated, or when a key has escapes.
pub(super) fn copy_value(
    scanner: &mut Scanner<'_>,
    text: &str,
    out: &mut String,
    ty: Type,
    columns: &Columns<'_>,
    depth: usize,
) -> Result<bool, SyntaxError> {
    match scanner.next_token() {
        Some(b'{') => {
            open(scanner, depth)?;
            copy_members(scanner, text, out, ty, columns, depth)
        }
        Some(b'[') => {
            open(scanner, depth)?;
            let of = match ty {
                Type::List(of) => *of,
                _ => Type::Any,
            };
            out.push('[');
            let mut more = scanner.first_element()?;
            while more {
                if !copy_value(scanner, text, out, of, columns, depth + 1)? {
                    return Ok(false);
                }
                more = scanner.next_element()?;
                if more {
                    out.push_str(", ");
                }
            }
            out.push(']');
            Ok(true)
        }
        Some(b'"') => {
            let token = scanner.string()?;
            match ty {
                Type::Declaration => write_string_to(out, declared(&decode(&text[token.inner()]))),
                _ if token.escaped => write_string_to(out, &decode(&text[token.inner()])),
                _ => out.push_str(&text[token.start..token.end]),
            }
            Ok(true)
        }
        _ => {
            let start = scanner.pos;
            scalar(scanner, text)?;
            out.push_str(&text[start..scanner.pos]);
            Ok(true)
        }
    }
}

/// The members of an object whose brace was read.
fn copy_members(
    scanner: &mut Scanner<'_>,
    text: &str,
    out: &mut String,
    ty: Type,
    columns: &Columns<'_>,
    depth: usize,
) -> Result<bool, SyntaxError> {
    let order = Order::of(ty, columns);
    out.push('{');
    let mut last: Option<(usize, &str)> = None;
    let mut more = scanner.first_member()?;
    while more {
        let token = scanner.string()?;
        let key = &text[token.inner()];
        let rank = order.rank(key, last.map_or(0, |last| last.0 + 1));
        if token.escaped || last.is_some_and(|last| last >= (rank, key)) {
            return Ok(false);
        }
        if last.is_some() {
            out.push_str(", ");
        }
        last = Some((rank, key));
        out.push_str(&text[token.start..token.end]);
        out.push_str(": ");
        scanner.colon()?;
        if !copy_value(scanner, text, out, order.inside(rank), columns, depth + 1)? {
            return Ok(false);
        }
        more = scanner.next_member()?;
    }
    out.push('}');
    Ok(true)
}
