//! Masks the token of a request in its response: a partner may echo it, and more people read runs than know tokens.
//!
//! It finds the token as it is and in escapes of JSON. One that the partner encodes in another way stays.

use crate::automation::secrets::MASK;

/// Shorter tokens are left: many texts hold so few characters by chance.
const MIN_TOKEN_BYTES: usize = 8;

/// A response without the token that was sent for it, if one was.
pub(super) fn without_token(text: String, token: Option<&str>) -> String {
    let Some(token) = token.filter(|token| token.chars().count() >= MIN_TOKEN_BYTES) else {
        return text;
    };
    let text = text.replace(token, MASK);
    if !text.contains('\\') {
        return text;
    }
    // The text without escapes, and where each byte of it is written.
    let mut plain = String::with_capacity(text.len());
    let mut written_at = Vec::with_capacity(text.len() + 1);
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        // Any other escape is no character of a token.
        let (character, length) = unescaped(rest).unwrap_or(('\0', 1));
        plain.push(character);
        written_at.resize(plain.len(), at);
        at += length;
    }
    written_at.push(text.len());
    let (mut masked, mut end) = (String::with_capacity(text.len()), 0);
    for (at, _) in plain.match_indices(token) {
        masked.push_str(&text[end..written_at[at]]);
        masked.push_str(MASK);
        end = written_at[at + token.len()];
    }
    masked.push_str(&text[end..]);
    masked
}

/// The first character of a text in JSON, and how many bytes write it.
fn unescaped(text: &str) -> Option<(char, usize)> {
    let first = text.chars().next()?;
    if first != '\\' {
        return Some((first, first.len_utf8()));
    }
    match *text.as_bytes().get(1)? {
        b'u' => {
            let unit = u32::from_str_radix(text.get(2..6)?, 16).ok()?;
            Some((char::from_u32(unit)?, 6))
        }
        // A token is a header, which holds no control characters.
        escaped @ (b'"' | b'\\' | b'/') => Some((char::from(escaped), 2)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::without_token;

    #[test]
    fn a_token_is_masked_as_it_is_and_in_escapes() {
        for (token, text, masked) in [
            (
                "to/ken+1=",
                "Bearer to/ken+1=, to/ken+1",
                "Bearer ********, to/ken+1",
            ),
            (
                "to/ken+1=",
                r#"{"a":"to\/ken\u002b1\u003D","b":"\n"}"#,
                r#"{"a":"********","b":"\n"}"#,
            ),
            ("a\"b\\cdef", r#"["a\"b\\cdef"]"#, r#"["********"]"#),
            ("tokentoken", "tokentokentoken", "********token"),
            ("tokentoken", r"é\u00", r"é\u00"),
            ("tokentoken", r"\u00e9\", r"\u00e9\"),
            ("short12", "short12", "short12"),
            ("päßwörtlich", r#""p\u00e4ßwörtlich""#, r#""********""#),
        ] {
            let found = without_token(text.to_owned(), Some(token));
            assert_eq!(found, masked, "{token}");
        }
        assert_eq!(without_token("tokentoken".to_owned(), None), "tokentoken");
    }

    /// One comparison for each byte of both would take hours.
    #[test]
    fn a_long_token_that_a_text_nearly_repeats_costs_one_pass() {
        let text = format!("\\n{}", "a".repeat(4 << 20));
        let token = format!("{}b", "a".repeat(1 << 20));
        let found = without_token(text.clone(), Some(&token));
        assert_eq!(found.len(), text.len());
    }
}
