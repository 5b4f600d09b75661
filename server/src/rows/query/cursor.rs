//! A cursor: it describes the last row of a page, so the next page starts after it even when that
//! row changed or is gone.
//!
//! It contains the cell, not its index key, because the column may get a slot meanwhile, and how cells
//! compare, because the column may get another type: in another order the row has another place. A text
//! that is too long for a URL is represented by its hash and found again in the row.

use sha2::{Digest as _, Sha256};
use tplkit::json::Number;
use tplkit::rows::query::{Column, Order, Row, Sort};
use tplkit::rows::{Cell, Decimal, text_form};
use uuid::Uuid;

use super::cell_order::order_of;
use crate::rows::{StoredRow, Table};

/// The longest text that a cursor holds. With it a URL stays below 64 KiB.
const MAX_TEXT_BYTES: usize = 32 * 1024;

/// What stands in a cursor for the order of texts, and for that of numbers.
const TEXT: u8 = b'T';
const NUMBER: u8 = b'N';

/// The place of a row in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CursorPosition {
    /// Of the row.
    pub(super) id: Uuid,
    /// Where rows are before their id is looked at.
    pub(super) at: SortKey,
    /// How cells compare there; nothing where rows are not sorted by a cell.
    pub(super) order: Option<Order>,
}

/// What a row is sorted by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SortKey {
    /// Its id.
    Id,
    /// One of its times.
    Instant(i64),
    /// A cell that is a number, in plain form.
    Number(String),
    /// The text form of another cell.
    Text(String),
    /// A text that is too long to be carried: its hash.
    Long([u8; 32]),
    /// No cell.
    Empty,
}

impl CursorPosition {
    /// The place of a row of the table.
    pub(crate) fn of(sort: &Sort, table: &Table, row: &StoredRow) -> CursorPosition {
        let at = match &sort.column {
            Column::Id => SortKey::Id,
            Column::CreatedAt => SortKey::Instant(row.created_at),
            Column::UpdatedAt => SortKey::Instant(row.updated_at),
            Column::Key(key) => match SortKey::of_cell(&row.data, key) {
                SortKey::Text(text) if text.len() > MAX_TEXT_BYTES => SortKey::Long(hash(&text)),
                at => at,
            },
        };
        CursorPosition {
            id: row.id,
            at,
            order: sorted(sort, table),
        }
    }

    /// Whether it is one in the order that the table has now.
    pub(super) fn is_in(&self, sort: &Sort, table: &Table) -> bool {
        self.order == sorted(sort, table)
    }

    /// What a cursor says besides the id.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let (tag, rest): (u8, &[u8]) = match &self.at {
            SortKey::Id => return Vec::new(),
            SortKey::Instant(instant) => (b'i', &instant.to_be_bytes()),
            SortKey::Number(number) => (b'n', number.as_bytes()),
            SortKey::Text(text) => (b't', text.as_bytes()),
            SortKey::Long(hash) => (b'l', hash),
            SortKey::Empty => (b'e', &[]),
        };
        let order = self.order.map(|order| match order {
            Order::Text => TEXT,
            Order::Number => NUMBER,
        });
        let head = order.into_iter().chain([tag]);
        head.chain(rest.iter().copied()).collect()
    }

    /// Reads it again; nothing when it is not a position in this order.
    pub fn read(sort: &Sort, id: Uuid, bytes: &[u8]) -> Option<CursorPosition> {
        let (order, at) = match (bytes.split_first(), &sort.column) {
            (None, Column::Id) => (None, SortKey::Id),
            (Some((b'i', rest)), Column::CreatedAt | Column::UpdatedAt) => {
                let instant = i64::from_be_bytes(rest.try_into().ok()?);
                (None, SortKey::Instant(instant))
            }
            (Some((order, rest)), Column::Key(_)) => {
                let order = match *order {
                    TEXT => Order::Text,
                    NUMBER => Order::Number,
                    _ => return None,
                };
                let (tag, rest) = rest.split_first()?;
                (Some(order), SortKey::read(*tag, rest)?)
            }
            _ => return None,
        };
        Some(CursorPosition { id, at, order })
    }
}

/// How the cells compare that rows of the table are sorted by, if they are.
fn sorted(sort: &Sort, table: &Table) -> Option<Order> {
    sort.column.key().map(|key| order_of(table, key))
}

impl SortKey {
    fn read(tag: u8, rest: &[u8]) -> Option<SortKey> {
        let text = || {
            String::from_utf8(rest.to_vec())
                .ok()
                .filter(|text| !text.contains('\0'))
        };
        Some(match tag {
            b'n' => {
                let number = text()?;
                let token = Number::parse(&number)?;
                if !Decimal::new(token.as_str()).is_storable() {
                    return None;
                }
                SortKey::Number(number)
            }
            b't' => SortKey::Text(text()?),
            b'l' => SortKey::Long(rest.try_into().ok()?),
            b'e' if rest.is_empty() => SortKey::Empty,
            _ => return None,
        })
    }

    /// By the cell of that key in some data.
    pub(super) fn of_cell(data: &str, key: &str) -> SortKey {
        let row = Row {
            id: Uuid::nil(),
            created_at: 0,
            updated_at: 0,
            data,
        };
        let Some(raw) = row.cell(key) else {
            return SortKey::Empty;
        };
        let text = text_form(raw).unwrap_or_default().into_owned();
        match Cell::new(raw) {
            Cell::Number(token) if Decimal::new(token).is_storable() => SortKey::Number(text),
            _ => SortKey::Text(text),
        }
    }
}

/// The hash by which a long text is known.
pub(super) fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

#[cfg(test)]
mod tests {
    use tplkit::rows::query::Sort;
    use uuid::Uuid;

    use super::{CursorPosition, MAX_TEXT_BYTES, SortKey, StoredRow, Table};

    fn table() -> Table {
        Table::sample(&[("a", "text", None), ("n", "currency", None)])
    }

    #[test]
    fn a_place_is_read_as_it_was_written() {
        let long = "x".repeat(MAX_TEXT_BYTES + 1);
        for (sort, data, length) in [
            ("id", "{}".to_owned(), 0),
            ("-created_at", "{}".to_owned(), 9),
            ("a", "{}".to_owned(), 2),
            ("a", r#"{"a":null}"#.to_owned(), 2),
            ("a", r#"{"a":1.5}"#.to_owned(), 5),
            ("-a", r#"{"a":"1.5"}"#.to_owned(), 5),
            ("-n", r#"{"n":1.5}"#.to_owned(), 5),
            ("a", r#"{"a":[1,{"b":2}]}"#.to_owned(), 13),
            ("a", format!(r#"{{"a":"{long}"}}"#), 34),
        ] {
            let sort = Sort::parse(sort).expect("a sort");
            let row = StoredRow {
                id: Uuid::from_u128(7),
                created_at: -1,
                updated_at: 0,
                data,
            };
            let place = CursorPosition::of(&sort, &table(), &row);
            let bytes = place.bytes();
            assert_eq!(bytes.len(), length, "{place:?}");
            assert_eq!(CursorPosition::read(&sort, row.id, &bytes), Some(place));
        }
    }

    #[test]
    fn a_place_is_one_in_the_order_that_the_column_had() {
        let row = StoredRow {
            id: Uuid::nil(),
            created_at: 0,
            updated_at: 0,
            data: r#"{"n":9}"#.to_owned(),
        };
        for (sort, kind, same) in [
            ("n", "number", true),
            ("-n", "text", false),
            ("n", "json", false),
            ("id", "text", true),
            ("updated_at", "text", true),
        ] {
            let sort = Sort::parse(sort).expect("a sort");
            let place = CursorPosition::of(&sort, &table(), &row);
            let later = Table::sample(&[("n", kind, Some(1))]);
            assert_eq!(place.is_in(&sort, &later), same, "{sort:?} {kind}");
            let gone = Table::sample(&[]);
            assert_eq!(place.is_in(&sort, &gone), sort.column.key().is_none());
        }
    }

    #[test]
    fn what_is_not_place_is_refused() {
        let read = |sort: &str, bytes: &[u8]| {
            CursorPosition::read(&Sort::parse(sort).expect("a sort"), Uuid::nil(), bytes)
                .map(|p| p.at)
        };
        assert_eq!(read("a", b"Te"), Some(SortKey::Empty));
        for (sort, bytes) in [
            ("id", &b"Te"[..]),
            ("created_at", b"i123"),
            ("created_at", b""),
            ("a", b""),
            ("a", b"T"),
            ("a", b"e"),
            ("a", b"Xe"),
            ("a", b"Ti12345678"),
            ("a", b"Nnx"),
            ("a", b"Nn1e400"),
            ("a", b"Tt\0"),
            ("a", b"Tt\xff"),
            ("a", b"Tl"),
            ("a", b"Tee"),
            ("a", b"Tz"),
        ] {
            assert_eq!(read(sort, bytes), None, "{sort} {bytes:?}");
        }
    }
}
