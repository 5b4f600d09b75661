//! A page in the order of a slot's index, which holds `(slot, id)`, both ascending.
//!
//! A page consists of consecutive parts, each in index order; a part reads only as many rows as the
//! parts before it left open. Rows without a cell, which the index lacks, are read last and only
//! when needed. In descending order equal cells are still sorted by ascending id, which no index
//! provides. When filters need only slots, a first query finds the cell of the last row: rows above
//! it are few and are sorted, rows equal to it follow the index. So a column with few distinct
//! values is read no further than one with many. When a filter reads the data of rows, this would
//! cost more and is not done.

use std::fmt::Write as _;

use super::CursorPosition;
use super::cell_order::{KeyOrder, Segment, segments};
use super::composer::Composer;
use super::order::key;
use super::selected_columns::{ROWS, VERSION};
use crate::store::Dialect;

/// Stands in a condition for the cell with which the page ends, as it was measured last.
const LAST: &str = "(LAST)";

/// A part of a page.
struct KeysetPart {
    /// Beyond what all rows of the page have in common.
    condition: String,
    order: String,
    /// The cells by which it is measured first.
    measured: Option<String>,
}

impl KeysetPart {
    fn new(condition: impl Into<String>, order: impl Into<String>) -> KeysetPart {
        KeysetPart {
            condition: condition.into(),
            order: order.into(),
            measured: None,
        }
    }
}

impl Composer<'_> {
    /// The statements that find so many of the rows that are `found`, behind a place, by a slot.
    ///
    /// PostgreSQL, which may be far away, gets one of all parts. SQLite would put the text of a part
    /// in place of its name each time it is there; it is asked for one part after the other.
    pub(super) fn keyset(
        &mut self,
        found: &str,
        slot: &str,
        sorted: KeyOrder,
        after: Option<&CursorPosition>,
        look: i64,
    ) -> Vec<String> {
        let parts = self.parts(slot, sorted, after);
        let look = self.limit(look);
        if self.dialect == Dialect::Postgres && parts.len() > 1 {
            return vec![union_all(parts, found, slot, sorted.descending, &look)];
        }
        let mut last = None;
        let statements = parts.into_iter().map(|part| {
            let mut condition = part.condition;
            if let Some(cells) = part.measured {
                last = Some(measure(found, slot, &cells, &look));
            }
            if let Some(last) = &last {
                condition = condition.replace(LAST, &format!("({last})"));
            }
            format!(
                "SELECT {VERSION}, {ROWS} FROM rows WHERE {found} AND {condition} \
                 ORDER BY {} LIMIT {look}",
                part.order
            )
        });
        statements.collect()
    }

    fn parts(
        &mut self,
        slot: &str,
        KeyOrder { order, descending }: KeyOrder,
        after: Option<&CursorPosition>,
    ) -> Vec<KeysetPart> {
        let mut parts = Vec::new();
        let mut segments = segments(order, descending);
        let mut to = None;
        if let Some(place) = after {
            let id = self.value(place.id);
            let Some(key) = key(order, &place.at) else {
                let condition = format!("{slot} IS NULL AND id > {id}");
                return vec![KeysetPart::new(condition, "id")];
            };
            let passed = segments
                .iter()
                .take_while(|segment| segment.is_before(&key));
            segments = &segments[passed.count()..];
            let key = self.value(key);
            if descending {
                parts.push(KeysetPart::new(
                    format!("{slot} = {key} AND id > {id}"),
                    "id",
                ));
                to = Some(key);
            } else {
                // The first of the two shows that the index, which is partial, has all of them.
                let condition = format!("{slot} >= {key} AND ({slot}, id) > ({key}, {id})");
                parts.push(KeysetPart::new(condition, format!("{slot}, id")));
                segments = &[];
            }
        }
        for segment in segments {
            let cells = segment.condition(slot, to.take());
            if !descending {
                parts.push(KeysetPart::new(cells, format!("{slot}, id")));
            } else if self.reads_data() {
                parts.push(KeysetPart::new(cells, format!("{slot} DESC, id")));
            } else {
                let above = format!("{cells} AND {slot} > {LAST}");
                let mut above = KeysetPart::new(above, format!("{slot} DESC, id"));
                above.measured = Some(cells);
                parts.push(above);
                parts.push(KeysetPart::new(format!("{slot} = {LAST}"), "id"));
            }
        }
        parts.push(KeysetPart::new(format!("{slot} IS NULL"), "id"));
        parts
    }
}

/// One statement of all parts. A part that is not needed has no row to look for.
///
/// What is measured descending is read once, with equals the wrong way round: of those all but the last
/// cell are rows of the page as they are. All limits are numbers, and what is left is a limit around
/// another: PostgreSQL plans for as many rows as it can read.
fn union_all(
    parts: Vec<KeysetPart>,
    found: &str,
    slot: &str,
    descending: bool,
    look: &str,
) -> String {
    let (mut with, mut all, mut left) = (Vec::new(), Vec::new(), look.to_owned());
    let mut last = String::new();
    for (number, part) in (1..).zip(parts) {
        let rows = |condition: &str, order: &str, counted: bool| {
            let rows = format!(
                "SELECT {number} AS part, id, created_at, updated_at, data, {slot} AS k FROM rows \
                 WHERE {found} AND {condition} ORDER BY {order} LIMIT {look}"
            );
            if counted && number > 1 {
                format!(
                    "p{number} AS MATERIALIZED (SELECT * FROM ({rows}) AS p LIMIT greatest({left}, 0))"
                )
            } else {
                format!("p{number} AS MATERIALIZED ({rows})")
            }
        };
        if let Some(cells) = part.measured {
            with.push(rows(&cells, &format!("{slot} DESC, id DESC"), true));
            last = format!("(SELECT min(k) FROM p{number})");
            all.push(format!("SELECT * FROM p{number} WHERE k > {last}"));
        } else {
            let condition = part.condition.replace(LAST, &last);
            // Equals of what was measured are counted there.
            let counted = condition == part.condition;
            with.push(rows(&condition, &part.order, counted));
            all.push(format!("SELECT * FROM p{number}"));
            if !counted {
                continue;
            }
        }
        // Writing to a String cannot fail.
        let _ = write!(left, " - (SELECT count(part) FROM p{number})");
    }
    let down = if descending { " DESC" } else { "" };
    format!(
        "SELECT {VERSION}, {ROWS} FROM (WITH {} {}) AS found ORDER BY part, k{down}, id LIMIT {look}",
        with.join(", "),
        all.join(" UNION ALL "),
    )
}

/// The last of so many cells, descending.
fn measure(found: &str, slot: &str, cells: &str, look: &str) -> String {
    format!(
        "SELECT min(k) AS k FROM (SELECT {slot} AS k FROM {{whole rows}} WHERE {found} AND {cells} \
         ORDER BY {slot} DESC LIMIT {look}) AS cells"
    )
}

impl Segment {
    /// Whether it ends before that key.
    fn is_before(&self, key: &str) -> bool {
        self.to.is_some_and(|to| to <= key)
    }

    /// The condition of its cells, below one of them if that is given.
    fn condition(&self, slot: &str, below: Option<String>) -> String {
        let from = self.from.map(|from| format!("{slot} >= '{from}'"));
        let to = below.or_else(|| self.to.map(|to| format!("'{to}'")));
        let to = to.map(|to| format!("{slot} < {to}"));
        match (from, to) {
            (Some(from), Some(to)) => format!("{from} AND {to}"),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => format!("{slot} IS NOT NULL"),
        }
    }
}
