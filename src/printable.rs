//! Makes untrusted text safe to print.
//!
//! Names and texts of packages, servers and file systems can contain terminal controls (C0 and C1),
//! marks that disguise text (bidirectional, invisible), or markup. Every renderer passes them
//! through here: for a single line, for several lines, for Markdown, for JSON. HTML and SVG use
//! `markup`, which calls this module.

use std::fmt::Write as _;
use std::path::Path;

/// A character that is safe to show, in place of any character.
pub fn visible(character: char) -> char {
    match character {
        '\t' => ' ',
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{fffd}'),
        '\u{7f}'..='\u{9f}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => '\u{fffd}',
        other => other,
    }
}

/// Bytes as hexadecimal digits in lower case, the form of digests.
pub fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// Text as one line: control and misleading characters are replaced.
pub fn line(text: &str) -> String {
    text.chars().map(visible).collect()
}

/// A path in a line.
pub fn path(path: &Path) -> String {
    line(&path.to_string_lossy())
}

/// Text as the lines that it has; tabs stay.
pub fn lines(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\n' | '\t' => character,
            other => visible(other),
        })
        .collect()
}

/// A JSON document that says the same, with control and misleading characters as `\u…`. Outside of
/// strings JSON has no such characters but line ends and tabs, which stay.
pub fn json(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    for character in document.chars() {
        if matches!(character, '\n' | '\r' | '\t') || visible(character) == character {
            out.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

/// Text that Markdown shows as itself, in a table too: no markup, no mention, no reference to an issue.
pub fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars().map(visible) {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '@' => out.push_str("&#64;"),
            '#' => out.push_str("&#35;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '!' => {
                out.push('\\');
                out.push(character);
            }
            other => out.push(other),
        }
    }
    out
}

/// Text as code in Markdown, in a table too: between more backticks than it has in a row.
pub fn code(text: &str) -> String {
    let text = line(text);
    let longest = text
        .split(|character| character != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.is_empty() || text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{}{pad}{fence}", text.replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::{code, json, line, lines, markdown};

    /// Every character that steers or misleads, in turn.
    fn hostile() -> impl Iterator<Item = char> {
        let ranges = [
            '\0'..='\u{1f}',
            '\u{7f}'..='\u{9f}',
            '\u{61c}'..='\u{61c}',
            '\u{200e}'..='\u{200f}',
            '\u{2028}'..='\u{202e}',
            '\u{2066}'..='\u{2069}',
        ];
        ranges.into_iter().flatten()
    }

    #[test]
    fn control_and_misleading_characters_are_replaced() {
        for character in hostile() {
            let text = format!("a{character}b");
            for shown in [line(&text), markdown(&text), code(&text)] {
                assert!(!shown.contains(character), "{character:?}: {shown:?}");
            }
            let kept = matches!(character, '\n' | '\t');
            assert_eq!(lines(&text).contains(character), kept, "{character:?}");
            // What readers of JSON get is the same.
            let document = serde_json::to_string(&text).expect("a text");
            let escaped = json(&document);
            assert!(!escaped.contains(character), "{character:?}: {escaped:?}");
            let read: String = serde_json::from_str(&escaped).expect("JSON");
            assert_eq!(read, text);
        }
        assert_eq!(json("\"\u{e0041}\""), "\"\\udb40\\udc41\"");
        assert_eq!(json("{\n\t\"ä\": 1\r\n}"), "{\n\t\"ä\": 1\r\n}");
    }

    #[test]
    fn markup_shows_as_itself() {
        assert_eq!(
            markdown("a|b <c> @me #1 `d`"),
            "a\\|b &lt;c&gt; &#64;me &#35;1 \\`d\\`"
        );
        assert_eq!(code("a`b|c"), "``a`b\\|c``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(code("a\nb"), "`a\u{240a}b`");
    }
}
