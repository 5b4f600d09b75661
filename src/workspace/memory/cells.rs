//! Finds the cells of one column without reading the cells before them.

use memchr::memchr;
use memchr::memmem::Finder;

use super::index::key;
use crate::json::scan::Scanner;
use crate::json::write_string;
use crate::rows::value;
use crate::workspace::RowData;

/// Where a column's cells are in rows.
pub(super) struct Cells<'c> {
    column: &'c str,
    /// The key as it is mostly written, with the colon.
    token: Finder<'static>,
}

impl<'c> Cells<'c> {
    pub(super) fn of(column: &'c str) -> Cells<'c> {
        let token = write_string(column) + ":";
        Cells {
            column,
            token: Finder::new(token.as_bytes()).into_owned(),
        }
    }

    /// The value of the cell, as it is written.
    pub(super) fn value<'d>(&self, data: &'d RowData) -> Option<&'d str> {
        let text = data.as_str();
        let bytes = text.as_bytes();
        let Some(at) = self.token.find(bytes) else {
            // Perhaps the key is spelt with escapes.
            memchr(b'\\', bytes)?;
            return data.cell(self.column);
        };
        // A quote after a brace or a comma opens a key; behind another brace it may be that of
        // something inside a cell.
        let opens = matches!(bytes[..at].last(), Some(b'{' | b','));
        if !opens || memchr(b'{', &bytes[1..at]).is_some() {
            return data.cell(self.column);
        }
        let mut scanner = Scanner::new(text, at + self.token.needle().len());
        value(text, &mut scanner)
    }

    /// The hash by which the value is found.
    pub(super) fn key(&self, data: &RowData) -> Option<u64> {
        key(self.value(data)?)
    }
}

#[cfg(test)]
mod tests {
    use super::Cells;
    use crate::workspace::RowData;

    #[test]
    fn a_cell_is_found_wherever_it_stands() {
        for (row, found) in [
            (r#"{"code":1}"#, Some("1")),
            (r#"{"a":"x","code":"\"code\":2"}"#, Some(r#""\"code\":2""#)),
            (r#"{"a":{"code":1},"code":[2]}"#, Some("[2]")),
            (r#"{"a":{"b":0,"code":1}}"#, None),
            (r#"{"a":",\"code\":","code":3}"#, Some("3")),
            (r#"{"x\"code":1}"#, None),
            (r#"{"x\"code":1,"code":2}"#, Some("2")),
            (r#"{"c\u006fde":4}"#, Some("4")),
            (r#"{"codes":1}"#, None),
            ("{}", None),
        ] {
            let row = RowData::trusted(row);
            assert_eq!(Cells::of("code").value(&row), found, "{row:?}");
        }
    }
}
