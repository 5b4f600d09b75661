//! Measures the compact text of a value and how deep it nests, and gives its beginning, without writing all of it.

use super::lanes::string_stop;
use super::value::Value;
use super::write::write_string_to;

impl Value {
    /// The length of the compact text in bytes, where that is not more than `most`.
    ///
    /// It stops counting at the bound, so that asking costs no more than what would be allowed.
    pub fn written_len_within(&self, most: usize) -> Option<usize> {
        let mut left = most;
        take(self, &mut left).then(|| most - left)
    }

    /// Whether at most so many lists and objects are open at once in it. It looks no deeper than that.
    pub fn nests_within(&self, most: usize) -> bool {
        match self {
            Value::List(elements) => {
                most > 0 && elements.iter().all(|one| one.nests_within(most - 1))
            }
            Value::Object(members) => {
                most > 0 && members.values().all(|one| one.nests_within(most - 1))
            }
            _ => true,
        }
    }

    /// The beginning of the compact text, of `most` bytes at most and cut between characters.
    pub fn write_start(&self, most: usize) -> String {
        let mut out = String::new();
        start(self, most, &mut out);
        if out.len() > most {
            let mut end = most;
            while !out.is_char_boundary(end) {
                end -= 1;
            }
            out.truncate(end);
        }
        out
    }
}

/// The length of the text as a JSON string, quotes included.
pub fn string_len(text: &str) -> usize {
    let (mut rest, mut escapes) = (text.as_bytes(), 0);
    while let Some(at) = string_stop(rest) {
        escapes += match rest[at] {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x8 | 0xC => "\\".len(),
            _ => "\\u000".len(),
        };
        rest = &rest[at + 1..];
    }
    2 + text.len() + escapes
}

/// Takes so many bytes from what is left; false when there are fewer.
fn spend(left: &mut usize, bytes: usize) -> bool {
    let rest = left.checked_sub(bytes);
    *left = rest.unwrap_or(*left);
    rest.is_some()
}

/// Takes the length of a value from what is left; false when there is not enough.
fn take(value: &Value, left: &mut usize) -> bool {
    match value {
        Value::Null | Value::Bool(true) => spend(left, 4),
        Value::Bool(false) => spend(left, 5),
        Value::Number(number) => spend(left, number.as_str().len()),
        // No text is shorter than its bytes: a long one is not gone through to say so.
        Value::String(text) => text.len() <= *left && spend(left, string_len(text)),
        Value::List(elements) => {
            spend(left, 2 + elements.len().saturating_sub(1))
                && elements.iter().all(|element| take(element, left))
        }
        Value::Object(members) => {
            let mut each = members.iter();
            spend(left, 2 + members.len().saturating_sub(1))
                && each.all(|(key, member)| spend(left, string_len(key) + 1) && take(member, left))
        }
    }
}

/// Writes until more than `most` bytes are there.
fn start(value: &Value, most: usize, out: &mut String) {
    match value {
        Value::List(elements) => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                if out.len() > most {
                    return;
                }
                if at > 0 {
                    out.push(',');
                }
                start(element, most, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (at, (key, member)) in members.iter().enumerate() {
                if out.len() > most {
                    return;
                }
                if at > 0 {
                    out.push(',');
                }
                write_string_to(out, key);
                out.push(':');
                start(member, most, out);
            }
            out.push('}');
        }
        other => other.write_to(out),
    }
}

#[cfg(test)]
mod tests {
    use super::{Value, string_len};

    const TEXTS: [&str; 8] = [
        "null",
        "false",
        "-1.50e3",
        r#""""#,
        r#""a\"\\\n\u0001é😀""#,
        "[]",
        r#"[1,[],{},"x"]"#,
        r#"{"a":[true,null],"b\n":{"c":"é"}}"#,
    ];

    #[test]
    fn the_length_is_that_of_what_is_written() {
        for text in TEXTS {
            let value = Value::parse(text).expect("JSON");
            let length = value.write().len();
            assert_eq!(value.written_len_within(length), Some(length), "{text}");
            assert_eq!(value.written_len_within(usize::MAX), Some(length), "{text}");
            assert_eq!(value.written_len_within(length - 1), None, "{text}");
        }
        assert_eq!(
            string_len("a\u{1}\"é"),
            Value::from("a\u{1}\"é").write().len()
        );
    }

    #[test]
    fn how_deep_a_value_nests_is_counted_in_open_containers() {
        for (text, depth) in [
            ("1", 0),
            (r#""[[]]""#, 0),
            ("[]", 1),
            ("{}", 1),
            (r#"[1,[],{"a":{}},[]]"#, 3),
            (r#"{"a":[[[]]],"b":1}"#, 4),
        ] {
            let value = Value::parse(text).expect("JSON");
            for most in 0..6 {
                assert_eq!(value.nests_within(most), depth <= most, "{text} {most}");
            }
        }
    }

    #[test]
    fn a_beginning_is_one_whatever_its_length() {
        for text in TEXTS {
            let value = Value::parse(text).expect("JSON");
            let whole = value.write();
            for most in 0..=whole.len() + 1 {
                let begins = value.write_start(most);
                assert!(
                    begins.len() <= most && whole.starts_with(&begins),
                    "{text} {most}"
                );
                assert!(most < begins.len() + 4 || begins == whole, "{text} {most}");
            }
        }
    }
}
