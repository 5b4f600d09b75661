//! Writing of strings: the shortest escapes, everything else as UTF-8.

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
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            control if control < ' ' => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{:04x}", control as u32);
            }
            other => out.push(other),
        }
    }
    out.push('"');
}
