//! Rows of a payload as they are written, read one by one and never held as a tree.

use crate::json::scan::Scanner;
use crate::rows::{Cell, Text, elements, value};

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
    /// Where it begins in the list of rows.
    pub start: usize,
    /// Identity in the package.
    pub uid: Text<'t>,
    /// Its cells.
    pub data: &'t str,
    /// What its link cells point at.
    pub refs: Option<&'t str>,
}

/// The rows of an entry, read as they are asked for.
#[derive(Debug, Clone)]
pub struct RawRows<'t> {
    text: &'t str,
    scanner: Scanner<'t>,
    more: bool,
}

impl<'t> RawEntry<'t> {
    /// The rows, in order.
    pub fn rows(&self) -> RawRows<'t> {
        let mut scanner = Scanner::new(self.rows, 1);
        let more = scanner.first_element().unwrap_or_default();
        RawRows {
            text: self.rows,
            scanner,
            more,
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        elements(self.rows).count()
    }

    /// The row that begins there in the list.
    pub fn row(&self, start: usize) -> Option<RawRow<'t>> {
        RawRow::read(self.rows, &mut Scanner::new(self.rows, start))
    }
}

impl<'t> Iterator for RawRows<'t> {
    type Item = RawRow<'t>;

    fn next(&mut self) -> Option<RawRow<'t>> {
        if !self.more {
            return None;
        }
        let row = RawRow::read(self.text, &mut self.scanner)?;
        self.more = self.scanner.next_element().unwrap_or_default();
        Some(row)
    }
}

impl<'t> RawRow<'t> {
    /// A row without identity that points at nothing: `data` is its cells.
    pub fn of_data(data: &'t str) -> RawRow<'t> {
        RawRow {
            start: 0,
            uid: Text {
                inner: "",
                escaped: false,
            },
            data,
            refs: None,
        }
    }

    /// Reads the object that the scanner is before, jumping over what is inside its members.
    fn read(text: &'t str, scanner: &mut Scanner<'t>) -> Option<RawRow<'t>> {
        let mut row = RawRow {
            start: scanner.pos,
            ..RawRow::of_data("{}")
        };
        scanner.pos += 1;
        let mut more = scanner.first_member().ok()?;
        while more {
            let key = scanner.string().ok()?;
            scanner.colon().ok()?;
            let key = Text {
                inner: text.get(key.inner())?,
                escaped: key.escaped,
            };
            let value = value(text, scanner)?;
            if key.is("uid") {
                if let Cell::String(uid) = Cell::new(value) {
                    row.uid = uid;
                }
            } else if key.is("data") {
                row.data = value;
            } else if key.is("refs") {
                row.refs = Some(value);
            }
            more = scanner.next_member().ok()?;
        }
        Some(row)
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
        let starts: Vec<_> = entry.rows().map(|row| row.start).collect();
        let again = starts.iter().filter_map(|start| entry.row(*start));
        assert!(again.map(|row| row.uid.inner).eq(["u_1", "u_2"]));
        assert_eq!(entry.count(), 2);
    }
}
