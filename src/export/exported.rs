//! The exported package: its text and the findings about it.
//!
//! Rows can be older than their columns (a column became required or changed its type). Such a
//! package is complete but no destination accepts it. Leaving out the rows would lose them
//! silently, so they are exported with a warning.

use crate::check::{CheckOptions, check_text};
use crate::definitions::Definitions;
use crate::finding::{Finding, Severity};

/// A package with what the check says of it.
#[derive(Debug, Clone)]
#[must_use]
pub struct Exported {
    /// The package in canonical form.
    pub text: String,
    /// What a reader of the package is shown, in order of place. Errors keep it from being
    /// applied until they are fixed, at the source or in the package.
    pub findings: Vec<Finding>,
}

impl Exported {
    /// A package that was exported, here or by a server.
    pub fn new(text: String, definitions: &Definitions) -> Exported {
        let options = CheckOptions {
            definitions,
            promotion: false,
            named: true,
            threads: 1,
        };
        let findings = check_text(&text, &options).findings;
        Exported { text, findings }
    }

    /// Whether it can be applied as it is.
    pub fn is_fit(&self) -> bool {
        self.errors().next().is_none()
    }

    /// What keeps it from being applied.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        let findings = self.findings.iter();
        findings.filter(|finding| finding.severity == Severity::Error)
    }
}
