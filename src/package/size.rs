//! Sizes of payload entries, counted without reading their rows (contract 2.10).

use crate::json::scan::Scanner;

/// Rows of a payload entry that an interactive selection accepts.
pub const MOST_ROWS: usize = 5000;
/// Bytes of compact JSON of a payload entry that an interactive selection accepts.
pub const MOST_BYTES: usize = 4 << 20;

/// Bytes of `json` without the white space between its tokens.
pub fn compact_length(json: &str) -> usize {
    let mut scanner = Scanner::new(json, 0);
    let mut blank = 0;
    while scanner.pos < json.len() {
        let from = scanner.pos;
        let byte = scanner.next_token();
        blank += scanner.pos - from;
        if byte != Some(b'"') || scanner.string().is_err() {
            scanner.pos += 1;
        }
    }
    json.len() - blank
}

/// Number of elements of the list that `json` is.
pub fn elements(json: &str) -> usize {
    let (mut depth, mut inside, mut escaped) = (0usize, false, false);
    let (mut commas, mut any) = (0, false);
    for byte in json.bytes() {
        if inside {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => inside = false,
                _ => {}
            }
            continue;
        }
        // The outermost bracket is no element.
        any |= depth > 0 && !byte.is_ascii_whitespace() && !(depth == 1 && byte == b']');
        match byte {
            b'"' => inside = true,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 1 => commas += 1,
            _ => {}
        }
    }
    commas + usize::from(any)
}

#[cfg(test)]
mod tests {
    use super::{compact_length, elements};

    #[test]
    fn white_space_counts_only_in_texts() {
        assert_eq!(
            compact_length("{ \"a b\" : [1,\n 2] , \"\\\" \":0}"),
            "{\"a b\":[1,2],\"\\\" \":0}".len()
        );
    }

    #[test]
    fn elements_are_counted_at_the_top_only() {
        assert_eq!(elements("[]"), 0);
        assert_eq!(elements(" [ \n ] "), 0);
        assert_eq!(elements("[{\"a\":[1,2]},{\"b\":\"],[\"}]"), 2);
        assert_eq!(elements("[0]"), 1);
    }
}
