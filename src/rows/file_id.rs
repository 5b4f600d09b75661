//! The text of a `file` cell that is a file's id.
//!
//! In: a cell. Out: the id, where the cell is a text of 36 characters, 8-4-4-4-12 hexadecimal digits in
//! either case. What else such a column holds is a text like any other. Ids are compared by value.

use uuid::Uuid;

use super::Cell;

/// The id that a well-formed value holds as its text.
pub fn file_id(raw: &str) -> Option<Uuid> {
    match Cell::new(raw) {
        Cell::String(text) => file_id_of(&text.decoded()),
        _ => None,
    }
}

/// The id that a text is.
pub fn file_id_of(text: &str) -> Option<Uuid> {
    let hyphen_at = |at: usize| text.as_bytes().get(at) == Some(&b'-');
    // The parser takes other spellings, too: without hyphens, in braces, as URN.
    let plain = text.len() == 36 && [8, 13, 18, 23].into_iter().all(hyphen_at);
    plain.then(|| Uuid::try_parse(text).ok()).flatten()
}

/// Whether two well-formed values of a `file` column are the same: equal, or one id in other letters.
pub fn same_file_cell(one: &str, other: &str) -> bool {
    super::equal(one, other) || file_id(one).is_some_and(|id| file_id(other) == Some(id))
}

#[cfg(test)]
mod tests {
    use super::{file_id, same_file_cell};

    #[test]
    fn an_id_is_hyphenated_hexadecimal_in_either_case() {
        let id = file_id(r#""3f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0a11""#);
        assert!(id.is_some());
        for same in [
            r#""3F0C5B1E-9F5D-4D8E-8A47-2F5B8D1F0A11""#,
            r#""3f0c5b1E-9f5d-4d8e-8a47-2f5b8d1f0A11""#,
            r#""\u0033f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0a11""#,
        ] {
            assert_eq!(file_id(same), id, "{same}");
            assert!(same_file_cell(
                same,
                r#""3f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0a11""#
            ));
        }
        assert!(file_id(r#""00000000-0000-0000-0000-000000000000""#).is_some());
    }

    #[test]
    fn other_texts_are_none() {
        for raw in [
            "null",
            "1",
            r#""""#,
            r#""scan 1.pdf""#,
            r#""3f0c5b1e9f5d4d8e8a472f5b8d1f0a11""#,
            r#""{3f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0a11}""#,
            r#""urn:uuid:3f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0a11""#,
            r#"" 3f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0a1""#,
            r#""3f0c5b1g-9f5d-4d8e-8a47-2f5b8d1f0a11""#,
            r#""3f0c5b1-e9f5d-4d8e-8a47-2f5b8d1f0a11""#,
            r#""3f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0aé""#,
            r#"["3f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0a11"]"#,
        ] {
            assert_eq!(file_id(raw), None, "{raw}");
        }
        assert!(same_file_cell("1", "1.0"));
        assert!(!same_file_cell(r#""A""#, r#""a""#));
    }
}
