//! Checking and fixing of an unpacked package: findings and fixes are in its small files.

use std::io;
use std::path::Path;

use tplkit::check::{FixedFolder, apply_fixes_to_folder, check_folder, promote_folder};
use tplkit::finding::LocatedReport;
use tplkit::finding::render::{FileEntry, ReportError};
use tplkit::layout::{self, Joined, PackError};

use super::checker::{CheckMode, CheckedFile, FixMode};
use super::file_check::{FileCheck, diff};
use super::folder::OnDisk;
use super::{replace, walk};

/// The check of one folder.
pub(super) struct FolderCheck<'c> {
    pub(super) check: FileCheck<'c>,
    pub(super) path: &'c Path,
}

impl FolderCheck<'_> {
    pub(super) fn run(&self) -> CheckedFile {
        let checked = match self.check.fix_mode {
            None => layout::join(&self.on_disk()).map(|joined| self.entry(&joined).into()),
            Some(fix_mode) => self.fixed(fix_mode),
        };
        checked.unwrap_or_else(|error| CheckedFile {
            file: None,
            error: Some(self.unreadable(error)),
        })
    }

    fn on_disk(&self) -> OnDisk {
        OnDisk(self.path.to_owned())
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
        let fixed = apply_fixes_to_folder(&self.on_disk(), |joined| {
            let findings = check_folder(joined, &options).findings;
            self.check.wanted(findings, fix_mode)
        })?;
        let before = || layout::join(&self.on_disk()).map(|joined| self.entry(&joined));
        if fix_mode.show_only {
            let mut file = before()?;
            let diffs = self.diffs(&fixed)?;
            file.diff = Some(diffs).filter(|diffs| !diffs.is_empty());
            file.fixed = fixed.count();
            return Ok(file.into());
        }
        for (name, bytes) in &fixed.files {
            if let Err(error) = replace::write(&self.path.join(name), bytes) {
                let error = ReportError {
                    path: error.path().cloned(),
                    message: error.to_string(),
                    help: error.help(),
                };
                return Ok(CheckedFile {
                    file: Some(before()?),
                    error: Some(error),
                });
            }
        }
        let mut file = self.entry(&fixed.joined);
        file.fixed = fixed.count();
        Ok(file.into())
    }

    /// What would change, file by file.
    fn diffs(&self, fixed: &FixedFolder) -> Result<String, PackError> {
        let old = layout::join(&self.on_disk())?;
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
