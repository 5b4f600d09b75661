//! Reads the targets of link cells from the text of a row's `refs`.

use std::borrow::Cow;

use crate::json::scan::Scanner;
use crate::package::reference::undollared;
use crate::rows::{Text, members, value};

/// A row that a value points at.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowRef<'t> {
    /// uid of the row.
    pub(super) row: Text<'t>,
    /// The ref of its table, perhaps with a dollar.
    table: Text<'t>,
    /// The column whose value the cell holds; absent in older packages, which mean the row's id.
    pub(super) column: Option<Text<'t>>,
}

impl<'t> RowRef<'t> {
    fn read(object: &'t str) -> RowRef<'t> {
        let mut read = RowRef {
            row: text(""),
            table: text(""),
            column: None,
        };
        for (key, value) in members(object) {
            let inner = value.get(1..value.len() - 1).unwrap_or_default();
            if key.is("rowUid") {
                read.row = text(inner);
            } else if key.is("featureRef") {
                read.table = text(inner);
            } else if key.is("valueColumn") && value.starts_with('"') {
                read.column = Some(text(inner));
            }
        }
        read
    }

    /// The ref of its table, without the dollar.
    pub(super) fn table(&self) -> Cow<'t, str> {
        match self.table.decoded() {
            Cow::Borrowed(text) => undollared(text).into(),
            Cow::Owned(text) => undollared(&text).to_owned().into(),
        }
    }

    /// The ref of its table, as it is written.
    pub(super) fn written_table(&self) -> &'t str {
        self.table.inner
    }

    /// What it names: the row, its table, the column.
    fn parts(&self) -> (Cow<'t, str>, Cow<'t, str>, Option<Cow<'t, str>>) {
        let column = self.column.map(Text::decoded);
        (self.row.decoded(), self.table(), column)
    }

    /// Whether it is a row of that table.
    #[inline]
    pub(super) fn is_in(&self, table: &str) -> bool {
        if self.table.escaped {
            self.table() == table
        } else {
            undollared(self.table.inner) == table
        }
    }
}

/// Text between quotes, as it is written.
pub(super) fn text(inner: &str) -> Text<'_> {
    Text {
        inner,
        escaped: memchr::memchr(b'\\', inner.as_bytes()).is_some(),
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
        table: bare(table),
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

/// The rows that one cell points at, in the order of its elements.
#[inline]
pub(super) fn row_refs(refs: &str) -> impl Iterator<Item = RowRef<'_>> {
    let (one, list) = match plain(refs) {
        Some((row, "")) => (Some(row), None),
        _ => one_or_list(refs),
    };
    one.into_iter().chain(list.into_iter().flat_map(listed))
}

fn one_or_list(refs: &str) -> (Option<RowRef<'_>>, Option<&str>) {
    let list = members(refs).find(|(key, _)| key.is("rows"));
    let list = list.map(|(_, rows)| rows);
    (list.is_none().then(|| RowRef::read(refs)), list)
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
            RowRef::read(value(list, &mut scanner)?)
        };
        more = scanner.next_element().unwrap_or_default();
        Some(row)
    })
}

/// Whether two cells point at the same rows, however that is written.
pub(super) fn same_rows(one: &str, other: &str) -> bool {
    let is_list = |refs: &str| members(refs).any(|(key, _)| key.is("rows"));
    let (ones, others) = (row_refs(one), row_refs(other));
    is_list(one) == is_list(other)
        && ones
            .map(|row| row.parts())
            .eq(others.map(|row| row.parts()))
}

/// All rows that the cells of a row point at.
pub(super) fn all_row_refs(refs: &str) -> impl Iterator<Item = RowRef<'_>> {
    members(refs).flat_map(|(_, cell)| row_refs(cell))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{all_row_refs, plain, row_refs, same_rows};

    #[test]
    fn reads_one_row_ref_or_a_list() {
        let one = r#"{ "rowUid" : "u_1", "featureRef":"$f_a" }"#;
        let read: Vec<_> = row_refs(one)
            .map(|r| (r.row.inner, r.table(), r.column.map(|c| c.inner)))
            .collect();
        assert_eq!(read, [("u_1", "f_a".into(), None)]);
        let many = r#"{"rows":[{"rowUid":"u_1","featureRef":"f_a","valueColumn":"n"},{"rowUid":"u_2","featureRef":"f_a"}]}"#;
        let read: Vec<_> = row_refs(many)
            .map(|r| (r.row.inner, r.column.map(|c| c.inner)))
            .collect();
        assert_eq!(read, [("u_1", Some("n")), ("u_2", None)]);
        let row = format!(r#"{{"x":{one},"y\u0079":{many}}}"#);
        assert_eq!(all_row_refs(&row).count(), 3);
    }

    #[test]
    fn the_same_rows_are_the_same_however_they_are_written() {
        let one = r#"{"rowUid":"u_1","featureRef":"f_a","valueColumn":"n"}"#;
        let same = [
            r#"{ "valueColumn": "n", "featureRef": "f_a", "rowUid": "u_1" }"#,
            r#"{"rowUid":"u_\u0031","featureRef":"$f_a","valueColumn":"n"}"#,
        ];
        let other = [
            r#"{"rowUid":"u_2","featureRef":"f_a","valueColumn":"n"}"#,
            r#"{"rowUid":"u_1","featureRef":"f_b","valueColumn":"n"}"#,
            r#"{"rowUid":"u_1","featureRef":"f_a"}"#,
        ];
        let listed = |text: &str| format!("{{\n\"rows\": [{text}, {text}]}}");
        for text in same {
            assert!(same_rows(one, text) && same_rows(&listed(one), &listed(text)));
            assert!(!same_rows(one, &format!("{{\"rows\":[{text}]}}")));
        }
        for text in other {
            assert!(!same_rows(one, text) && !same_rows(&listed(one), &listed(text)));
        }
    }

    #[test]
    fn a_table_is_named_with_and_without_dollar_and_escapes() {
        for named in ["f_a", "$f_a", "\\u0024f_a", "\\u0066_a"] {
            let refs = format!(r#"{{"rowUid":"u_1","featureRef":"{named}"}}"#);
            let row = row_refs(&refs).next().expect("one");
            assert!(row.is_in("f_a") && !row.is_in("f_b"), "{named}");
            assert_eq!(row.table(), "f_a");
        }
    }

    proptest! {
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
            let shown = |read: super::RowRef<'_>| {
                let column = read.column.map(|column| column.decoded().into_owned());
                (read.row.decoded().into_owned(), read.table().into_owned(), column)
            };
            let slowly = shown(super::RowRef::read(&triple));
            prop_assert_eq!(plain(&triple).is_some(), blanks < 2 && !triple.contains('\\'));
            prop_assert_eq!(row_refs(&triple).map(shown).collect::<Vec<_>>(), [slowly]);
        }
    }
}
