//! JSON over several lines, so that two configs can be compared line by line.

use tplkit::json::{Value, write_string};

/// A value with two spaces per level; numbers keep their digits.
pub(super) fn lines(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value, 0);
    out.push('\n');
    out
}

fn write(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let members = members.iter();
            let written = members.map(|(key, value)| (Some(key.as_str()), value));
            block(out, '{', '}', written, depth);
        }
        Value::List(elements) if !elements.is_empty() => {
            block(
                out,
                '[',
                ']',
                elements.iter().map(|value| (None, value)),
                depth,
            );
        }
        other => other.write_to(out),
    }
}

fn block<'v>(
    out: &mut String,
    open: char,
    close: char,
    parts: impl Iterator<Item = (Option<&'v str>, &'v Value)>,
    depth: usize,
) {
    out.push(open);
    let mut before = "";
    for (key, value) in parts {
        out.push_str(before);
        before = ",";
        line(out, depth + 1);
        if let Some(key) = key {
            out.push_str(&write_string(key));
            out.push_str(": ");
        }
        write(out, value, depth + 1);
    }
    line(out, depth);
    out.push(close);
}

fn line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use tplkit::json::Value;

    #[test]
    fn numbers_keep_their_digits() {
        let value = Value::parse(r#"{"a":[1.10,{}],"b":"x"}"#).expect("JSON");
        let expected = "{\n  \"a\": [\n    1.10,\n    {}\n  ],\n  \"b\": \"x\"\n}\n";
        assert_eq!(super::lines(&value), expected);
    }
}
