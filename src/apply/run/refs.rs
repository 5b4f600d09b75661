//! What link cells point at, read from the `refs` of a row.

use std::collections::HashMap;

use crate::json::scan::Scanner;
use crate::package::reference::undollared;
use crate::rows::{Text, members, value};

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

/// One row as it is mostly written, and what comes behind it: in this order, without escapes,
/// compact or with one blank after each colon and comma.
#[inline]
fn plain(text: &str) -> Option<(RowRef<'_>, &str)> {
    let (row, rest) = member(text, "{", "\"rowUid\":")?;
    let (table, rest) = member(rest, ",", "\"featureRef\":")?;
    let (column, rest) = match member(rest, ",", "\"valueColumn\":") {
        Some((column, rest)) => (Some(column), rest),
        None => (None, rest),
    };
    let bare = |inner| Text {
        inner,
        escaped: false,
    };
    let read = RowRef {
        row: bare(row),
        table: undollared(table),
        column: column.map(bare),
    };
    Some((read, rest.strip_prefix('}')?))
}

/// The text that a key has there, and what comes behind it.
#[inline]
fn member<'t>(text: &'t str, before: &str, key: &str) -> Option<(&'t str, &'t str)> {
    let blank = |text: &'t str| text.strip_prefix(' ').unwrap_or(text);
    let text = blank(text.strip_prefix(before)?).strip_prefix(key)?;
    let text = blank(text).strip_prefix('"')?;
    let end = memchr::memchr2(b'"', b'\\', text.as_bytes())?;
    let (value, rest) = text.split_at_checked(end)?;
    Some((value, rest.strip_prefix('"')?))
}

fn text(inner: &str) -> Text<'_> {
    Text {
        inner,
        escaped: memchr::memchr(b'\\', inner.as_bytes()).is_some(),
    }
}

/// The rows that a cell points at, in the order of its elements.
#[inline]
pub(super) fn row_refs(refs: &str) -> impl Iterator<Item = RowRef<'_>> {
    let (one, list) = match plain(refs) {
        Some((row, "")) => (Some(row), None),
        _ => one_or_list(refs),
    };
    one.into_iter().chain(list.into_iter().flat_map(listed))
}

/// The rows of a list.
fn listed(list: &str) -> impl Iterator<Item = RowRef<'_>> {
    let mut scanner = Scanner::new(list, 1);
    let mut more = scanner.first_element().unwrap_or_default();
    std::iter::from_fn(move || {
        if !more {
            return None;
        }
        let row = if let Some((row, rest)) = plain(list.get(scanner.pos..)?) {
            scanner.pos = list.len() - rest.len();
            row
        } else {
            RowRef::read(members(value(list, &mut scanner)?))
        };
        more = scanner.next_element().unwrap_or_default();
        Some(row)
    })
}

fn one_or_list(refs: &str) -> (Option<RowRef<'_>>, Option<&str>) {
    let mut list = None;
    let row = RowRef::read(members(refs).inspect(|(key, value)| {
        if key.is("rows") {
            list = Some(*value);
        }
    }));
    (list.is_none().then_some(row), list)
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
    let bytes: &[u8; 38] = uid.inner.as_bytes().try_into().ok()?;
    let [b'u', b'_', hex @ ..] = bytes else {
        return None;
    };
    if [hex[8], hex[13], hex[18], hex[23]] != *b"----" || hex[14] != b'4' {
        return None;
    }
    let four = |at: usize| [hex[at], hex[at + 1], hex[at + 2], hex[at + 3]];
    let eight = |one: usize, other: usize| {
        let digits = [four(one), four(other)];
        digits_of(u64::from_be_bytes(digits.as_flattened().try_into().ok()?))
    };
    let high = u64::from(eight(0, 4)?) << 32 | u64::from(eight(9, 14)?);
    let low = u64::from(eight(19, 24)?) << 32 | u64::from(eight(28, 32)?);
    Some(u128::from(high) << 64 | u128::from(low))
}

/// The number of eight hexadecimal digits in lower case, all at once: a byte each, the first the
/// highest.
#[inline]
fn digits_of(text: u64) -> Option<u32> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // What is at most 0x7F cannot run over into the next byte below.
    if text & (ONES << 7) != 0 {
        return None;
    }
    let letters = (text >> 6) & ONES;
    let digits = (text & (0x0F * ONES)) + letters * 9;
    let spelt = digits + 0x30 * ONES + letters * 0x27;
    // Ten and more are letters, and nothing is more than fifteen.
    let tens = (digits + 6 * ONES) & (0x10 * ONES) == letters << 4;
    if spelt != text || !tens || digits & (0x10 * ONES) != 0 {
        return None;
    }
    let pairs = (digits | digits >> 4) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF;
    u32::try_from((fours | fours >> 16) & 0xFFFF_FFFF).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Uids, minted, plain, row_refs, text};

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

    proptest! {
        #[test]
        fn minted_uids_are_their_own_numbers(uid in any::<u128>(), at in 0usize..38, byte in any::<u8>()) {
            let spelt = uuid::Builder::from_random_bytes(uid.to_be_bytes()).into_uuid();
            let good = format!("u_{spelt}");
            prop_assert_eq!(minted(text(&good)), Some(spelt.as_u128()));
            let mut bad = good.clone().into_bytes();
            bad[at] = byte;
            if let Ok(bad) = String::from_utf8(bad) {
                let lower = !bad.bytes().any(|byte| byte.is_ascii_uppercase());
                let read = bad.strip_prefix("u_").filter(|_| lower);
                let read = read.and_then(|hex| uuid::Uuid::try_parse(hex).ok());
                let read = read.filter(|read| read.get_version_num() == 4);
                prop_assert_eq!(minted(text(&bad)), read.map(|read| read.as_u128()), "{}", bad);
            }
        }

        #[test]
        fn what_is_read_at_once_is_what_is_read_bit_by_bit(
            row in "[a-z_\\\\\"$]{0,6}", table in "[a-z$]{0,4}", column in proptest::option::of("[a-z\\\\\"]{0,4}"), blanks in 0usize..3,
        ) {
            let blank = " ".repeat(blanks);
            let text = crate::json::write_string;
            let column = column.map(|column| format!(",{blank}\"valueColumn\":{blank}{}", text(&column)));
            let column = column.unwrap_or_default();
            let row = text(&row);
            let triple = format!("{{\"rowUid\":{blank}{row},{blank}\"featureRef\":{blank}\"{table}\"{column}}}");
            let told = |read: super::RowRef<'_>| {
                let column = read.column.map(|column| column.decoded().into_owned());
                (read.row.decoded().into_owned(), read.table.to_owned(), column)
            };
            let slowly = told(super::RowRef::read(crate::rows::members(&triple)));
            prop_assert_eq!(plain(&triple).is_some(), blanks < 2 && !triple.contains('\\'));
            prop_assert_eq!(row_refs(&triple).map(told).collect::<Vec<_>>(), [slowly]);
        }
    }
}
