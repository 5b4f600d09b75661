//! Names and media types, as far as they are accepted. What is accepted is kept as it was sent.

/// Characters of a name.
pub const MOST_NAME: usize = 255;
/// Bytes of a media type.
pub const MOST_TYPE: usize = 255;
/// The type of bytes of which nothing is said.
pub const UNKNOWN_TYPE: &str = "application/octet-stream";

/// What is wrong with a name.
pub fn name_fault(name: &str) -> Option<&'static str> {
    // More bytes than so many characters can have need no counting.
    if name.is_empty() || name.len() > 4 * MOST_NAME || name.chars().count() > MOST_NAME {
        return Some("has to have 1 to 255 characters");
    }
    if name.chars().any(char::is_control) {
        return Some("holds a control character");
    }
    if name.contains(['/', '\\']) {
        return Some("holds a slash or a backslash");
    }
    if name.contains(breaks_display) {
        return Some("holds a character that changes direction or breaks lines");
    }
    if name == "." || name == ".." {
        return Some("names a folder");
    }
    name.trim()
        .is_empty()
        .then_some("is nothing but white space")
}

/// Whether a character shows the text around it in another order, or on another line.
fn breaks_display(character: char) -> bool {
    matches!(character, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

/// What is wrong with a media type: it is not one `type/subtype` of RFC 9110 with parameters.
pub fn type_fault(text: &str) -> Option<&'static str> {
    if text.len() > MOST_TYPE {
        return Some("is longer than 255 bytes");
    }
    if is_type(text) {
        None
    } else {
        Some("is not a media type, such as image/png or text/plain; charset=utf-8")
    }
}

fn is_type(text: &str) -> bool {
    let (essence, mut rest) = match text.find(';') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let Some((kind, subtype)) = essence.trim_end_matches([' ', '\t']).split_once('/') else {
        return false;
    };
    if !is_token(kind) || !is_token(subtype) || kind.contains('*') || subtype.contains('*') {
        return false;
    }
    while let Some(parameter) = rest.strip_prefix(';') {
        let Some(after) = after_parameter(parameter.trim_start_matches([' ', '\t'])) else {
            return false;
        };
        rest = after.trim_start_matches([' ', '\t']);
    }
    rest.is_empty()
}

/// What stands behind a parameter; between semicolons there may be none.
fn after_parameter(text: &str) -> Option<&str> {
    if text.is_empty() || text.starts_with(';') {
        return Some(text);
    }
    let (name, value) = text.split_once('=')?;
    if !is_token(name) {
        return None;
    }
    if let Some(quoted) = value.strip_prefix('"') {
        return after_quoted(quoted);
    }
    let end = value.find([';', ' ', '\t']).unwrap_or(value.len());
    is_token(&value[..end]).then(|| &value[end..])
}

fn after_quoted(text: &str) -> Option<&str> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if !matches!(byte, b'\t' | 0x20..=0x7E) => return None,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(&text[at + 1..]),
            _ => {}
        }
    }
    None
}

fn is_token(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::{name_fault, type_fault};

    #[test]
    fn a_name_is_what_can_be_shown_in_one_line_and_leads_nowhere() {
        for fine in [
            "a",
            "Ação (1).pdf",
            "...",
            ".profile",
            "a\"b';%00",
            "é".repeat(255).as_str(),
            "CON",
            "~x",
            " a ",
        ] {
            assert_eq!(name_fault(fine), None, "{fine:?}");
        }
        for bad in [
            "",
            ".",
            "..",
            " ",
            "\u{3000}",
            "a/b",
            "a\\b",
            "a\nb",
            "\0",
            "\u{7f}",
            "\u{85}",
            "a\u{202E}gpj.exe",
            "\u{2066}",
            "a\u{2028}",
            "\u{2029}",
            "x".repeat(256).as_str(),
            "x".repeat(1_000_000).as_str(),
        ] {
            assert!(name_fault(bad).is_some(), "{bad:.20?}");
        }
    }

    #[test]
    fn a_type_is_one_media_type_with_parameters() {
        for fine in [
            "image/png",
            "text/plain; charset=utf-8",
            "text/plain;charset=\"a;\\\"b\"",
            "a/b;",
            "a/b ; c=d;e=f",
            "application/vnd.x+xml",
            "multipart/form-data; boundary=x",
        ] {
            assert_eq!(type_fault(fine), None, "{fine}");
        }
        for bad in [
            "",
            "image",
            "image/",
            "/png",
            "*/*",
            "image/*",
            "image/png, text/html",
            "a/b; c",
            "a/b; c=",
            "a/b c",
            "a/b;c=\"d",
            "a/b;c=\"d\"e",
            "ä/b",
            "a/b\n",
            "a /b",
            "a/b/c",
        ] {
            assert!(type_fault(bad).is_some(), "{bad}");
        }
        assert!(type_fault(&format!("a/{}", "b".repeat(253))).is_none());
        assert!(type_fault(&format!("a/{}", "b".repeat(254))).is_some());
    }
}
