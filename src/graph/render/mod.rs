//! A graph as text, one small file per format. Labels are untrusted: each format escapes them in
//! its own way.

mod dot;
mod json;
mod mermaid;
mod style;
mod svg;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

pub use dot::dot;
pub use json::json;
pub use mermaid::mermaid;
pub use style::svg_style;
pub use svg::{Canvas, svg};

/// At most so many columns of a text in one line, cut with an ellipsis.
fn cut(text: &str, columns: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.width() <= columns {
        return line;
    }
    let mut room = columns.saturating_sub(1);
    let fits = |character: &char| {
        let width = character.width().unwrap_or_default();
        let fits = width <= room;
        room = room.saturating_sub(width);
        fits
    };
    let mut short: String = line.chars().take_while(fits).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

/// How wide a text is drawn, in units: a generous guess, as fonts are the reader's.
fn drawn_width(text: &str, hundredths: i64) -> i64 {
    i64::try_from(text.width()).unwrap_or(i64::MAX / 1000) * hundredths / 100
}

/// How wide the title of a group is drawn.
pub(super) fn title_width(label: &str) -> i64 {
    drawn_width(&cut(label, svg::TITLE_COLUMNS), svg::TITLE_WIDTH)
}

/// Labels of an edge in one line.
fn joined(labels: &[String]) -> String {
    labels.join(", ")
}
