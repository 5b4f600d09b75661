//! A text that is being written, made whole around the cursor, so that it can be asked what belongs there.
//!
//! In: a text and a byte. Out: the token at that byte, and a text in which a string stands for it
//! and that parses. The ways tried are those in which a value or a member can be missing commas,
//! a colon or a value.

use std::ops::Range;

use super::folding::end_of_string;
use crate::json::Doc;

/// Stands for what is still to be written.
const HERE: &str = "tplkit-here";

/// A whole text around a cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repaired {
    /// The text.
    pub(super) text: String,
    /// Where the string at the cursor begins in it.
    pub(super) at: usize,
    /// What an accepted proposal replaces in the text as it was.
    pub(super) replace: Range<usize>,
    /// Whether that is a string already.
    pub(super) string: bool,
    /// What is missing before it.
    pub(super) before: &'static str,
    /// Whether a comma is missing behind it.
    pub(super) comma: bool,
    /// Whether it becomes a key whose colon and value are missing, too.
    pub(super) bare_key: bool,
}

/// Makes a text whole; nothing where that takes more than what is missing at the cursor.
pub(super) fn repair(text: &str, offset: usize) -> Option<Repaired> {
    let token = token(text, offset);
    if token.string && token.closed && Doc::parse_package(text).is_ok() {
        return Some(Repaired {
            text: text.to_owned(),
            at: token.span.start,
            replace: token.span,
            string: true,
            before: "",
            comma: false,
            bare_key: false,
        });
    }
    let ways = [
        ("", false, false),
        ("", true, false),
        (",", false, false),
        (",", true, false),
        ("", false, true),
        ("", true, true),
        (",", false, true),
        (",", true, true),
    ];
    ways.into_iter().find_map(|(before, comma, bare_key)| {
        let here = format!(
            "{before}\"{HERE}\"{}{}",
            if bare_key { ": null" } else { "" },
            if comma { "," } else { "" }
        );
        let mut whole = String::with_capacity(text.len() + here.len());
        whole.push_str(&text[..token.span.start]);
        whole.push_str(&here);
        whole.push_str(&text[token.span.end..]);
        Doc::parse_package(&whole).ok()?;
        Some(Repaired {
            text: whole,
            at: token.span.start + before.len(),
            replace: token.span.clone(),
            string: token.string,
            before,
            comma,
            bare_key,
        })
    })
}

struct Token {
    span: Range<usize>,
    string: bool,
    closed: bool,
}

/// The string or the word around a byte.
fn token(text: &str, offset: usize) -> Token {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < offset {
        if bytes.get(at) == Some(&b'"') {
            let end = end_of_string(bytes, at);
            let closed = bytes.get(end) == Some(&b'"') && end > at;
            // One that is not closed ends with its line, where a cursor stands behind its last character.
            if end + 1 >= offset {
                let end = if closed { end + 1 } else { offset };
                return Token {
                    span: at..end.min(text.len()),
                    string: true,
                    closed,
                };
            }
            at = end;
        }
        at += 1;
    }
    if bytes.get(offset) == Some(&b'"') {
        let end = end_of_string(bytes, offset);
        if bytes.get(end) == Some(&b'"') && end > offset {
            return Token {
                span: offset..end + 1,
                string: true,
                closed: true,
            };
        }
    }
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$.-".contains(byte);
    let start = offset - bytes[..offset].iter().rev().take_while(|b| word(b)).count();
    let end = offset + bytes[offset..].iter().take_while(|b| word(b)).count();
    Token {
        span: start..end,
        string: false,
        closed: true,
    }
}
