//! An open document: its text, and the lines and columns by which editors name places in it.
//!
//! In: the changes of an editor, by line and column. Out: the text as the editor has it. No place is
//! out of bounds: what lies after the end of a line or of the text is that end, and what lies inside
//! a character is its beginning.

use std::ops::Range;

/// What columns count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes of UTF-8.
    Utf8,
    /// Units of UTF-16.
    Utf16,
}

/// A place in a document: both numbers from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Position {
    /// The line. LF, CRLF and CR end lines.
    pub line: usize,
    /// The column, in units of an [`Encoding`].
    pub column: usize,
}

/// A text with its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    text: String,
    /// The first byte of each line.
    starts: Vec<usize>,
    /// Units of UTF-16 before each [`STRIDE`] of bytes: a package may be one line, in which each column would be counted
    /// from its beginning.
    units: Vec<usize>,
}

/// How many bytes are counted at most for a place.
const STRIDE: usize = 4096;

impl Document {
    /// A document with that text.
    pub fn new(text: impl Into<String>) -> Document {
        let text = text.into();
        let (starts, units) = (starts(&text), units(&text));
        Document {
            text,
            starts,
            units,
        }
    }

    /// All of it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The number of lines; an empty text has one.
    pub fn lines(&self) -> usize {
        self.starts.len()
    }

    /// The byte at a place.
    pub fn offset(&self, at: Position, encoding: Encoding) -> usize {
        let Some(line) = self.line(at.line) else {
            return self.text.len();
        };
        let (from, mut units) = match encoding {
            Encoding::Utf8 => (line.start, 0),
            Encoding::Utf16 => self.stride_before(&line, at.column),
        };
        for (index, character) in self.text[from..line.end].char_indices() {
            units += width(character, encoding);
            if units > at.column {
                return from + index;
            }
        }
        line.end
    }

    /// A byte of a line from which on a column is looked for, and the column that it is at.
    fn stride_before(&self, line: &Range<usize>, column: usize) -> (usize, usize) {
        let first = self.units_before(line.start);
        let strides = line.start.div_ceil(STRIDE)..=line.end / STRIDE;
        let of_line = self.units.get(strides.clone()).unwrap_or_default();
        match of_line.partition_point(|units| units - first <= column) {
            0 => (line.start, 0),
            passed => {
                let from = self.boundary((strides.start() + passed - 1) * STRIDE);
                (from, self.units_before(from) - first)
            }
        }
    }

    /// The beginning of the character that a byte is in.
    fn boundary(&self, mut at: usize) -> usize {
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    /// Units of UTF-16 before a byte.
    fn units_before(&self, offset: usize) -> usize {
        let stride = offset / STRIDE;
        let rest = &self.text.as_bytes()[stride * STRIDE..offset];
        self.units[stride] + utf16_units(rest)
    }

    /// The place of a byte.
    pub fn position(&self, offset: usize, encoding: Encoding) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset);
        let line = line.saturating_sub(1);
        let bytes = self.line(line).unwrap_or(0..0);
        let end = self.boundary(offset.clamp(bytes.start, bytes.end));
        let column = match encoding {
            Encoding::Utf8 => end - bytes.start,
            Encoding::Utf16 => self.units_before(end) - self.units_before(bytes.start),
        };
        Position { line, column }
    }

    /// Puts a text in place of what stands between two places.
    pub fn replace(&mut self, range: Range<Position>, text: &str, encoding: Encoding) {
        let start = self.offset(range.start, encoding);
        let end = self.offset(range.end, encoding).max(start);
        self.text.replace_range(start..end, text);
        (self.starts, self.units) = (starts(&self.text), units(&self.text));
    }

    /// The part of a span that stands on its first line, without the end of that line.
    pub fn first_line(&self, span: &Range<usize>) -> Range<usize> {
        let line = self.starts.partition_point(|start| *start <= span.start);
        let line = self.line(line.saturating_sub(1)).unwrap_or(0..0);
        span.start..span.end.min(line.end.max(span.start))
    }

    /// The bytes of a line without its end.
    fn line(&self, line: usize) -> Option<Range<usize>> {
        let start = *self.starts.get(line)?;
        let Some(next) = self.starts.get(line + 1) else {
            return Some(start..self.text.len());
        };
        let text = &self.text[start..*next];
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        Some(start..start + text.len())
    }
}

fn width(character: char, encoding: Encoding) -> usize {
    match encoding {
        Encoding::Utf8 => character.len_utf8(),
        Encoding::Utf16 => character.len_utf16(),
    }
}

/// The number of units of UTF-16 before each stride, and before the end of the last.
fn units(text: &str) -> Vec<usize> {
    let strides = text.as_bytes().chunks(STRIDE);
    let ends = strides.scan(0, |units, stride| {
        *units += utf16_units(stride);
        Some(*units)
    });
    std::iter::once(0).chain(ends).collect()
}

/// Units of UTF-16. Packages in one line are long: chunks let the compiler count many bytes at once.
fn utf16_units(bytes: &[u8]) -> usize {
    let units = |byte: &u8| u8::from(byte & 0xC0 != 0x80) + u8::from(*byte >= 0xF0);
    bytes
        .chunks(127)
        .map(|chunk| usize::from(chunk.iter().map(units).sum::<u8>()))
        .sum()
}

fn starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let ends = memchr::memchr2_iter(b'\n', b'\r', bytes);
    // The two characters of CRLF end one line.
    let ends = ends.filter(|at| bytes[*at] == b'\n' || bytes.get(at + 1) != Some(&b'\n'));
    std::iter::once(0).chain(ends.map(|at| at + 1)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Document, Encoding, Position, STRIDE};

    fn at(line: usize, column: usize) -> Position {
        Position { line, column }
    }

    #[test]
    fn columns_count_units_of_the_encoding() {
        let document = Document::new("aé\r\n😀b\rc\n");
        assert_eq!(document.lines(), 4);
        for (offset, utf8, utf16) in [
            (0, at(0, 0), at(0, 0)),
            (3, at(0, 3), at(0, 2)),
            (5, at(1, 0), at(1, 0)),
            (9, at(1, 4), at(1, 2)),
            (11, at(2, 0), at(2, 0)),
            (13, at(3, 0), at(3, 0)),
        ] {
            for (encoding, place) in [(Encoding::Utf8, utf8), (Encoding::Utf16, utf16)] {
                assert_eq!(document.position(offset, encoding), place, "{offset}");
                assert_eq!(document.offset(place, encoding), offset, "{place:?}");
            }
        }
    }

    #[test]
    fn places_out_of_bounds_are_the_nearest_one_inside() {
        let document = Document::new("é\r\n😀");
        assert_eq!(document.offset(at(0, 99), Encoding::Utf16), 2);
        assert_eq!(document.offset(at(9, 0), Encoding::Utf16), 8);
        // Between the halves of a pair, and inside the bytes of a character.
        assert_eq!(document.offset(at(1, 1), Encoding::Utf16), 4);
        assert_eq!(document.offset(at(1, 3), Encoding::Utf8), 4);
        assert_eq!(document.position(99, Encoding::Utf8), at(1, 4));
        assert_eq!(document.position(6, Encoding::Utf16), at(1, 0));
        assert_eq!(document.first_line(&(0..8)), 0..2);
    }

    #[test]
    fn changes_turn_around_and_past_the_end_are_made_somewhere() {
        let mut document = Document::new("ab\ncd");
        document.replace(at(1, 1)..at(0, 0), "x", Encoding::Utf16);
        assert_eq!(document.text(), "ab\ncxd");
        document.replace(at(7, 7)..at(9, 9), "\r", Encoding::Utf16);
        assert_eq!((document.text(), document.lines()), ("ab\ncxd\r", 3));
    }

    #[test]
    fn columns_of_a_long_line_are_those_that_are_counted() {
        for unit in ["é", "aé😀"] {
            for before in ["", "x\n"] {
                let line = unit.repeat(STRIDE * 2 / unit.len() + 5);
                let document = Document::new(format!("{before}{line}\nend"));
                let (start, at_line) = (before.len(), before.lines().count());
                let mut column = 0;
                for (index, character) in line.char_indices() {
                    let place = at(at_line, column);
                    assert_eq!(document.position(start + index, Encoding::Utf16), place);
                    assert_eq!(document.offset(place, Encoding::Utf16), start + index);
                    column += character.len_utf16();
                }
                let end = document.offset(at(at_line, column + 9), Encoding::Utf16);
                assert_eq!(end, start + line.len());
            }
        }
    }

    proptest! {
        #[test]
        fn a_place_and_its_byte_are_one(text in "[aé😀\r\n]{0,60}") {
            let document = Document::new(text.as_str());
            for (offset, _) in text.char_indices().chain([(text.len(), ' ')]) {
                // Nobody stands between the two characters of CRLF.
                if text[..offset].ends_with('\r') && text[offset..].starts_with('\n') {
                    continue;
                }
                for encoding in [Encoding::Utf8, Encoding::Utf16] {
                    let place = document.position(offset, encoding);
                    prop_assert_eq!(document.offset(place, encoding), offset);
                }
            }
        }
    }
}
