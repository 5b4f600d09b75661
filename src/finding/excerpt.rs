//! The excerpt of a line under a finding.
//!
//! Minified packages are one line of megabytes, so it takes a window around the place. The result
//! is safe to print: control characters and direction marks become visible replacements.

use std::ops::Range;

use super::position::begins_character;
use crate::printable::line;

/// How many characters are shown before the marked ones at most, when the line must be cut.
const MAX_CHARS_BEFORE: usize = 36;
/// How many characters are marked at most.
const MAX_MARKED_CHARS: usize = 72;
/// How many characters are shown in all.
const MAX_SHOWN_CHARS: usize = 100;

/// A window of one line: what is before, at and after the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// Text before the place.
    pub before: String,
    /// The place's own text; empty at the end of a line or file.
    pub marked: String,
    /// Text after it.
    pub after: String,
    /// Whether the line has more before.
    pub cut_before: bool,
    /// Whether the line has more after.
    pub cut_after: bool,
}

impl Excerpt {
    /// Cuts the window around `span` out of the line that begins at `line_start`.
    pub fn cut(text: &[u8], line_start: usize, span: &Range<usize>) -> Excerpt {
        let start = span.start.min(text.len());
        let line_end = line_end(text, start);
        let line_start = line_start.min(start);
        let end = span.end.clamp(start, line_end);
        let marked_end = forward(text, start, end, MAX_MARKED_CHARS);
        let marked = count(&text[start..marked_end]);
        // The whole line when it fits, else a little before and as much after as there is room.
        let room = MAX_SHOWN_CHARS.saturating_sub(marked);
        let rest = count(&text[marked_end..forward(text, marked_end, line_end, room)]);
        let from = back(
            text,
            start,
            line_start,
            room.saturating_sub(rest).max(MAX_CHARS_BEFORE.min(room)),
        );
        let room = room.saturating_sub(count(&text[from..start]));
        let to = if marked_end < end {
            marked_end
        } else {
            forward(text, marked_end, line_end, room)
        };
        Excerpt {
            before: printable(&text[from..start]),
            marked: printable(&text[start..marked_end]),
            after: printable(&text[marked_end..to]),
            cut_before: from > line_start,
            cut_after: to < line_end,
        }
    }
}

/// The end of the line that holds `from`, its line end not included; looked for only as far as a
/// window can reach.
fn line_end(text: &[u8], from: usize) -> usize {
    let reach = (from + 4 * (MAX_SHOWN_CHARS + 1)).min(text.len());
    let end = memchr::memchr(b'\n', &text[from..reach]).map_or(reach, |at| from + at);
    if end > from && end < text.len() && text[end] == b'\n' && text[end - 1] == b'\r' {
        end - 1
    } else {
        end
    }
}

/// The offset after at most `most` characters from `at`, not past `limit`.
fn forward(text: &[u8], at: usize, limit: usize, most: usize) -> usize {
    let mut starts = (at..limit).filter(|index| begins_character(text[*index]));
    starts.nth(most).unwrap_or(limit.max(at))
}

/// The offset of at most `most` characters before `at`, not before `limit`.
fn back(text: &[u8], at: usize, limit: usize, most: usize) -> usize {
    if most == 0 {
        return at;
    }
    let mut starts = (limit..at)
        .rev()
        .filter(|index| begins_character(text[*index]));
    starts.nth(most - 1).unwrap_or(limit)
}

fn count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| begins_character(**byte)).count()
}

fn printable(bytes: &[u8]) -> String {
    line(&String::from_utf8_lossy(bytes))
}

#[cfg(test)]
mod tests {
    use super::Excerpt;

    #[test]
    fn a_short_line_is_shown_whole() {
        let text = "x\n  \"a\": 12,\r\ny";
        let excerpt = Excerpt::cut(text.as_bytes(), 2, &(9..11));
        assert_eq!(
            (
                excerpt.before.as_str(),
                excerpt.marked.as_str(),
                excerpt.after.as_str()
            ),
            ("  \"a\": ", "12", ",")
        );
        assert!(!excerpt.cut_before && !excerpt.cut_after);
    }

    #[test]
    fn a_long_line_is_cut_on_both_sides() {
        let text = "é".repeat(5000);
        let excerpt = Excerpt::cut(text.as_bytes(), 0, &(4000..4004));
        assert_eq!(excerpt.marked, "éé");
        assert_eq!(excerpt.before.chars().count(), 36);
        assert_eq!(excerpt.after.chars().count(), 62);
        assert!(excerpt.cut_before && excerpt.cut_after);
    }

    #[test]
    fn a_late_place_shows_more_before_it() {
        let text = "a".repeat(5000);
        let excerpt = Excerpt::cut(text.as_bytes(), 0, &(4999..5000));
        assert_eq!(excerpt.before.len(), 99);
        assert!(excerpt.cut_before && !excerpt.cut_after);
    }

    #[test]
    fn places_outside_and_bytes_that_are_no_text_do_not_harm() {
        for (text, span) in [
            (&b""[..], 0..0),
            (b"\xff\xfe\x00", 1..3),
            (b"a\x80\x80\x80", 2..9),
            (b"\r\n", 0..1),
        ] {
            let excerpt = Excerpt::cut(text, 0, &span);
            assert!(!excerpt.marked.contains('\0'));
        }
    }

    #[test]
    fn escape_sequences_are_defused() {
        let excerpt = Excerpt::cut(b"\x1b[2J", 0, &(0..4));
        assert_eq!(excerpt.marked, "\u{241b}[2J");
    }
}
