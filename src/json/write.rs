//! Writing of strings: the shortest escapes, everything else as UTF-8.

use super::lanes::string_stop;

/// `text` as a JSON string token, quotes included.
pub fn write_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_string_to(&mut out, text);
    out
}

/// Appends `text` as a JSON string token to `out`.
pub fn write_string_to(out: &mut String, text: &str) {
    use std::fmt::Write as _;
    out.push('"');
    let mut rest = text;
    // Only ASCII bytes are ever escaped, so every cut falls between characters.
    while let Some(at) = string_stop(rest.as_bytes()) {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x8 => out.push_str("\\b"),
            0xC => out.push_str("\\f"),
            control => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{control:04x}");
            }
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}
