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

/// The value of a parameter of a media type, without its quotation marks; nothing where it has none of that name, or is
/// no media type. Of several the first one counts.
pub fn parameter(text: &str, name: &str) -> Option<String> {
    let mut found = parameters(text)?.into_iter();
    let found = found.find(|one| one.name.eq_ignore_ascii_case(name))?;
    Some(unquoted(found.value))
}

/// A parameter of a media type, as it stands there.
#[derive(Clone, Copy)]
struct Parameter<'t> {
    name: &'t str,
    /// With its quotation marks.
    value: &'t str,
}

fn is_type(text: &str) -> bool {
    parameters(text).is_some()
}

/// The parameters of a media type; nothing where it is none.
fn parameters(text: &str) -> Option<Vec<Parameter<'_>>> {
    let (essence, mut rest) = match text.find(';') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let (kind, subtype) = essence.trim_end_matches([' ', '\t']).split_once('/')?;
    if !is_token(kind) || !is_token(subtype) || kind.contains('*') || subtype.contains('*') {
        return None;
    }
    let mut found = Vec::new();
    while let Some(after) = rest.strip_prefix(';') {
        rest = after.trim_start_matches([' ', '\t']);
        // Between semicolons there may be none.
        if !rest.is_empty() && !rest.starts_with(';') {
            let (parameter, after) = first_parameter(rest)?;
            found.push(parameter);
            rest = after.trim_start_matches([' ', '\t']);
        }
    }
    rest.is_empty().then_some(found)
}

/// The parameter at the beginning of a text, and what stands behind it.
fn first_parameter(text: &str) -> Option<(Parameter<'_>, &str)> {
    let (name, rest) = text.split_once('=')?;
    let (value, after) = match rest.strip_prefix('"') {
        Some(quoted) => rest.split_at(rest.len() - after_quoted(quoted)?.len()),
        None => rest.split_at(rest.find([';', ' ', '\t']).unwrap_or(rest.len())),
    };
    let fits = is_token(name) && (rest.starts_with('"') || is_token(value));
    fits.then_some((Parameter { name, value }, after))
}

fn unquoted(value: &str) -> String {
    let quoted = value
        .strip_prefix('"')
        .and_then(|value| value.strip_suffix('"'));
    let Some(quoted) = quoted else {
        return value.to_owned();
    };
    let (mut text, mut escaped) = (String::new(), false);
    for character in quoted.chars() {
        escaped = character == '\\' && !escaped;
        if !escaped {
            text.push(character);
        }
    }
    text
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
    use super::{name_fault, parameter, type_fault};

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
    fn each_range_of_refused_characters_ends_where_it_is_said() {
        let refused = |point: u32| {
            let character = char::from_u32(point).expect("a character");
            name_fault(&format!("a{character}b")).is_some()
        };
        for range in [
            0x00..=0x1F,
            0x7F..=0x9F,
            0x2028..=0x2029,
            0x202A..=0x202E,
            0x2066..=0x2069,
        ] {
            assert!(range.clone().all(refused), "{range:X?}");
        }
        for beside in [0x20, 0x7E, 0xA0, 0x2027, 0x202F, 0x2065, 0x206A] {
            assert!(!refused(beside), "{beside:X}");
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

    #[test]
    fn a_parameter_is_read_as_it_is_meant() {
        for (text, value) in [
            ("a/b; x=y", Some("y")),
            ("a/b ; x=y", Some("y")),
            ("a/b\t;X=y ; z=w", Some("y")),
            ("a/b;;z=\";x=w\"; x=\"y;\\\"\\\\z\"", Some("y;\"\\z")),
            ("a/b; x=\"\"", Some("")),
            ("a/b; x=y; x=z", Some("y")),
            ("a/b", None),
            ("a/b; z=x", None),
            ("a/b; x=", None),
            ("a/b; x=y, c/d", None),
            ("a; x=y", None),
        ] {
            assert_eq!(parameter(text, "x").as_deref(), value, "{text}");
        }
    }
}
