//! Checking and fixing of an unpacked package: findings and fixes are in its small files.

use std::io;
use std::path::Path;

use tplkit::check::{FixedFolder, apply_fixes_to_folder, check_folder, promote_folder};
use tplkit::finding::LocatedReport;
use tplkit::finding::render::{FileEntry, ReportError};
use tplkit::layout::{self, Joined, PackError};

use super::check_mode::{CheckMode, CheckedFile, FixMode};
use super::file_check::{FileCheck, diff};
use super::folder::OnDisk;
use super::folder_snapshot::FolderSnapshot;
use super::walk;

/// The check of one folder.
pub(super) struct FolderCheck<'c> {
    pub(super) check: FileCheck<'c>,
    pub(super) path: &'c Path,
}

impl FolderCheck<'_> {
    pub(super) fn run(&self) -> CheckedFile {
        let checked = match self.check.fix_mode {
            None => {
                let on_disk = OnDisk(self.path.to_owned());
                layout::join(&on_disk).map(|joined| self.entry(&joined).into())
            }
            Some(fix_mode) => self.fixed(fix_mode),
        };
        checked.unwrap_or_else(|error| CheckedFile {
            file: None,
            error: Some(self.unreadable(error)),
        })
    }

    fn entry(&self, joined: &Joined) -> FileEntry {
        let options = self.check.options(true);
        let mut report = match self.check.mode {
            CheckMode::Check { .. } => check_folder(joined, &options),
            CheckMode::Promote => promote_folder(joined, &options),
        };
        self.check.select(&mut report.findings);
        FileEntry::new(self.path.to_owned(), LocatedReport::new(joined, report))
    }

    fn fixed(&self, fix_mode: FixMode) -> Result<CheckedFile, PackError> {
        let options = self.check.options(true);
        let snapshot = FolderSnapshot::new(self.path);
        let fixed = apply_fixes_to_folder(&snapshot, |joined| {
            let findings = check_folder(joined, &options).findings;
            self.check.wanted(findings, fix_mode)
        })?;
        let before = || layout::join(&snapshot).map(|joined| self.entry(&joined));
        if fix_mode.show_only {
            let mut file = before()?;
            let diffs = self.diffs(&snapshot, &fixed)?;
            file.diff = Some(diffs).filter(|diffs| !diffs.is_empty());
            file.fixed = fixed.count();
            return Ok(file.into());
        }
        if let Err(error) = snapshot.rewrite(&fixed.files) {
            return Ok(CheckedFile {
                file: Some(before()?),
                error: Some(error.report_error()),
            });
        }
        let mut file = self.entry(&fixed.joined);
        file.fixed = fixed.count();
        Ok(file.into())
    }

    /// What would change, file by file.
    fn diffs(&self, snapshot: &FolderSnapshot, fixed: &FixedFolder) -> Result<String, PackError> {
        let old = layout::join(snapshot)?;
        let diffs = fixed.files.iter().map(|(name, bytes)| {
            let before = old.file(name).unwrap_or_default();
            diff(&self.path.join(name), before, bytes)
        });
        Ok(diffs.collect())
    }

    fn unreadable(&self, error: PackError) -> ReportError {
        match error {
            PackError::Read { name, source } => walk::report_error(&self.path.join(name), &source),
            error => walk::report_error(self.path, &io::Error::other(error)),
        }
    }
}
