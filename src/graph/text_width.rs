//! How wide texts are drawn, and where they are cut: layout makes room for what the renderer writes.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Columns of the title of a group.
const TITLE_COLUMNS: usize = 48;
/// Hundredths of a unit per column in it.
const TITLE_WIDTH: i64 = 760;

/// At most so many columns of a text in one line, cut with an ellipsis.
pub(super) fn cut(text: &str, columns: usize) -> String {
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
pub(super) fn drawn_width(text: &str, hundredths: i64) -> i64 {
    i64::try_from(text.width()).unwrap_or(i64::MAX / 1000) * hundredths / 100
}

/// The title of a group, cut.
pub(super) fn title(label: &str) -> String {
    cut(label, TITLE_COLUMNS)
}

/// How wide the title of a group is drawn.
pub(super) fn title_width(label: &str) -> i64 {
    drawn_width(&title(label), TITLE_WIDTH)
}
