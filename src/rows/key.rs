//! Finds one key in many rows.
//!
//! In: stored rows, each an object in the form of [`sorted_to`](super::sorted_to). Out: the text of
//! the key's cell. It stops reading a row as early as possible.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem::Finder;
use memchr::{memchr, memchr2};

use super::cell::member;
use super::text_form::text_form;

/// A key, ready to be looked for.
#[derive(Debug, Clone)]
pub struct Key {
    key: Box<str>,
    /// The key and its colon, where these bytes stand for nothing else.
    written: Option<Finder<'static>>,
}

impl Key {
    /// Makes a key ready.
    pub fn new(key: &str) -> Key {
        let written = is_plain(key).then(|| Finder::new(&format!("\"{key}\":")).into_owned());
        Key {
            key: key.into(),
            written,
        }
    }

    /// The cell of that key; nothing of a row that is not text.
    #[inline]
    pub fn cell<'a>(&self, row: &'a [u8]) -> Option<&'a str> {
        match self.find(row)? {
            KeySearch::Plain(inner) => {
                std::str::from_utf8(row.get(inner.start - 1..=inner.end)?).ok()
            }
            KeySearch::Other(cell) => Some(cell),
        }
    }

    /// The bytes of that cell's [text form](text_form), in whose order texts stand. A string that is
    /// written as it is gets no second look, not even for whether it is UTF-8.
    #[inline]
    pub fn text<'a>(&self, row: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        match self.find(row)? {
            KeySearch::Plain(inner) => row.get(inner).map(Cow::Borrowed),
            KeySearch::Other(cell) => Some(match text_form(cell)? {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            }),
        }
    }

    #[inline]
    fn find<'a>(&self, row: &'a [u8]) -> Option<KeySearch<'a>> {
        if let Some(written) = &self.written {
            let at = written.find(row)?;
            if let Some(found) = plain_cell(row, at, written.needle().len()) {
                return Some(found);
            }
        }
        member(std::str::from_utf8(row).ok()?, &self.key).map(KeySearch::Other)
    }
}

/// A cell where it was found.
enum KeySearch<'a> {
    /// A string without a backslash: where what it says is in the row.
    Plain(Range<usize>),
    /// As it is written.
    Other(&'a str),
}

/// The cell behind a key of that length, where the key is one of the row itself and the end of the cell
/// is easily seen.
#[inline]
fn plain_cell(row: &[u8], at: usize, length: usize) -> Option<KeySearch<'_>> {
    // Inside of a string a quote has a backslash before it. And where no other object began, the key is
    // one of the row.
    let before = row.get(1..at)?;
    if before.last() == Some(&b'\\') || memchr(b'{', before).is_some() {
        return None;
    }
    let cell = row.get(at + length..)?;
    match cell.first()? {
        b'"' => {
            let inner = cell.get(1..)?;
            let end = memchr2(b'"', b'\\', inner)?;
            let start = at + length + 1;
            (inner[end] == b'"').then_some(KeySearch::Plain(start..start + end))
        }
        b'[' | b'{' => None,
        _ => {
            let cell = cell.get(..memchr2(b',', b'}', cell)?)?;
            Some(KeySearch::Other(std::str::from_utf8(cell).ok()?))
        }
    }
}

/// Whether a key is written as it is, and no string can end before it: behind the quote at the end of a
/// string comes no such character.
fn is_plain(key: &str) -> bool {
    let begins = |first: u8| first.is_ascii_alphanumeric() || first == b'_' || !first.is_ascii();
    let plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    key.bytes().next().is_some_and(begins) && key.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Key;
    use crate::json::write_string;
    use crate::rows::{member, sorted_to, text_form};

    #[test]
    fn what_looks_like_the_key_is_not_taken_for_it() {
        for (row, cell) in [
            (r#"{"a":1}"#, Some("1")),
            (r#"{"b":2}"#, None),
            ("{}", None),
            (r#"{"0":{"a":2}}"#, None),
            (r#"{"0":{"a":2},"a":1}"#, Some("1")),
            (r#"{"0":[{"a":2}],"a":"x"}"#, Some(r#""x""#)),
            (r#"{"0":"{","a":[1,{"a":2}]}"#, Some(r#"[1,{"a":2}]"#)),
            (r#"{"0":"\"a\":2","a":1}"#, Some("1")),
            (r#"{"0\"a":2,"a":1}"#, Some("1")),
            (r#"{"0\"a":2}"#, None),
            (r#"{"0,\"a":2}"#, None),
            (r#"{"0":"a","aa":2}"#, None),
        ] {
            assert_eq!(Key::new("a").cell(row.as_bytes()), cell, "{row}");
        }
        // The end of one string, and the beginning of another.
        assert_eq!(Key::new(":1,").cell(br#"{"x,":1,":":5}"#), None);
        assert_eq!(Key::new("").cell(br#"{"":5}"#), Some("5"));
    }

    fn name() -> impl Strategy<Value = String> {
        "[ab\u{e9}:,{}\\[\\]\"\\\\ ]{0,3}"
    }

    fn row() -> impl Strategy<Value = String> {
        let scalar = prop_oneof![
            Just("null".to_owned()),
            "-?[0-9]\\.[0-9]{1,3}",
            name().prop_map(|text| write_string(&text)),
            name().prop_map(|text| write_string(&format!("{}:", write_string(&text)))),
        ];
        let value = scalar.prop_recursive(3, 16, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3)
                    .prop_map(|list| format!("[{}]", list.join(","))),
                prop::collection::vec((name(), inner), 0..3).prop_map(|cells| object(&cells)),
            ]
        });
        prop::collection::vec((name(), value), 0..5).prop_map(|cells| object(&cells))
    }

    fn object(cells: &[(String, String)]) -> String {
        let cells = cells
            .iter()
            .map(|(key, value)| format!("{}:{value}", write_string(key)));
        let cells: Vec<String> = cells.collect();
        format!("{{{}}}", cells.join(","))
    }

    proptest! {
        #[test]
        fn it_finds_what_a_reader_finds(row in row(), key in name()) {
            let mut kept = String::new();
            sorted_to(&mut kept, &row);
            let found = Key::new(&key).cell(kept.as_bytes());
            prop_assert_eq!(found, member(&kept, &key), "{} {:?}", kept, key);
            let text = Key::new(&key).text(kept.as_bytes());
            let expected = found.and_then(text_form);
            prop_assert_eq!(text.as_deref(), expected.as_deref().map(str::as_bytes));
        }
    }
}
