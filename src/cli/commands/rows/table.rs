//! Rows as lines of cells: aligned for people, or separated by commas.

use std::io::{self, IsTerminal as _};

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use tplkit::printable;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The widest column on a terminal.
const MAX_COLUMN_WIDTH: usize = 40;

/// A row as far as sheets show it.
#[derive(Default, Deserialize)]
struct Row<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    data: IndexMap<String, &'a RawValue>,
}

impl<'a> Row<'a> {
    fn read(row: &'a RawValue) -> Row<'a> {
        // What is not a row shows as one without cells.
        serde_json::from_str(row.get()).unwrap_or_default()
    }

    /// The cells in the order of the columns, after the id.
    fn cells(&self, columns: &[String]) -> Vec<String> {
        let id = self.id.map(text).unwrap_or_default();
        let cell = |column: &String| self.data.get(column).map(|value| text(value));
        let cells = columns
            .iter()
            .map(|column| cell(column).unwrap_or_default());
        std::iter::once(id).chain(cells).collect()
    }
}

/// A value as text: strings as they are, nothing for null, the rest as the server wrote it.
fn text(value: &RawValue) -> String {
    match value.get() {
        "null" => String::new(),
        text if text.starts_with('"') => serde_json::from_str(text).unwrap_or_default(),
        other => other.to_owned(),
    }
}

fn head(columns: &[String]) -> Vec<String> {
    // A column may be called `id`, too; the record's own comes first.
    let names = columns.iter().map(|name| match name.as_str() {
        "id" => "data.id".to_owned(),
        _ => name.clone(),
    });
    std::iter::once("id".to_owned()).chain(names).collect()
}

/// An aligned table, page by page.
pub(super) struct PagedTable {
    columns: Vec<String>,
    /// Of the columns, once the first page is known.
    widths: Option<Vec<usize>>,
    /// What does not fit is cut, on a terminal.
    cuts: bool,
}

impl PagedTable {
    pub(super) fn new(columns: Vec<String>) -> PagedTable {
        PagedTable {
            columns,
            widths: None,
            cuts: io::stdout().is_terminal(),
        }
    }

    /// The lines of a page; those of the first one begin with the head.
    pub(super) fn page(&mut self, rows: &[Box<RawValue>]) -> String {
        let cells = rows.iter().map(|row| Row::read(row).cells(&self.columns));
        let mut lines: Vec<Vec<String>> = cells.collect();
        if self.widths.is_none() {
            lines.insert(0, head(&self.columns));
        }
        for cell in lines.iter_mut().flatten() {
            *cell = printable::line(cell);
        }
        let cuts = self.cuts;
        let widths = self.widths.get_or_insert_with(|| widths(&lines, cuts));
        lines
            .iter()
            .map(|line| aligned(line, widths, cuts))
            .collect()
    }
}

fn widths(lines: &[Vec<String>], cuts: bool) -> Vec<usize> {
    let count = lines.first().map_or(0, Vec::len);
    let widest = |column: usize| {
        let widths = lines.iter().map(|line| line[column].width());
        widths.max().unwrap_or(0)
    };
    (0..count)
        .map(|column| match widest(column) {
            width if cuts => width.min(MAX_COLUMN_WIDTH),
            width => width,
        })
        .collect()
}

fn aligned(line: &[String], widths: &[usize], cuts: bool) -> String {
    let mut out = String::new();
    for (cell, width) in line.iter().zip(widths) {
        let cell = if cuts {
            cut(cell, *width)
        } else {
            cell.clone()
        };
        let gap = width.saturating_sub(cell.width());
        out.push_str(&cell);
        out.push_str(&" ".repeat(gap + 2));
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

/// The text in so many cells of a terminal.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= width
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// Comma-separated values (RFC 4180, with LF).
pub(super) mod csv {
    use serde_json::value::RawValue;

    use super::Row;

    pub(in super::super) fn head(columns: &[String]) -> String {
        line(&super::head(columns))
    }

    pub(in super::super) fn rows(columns: &[String], rows: &[Box<RawValue>]) -> String {
        rows.iter()
            .map(|row| line(&Row::read(row).cells(columns)))
            .collect()
    }

    fn line(cells: &[String]) -> String {
        let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
        cells.join(",") + "\n"
    }

    fn quoted(cell: &str) -> String {
        if cell.contains([',', '"', '\n', '\r']) {
            return format!("\"{}\"", cell.replace('"', "\"\""));
        }
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::{PagedTable, csv, cut};

    fn rows() -> Vec<Box<RawValue>> {
        [
            r#"{"id": "r1", "data": {"name": "Ana, \"A\"", "n": 1.10, "x": [1, "b"]}}"#,
            r#"{"id": "r2", "data": {"n": null, "id": 7, "name": "\u001b[31mred\nline"}}"#,
            "7",
        ]
        .into_iter()
        .map(|row| RawValue::from_string(row.to_owned()).expect("JSON"))
        .collect()
    }

    fn columns() -> Vec<String> {
        ["name", "n", "id"].map(str::to_owned).to_vec()
    }

    #[test]
    fn a_sheet_is_aligned_and_harmless() {
        let mut sheet = PagedTable {
            columns: columns(),
            widths: None,
            cuts: false,
        };
        let first = "id  name           n     data.id\n\
                     r1  Ana, \"A\"       1.10\n\
                     r2  ␛[31mred␊line        7\n\n";
        assert_eq!(sheet.page(&rows()), first);
        assert_eq!(sheet.page(&rows()[..1]), "r1  Ana, \"A\"       1.10\n");
    }

    #[test]
    fn values_are_separated_and_quoted() {
        assert_eq!(csv::head(&columns()), "id,name,n,data.id\n");
        let expected = "r1,\"Ana, \"\"A\"\"\",1.10,\nr2,\"\u{1b}[31mred\nline\",,7\n,,,\n";
        assert_eq!(csv::rows(&columns(), &rows()), expected);
    }

    #[test]
    fn long_cells_are_cut_to_their_width() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("longer", 5), "long…");
        assert_eq!(cut("日本語日本語", 5), "日本…");
    }
}
