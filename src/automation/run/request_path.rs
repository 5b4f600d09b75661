//! Builds the path of a request without letting a value change the resource.
//!
//! In: the text with its tokens, and the value of each token. Out: the encoded path, or the reason
//! for a refusal. In a path a value stays within one segment; in a query it is one value. A token
//! that is the whole path may contain slashes, but stays below the base address.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::failure::Failure;
use super::value_text::text_of;
use crate::automation::{Path, Piece, lone_token, pieces};
use crate::json::Value;

/// What stands for itself in a segment; everything else is encoded.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// How often a path is decoded before it counts as one that hides something.
const MAX_DECODINGS: usize = 8;

/// Why a text with values in it yields nothing that could be sent.
#[derive(Debug)]
pub(super) enum Unresolved {
    /// It would be longer than it may be.
    TooLong,
    /// A value is none that may be there.
    Failed(Failure),
}

/// The path that a text yields, of `most` bytes at most.
pub(super) fn resolve<'v>(
    text: &str,
    most: usize,
    value_of: &dyn Fn(&Path<'_>) -> Cow<'v, Value>,
) -> Result<String, Unresolved> {
    let refused = |reason: &str, value: &Value| {
        let failure = Failure::at("path", reason);
        Unresolved::Failed(failure.yields(Some(&text.into()), value))
    };
    if let Some(path) = lone_token(text) {
        let value = value_of(&path);
        return match whole_fault(&value) {
            None => Ok(text_of(&value)),
            Some(reason) => Err(refused(reason, &value)),
        };
    }
    let mut made = PathBuilder::default();
    for piece in pieces(text) {
        match piece {
            Piece::Token(token) => {
                let value = value_of(&token.path);
                match value_fault(&value) {
                    None => made.value(&value, most)?,
                    Some(reason) => return Err(refused(reason, &value)),
                }
            }
            Piece::Text(span) | Piece::Broken(span, _) => made.text(&text[span]),
        }
    }
    made.end_segment();
    if made.is_bad {
        let reason = "a value leaves a segment of the path empty, `.` or `..`";
        return Err(refused(reason, &made.path.into()));
    }
    Ok(made.path)
}

/// A path that is being put together.
#[derive(Default)]
struct PathBuilder {
    path: String,
    /// Where the current segment begins.
    segment: usize,
    /// Whether the current segment holds a value.
    holds_value: bool,
    /// Whether the path has ended.
    in_query: bool,
    /// Whether a segment with a value is none that names a thing.
    is_bad: bool,
}

impl PathBuilder {
    fn value(&mut self, value: &Value, most: usize) -> Result<(), Unresolved> {
        let text = match value {
            Value::String(text) => Cow::Borrowed(text.as_str()),
            other => Cow::Owned(text_of(other)),
        };
        // A character takes three bytes for each of its own when it is encoded.
        if self.path.len() + 3 * text.len() > most {
            return Err(Unresolved::TooLong);
        }
        self.path.extend(utf8_percent_encode(&text, ENCODED));
        self.holds_value = true;
        Ok(())
    }

    fn text(&mut self, text: &str) {
        for character in text.chars() {
            let ends = matches!(character, '/' | '\\' | '?' | '#') && !self.in_query;
            if ends {
                self.end_segment();
                self.in_query = matches!(character, '?' | '#');
            }
            self.path.push(character);
            if ends {
                self.segment = self.path.len();
            }
        }
    }

    fn end_segment(&mut self) {
        if !self.in_query && self.holds_value {
            let segment = &self.path[self.segment..];
            self.is_bad |= decoded(segment).is_none_or(|plain| plain.is_empty() || is_dots(&plain));
        }
        self.holds_value = false;
    }
}

/// Why a value cannot be in a path or a query, if so.
fn value_fault(value: &Value) -> Option<&'static str> {
    match value {
        Value::List(_) | Value::Object(_) => Some("a path takes one value, no list and no object"),
        Value::String(text) if text.contains(char::is_control) => {
            Some("a path holds no control characters")
        }
        _ => None,
    }
}

/// Why a value cannot be a whole path, if so.
fn whole_fault(value: &Value) -> Option<&'static str> {
    let Value::String(text) = value else {
        return Some("a value that is the whole path is a text that begins with `/`");
    };
    if !text.starts_with('/') {
        return Some("a value that is the whole path begins with `/`");
    }
    let path = text.split('?').next().unwrap_or_default();
    let decoded = decoded(path);
    let Some(plain) = decoded.filter(|_| !text.contains(char::is_control)) else {
        return Some("a path holds no control characters and is encoded once");
    };
    if text.contains(['\\', '#'])
        || plain.contains(['\\', '\0'])
        || plain.contains(char::is_control)
    {
        return Some(
            "a value that is the whole path holds no backslash, no `#` and no control character",
        );
    }
    if plain.contains("//") || plain.split('/').any(is_dots) {
        return Some("a value that is the whole path has no empty segment, no `.` and no `..`");
    }
    None
}

/// Whether a segment means a place and no thing, also with the parameters that some servers cut off.
fn is_dots(segment: &str) -> bool {
    let name = segment.split(';').next().unwrap_or_default();
    matches!(name, "." | "..")
}

/// A part of a path without any encoding; nothing when it is encoded again and again.
fn decoded(text: &str) -> Option<String> {
    let mut text = text.to_owned();
    for _ in 0..MAX_DECODINGS {
        let plain = percent_decode_str(&text).decode_utf8_lossy().into_owned();
        if plain == text {
            return Some(text);
        }
        text = plain;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::{Unresolved, resolve};
    use crate::automation::Path;
    use crate::json::Value;

    const MAX_BYTES: usize = 1 << 20;

    /// Resolves a text whose tokens all yield that value.
    fn made(text: &str, value: &Value) -> Result<String, String> {
        let value_of = |_: &Path<'_>| Cow::Borrowed(value);
        resolve(text, MAX_BYTES, &value_of).map_err(|error| match error {
            Unresolved::TooLong => "too long".to_owned(),
            Unresolved::Failed(failure) => {
                assert_eq!(failure.field, "path");
                failure.reason
            }
        })
    }

    #[test]
    fn a_path_is_bounded_before_it_is_made() {
        let value = Value::from("x".repeat(MAX_BYTES / 10));
        assert!(made("/a/{{vars.x}}", &value).is_ok());
        let long = format!("/a/{}", "{{vars.x}}".repeat(12));
        assert_eq!(made(&long, &value), Err("too long".to_owned()));
    }

    fn good(text: &str, value: &str, path: &str) {
        assert_eq!(
            made(text, &value.into()).as_deref(),
            Ok(path),
            "{text} {value}"
        );
    }

    fn bad(text: &str, value: &str) {
        assert!(made(text, &value.into()).is_err(), "{text} {value}");
    }

    #[test]
    fn a_value_is_one_segment() {
        const PATH: &str = "/customers/{{vars.x}}/orders";
        for (value, segment) in [
            ("7", "7"),
            ("a b", "a%20b"),
            ("../admin", "..%2Fadmin"),
            ("../../v1/admin/delete", "..%2F..%2Fv1%2Fadmin%2Fdelete"),
            ("./../admin", ".%2F..%2Fadmin"),
            ("x?role=admin", "x%3Frole%3Dadmin"),
            ("x#y", "x%23y"),
            ("x\\y", "x%5Cy"),
            ("%2e%2e/admin", "%252e%252e%2Fadmin"),
            ("x&y=z;w", "x%26y%3Dz%3Bw"),
            ("//evil.example", "%2F%2Fevil.example"),
            ("https://evil.example", "https%3A%2F%2Fevil.example"),
            ("@evil", "%40evil"),
            ("ção", "%C3%A7%C3%A3o"),
            ("...", "..."),
            ("a.b-c_d~e", "a.b-c_d~e"),
            ("{{vars.y}}", "%7B%7Bvars.y%7D%7D"),
        ] {
            good(PATH, value, &format!("/customers/{segment}/orders"));
        }
        for value in [
            "",
            ".",
            "..",
            "%2e",
            "%2E%2e",
            "%252e%252e",
            "..;x",
            "a\nb",
            "\0",
            "\u{85}",
        ] {
            bad(PATH, value);
        }
        // With the text around it.
        good("/a/x{{vars.x}}", "", "/a/x");
        good("/a/v{{vars.x}}", "..", "/a/v..");
        bad("/a/.{{vars.x}}", ".");
        bad("/a/{{vars.x}}{{vars.y}}", ".");
        bad("/a/%2{{vars.x}}.", "e");
        bad("{{vars.x}}/a", "");
        good("{{vars.x}}/a", "b/..", "b%2F../a");
        good("{{vars.x}} ", "/b", "%2Fb ");
        // What somebody wrote stays as they wrote it.
        good("/a/./b/?x=1", "", "/a/./b/?x=1");
        good("a/../{{vars.x}}/", "b", "a/../b/");
    }

    #[test]
    fn in_a_query_it_is_one_value() {
        const QUERY: &str = "/search?q={{vars.x}}&page=1";
        for (value, one) in [
            ("a&admin=1", "a%26admin%3D1"),
            ("..", ".."),
            ("", ""),
            ("a/b?c#d+e", "a%2Fb%3Fc%23d%2Be"),
        ] {
            good(QUERY, value, &format!("/search?q={one}&page=1"));
        }
        bad(QUERY, "a\r\nb");
        good("/a#{{vars.x}}", "b?c", "/a#b%3Fc");
    }

    #[test]
    fn lists_and_objects_are_no_value_and_numbers_are() {
        for text in ["/a/{{vars.x}}", "/a?x={{vars.x}}", "{{vars.x}}"] {
            for value in ["[]", "[\"/a\"]", "{}", "{\"a\":1}"] {
                let value = Value::parse(value).expect("JSON");
                assert!(made(text, &value).is_err(), "{text} {value:?}");
            }
        }
        let of = |text, value| made(text, &Value::parse(value).expect("JSON"));
        assert_eq!(of("/a/{{vars.x}}", "1.5").as_deref(), Ok("/a/1.5"));
        assert_eq!(of("/a/{{vars.x}}", "true").as_deref(), Ok("/a/true"));
        assert_eq!(of("/a?x={{vars.x}}", "null").as_deref(), Ok("/a?x="));
        for value in ["null", "5", "true"] {
            assert!(of("{{vars.x}}", value).is_err(), "{value}");
        }
    }

    #[test]
    fn a_token_that_is_the_whole_path_stays_below() {
        const WHOLE: &str = "{{ vars.x }}";
        for value in [
            "/",
            "/a/b",
            "/a/b/",
            "/a?x=../..&y=//",
            "/a%20b",
            "/a/...",
            "/a/b;c=d",
        ] {
            good(WHOLE, value, value);
        }
        for value in [
            "",
            "a",
            "https://evil.example",
            "//evil.example",
            "/a//b",
            "/..",
            "/a/../b",
            "/./a",
            "/%2e%2e/b",
            "/a/%2E%2E",
            "/a/.%2e/b",
            "/a/%252e%252e/b",
            "/a/..%2fb",
            "/a/..%5cb",
            "/a%2f%2fb",
            "/a/..;x/b",
            "/\\evil",
            "/a\\..\\b",
            "/a#b",
            "/a\nb",
            "/a%0ab",
            "/a?x=\r\n",
        ] {
            bad(WHOLE, value);
        }
    }
}
