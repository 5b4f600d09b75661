//! Fits texts to the width of a terminal: between words, paths also after a slash, and what has neither where
//! it must be. Colours take no room.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr};

use crate::finding::Excerpt;

/// No terminal is so narrow that less could be shown in a line.
const MIN_COLUMNS: usize = 20;

/// Breaks each line that is wider than `width` columns; what goes on is indented a little further than it
/// began.
///
/// ```
/// let text = "  = help: Write a value of the column's type.\n";
/// let fitted = tplkit::finding::render::fit(text, 30);
/// assert_eq!(fitted, "  = help: Write a value of the\n    column's type.\n");
/// ```
pub fn fit(text: &str, width: usize) -> String {
    let lines = text.split_inclusive('\n').map(|line| {
        let begins = line.len() - line.trim_start_matches(' ').len();
        let mark = if line[begins..].starts_with("--> ") {
            4
        } else {
            2
        };
        fit_hanging(line, width, begins + mark)
    });
    lines.collect()
}

/// Breaks one line that is wider than `width` columns; further lines are indented by `hang` columns.
pub fn fit_hanging(line: &str, width: usize, hang: usize) -> String {
    let width = width.max(MIN_COLUMNS);
    if shown_width(line) <= width {
        return line.to_owned();
    }
    let mut folded = Folded {
        out: String::with_capacity(line.len() + 16),
        column: 0,
        width,
        hang: " ".repeat(hang.min(width / 2)),
    };
    for word in line.split_inclusive(' ') {
        folded.word(word);
    }
    folded.out
}

/// Cuts each line that is wider than `width` columns, with `…` in place of the rest: for what loses its meaning
/// when it is folded, as a difference does.
///
/// ```
/// assert_eq!(tplkit::finding::render::cut("-a line that is long\n+b\n", 20), "-a line that is long\n+b\n");
/// assert_eq!(tplkit::finding::render::cut("-a line that is longer\n", 20), "-a line that is lon…\n");
/// ```
pub fn cut(text: &str, width: usize) -> String {
    let width = width.max(MIN_COLUMNS);
    let lines = text.split_inclusive('\n').map(|line| {
        // A terminal goes on to the next eighth column.
        let spread = spread_tabs(line);
        if shown_width(&spread) <= width {
            return spread;
        }
        let end = if line.ends_with('\n') { "\n" } else { "" };
        format!("{}…{end}", prefix(&spread, width - 1))
    });
    lines.collect()
}

fn spread_tabs(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for (index, part) in line.split('\t').enumerate() {
        if index > 0 {
            out.push_str(&" ".repeat(8 - shown_width(&out) % 8));
        }
        out.push_str(part);
    }
    out
}

/// A line that is folded word by word.
struct Folded {
    out: String,
    column: usize,
    width: usize,
    hang: String,
}

impl Folded {
    fn word(&mut self, word: &str) {
        let fits = |column: usize| column + shown_width(word.trim_end()) <= self.width;
        if fits(self.column) {
            self.push(word);
        } else if fits(self.hang.len()) {
            self.end_line();
            self.push(word);
        } else {
            // A path: each part where it fits.
            for part in word.split_inclusive('/') {
                self.part(part);
            }
        }
    }

    fn part(&mut self, part: &str) {
        let width = shown_width(part.trim_end());
        if self.column + width > self.width && self.hang.len() + width <= self.width {
            self.end_line();
        }
        if self.column + width <= self.width {
            return self.push(part);
        }
        for piece in pieces(part) {
            if self.column + shown_width(piece) > self.width {
                self.end_line();
            }
            self.push(piece);
        }
    }

    fn push(&mut self, text: &str) {
        self.column += shown_width(text);
        self.out.push_str(text);
    }

    fn end_line(&mut self) {
        let end = self.out.trim_end_matches(' ').len();
        self.out.truncate(end);
        self.out.push('\n');
        self.out.push_str(&self.hang);
        self.column = self.hang.len();
    }
}

/// The characters of a text, with escape sequences whole.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = match first {
            '\u{1b}' => rest.find('m').map_or(rest.len(), |end| end + 1),
            other => other.len_utf8(),
        };
        let (piece, after) = rest.split_at(length);
        rest = after;
        Some(piece)
    })
}

/// How many columns a text takes.
fn shown_width(text: &str) -> usize {
    if !text.contains('\u{1b}') {
        return text.trim_end_matches('\n').width();
    }
    let shown = pieces(text).filter(|piece| !piece.starts_with('\u{1b}') && *piece != "\n");
    shown.map(UnicodeWidthStr::width).sum()
}

/// The line of an excerpt and the carets under its value, in at most so many columns: the value first, then
/// what is around it.
pub(super) fn window(excerpt: &Excerpt, room: Option<usize>) -> (String, String) {
    let Excerpt {
        before,
        marked,
        after,
        cut_before,
        cut_after,
    } = excerpt;
    let ends = usize::from(*cut_before) + usize::from(*cut_after);
    let whole = before.width() + marked.width() + after.width() + ends;
    let Some(room) = room.filter(|room| whole > *room) else {
        let cuts = Cuts {
            before: *cut_before,
            after: *cut_after,
        };
        return drawn(before, marked, after, cuts);
    };
    // Both ends may need a mark.
    let room = room.max(MIN_COLUMNS) - 2;
    let shown = prefix(marked, room);
    let (left, cut) = (room - shown.width(), shown.len() < marked.len());
    let after_kept = if cut {
        ""
    } else {
        prefix(after, left.saturating_sub(before.width()).max(left / 2))
    };
    let before_kept = suffix(before, left - after_kept.width());
    let cuts = Cuts {
        before: *cut_before || before_kept.len() < before.len(),
        after: *cut_after || cut || after_kept.len() < after.len(),
    };
    drawn(before_kept, shown, after_kept, cuts)
}

/// The ends at which a line goes on.
#[derive(Clone, Copy)]
struct Cuts {
    before: bool,
    after: bool,
}

fn drawn(before: &str, marked: &str, after: &str, cuts: Cuts) -> (String, String) {
    let mark = |cut: bool| if cut { "…" } else { "" };
    let (open, close) = (mark(cuts.before), mark(cuts.after));
    let indent = " ".repeat(open.width() + before.width());
    let carets = format!("{indent}{}", "^".repeat(marked.width().max(1)));
    (format!("{open}{before}{marked}{after}{close}"), carets)
}

/// As much of the beginning as fits.
fn prefix(text: &str, room: usize) -> &str {
    let mut width = 0;
    let end = text.char_indices().find(|(_, character)| {
        width += character.width().unwrap_or_default();
        width > room
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// As much of the end as fits.
fn suffix(text: &str, room: usize) -> &str {
    let mut width = 0;
    let begin = text.char_indices().rev().find(|(_, character)| {
        width += character.width().unwrap_or_default();
        width > room
    });
    begin.map_or(text, |(at, character)| &text[at + character.len_utf8()..])
}

#[cfg(test)]
mod tests {
    use super::{fit, shown_width, window};
    use crate::finding::Excerpt;

    #[test]
    fn no_line_is_wider_than_it_may_be_and_nothing_is_lost() {
        let texts = [
            "error[R017 value-not-storable]: \"2025-02-30\" cannot be stored: the column stores dates",
            "   --> a/very/long/path/to/some/folder/with/packages/crm.json:516:19  /manifest/plan/steps/15/args/config",
            "   = help: Write a value of the column's type, for example one that the calendar has.",
            "\u{1b}[1m\u{1b}[31merror\u{1b}[0m: \u{1b}[1mWörter über Wörter, 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字\u{1b}[0m",
            &"x".repeat(300),
        ];
        for width in [20, 37, 60, 80] {
            for text in texts {
                let fitted = fit(text, width);
                assert!(
                    fitted.lines().all(|line| shown_width(line) <= width),
                    "{width}:\n{fitted}"
                );
                let plain = |text: &str| text.replace([' ', '\n'], "");
                assert_eq!(plain(&fitted), plain(text));
            }
        }
        assert_eq!(fit("short\n", 20), "short\n");
    }

    #[test]
    fn the_value_is_shown_first_with_carets_under_all_that_is_shown_of_it() {
        let text = format!("{}\"{}\"{}", "a".repeat(50), "b".repeat(30), "c".repeat(50));
        let excerpt = Excerpt::cut(text.as_bytes(), 0, &(50..82));
        for room in [24, 40, 60, 90] {
            let (line, carets) = window(&excerpt, Some(room));
            assert!(shown_width(&line) <= room, "{room}: {line}");
            let from = carets.find('^').expect("carets");
            let under: String = line.chars().skip(from).take(carets.len() - from).collect();
            assert!(under.starts_with("\"b"), "{room}: {line}\n{carets}");
            assert_eq!(under.ends_with('"'), room > 33, "{room}: {line}\n{carets}");
        }
        let (line, _) = window(&excerpt, None);
        assert_eq!(line, window(&excerpt, Some(500)).0);
    }
}
