//! A package that lies in a folder through all rules.
//!
//! Goes in: the files of a folder, joined. Comes out: what a check of the packed file says, with
//! what keeps the folder from being packed. Offsets are those of the joined text, for
//! [`Origin`](crate::finding::Origin).

use std::collections::BTreeMap;
use std::io;

use super::fix::{FixRounds, Subject};
use super::lost_files::may_be_there;
use super::{CheckOptions, check_text, promote};
use crate::finding::catalog::{J001, J002, J006, J010, R003, R025};
use crate::finding::{Edit, FileKind, FileReport, Finding, Fix, Origin as _, Place};
use crate::layout::{self, Folder, Joined, LayoutFaultKind, PackError};
use crate::package::Source;

/// Checks a folder: what keeps it from being packed, then what could be put together.
pub fn check_folder(joined: &Joined, options: &CheckOptions<'_>) -> FileReport {
    let options = CheckOptions {
        named: true,
        ..*options
    };
    let mut report = match joined.text() {
        Some(text) => check_text(text, &options),
        None => FileReport::new(FileKind::Package, Vec::new(), None),
    };
    if !joined.is_whole() {
        // A row that is not JSON (J001) is of no type either.
        report.findings.retain(|finding| {
            !joined.is_unread_row(finding.place.span.start) && !may_be_there(finding, joined)
        });
        // Verdicts on a part would be none on the package, and its rows are not all that there are.
        report.promotion = None;
        let counts = |finding: &&mut Finding| {
            let mut rules = [&J006, &R003, &R025].into_iter();
            rules.any(|rule| rule.code == finding.rule.code)
        };
        for finding in report.findings.iter_mut().filter(counts) {
            finding.fix = None;
        }
    }
    broken(joined, report)
}

/// Measures the five promotion rules alone; a folder that cannot be packed has no verdicts.
pub fn promote_folder(joined: &Joined, options: &CheckOptions<'_>) -> FileReport {
    let report = match joined.text().filter(|_| joined.is_whole()) {
        Some(text) => promote(text.as_bytes(), options),
        None => FileReport::new(FileKind::Package, Vec::new(), None),
    };
    broken(joined, report)
}

/// A report with what keeps the folder from being packed in front.
fn broken(joined: &Joined, report: FileReport) -> FileReport {
    let faults = joined.faults().map(|fault| {
        let place = Place {
            pointer: String::new(),
            span: joined.address(fault),
        };
        let rule = match fault.kind {
            LayoutFaultKind::Folder => &J010,
            LayoutFaultKind::Syntax => &J001,
            LayoutFaultKind::RepeatedKey | LayoutFaultKind::RepeatedPart => &J002,
        };
        Finding::new(rule, place, &*fault.message)
    });
    FileReport {
        // The index says what it is, whatever has become of it.
        kind: FileKind::Package,
        findings: faults.chain(report.findings).collect(),
        promotion: report.promotion,
    }
}

/// What fixing the files of a folder came to.
#[derive(Debug)]
pub struct FixedFolder {
    /// The files that differ from what they were, byte-order marks included, in order of name.
    pub files: Vec<(String, Vec<u8>)>,
    /// The folder as it then is.
    pub joined: Joined,
    /// How many findings of each rule were fixed.
    pub fixed: BTreeMap<&'static str, usize>,
    /// Whether fixing ended because nothing was left to do.
    pub stable: bool,
}

impl FixedFolder {
    /// How many findings were fixed.
    pub fn count(&self) -> usize {
        self.fixed.values().sum()
    }
}

/// Checks and fixes the files of a folder in turns, as
/// [`apply_fixes`](super::fix::apply_fixes) does with one text. Writes nothing.
///
/// # Errors
/// When there is no index, or a file cannot be read.
pub fn apply_fixes_to_folder(
    folder: &dyn Folder,
    check: impl FnMut(&Joined) -> Vec<Finding>,
) -> Result<FixedFolder, PackError> {
    let subject = Edited {
        folder,
        changed: BTreeMap::new(),
        joined: layout::join(folder)?,
    };
    let mut check = check;
    let rounds = FixRounds::run(subject, |edited| check(&edited.joined));
    let mut files = Vec::new();
    for (name, bytes) in rounds.subject.changed {
        let old = folder.open(&name).map_err(|source| PackError::Read {
            name: name.clone(),
            source,
        })?;
        if old.is_none_or(|old| old.bytes() != bytes) {
            files.push((name, bytes));
        }
    }
    Ok(FixedFolder {
        files,
        joined: rounds.subject.joined,
        fixed: rounds.fixed,
        stable: rounds.stable,
    })
}

/// A folder with files that were changed and not written.
struct Edited<'f> {
    folder: &'f dyn Folder,
    changed: BTreeMap<String, Vec<u8>>,
    joined: Joined,
}

impl Subject for Edited<'_> {
    fn text(&self) -> Option<&str> {
        self.joined.text()
    }

    fn takes(&self, fix: &Fix) -> bool {
        self.joined.edits(fix).is_some()
    }

    fn with(&self, edits: &[&Edit]) -> Option<Self> {
        let edits = self.joined.file_edits(edits)?;
        let mut changed = self.changed.clone();
        changed.extend(self.joined.edited(&edits)?);
        let overlaid = OverlaidFolder {
            folder: self.folder,
            changed: &changed,
        };
        let joined = layout::join(&overlaid).ok()?;
        Some(Edited {
            folder: self.folder,
            changed,
            joined,
        })
    }
}

/// A folder as it would be with changed files.
struct OverlaidFolder<'f> {
    folder: &'f dyn Folder,
    changed: &'f BTreeMap<String, Vec<u8>>,
}

impl Folder for OverlaidFolder<'_> {
    fn names(&self) -> io::Result<Vec<String>> {
        self.folder.names()
    }

    fn open(&self, name: &str) -> io::Result<Option<Source>> {
        match self.changed.get(name) {
            Some(bytes) => Ok(Some(Source::from_bytes(bytes.clone()))),
            None => self.folder.open(name),
        }
    }
}
