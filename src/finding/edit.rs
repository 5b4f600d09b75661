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
pub fn replace(node: Node<'_>, text: impl Into<String>) -> Edit {
    Edit {
        span: node.span(),
        text: text.into(),
    }
}

/// Adds a member at the end of an object, laid out like the member before it.
pub fn add_member(object: Node<'_>, key: &str, value: &str) -> Edit {
    let key = write_string(key);
    let Some(last) = object.members().last() else {
        let inside = object.span().start + 1;
        return Edit {
            span: inside..inside,
            text: format!("{key}: {value}"),
        };
    };
    let text = object.text();
    let before = last.key_span().start;
    let gap = text[..before].trim_end().len();
    let colon = &text[last.key_span().end..last.span().start];
    let end = last.span().end;
    Edit {
        span: end..end,
        text: format!(",{}{key}{colon}{value}", &text[gap..before]),
    }
}

/// Removes a member with the comma that goes with it.
pub fn remove_member(member: Node<'_>) -> Edit {
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
pub fn string_list<'s>(strings: impl IntoIterator<Item = &'s str>) -> String {
    let written: Vec<String> = strings.into_iter().map(write_string).collect();
    format!("[{}]", written.join(", "))
}
