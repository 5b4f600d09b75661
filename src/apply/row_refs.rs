//! What link cells of a payload point at, read from the text of a row's `refs`.

use std::borrow::Cow;

use crate::package::reference::undollared;
use crate::rows::{Text, elements, members};

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

/// The rows that one cell points at, in the order of its elements.
pub(super) fn row_refs(refs: &str) -> impl Iterator<Item = RowRef<'_>> {
    let list = members(refs)
        .find(|(key, _)| key.is("rows"))
        .map(|(_, rows)| rows);
    let one = list.is_none().then(|| RowRef::read(refs));
    let many = list.into_iter().flat_map(elements);
    one.into_iter().chain(many.map(RowRef::read))
}

/// All rows that the cells of a row point at.
pub(super) fn all_row_refs(refs: &str) -> impl Iterator<Item = RowRef<'_>> {
    members(refs).flat_map(|(_, cell)| row_refs(cell))
}

/// What the cell of a column points at.
pub(super) fn refs_of<'t>(refs: &'t str, column: &str) -> Option<&'t str> {
    let mut cells = members(refs);
    cells.find_map(|(key, refs)| key.is(column).then_some(refs))
}

#[cfg(test)]
mod tests {
    use super::{all_row_refs, refs_of, row_refs};

    #[test]
    fn one_or_many() {
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
        assert_eq!(refs_of(&row, "yy"), Some(many));
        assert_eq!(refs_of(&row, "z"), None);
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
}
