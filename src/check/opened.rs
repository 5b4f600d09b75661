//! A package as it was opened: one file, or the files of a folder.
//!
//! Readers of a package read its text, and need not know which it was; what points at
//! something in it asks [`Origin`].

use std::ops::Range;

use super::{CheckOptions, Checked, NotChecked, check, check_folder, promote, promote_folder};
use crate::finding::{FileEdit, FileReport, FileSpan, Fix, Origin};
use crate::json::{SyntaxError, SyntaxKind};
use crate::layout::Joined;
use crate::package::Source;

/// A package, good or bad, with its bytes.
#[derive(Debug)]
pub enum OpenedPackage {
    /// A packed file.
    File(Source),
    /// The files of a folder.
    Folder(Box<Joined>),
}

impl OpenedPackage {
    /// The text without a byte-order mark: of a folder, as much as could be put together.
    ///
    /// # Errors
    /// When it is not text, or nothing could be put together.
    pub fn text(&self) -> Result<&str, SyntaxError> {
        match self {
            OpenedPackage::File(source) => source.text(),
            OpenedPackage::Folder(joined) => joined.text().ok_or(SyntaxError {
                offset: 0,
                kind: SyntaxKind::UnexpectedEnd,
            }),
        }
    }

    /// The bytes of the text, a byte-order mark included.
    pub fn bytes(&self) -> &[u8] {
        match self {
            OpenedPackage::File(source) => source.bytes(),
            OpenedPackage::Folder(joined) => joined.text().unwrap_or_default().as_bytes(),
        }
    }

    /// Whether its text is all of it.
    pub fn is_whole(&self) -> bool {
        match self {
            OpenedPackage::File(_) => true,
            OpenedPackage::Folder(joined) => joined.is_whole(),
        }
    }

    /// Checks it.
    pub fn check(&self, options: &CheckOptions<'_>) -> FileReport {
        match self {
            OpenedPackage::File(source) => check(source.bytes(), options),
            OpenedPackage::Folder(joined) => check_folder(joined, options),
        }
    }

    /// Measures the five promotion rules alone.
    pub fn promote(&self, options: &CheckOptions<'_>) -> FileReport {
        match self {
            OpenedPackage::File(source) => promote(source.bytes(), options),
            OpenedPackage::Folder(joined) => promote_folder(joined, options),
        }
    }

    /// Reads it as a package without errors.
    ///
    /// # Errors
    /// When it has some, or is none.
    pub fn checked(&self, options: &CheckOptions<'_>) -> Result<Checked<'_>, NotChecked> {
        match self.text().ok().filter(|_| self.is_whole()) {
            Some(text) => Checked::read(text, options),
            None => Err(NotChecked::Errors(Box::new(self.check(options)))),
        }
    }
}

impl From<Source> for OpenedPackage {
    fn from(source: Source) -> OpenedPackage {
        OpenedPackage::File(source)
    }
}

impl Origin for OpenedPackage {
    fn locate(&self, span: &Range<usize>) -> FileSpan<'_> {
        match self {
            OpenedPackage::File(source) => source.bytes().locate(span),
            OpenedPackage::Folder(joined) => joined.locate(span),
        }
    }

    fn edits(&self, fix: &Fix) -> Option<Vec<FileEdit>> {
        match self {
            OpenedPackage::File(source) => source.bytes().edits(fix),
            OpenedPackage::Folder(joined) => joined.edits(fix),
        }
    }
}
