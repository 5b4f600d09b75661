//! Finds the value or the key that a byte of a text is in.

use crate::json::{Doc, Node};

/// The innermost value around a byte.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'d> {
    /// The value, or the member whose key it is.
    pub(super) node: Node<'d>,
    /// Whether the byte is in the key.
    pub(super) is_key: bool,
}

/// Looks for the byte; the end of a value still belongs to it.
pub(super) fn find<'d>(doc: &'d Doc<'d>, offset: usize) -> Option<Cursor<'d>> {
    let holds = |span: std::ops::Range<usize>| span.start <= offset && offset <= span.end;
    let mut node = doc.root();
    if !holds(node.span()) {
        return None;
    }
    loop {
        let key = node
            .members()
            .find(|member| member.key().is_some() && holds(member.key_span()));
        if let Some(member) = key {
            return Some(Cursor {
                node: member,
                is_key: true,
            });
        }
        // Of two values that touch, the one that begins here is meant.
        let inside = node.children().filter(|child| holds(child.span())).last();
        match inside {
            Some(child) => node = child,
            None => {
                return Some(Cursor {
                    node,
                    is_key: false,
                });
            }
        }
    }
}
