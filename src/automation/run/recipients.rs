//! Builds the recipients of a mail without letting a value add recipients.
//!
//! In: the text with its tokens, and the value of each token. Out: mailboxes separated by commas,
//! or the reason why the mail is not sent. Commas in the text separate mailboxes; commas in a value
//! do not. A value is one mailbox, whatever commas and quotes it contains; each element of a list
//! is one. A value next to other text is part of that text's mailbox.

use std::borrow::Cow;

use super::failure::Failure;
use super::request_path::Unresolved;
use super::value_text::text_of;
use crate::automation::{Path, Piece, pieces};
use crate::json::Value;

/// What ends a mailbox, or begins another part of one.
const SEPARATORS: [char; 11] = ['"', '<', '>', ',', ';', ':', '(', ')', '[', ']', '\\'];

/// The longest mailbox that is sent to.
const MAX_MAILBOX_BYTES: usize = 998;

/// What is put where a value was, while the text around it is taken apart.
enum Part<'t> {
    Text(&'t str),
    Value(Cow<'t, Value>),
}

/// The addressees that a text yields, separated by commas, of `most` bytes at most.
pub(super) fn resolve<'v>(
    text: &'v str,
    most: usize,
    value_of: &dyn Fn(&Path<'_>) -> Cow<'v, Value>,
) -> Result<String, Unresolved> {
    let refused = |reason: &str, value: &Value| {
        let failure = Failure::at("to", reason);
        Unresolved::Failed(failure.yields(Some(&text.into()), value))
    };
    let mut made = String::new();
    let mut push = |one: &str| {
        if made.len() + one.len() + 2 > most {
            return Err(Unresolved::TooLong);
        }
        if !made.is_empty() {
            made.push_str(", ");
        }
        made.push_str(one);
        Ok(())
    };
    for entry in entries(text, value_of) {
        match &entry[..] {
            [] => {}
            [Part::Value(value)] => {
                let elements = value.as_list();
                for element in elements.unwrap_or(std::slice::from_ref(&**value)) {
                    push(one(element).map_err(|reason| refused(reason, element))?)?;
                }
            }
            // What somebody wrote out is theirs to answer for.
            [Part::Text(text)] => push(text)?,
            parts => push(&mixed(parts, &refused)?)?,
        }
    }
    Ok(made)
}

/// The text, cut at the commas that are in it and not in quotes; spaces at the ends left out.
fn entries<'t>(
    text: &'t str,
    value_of: &dyn Fn(&Path<'_>) -> Cow<'t, Value>,
) -> Vec<Vec<Part<'t>>> {
    let mut entries = vec![Vec::new()];
    let mut quotes = Quotes::default();
    let mut push = |part: Part<'t>, ends: bool| {
        if let Some(entry) = entries.last_mut() {
            entry.push(part);
        }
        if ends {
            entries.push(Vec::new());
        }
    };
    for piece in pieces(text) {
        let span = match piece {
            Piece::Token(token) => {
                push(Part::Value(value_of(&token.path)), false);
                continue;
            }
            Piece::Text(span) | Piece::Broken(span, _) => span,
        };
        let mut start = span.start;
        for (at, character) in text[span.clone()].char_indices() {
            if quotes.separates(character) {
                push(Part::Text(&text[start..span.start + at]), true);
                start = span.start + at + 1;
            }
        }
        push(Part::Text(&text[start..span.end]), false);
    }
    entries.into_iter().map(trimmed).collect()
}

/// Without spaces and without empty parts at the ends.
fn trimmed(mut entry: Vec<Part<'_>>) -> Vec<Part<'_>> {
    if let Some(Part::Text(first)) = entry.first_mut() {
        *first = first.trim_start();
    }
    if let Some(Part::Text(last)) = entry.last_mut() {
        *last = last.trim_end();
    }
    entry.retain(|part| !matches!(part, Part::Text("")));
    entry
}

/// Whether quotes are open.
#[derive(Default)]
struct Quotes {
    open: bool,
    escaped: bool,
}

impl Quotes {
    /// Whether that character is a comma that separates.
    fn separates(&mut self, character: char) -> bool {
        match character {
            _ if self.escaped => self.escaped = false,
            '\\' if self.open => self.escaped = true,
            '"' => self.open = !self.open,
            ',' => return !self.open,
            _ => {}
        }
        false
    }
}

/// Mailboxes, cut at the commas that separate them.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut quotes = Quotes::default();
    let found = text.split(|character| quotes.separates(character));
    let found = found.map(str::trim).filter(|one| !one.is_empty());
    found.map(str::to_owned).collect()
}

/// A value as the one mailbox that it is.
fn one(value: &Value) -> Result<&str, &'static str> {
    let text = match value {
        Value::String(text) => text,
        Value::Null => return Err("there is nobody to send it to"),
        _ => return Err("is not an address"),
    };
    if text.contains(char::is_control) {
        return Err(LINE);
    }
    let text = text.trim();
    if is_mailbox(text) {
        Ok(text)
    } else {
        Err("is not an address of one mailbox")
    }
}

const LINE: &str = "a line of a mail's head holds no line break and no control character";

/// One mailbox made of text and values. No value brings anything into it that ends one or begins another.
fn mixed(
    parts: &[Part<'_>],
    refused: &dyn Fn(&str, &Value) -> Unresolved,
) -> Result<String, Unresolved> {
    let mut made = String::new();
    for part in parts {
        let value = match part {
            Part::Text(text) => {
                made.push_str(text);
                continue;
            }
            Part::Value(value) => &**value,
        };
        if matches!(value, Value::List(_) | Value::Object(_)) {
            return Err(refused("is not part of an address", value));
        }
        if value
            .as_str()
            .is_some_and(|text| text.len() > MAX_MAILBOX_BYTES)
        {
            return Err(refused("is not part of an address", value));
        }
        let text = text_of(value);
        if text.contains(char::is_control) {
            return Err(refused(LINE, value));
        }
        if text.contains(SEPARATORS) {
            return Err(refused("holds what separates addresses", value));
        }
        made.push_str(&text);
        if made.len() > MAX_MAILBOX_BYTES {
            return Err(refused("makes an address that is too long", value));
        }
    }
    if is_mailbox(&made) {
        Ok(made)
    } else {
        Err(refused("is not an address of one mailbox", &made.into()))
    }
}

/// Whether a text is one mailbox: an address, or a name and an address in angle brackets. Groups, comments,
/// quoted local parts and addresses of machines are none.
fn is_mailbox(text: &str) -> bool {
    if text.len() > MAX_MAILBOX_BYTES {
        return false;
    }
    let Some(inner) = text.strip_suffix('>') else {
        return is_address(text);
    };
    match inner.rsplit_once('<') {
        Some((name, address)) => is_name(name.trim()) && is_address(address),
        None => false,
    }
}

/// Words, or one text in quotes; or nothing.
fn is_name(name: &str) -> bool {
    let quoted = name
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    if let Some(quoted) = quoted {
        let mut escaped = false;
        for character in quoted.chars() {
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => return false,
                _ => {}
            }
        }
        return !escaped;
    }
    !name.contains(['"', '<', '>', '@', ',', ';', ':', '(', ')', '[', ']', '\\'])
}

fn is_address(address: &str) -> bool {
    let Some((local, domain)) = address.split_once('@') else {
        return false;
    };
    let labels = |text: &str, good: fn(char) -> bool| {
        let mut labels = text.split('.');
        labels.all(|label| !label.is_empty() && label.chars().all(good))
    };
    labels(local, |c| {
        c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c)
    }) && labels(domain, |c| c.is_alphanumeric() || c == '-')
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::{Unresolved, resolve, split};
    use crate::automation::Path;
    use crate::json::Value;

    /// The addressees of a text whose tokens all yield that value.
    fn made(text: &str, value: &Value) -> Result<Vec<String>, String> {
        let value_of = |_: &Path<'_>| Cow::Borrowed(value);
        let made = resolve(text, 1 << 20, &value_of).map_err(|error| match error {
            Unresolved::TooLong => "too long".to_owned(),
            Unresolved::Failed(failure) => {
                assert_eq!(failure.field, "to");
                failure.reason
            }
        });
        made.map(|made| split(&made))
    }

    #[test]
    fn a_value_is_one_mailbox() {
        for value in [
            "a@example.org",
            "a.b+c@mail.example.org",
            "Eve <eve@example.org>",
            "\"Doe, Jane\" <jane@example.org>",
            "\"x <a@b.c>, y\" <jane@example.org>",
            "\"a\\\"b, c\" <jane@example.org>",
            "<eve@example.org>",
            "josé@exämple.org",
        ] {
            assert_eq!(
                made("{{vars.x}}", &value.into()),
                Ok(vec![value.to_owned()]),
                "{value}"
            );
            let two = made("desk@acme.test, {{vars.x}} ", &value.into());
            assert_eq!(
                two,
                Ok(vec!["desk@acme.test".to_owned(), value.to_owned()]),
                "{value}"
            );
        }
        for value in [
            "",
            "nobody",
            "a@example.org, b@evil.example",
            "a@example.org,b@evil.example",
            "a@example.org; b@evil.example",
            "a@example.org b@evil.example",
            "Eve <a@example.org>, <b@evil.example>",
            "\"Eve\" <a@example.org>, \"x\" <b@evil.example>",
            "Eve <a@example.org> <b@evil.example>",
            "Eve, Adam <a@example.org>",
            "<a@example.org>, b@evil.example",
            "\" <a@example.org>, <b@evil.example>",
            "\"x\\\" <b@evil.example>",
            "\"x\" y\" <b@evil.example>",
            "friends: a@example.org, b@evil.example;",
            "friends:a@example.org;",
            "a@example.org (b@evil.example)",
            "a@b@evil.example",
            "\"a b\"@example.org",
            "a@[127.0.0.1]",
            "a@example.org\r\nBcc: b@evil.example",
            "a@example.org\nb@evil.example",
            "a@example.org\0",
            "a..b@example.org",
            "a@",
            "@example.org",
            "a@example..org",
            "b@evil.example <a@example.org>",
        ] {
            for text in [
                "{{vars.x}}",
                "desk@acme.test, {{vars.x}}",
                "Eve <{{vars.x}}>",
            ] {
                assert!(made(text, &value.into()).is_err(), "{text} {value}");
            }
        }
    }

    #[test]
    fn addressees_are_bounded() {
        let many = Value::from(vec![Value::from("a@example.org"); 100_000]);
        assert_eq!(made("{{vars.x}}", &many), Err("too long".to_owned()));
    }

    #[test]
    fn each_element_of_a_list_is_one_recipient() {
        let list = |text: &str| Value::parse(text).expect("JSON");
        let two = list(r#"["a@b.c", "\"D, E\" <d@e.f>"]"#);
        let found = vec!["a@b.c".to_owned(), "\"D, E\" <d@e.f>".to_owned()];
        assert_eq!(made("{{vars.x}}", &two), Ok(found.clone()));
        let with = made("x@y.z,{{vars.x}}", &two).expect("three");
        assert_eq!(with[1..], found[..]);
        assert_eq!(made("{{vars.x}}", &list("[]")), Ok(Vec::new()));
        for wrong in [
            r#"["a@b.c, d@e.f"]"#,
            r#"["a@b.c", ""]"#,
            r#"[["a@b.c"]]"#,
            r"[1]",
            r#"{"a": "a@b.c"}"#,
            "1",
            "true",
            "null",
        ] {
            assert!(made("{{vars.x}}", &list(wrong)).is_err(), "{wrong}");
        }
        assert!(made("Eve <{{vars.x}}>", &two).is_err());
    }

    #[test]
    fn a_value_next_to_text_is_a_part_of_one_mailbox() {
        let of = |text, value: &str| made(text, &value.into());
        let one = |text: &str| Ok(vec![text.to_owned()]);
        assert_eq!(of("{{vars.x}}@acme.test", "ana"), one("ana@acme.test"));
        assert_eq!(of("Ana <{{vars.x}}>", "a@b.c"), one("Ana <a@b.c>"));
        assert_eq!(
            of("{{vars.x}} Silva <a@b.c>", "Ana"),
            one("Ana Silva <a@b.c>")
        );
        for value in [
            "eve@evil.example",
            "eve@evil.example, x",
            "x>, <eve@evil.example",
            "",
            "a b",
            "\"x",
        ] {
            assert!(of("{{vars.x}}@acme.test", value).is_err(), "{value}");
        }
        assert!(of("{{vars.x}} <a@b.c>", "eve@evil.example").is_err());
        assert!(of("\"{{vars.x}}\" <a@b.c>", "x\" <eve@evil.example>, \"").is_err());
    }

    #[test]
    fn what_is_written_out_is_taken_as_it_is() {
        let none = Value::Null;
        let found = made("ana@acme.test, \"Doe, J\" <j@acme.test> , ,x", &none);
        let expected = ["ana@acme.test", "\"Doe, J\" <j@acme.test>", "x"];
        assert_eq!(found, Ok(expected.map(str::to_owned).to_vec()));
    }
}
