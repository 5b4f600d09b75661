//! Sizes of payload entries, counted without reading their rows.

/// Rows of a payload entry that an interactive selection accepts.
pub const MAX_ENTRY_ROWS: usize = 5000;
/// Bytes of compact JSON of a payload entry that an interactive selection accepts.
pub const MAX_ENTRY_BYTES: usize = 4 << 20;

/// Bytes of `json` without white space between tokens.
pub(super) fn compact(json: &str) -> usize {
    let mut inside = false;
    let mut escaped = false;
    let mut count = 0;
    for byte in json.bytes() {
        if inside {
            count += 1;
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => inside = false,
                _ => {}
            }
        } else if !byte.is_ascii_whitespace() {
            count += 1;
            inside = byte == b'"';
        }
    }
    count
}

/// Number of elements of the list that `json` is.
pub(super) fn elements(json: &str) -> usize {
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
    use super::{compact, elements};

    #[test]
    fn white_space_counts_only_in_texts() {
        assert_eq!(
            compact("{ \"a b\" : [1,\n 2] , \"\\\" \":0}"),
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
