//! Edits a text in place and keeps its layout.

use std::ops::Range;

use crate::json::{Node, write_string};

/// One replacement of bytes in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Bytes that go (empty for an insertion).
    pub span: Range<usize>,
    /// Text that comes.
    pub text: String,
}

/// Replaces a value.
pub(crate) fn replace(node: Node<'_>, text: impl Into<String>) -> Edit {
    Edit {
        span: node.span(),
        text: text.into(),
    }
}

/// Adds a member at the end of an object, laid out like the member before it.
pub(crate) fn add_member(object: Node<'_>, key: &str, value: &str) -> Edit {
    add_members(object, &[(key, value)])
}

/// Adds members at the end of an object, in one edit: of two insertions at one place only one can be made.
pub(crate) fn add_members(object: Node<'_>, members: &[(&str, &str)]) -> Edit {
    let members = members
        .iter()
        .map(|(key, value)| (write_string(key), *value));
    let Some(last) = object.members().last() else {
        let inside = object.span().start + 1;
        let members: Vec<String> = members
            .map(|(key, value)| format!("{key}: {value}"))
            .collect();
        return Edit {
            span: inside..inside,
            text: members.join(", "),
        };
    };
    let text = object.text();
    let before = last.key_span().start;
    let gap = &text[text[..before].trim_end().len()..before];
    let colon = &text[last.key_span().end..last.span().start];
    let members: Vec<String> = members
        .map(|(key, value)| format!(",{gap}{key}{colon}{value}"))
        .collect();
    let end = last.span().end;
    Edit {
        span: end..end,
        text: members.concat(),
    }
}

/// Removes a member with the comma that goes with it.
pub(crate) fn remove_member(member: Node<'_>) -> Edit {
    let span = member.key_span().start..member.span().end;
    let text = member.text();
    let before = text[..span.start].trim_end();
    if before.ends_with(',') {
        return Edit {
            span: before.len() - 1..span.end,
            text: String::new(),
        };
    }
    let after = text[span.end..].trim_start();
    let end = match after.strip_prefix(',') {
        Some(rest) => text.len() - rest.trim_start().len(),
        None => span.end,
    };
    Edit {
        span: span.start..end,
        text: String::new(),
    }
}

/// A list of strings as JSON.
pub(crate) fn string_list<'s>(strings: impl IntoIterator<Item = &'s str>) -> String {
    let written: Vec<String> = strings.into_iter().map(write_string).collect();
    format!("[{}]", written.join(", "))
}

/// Gives a list other strings, laid out like the elements that it has.
pub(crate) fn replace_strings<'s>(
    list: Node<'_>,
    strings: impl IntoIterator<Item = &'s str>,
) -> Edit {
    let mut elements = list.elements();
    let written: Vec<String> = strings.into_iter().map(write_string).collect();
    let Some(first) = elements.next().filter(|_| !written.is_empty()) else {
        return replace(list, format!("[{}]", written.join(", ")));
    };
    let (text, span) = (list.text(), list.span());
    let open = &text[span.start + 1..first.span().start];
    let between = match elements.next() {
        Some(second) => text[first.span().end..second.span().start].to_owned(),
        None if open.is_empty() => ", ".to_owned(),
        None => format!(",{open}"),
    };
    let last = list.elements().last().unwrap_or(first);
    let close = &text[last.span().end..span.end - 1];
    replace(list, format!("[{open}{}{close}]", written.join(&between)))
}

#[cfg(test)]
mod tests {
    use super::{add_member, add_members, replace_strings};
    use crate::json::Doc;

    #[test]
    fn members_are_added_as_they_are_given_and_laid_out_like_the_last() {
        for (text, at, added) in [
            ("{}", 1, r#""a": 1, "b": "x""#),
            (r#"{"z":0}"#, 6, r#","a":1,"b":"x""#),
            ("{\n  \"z\": 0\n}", 10, ",\n  \"a\": 1,\n  \"b\": \"x\""),
        ] {
            let doc = Doc::parse(text).expect("JSON");
            let edit = add_members(doc.root(), &[("a", "1"), ("b", "\"x\"")]);
            assert_eq!((edit.span, edit.text.as_str()), (at..at, added), "{text}");
        }
        let doc = Doc::parse("{}").expect("JSON");
        assert_eq!(add_member(doc.root(), "a", "1").text, r#""a": 1"#);
    }

    #[test]
    fn strings_of_a_list_are_laid_out_like_those_before() {
        for (text, one, two) in [
            ("[ ]", r#"["a"]"#, r#"["a", "b"]"#),
            (r#"["x"]"#, r#"["a"]"#, r#"["a", "b"]"#),
            (r#"["x","y","z"]"#, r#"["a"]"#, r#"["a","b"]"#),
            ("[\n  \"x\"\n]", "[\n  \"a\"\n]", "[\n  \"a\",\n  \"b\"\n]"),
            (
                "[\n \"x\",\n \"y\" ]",
                "[\n \"a\" ]",
                "[\n \"a\",\n \"b\" ]",
            ),
        ] {
            let doc = Doc::parse(text).expect("JSON");
            let list = doc.root();
            assert_eq!(replace_strings(list, ["a"]).text, one);
            assert_eq!(replace_strings(list, ["a", "b"]).text, two);
            assert_eq!(replace_strings(list, []).text, "[]");
        }
    }
}
