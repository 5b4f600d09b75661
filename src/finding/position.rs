//! Byte offsets to lines and columns.
//!
//! In: the bytes of a text (not necessarily UTF-8) and any number of offsets. Out: the line and
//! column of each, counted from 1. One sweep finds all offsets, so a thousand findings in one line
//! of hundreds of megabytes cost one reading.

/// A place as people count: both from 1, the column in Unicode scalar values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// Number of the line; LF and CRLF end lines.
    pub line: usize,
    /// Number of the character in the line.
    pub column: usize,
}

impl LineColumn {
    /// The first character of a file.
    pub const START: LineColumn = LineColumn { line: 1, column: 1 };
}

/// The bytes after a UTF-8 byte-order mark, which counts neither in offsets nor in columns.
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

/// Offsets of one text with their places.
#[derive(Debug)]
pub struct Positions {
    /// Ordered by offset: offset, place, offset of the line's first byte.
    found: Vec<(usize, LineColumn, usize)>,
}

impl Positions {
    /// Locates `offsets` (in any order, repeats welcome) in `text`. Offsets past the end are at
    /// the end.
    pub fn find(text: &[u8], mut offsets: Vec<usize>) -> Positions {
        offsets.sort_unstable();
        offsets.dedup();
        let mut found = Vec::with_capacity(offsets.len());
        let (mut at, mut line_start) = (0, 0);
        let mut place = LineColumn::START;
        for offset in offsets {
            let part = text.get(at..offset.min(text.len())).unwrap_or_default();
            if let Some(last) = memchr::memrchr(b'\n', part) {
                place.line += memchr::memchr_iter(b'\n', part).count();
                place.column = 1 + characters(&part[last + 1..]);
                line_start = at + last + 1;
            } else {
                place.column += characters(part);
            }
            at += part.len();
            found.push((offset, place, line_start));
        }
        Positions { found }
    }

    /// The place of an offset that was asked for.
    pub fn get(&self, offset: usize) -> LineColumn {
        self.entry(offset)
            .map_or(LineColumn::START, |entry| entry.1)
    }

    /// Where the line of an offset that was asked for begins.
    pub fn line_start(&self, offset: usize) -> usize {
        self.entry(offset).map_or(0, |entry| entry.2)
    }

    fn entry(&self, offset: usize) -> Option<&(usize, LineColumn, usize)> {
        let index = self
            .found
            .binary_search_by_key(&offset, |entry| entry.0)
            .ok()?;
        self.found.get(index)
    }
}

/// Whether the byte begins a character (is not a UTF-8 continuation).
pub(super) fn begins_character(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

/// Number of characters that begin in `bytes`.
fn characters(bytes: &[u8]) -> usize {
    // Sums of at most 255 fit a byte, which lets the compiler count many bytes at once.
    let count = |chunk: &[u8]| {
        chunk
            .iter()
            .map(|byte| u8::from(begins_character(*byte)))
            .sum::<u8>()
    };
    bytes
        .chunks(255)
        .map(|chunk| usize::from(count(chunk)))
        .sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{LineColumn, Positions, without_mark};

    fn at(text: &str, offset: usize) -> (usize, usize) {
        let LineColumn { line, column } =
            Positions::find(text.as_bytes(), vec![offset]).get(offset);
        (line, column)
    }

    #[test]
    fn columns_are_characters_and_both_line_ends_count() {
        let text = "aé\r\n\u{1f600}b\nc";
        assert_eq!(at(text, 0), (1, 1));
        assert_eq!(at(text, 3), (1, 3));
        assert_eq!(at(text, 5), (2, 1));
        assert_eq!(at(text, 9), (2, 2));
        assert_eq!(at(text, 11), (3, 1));
        assert_eq!(at(text, 99), (3, 2));
    }

    #[test]
    fn one_mark_is_taken_off() {
        assert_eq!(without_mark(b"\xEF\xBB\xBF{}"), b"{}");
        assert_eq!(without_mark(b"{}"), b"{}");
    }

    proptest! {
        #[test]
        fn a_sweep_finds_what_counting_finds(
            text in "[aé\u{1f600}\r\n]{0,600}",
            picks in proptest::collection::vec(0usize..2000, 0..20),
        ) {
            let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let offsets: Vec<usize> = picks.iter().map(|pick| starts[pick % starts.len()]).collect();
            let found = Positions::find(text.as_bytes(), offsets.clone());
            for offset in offsets {
                let before = &text[..offset];
                let line = before.matches('\n').count() + 1;
                let start = before.rfind('\n').map_or(0, |at| at + 1);
                let column = before[start..].chars().count() + 1;
                prop_assert_eq!(found.get(offset), LineColumn { line, column });
                prop_assert_eq!(found.line_start(offset), start);
            }
        }
    }
}
