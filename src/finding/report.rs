//! What a check of one file says, in offsets of its bytes.

use super::{Finding, Place, Rule};

/// What a file turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A template package, good or bad (or something that claims to be one).
    Package,
    /// JSON of another sort.
    Plain,
}

/// What a check of one file says.
#[derive(Debug, Clone)]
pub struct FileReport {
    /// What it is.
    pub kind: FileKind,
    /// In order of place, then code.
    pub findings: Vec<Finding>,
    /// The five verdicts, when asked for and measurable.
    pub promotion: Option<Vec<Verdict>>,
}

impl FileReport {
    /// Puts the findings in order.
    pub(crate) fn new(
        kind: FileKind,
        mut findings: Vec<Finding>,
        promotion: Option<Vec<Verdict>>,
    ) -> FileReport {
        findings.sort_by(|a, b| {
            (a.place.span.start, a.rule.code, &a.place.pointer).cmp(&(
                b.place.span.start,
                b.rule.code,
                &b.place.pointer,
            ))
        });
        FileReport {
            kind,
            findings,
            promotion,
        }
    }

    /// Of a file that cannot be read any further.
    pub(crate) fn refused(finding: Finding) -> FileReport {
        FileReport::new(FileKind::Package, vec![finding], None)
    }
}

/// One promotion rule, measured.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The rule (P001 to P005).
    pub rule: &'static Rule,
    /// Whether it holds.
    pub passed: bool,
    /// Every place where it does not, with what is wrong there.
    pub places: Vec<(Place, String)>,
}
