//! A cursor: it describes the last row of a page, so the next page starts after it even when that
//! row changed or is gone.
//!
//! It contains the cell, not its index key, because the column may get a slot or another type
//! meanwhile. A text that is too long for a URL is represented by its hash and found again in the
//! row.

use sha2::{Digest as _, Sha256};
use tplkit::json::Number;
use tplkit::rows::query::{Column, Row, Sort};
use tplkit::rows::{Cell, Decimal, text_form};
use uuid::Uuid;

use crate::rows::StoredRow;

/// The longest text that a cursor holds. With it a URL stays below 64 KiB.
const LONGEST: usize = 32 * 1024;

/// The place of a row in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CursorPosition {
    /// Of the row.
    pub(super) id: Uuid,
    /// Where rows are before their id is looked at.
    pub(super) at: SortKey,
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
    /// The place of a row.
    pub(crate) fn of(sort: &Sort, row: &StoredRow) -> CursorPosition {
        let at = match &sort.column {
            Column::Id => SortKey::Id,
            Column::CreatedAt => SortKey::Instant(row.created_at),
            Column::UpdatedAt => SortKey::Instant(row.updated_at),
            Column::Key(key) => match SortKey::of_cell(&row.data, key) {
                SortKey::Text(text) if text.len() > LONGEST => SortKey::Long(hash(&text)),
                at => at,
            },
        };
        CursorPosition { id: row.id, at }
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
        let mut bytes = vec![tag];
        bytes.extend_from_slice(rest);
        bytes
    }

    /// Reads it again; nothing when it is not a position in this order.
    pub fn read(sort: &Sort, id: Uuid, bytes: &[u8]) -> Option<CursorPosition> {
        let at = match (bytes.split_first(), &sort.column) {
            (None, Column::Id) => SortKey::Id,
            (Some((b'i', rest)), Column::CreatedAt | Column::UpdatedAt) => {
                SortKey::Instant(i64::from_be_bytes(rest.try_into().ok()?))
            }
            (Some((tag, rest)), Column::Key(_)) => SortKey::read(*tag, rest)?,
            _ => return None,
        };
        Some(CursorPosition { id, at })
    }
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

    use super::{CursorPosition, LONGEST, SortKey, StoredRow};

    #[test]
    fn a_place_is_read_as_it_was_written() {
        let long = "x".repeat(LONGEST + 1);
        for (sort, data, length) in [
            ("id", "{}".to_owned(), 0),
            ("-created_at", "{}".to_owned(), 9),
            ("a", "{}".to_owned(), 1),
            ("a", r#"{"a":null}"#.to_owned(), 1),
            ("a", r#"{"a":1.5}"#.to_owned(), 4),
            ("-a", r#"{"a":"1.5"}"#.to_owned(), 4),
            ("a", r#"{"a":[1,{"b":2}]}"#.to_owned(), 12),
            ("a", format!(r#"{{"a":"{long}"}}"#), 33),
        ] {
            let sort = Sort::parse(sort).expect("a sort");
            let row = StoredRow {
                id: Uuid::from_u128(7),
                created_at: -1,
                updated_at: 0,
                data,
            };
            let place = CursorPosition::of(&sort, &row);
            let bytes = place.bytes();
            assert_eq!(bytes.len(), length, "{place:?}");
            assert_eq!(CursorPosition::read(&sort, row.id, &bytes), Some(place));
        }
    }

    #[test]
    fn what_is_not_place_is_refused() {
        let read = |sort: &str, bytes: &[u8]| {
            CursorPosition::read(&Sort::parse(sort).expect("a sort"), Uuid::nil(), bytes)
                .map(|p| p.at)
        };
        assert_eq!(read("a", b"e"), Some(SortKey::Empty));
        for (sort, bytes) in [
            ("id", &b"e"[..]),
            ("created_at", b"i123"),
            ("created_at", b""),
            ("a", b""),
            ("a", b"i12345678"),
            ("a", b"nx"),
            ("a", b"n1e400"),
            ("a", b"t\0"),
            ("a", b"t\xff"),
            ("a", b"l"),
            ("a", b"ee"),
            ("a", b"z"),
        ] {
            assert_eq!(read(sort, bytes), None, "{sort} {bytes:?}");
        }
    }
}
