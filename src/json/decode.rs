//! Decoding of the escapes in a string token.

use std::borrow::Cow;
use std::ops::Range;

/// The text of a string token's inside (between the quotes), which the scanner has accepted.
///
/// Borrows when there is no backslash.
pub fn decode(inner: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Cow::Borrowed(inner);
    }
    let mut out = String::with_capacity(inner.len());
    decode_to(&mut out, inner);
    Cow::Owned(out)
}

/// Appends that text to `out`.
pub fn decode_to(out: &mut String, inner: &str) {
    let mut rest = inner;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let (character, length) = escape(&rest[at..]);
        out.push(character);
        rest = &rest[at + length..];
    }
    out.push_str(rest);
}

/// Where the bytes `decoded` of that text stand in `inner`; nothing when they begin or end inside a character.
pub(crate) fn raw_range(inner: &str, decoded: Range<usize>) -> Option<Range<usize>> {
    let (mut raw, mut at) = (0, 0);
    let mut start = None;
    loop {
        if at == decoded.start {
            start = Some(raw);
        }
        if at == decoded.end {
            return Some(start?..raw);
        }
        let rest = inner.get(raw..)?;
        let (character, length) = match rest.chars().next()? {
            '\\' => escape(rest),
            plain => (plain, plain.len_utf8()),
        };
        raw += length;
        at += character.len_utf8();
    }
}

/// The character of the escape at the beginning of `text`, and the escape's length in bytes.
fn escape(text: &str) -> (char, usize) {
    let unit = |from: usize| {
        text.get(from..from + 4)
            .and_then(|hex| u32::from_str_radix(hex, 16).ok())
            .unwrap_or(0xFFFD)
    };
    match text.as_bytes().get(1) {
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'n') => ('\n', 2),
        Some(b'r') => ('\r', 2),
        Some(b't') => ('\t', 2),
        Some(b'u') => match unit(2) {
            high @ 0xD800..=0xDBFF => {
                let low = unit(8).wrapping_sub(0xDC00) & 0x3FF;
                let point = 0x10000 + ((high - 0xD800) << 10) + low;
                (
                    char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER),
                    12,
                )
            }
            point => (
                char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER),
                6,
            ),
        },
        Some(plain) => (char::from(*plain), 2),
        None => (char::REPLACEMENT_CHARACTER, 1),
    }
}
