//! Rows of a payload as they are written, read one by one and never held as a tree.

use crate::rows::{Text, elements, members};

/// The rows of one table in a well-formed package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawEntry<'t> {
    /// The ref of the table, without the dollar.
    pub feature_ref: String,
    /// uid of the rows item.
    pub item_uid: String,
    /// The column by which rows may be matched.
    pub key_column: Option<String>,
    /// Whether its values were found filled and distinct.
    pub key_unique: bool,
    /// The columns that rows carry, in table order.
    pub columns: Vec<String>,
    /// The list of rows, as it is written.
    pub rows: &'t str,
}

/// One row. Objects and lists in it are JSON text, perhaps with white space between tokens.
#[derive(Debug, Clone, Copy)]
pub struct RawRow<'t> {
    /// Identity in the package.
    pub uid: Text<'t>,
    /// Its cells.
    pub data: &'t str,
    /// What its link cells point at.
    pub refs: Option<&'t str>,
}

impl<'t> RawEntry<'t> {
    /// The rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = RawRow<'t>> + use<'t> {
        elements(self.rows).map(RawRow::read)
    }
}

impl<'t> RawRow<'t> {
    fn read(row: &'t str) -> RawRow<'t> {
        let mut read = RawRow {
            uid: Text {
                inner: "",
                escaped: false,
            },
            data: "{}",
            refs: None,
        };
        for (key, value) in members(row) {
            if key.is("uid") {
                read.uid = Text {
                    inner: value.get(1..value.len() - 1).unwrap_or_default(),
                    escaped: value.contains('\\'),
                };
            } else if key.is("data") {
                read.data = value;
            } else if key.is("refs") {
                read.refs = Some(value);
            }
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::RawEntry;

    #[test]
    fn rows_are_read_whatever_their_layout() {
        let entry = RawEntry {
            feature_ref: "f_a".to_owned(),
            item_uid: String::new(),
            key_column: None,
            key_unique: false,
            columns: Vec::new(),
            rows: r#"[ {"data" : {"a":[1,{"b":"]"}]} , "uid":"u_1" },
                {"uid":"u_2","refs":{"a":{}},"data":{}}]"#,
        };
        let rows: Vec<_> = entry
            .rows()
            .map(|row| (row.uid.inner, row.data, row.refs))
            .collect();
        assert_eq!(
            rows,
            [
                ("u_1", r#"{"a":[1,{"b":"]"}]}"#, None),
                ("u_2", "{}", Some(r#"{"a":{}}"#))
            ]
        );
    }
}
