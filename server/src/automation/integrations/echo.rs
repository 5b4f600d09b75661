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
    if !text.contains(token) && !text.contains('\\') {
        return text;
    }
    let mut masked = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(character) = rest.chars().next() {
        let length = if let Some(length) = echo(rest, token) {
            masked.push_str(MASK);
            length
        } else {
            masked.push(character);
            character.len_utf8()
        };
        rest = &rest[length..];
    }
    masked
}

/// How many bytes at the beginning of a text write the token, if they do.
fn echo(text: &str, token: &str) -> Option<usize> {
    if text.starts_with(token) {
        return Some(token.len());
    }
    let mut rest = text;
    for wanted in token.chars() {
        let (character, length) = unescaped(rest)?;
        if character != wanted {
            return None;
        }
        rest = &rest[length..];
    }
    Some(text.len() - rest.len())
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
}
