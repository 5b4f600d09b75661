//! Where the text that findings point into comes from: one file, or the files of a folder.
//!
//! Rules see one text. Whoever reports a finding, or makes a fix, asks here which bytes of which
//! file are meant.

use std::ops::Range;

use super::position::without_mark;
use super::{Edit, Fix};

/// Bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSpan<'o> {
    /// The file, relative to the folder of the package, with `/`; nothing for a packed file.
    pub file: Option<&'o str>,
    /// All its bytes without a byte-order mark.
    pub bytes: &'o [u8],
    /// The bytes that are meant.
    pub span: Range<usize>,
}

/// A change to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// The file, as in [`FileSpan`].
    pub file: Option<String>,
    /// Bytes of the byte-order mark that stands before the text: 0 or 3.
    pub mark: usize,
    /// The change; its offsets do not count the byte-order mark.
    pub edit: Edit,
}

/// Where a text comes from.
pub trait Origin {
    /// The bytes that stand for bytes of the text.
    fn locate(&self, span: &Range<usize>) -> FileSpan<'_>;

    /// The edits of a fix as changes of files; nothing when they cannot be made there.
    fn edits(&self, fix: &Fix) -> Option<Vec<FileEdit>>;
}

/// A packed file.
impl Origin for [u8] {
    fn locate(&self, span: &Range<usize>) -> FileSpan<'_> {
        FileSpan {
            file: None,
            bytes: without_mark(self),
            span: span.clone(),
        }
    }

    fn edits(&self, fix: &Fix) -> Option<Vec<FileEdit>> {
        let edits = fix.edits.iter().map(|edit| FileEdit {
            file: None,
            mark: self.len() - without_mark(self).len(),
            edit: edit.clone(),
        });
        Some(edits.collect())
    }
}
