//! The two ways to name a place: JSON Pointer (`/plan/steps/3/args`) into a file, and the dotted
//! path (`config.0.visibleColumns.2`) that packages use inside the args of a plan step.

use super::{JsonKind, Node};

pub use super::pointer::push_pointer;

/// Appends one segment to a dotted path; a dot inside it is written `\.`.
pub fn push_dotted(path: &mut String, segment: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    for character in segment.chars() {
        if character == '.' {
            path.push('\\');
        }
        path.push(character);
    }
}

/// The segments of a dotted path, `\.` read as a dot.
pub fn split_dotted(path: &str) -> Vec<String> {
    let mut segments = vec![String::new()];
    let mut characters = path.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.peek() == Some(&'.') => {
                characters.next();
                if let Some(last) = segments.last_mut() {
                    last.push('.');
                }
            }
            '.' => segments.push(String::new()),
            other => {
                if let Some(last) = segments.last_mut() {
                    last.push(other);
                }
            }
        }
    }
    segments
}

/// The dotted path from `root` down to `node`; empty for `root` itself.
pub fn dotted(root: Node<'_>, node: Node<'_>) -> String {
    let mut segments = Vec::new();
    let mut current = node;
    while current != root {
        let Some(parent) = current.parent() else {
            break;
        };
        segments.push(current.token().into_owned());
        current = parent;
    }
    let mut path = String::new();
    for segment in segments.iter().rev() {
        push_dotted(&mut path, segment);
    }
    path
}

/// The node at a dotted path below `root`, if there is one.
pub fn find<'d>(root: Node<'d>, path: &str) -> Option<Node<'d>> {
    split_dotted(path)
        .iter()
        .try_fold(root, |node, segment| match node.kind() {
            JsonKind::Object => node.get(segment),
            // Decimal, without leading zeros or a sign: one spelling for one place.
            JsonKind::Array if segment == "0" || !segment.starts_with(['0', '+']) => {
                node.at(segment.parse().ok()?)
            }
            _ => None,
        })
}
