//! The first error of a text, without building anything.

use super::scan::{MAX_DEPTH, Scanner, SyntaxError, SyntaxKind};

/// The first place at which `text` is not JSON; `None` when all of it is.
pub fn first_error(text: &str) -> Option<SyntaxError> {
    let mut scanner = Scanner::new(text, 0);
    if scanner.next_token().is_none() {
        return Some(Scanner::error(0, SyntaxKind::Empty));
    }
    if let Err(error) = value(&mut scanner, text, 0) {
        return Some(error);
    }
    scanner.next_token().map(|_| Scanner::error(scanner.pos, SyntaxKind::TrailingText))
}

/// Reads a value inside `depth` open containers.
fn value(scanner: &mut Scanner<'_>, text: &str, depth: usize) -> Result<(), SyntaxError> {
    match scanner.peek() {
        Some(b'{') => {
            open(scanner, depth)?;
            let mut more = scanner.first_member()?;
            while more {
                scanner.string()?;
                scanner.colon()?;
                value(scanner, text, depth + 1)?;
                more = scanner.next_member()?;
            }
            Ok(())
        }
        Some(b'[') => {
            open(scanner, depth)?;
            let mut more = scanner.first_element()?;
            while more {
                value(scanner, text, depth + 1)?;
                more = scanner.next_element()?;
            }
            Ok(())
        }
        Some(b'"') => scanner.string().map(drop),
        Some(b'-' | b'0'..=b'9') => scanner.number().map(drop),
        Some(b't') => scanner.literal("true").map(drop),
        Some(b'f') => scanner.literal("false").map(drop),
        Some(b'n') => scanner.literal("null").map(drop),
        Some(0xEF) if text[scanner.pos..].starts_with('\u{feff}') => {
            Err(Scanner::error(scanner.pos, SyntaxKind::SecondByteOrderMark))
        }
        Some(_) => Err(Scanner::error(scanner.pos, SyntaxKind::ExpectedValue)),
        None => Err(scanner.end()),
    }
}

fn open(scanner: &mut Scanner<'_>, depth: usize) -> Result<(), SyntaxError> {
    if depth >= MAX_DEPTH {
        return Err(Scanner::error(scanner.pos, SyntaxKind::TooDeep));
    }
    scanner.pos += 1;
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::first_error;
    use crate::json::Doc;

    #[test]
    fn agrees_with_the_tree_on_broken_texts() {
        let deep = "[".repeat(129) + &"]".repeat(129);
        for text in ["", " ", "{", "[1,]", "{\"a\":1,}", "{a:1}", "[1 2]", "nul", "01", "\"\\x\"", "[] []", "\"\t\"", "\u{feff}1", &deep] {
            assert_eq!(first_error(text), Doc::parse(text).err(), "{text}");
            assert!(first_error(text).is_some(), "{text}");
        }
        let just = "[".repeat(128) + &"]".repeat(128);
        assert_eq!(first_error(&just), None);
    }

    proptest! {
        #[test]
        fn agrees_with_the_tree(text in "[\\[\\]{}:,\"\\\\ua0-9eE+.tfn \u{feff}]{0,24}") {
            prop_assert_eq!(first_error(&text), Doc::parse(&text).err());
        }
    }
}
