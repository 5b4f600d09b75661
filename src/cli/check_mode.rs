//! How files are checked, and the outcome for one.

use tplkit::finding::render::{FileEntry, ReportError};

/// How every file is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CheckMode {
    /// All rules; with the five of promotion or without.
    Check {
        /// Whether promotion is measured too.
        promotion: bool,
    },
    /// The five rules of promotion alone.
    Promote,
}

/// What to do with fixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FixMode {
    /// Whether fixes that may change what a package means are wanted too.
    pub(crate) unsafe_too: bool,
    /// Whether to show the changes instead of making them.
    pub(crate) show_only: bool,
}

/// What became of one file.
pub(super) struct CheckedFile {
    /// What is said of it, unless it could not be read.
    pub(super) file: Option<FileEntry>,
    /// Why it could not be read, or not be fixed.
    pub(super) error: Option<ReportError>,
}

impl From<FileEntry> for CheckedFile {
    fn from(file: FileEntry) -> CheckedFile {
        CheckedFile {
            file: Some(file),
            error: None,
        }
    }
}
