//! Checks well-formedness only: no tree, and one bit of memory per open container.

use super::scan::{MAX_DEPTH, Scanner, SyntaxError, SyntaxKind};

/// Accepts or refuses a whole text, with the first error in reading order.
///
/// Unlike [`Doc::parse_package`](super::Doc::parse_package) it looks into every row, and unlike
/// [`Doc::parse`](super::Doc::parse) it needs no memory.
pub fn validate(text: &str) -> Result<(), SyntaxError> {
    let mut scanner = Scanner::new(text, 0);
    if scanner.next_token().is_none() {
        return Err(Scanner::error(0, SyntaxKind::Empty));
    }
    skip_value(&mut scanner, text)?;
    match scanner.next_token() {
        Some(_) => Err(Scanner::error(scanner.pos, SyntaxKind::TrailingText)),
        None => Ok(()),
    }
}

/// Reads the next value strictly and keeps nothing of it. Containers around it are not counted.
pub(crate) fn skip_value(scanner: &mut Scanner<'_>, text: &str) -> Result<(), SyntaxError> {
    // One bit per open container, the innermost lowest: 1 for an object.
    let mut objects: u128 = 0;
    let mut depth = 0;
    loop {
        let mut done = true;
        match scanner.next_token() {
            Some(open @ (b'{' | b'[')) => {
                if depth == MAX_DEPTH {
                    return Err(Scanner::error(scanner.pos, SyntaxKind::TooDeep));
                }
                depth += 1;
                objects = objects << 1 | u128::from(open == b'{');
                scanner.pos += 1;
                let filled = if open == b'{' {
                    scanner.first_member()?
                } else {
                    scanner.first_element()?
                };
                if filled {
                    done = false;
                    if open == b'{' {
                        skip_key(scanner)?;
                    }
                } else {
                    depth -= 1;
                    objects >>= 1;
                }
            }
            _ => scalar(scanner, text)?,
        }
        while done {
            if depth == 0 {
                return Ok(());
            }
            let in_object = objects & 1 == 1;
            let more = if in_object {
                scanner.next_member()?
            } else {
                scanner.next_element()?
            };
            if more {
                done = false;
                if in_object {
                    skip_key(scanner)?;
                }
            } else {
                depth -= 1;
                objects >>= 1;
            }
        }
    }
}

fn skip_key(scanner: &mut Scanner<'_>) -> Result<(), SyntaxError> {
    scanner.string()?;
    scanner.colon()
}

/// Reads a value that is not a container; gives whether it is a string with escapes.
pub(crate) fn scalar(scanner: &mut Scanner<'_>, text: &str) -> Result<(), SyntaxError> {
    match scanner.next_token() {
        Some(b'"') => scanner.string().map(|_| ()),
        Some(b'-' | b'0'..=b'9') => scanner.number().map(|_| ()),
        Some(b't') => scanner.literal("true").map(|_| ()),
        Some(b'f') => scanner.literal("false").map(|_| ()),
        Some(b'n') => scanner.literal("null").map(|_| ()),
        Some(0xEF) if text[scanner.pos..].starts_with('\u{feff}') => {
            Err(Scanner::error(scanner.pos, SyntaxKind::SecondByteOrderMark))
        }
        Some(_) => Err(Scanner::error(scanner.pos, SyntaxKind::ExpectedValue)),
        None => Err(scanner.end()),
    }
}
