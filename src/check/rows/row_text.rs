//! One row as a tree of its own.

use std::ops::Range;

use super::layout::Layout;
use crate::finding::Place;
use crate::json::scan::Scanner;
use crate::json::{Doc, Node};

/// One row as a tree of its own, which knows where it is in the file.
pub(super) struct RowText<'s> {
    pub(super) doc: Doc<'s>,
    start: usize,
    pointer: String,
}

impl<'s> RowText<'s> {
    /// Reads the row that begins at `start`; it has been found well-formed.
    pub(super) fn new(
        text: &'s str,
        layout: &Layout<'_>,
        start: usize,
        number: u32,
    ) -> Option<RowText<'s>> {
        let mut scanner = Scanner::new(text, start);
        match scanner.peek()? {
            b'{' | b'[' => drop(scanner.skip_list_unchecked()),
            _ => return None,
        }
        RowText::of_span(text, layout, start..scanner.pos, number)
    }

    pub(super) fn of_span(
        text: &'s str,
        layout: &Layout<'_>,
        span: Range<usize>,
        number: u32,
    ) -> Option<RowText<'s>> {
        let doc = Doc::parse(text.get(span.clone())?).ok()?;
        Some(RowText {
            doc,
            start: span.start,
            pointer: format!("{}/{number}", layout.pointer),
        })
    }

    /// The row.
    pub(super) fn root(&self) -> Node<'_> {
        self.doc.root()
    }

    /// Where a value is in the file.
    pub(super) fn place(&self, node: Node<'_>) -> Place {
        self.moved(&Place::value(node))
    }

    /// Where a member's key is in the file.
    pub(super) fn key_place(&self, node: Node<'_>) -> Place {
        self.moved(&Place::key(node))
    }

    pub(super) fn moved(&self, place: &Place) -> Place {
        Place {
            pointer: self.pointer.clone() + &place.pointer,
            span: self.in_file(&place.span),
        }
    }

    /// Bytes of the row as bytes of the file.
    pub(super) fn in_file(&self, span: &Range<usize>) -> Range<usize> {
        span.start + self.start..span.end + self.start
    }
}
