//! Merges a request into an existing row.

use std::borrow::Cow;

use tplkit::rows::members;

use super::prepare::SourceCell;
use super::table::Table;

/// The cells that a row is to hold: of what it held and what was sent, both in the order of keys.
///
/// A merge takes null for "remove"; else what was sent takes the place of everything, but for the
/// identity of the row: cells elsewhere hold it, so it stays as long as nobody sends another.
pub fn merge<'s>(
    table: &Table,
    stored: &'s str,
    sent: &[(&'s str, &'s str)],
    merge: bool,
) -> Vec<SourceCell<'s>> {
    let stays = |key: &str| {
        merge
            || table
                .column(key)
                .is_some_and(|column| column.rule.identity.is_some())
    };
    let mut result = Vec::with_capacity(sent.len());
    let mut sent = sent.iter().copied().peekable();
    let put = |result: &mut Vec<SourceCell<'s>>, (key, raw): (&'s str, &'s str)| {
        if !(merge && raw == "null") {
            result.push(SourceCell::sent(key, raw));
        }
    };
    for (key, raw) in members(stored) {
        let key: Cow<'s, str> = key.decoded();
        while let Some(cell) = sent.next_if(|(other, _)| *other < key.as_ref()) {
            put(&mut result, cell);
        }
        if let Some(cell) = sent.next_if(|(other, _)| *other == key) {
            put(&mut result, cell);
        } else if stays(&key) {
            result.push(SourceCell {
                key,
                raw,
                kept: true,
            });
        }
    }
    for cell in sent {
        put(&mut result, cell);
    }
    result
}
