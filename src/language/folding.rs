//! What can be folded: every list and object over several lines, rows and steps among them.
//!
//! Brackets are counted and nothing is parsed, so a text that is being written folds as well.

use std::ops::Range;

/// Something that can be folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// From the opening bracket to after the closing one.
    pub span: Range<usize>,
    /// How many brackets are open around it.
    pub depth: usize,
}

/// Every list and object of a text that goes over a line end, in order of their beginning.
pub fn folds(text: &str) -> Vec<Fold> {
    let bytes = text.as_bytes();
    let mut open: Vec<usize> = Vec::new();
    let mut folds = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at),
            b'{' | b'[' => open.push(at),
            b'}' | b']' => {
                if let Some(start) = open.pop()
                    && memchr::memchr(b'\n', &bytes[start..at]).is_some()
                {
                    folds.push(Fold {
                        span: start..at + 1,
                        depth: open.len(),
                    });
                }
            }
            _ => {}
        }
        at += 1;
    }
    folds.sort_by_key(|fold| fold.span.start);
    folds
}

/// The closing quote of a string; one that is not closed ends with its line.
pub(super) fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at,
            b'\n' => return at - 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}
