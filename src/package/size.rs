//! Sizes of payload entries, counted without reading their rows (contract 2.10).

use crate::json::scan::Scanner;
use crate::json::{decode, write_string};

/// Rows of a payload entry that an interactive selection accepts.
pub const MOST_ROWS: usize = 5000;
/// Bytes of compact JSON of a payload entry that an interactive selection accepts.
pub const MOST_BYTES: usize = 4 << 20;
/// Characters of a label that stores keep.
pub const MOST_LABEL: usize = 255;
/// Characters of a description that stores keep.
pub const MOST_DESCRIPTION: usize = 10_000;

/// Bytes of `json` written compactly: no white space between tokens, the shortest escapes.
pub fn compact_length(json: &str) -> usize {
    let mut scanner = Scanner::new(json, 0);
    let mut spared = 0;
    while scanner.pos < json.len() {
        let from = scanner.pos;
        let byte = scanner.next_token();
        spared += scanner.pos - from;
        let token = (byte == Some(b'"')).then(|| scanner.string());
        match token {
            Some(Ok(token)) if token.escaped => {
                let written = write_string(&decode(&json[token.inner()]));
                spared += (token.end - token.start).saturating_sub(written.len());
            }
            Some(Ok(_)) => {}
            _ => scanner.pos += 1,
        }
    }
    json.len() - spared
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
        // The outermost bracket is not an element.
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
    fn escapes_count_as_they_would_be_written() {
        let written = "\"é\\n\"".len();
        assert_eq!(compact_length(r#""\u00e9\u000a""#), written);
    }

    #[test]
    fn elements_are_counted_at_the_top_only() {
        assert_eq!(elements("[]"), 0);
        assert_eq!(elements(" [ \n ] "), 0);
        assert_eq!(elements("[{\"a\":[1,2]},{\"b\":\"],[\"}]"), 2);
        assert_eq!(elements("[0]"), 1);
    }
}
