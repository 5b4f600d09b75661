//! Parts of the texts that commands show: lists under titles, counts by kind, lines in columns.

use std::fmt::Write as _;

use tplkit::apply::Creation;
use tplkit::finding::render::counted;
use tplkit::printable;
use tplkit::workspace::RecordKind;
use unicode_width::UnicodeWidthStr as _;

/// How many of each kind.
pub(crate) fn kinds(created: &[Creation]) -> String {
    let mut kinds: Vec<(RecordKind, usize)> = Vec::new();
    for created in created {
        match kinds.iter_mut().find(|(kind, _)| *kind == created.kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((created.kind, 1)),
        }
    }
    let words = |(kind, count): &(RecordKind, usize)| counted(*count, kind.noun());
    match kinds.as_slice() {
        [] => "nothing".to_owned(),
        kinds => kinds.iter().map(words).collect::<Vec<_>>().join(", "),
    }
}

/// A list under its title, unless it is empty. Whatever an entry says stays on its line.
pub(crate) fn section<T>(
    out: &mut String,
    title: &str,
    entries: &[T],
    line: impl Fn(&T) -> String,
) {
    if entries.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{title}");
    for entry in entries {
        let _ = writeln!(out, "  {}", printable::line(&line(entry)));
    }
}

/// Whether each line says the same as another one, so that people need an id to tell them apart.
pub(crate) fn repeated<T: PartialEq>(titles: &[T]) -> Vec<bool> {
    let count = |title: &T| titles.iter().filter(|other| *other == title).count();
    titles.iter().map(|title| count(title) > 1).collect()
}

/// Lines whose cells are lined up in columns.
pub(crate) fn columns<const COLUMNS: usize>(lines: &[[String; COLUMNS]]) -> String {
    let width = |at: usize| lines.iter().map(|line| line[at].width()).max().unwrap_or(0);
    let widths: [usize; COLUMNS] = std::array::from_fn(width);
    let mut out = String::new();
    for line in lines {
        let mut row = String::new();
        for (cell, width) in line.iter().zip(widths) {
            let pad = width.saturating_sub(cell.width()) + 2;
            // Writing to a String cannot fail.
            let _ = write!(row, "{cell}{:pad$}", "");
        }
        out.push_str(row.trim_end());
        out.push('\n');
    }
    out
}
