//! What link cells point at, read from the `refs` of a row.

use std::collections::HashMap;

use crate::package::reference::undollared;
use crate::rows::{Text, elements, members};

/// A row that a value points at.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowRef<'t> {
    /// uid of the row.
    pub(super) row: Text<'t>,
    /// The ref of its table.
    pub(super) table: &'t str,
    /// The column whose value the cell holds; absent in older packages.
    pub(super) column: Option<Text<'t>>,
}

impl<'t> RowRef<'t> {
    fn read(members: impl Iterator<Item = (Text<'t>, &'t str)>) -> RowRef<'t> {
        let mut read = RowRef {
            row: text(""),
            table: "",
            column: None,
        };
        for (key, value) in members {
            let inner = value.get(1..value.len() - 1).unwrap_or_default();
            if key.is("rowUid") {
                read.row = text(inner);
            } else if key.is("featureRef") {
                // Refs have no characters that need an escape.
                read.table = undollared(inner);
            } else if key.is("valueColumn") && value.starts_with('"') {
                read.column = Some(text(inner));
            }
        }
        read
    }
}

fn text(inner: &str) -> Text<'_> {
    Text {
        inner,
        escaped: memchr::memchr(b'\\', inner.as_bytes()).is_some(),
    }
}

/// The rows that a cell points at, in the order of its elements.
pub(super) fn row_refs(refs: &str) -> impl Iterator<Item = RowRef<'_>> {
    let mut list = None;
    let row = RowRef::read(members(refs).inspect(|(key, value)| {
        if key.is("rows") {
            list = Some(*value);
        }
    }));
    let one = list.is_none().then_some(row);
    let many = list.into_iter().flat_map(elements);
    one.into_iter()
        .chain(many.map(|triple| RowRef::read(members(triple))))
}

/// Numbers that stand for uids: hashing sixteen bytes is cheaper than forty.
#[derive(Debug, Default)]
pub(super) struct Uids {
    /// Uids that are spelt otherwise than minted ones.
    others: HashMap<Box<str>, u128>,
}

impl Uids {
    /// The number of a uid. A minted one is its own; others count up, and never meet those,
    /// because their version digit is zero.
    pub(super) fn number(&mut self, uid: Text<'_>) -> u128 {
        if let Some(number) = minted(uid) {
            return number;
        }
        let next = self.others.len() as u128;
        let uid = uid.decoded().into_owned().into_boxed_str();
        *self.others.entry(uid).or_insert(next)
    }

    /// The number of a uid, if it was ever seen.
    pub(super) fn seen(&self, uid: Text<'_>) -> Option<u128> {
        minted(uid).or_else(|| self.others.get(&*uid.decoded()).copied())
    }
}

/// `u_` and a version 4 UUID in lower case, which is how uids are minted.
#[inline]
fn minted(uid: Text<'_>) -> Option<u128> {
    let hex = uid.inner.strip_prefix("u_")?.as_bytes();
    let lower = hex.len() == 36 && !hex.iter().any(u8::is_ascii_uppercase);
    let number = uuid::Uuid::try_parse_ascii(hex).ok()?;
    (lower && number.get_version_num() == 4).then(|| number.as_u128())
}

#[cfg(test)]
mod tests {
    use super::{Uids, row_refs, text};

    #[test]
    fn one_or_many() {
        let one = r#"{ "rowUid" : "u_1", "featureRef":"$f_a" }"#;
        let read: Vec<_> = row_refs(one)
            .map(|r| (r.row.inner, r.table, r.column.map(|c| c.inner)))
            .collect();
        assert_eq!(read, [("u_1", "f_a", None)]);
        let many = r#"{"rows":[{"rowUid":"u_1","featureRef":"f_a","valueColumn":"n"},{"rowUid":"u_2","featureRef":"f_a"}]}"#;
        let read: Vec<_> = row_refs(many)
            .map(|r| (r.row.inner, r.column.map(|c| c.inner)))
            .collect();
        assert_eq!(read, [("u_1", Some("n")), ("u_2", None)]);
    }

    #[test]
    fn every_uid_has_a_number_of_its_own() {
        let mut uids = Uids::default();
        let spellings = [
            "u_da94e3e8-ab73-438f-af18-22ffbc688778",
            "u_DA94E3E8-AB73-438F-AF18-22FFBC688778",
            "u_da94e3e8ab73438faf1822ffbc688778",
            "u_00000000-0000-0000-0000-000000000000",
            "u_00000000-0000-0000-0000-000000000001",
            "row-1",
            "",
        ];
        let numbers: Vec<u128> = spellings.iter().map(|uid| uids.number(text(uid))).collect();
        for (at, uid) in spellings.iter().enumerate() {
            assert_eq!(uids.seen(text(uid)), Some(numbers[at]));
            assert!(!numbers[..at].contains(&numbers[at]), "{uid}");
        }
        assert_eq!(uids.seen(text("row-\\u0031")), Some(numbers[5]));
        assert_eq!(uids.seen(text("row-2")), None);
    }
}
