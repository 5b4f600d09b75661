//! A rule: a stable code, and its explanation.

use serde::{Deserialize, Serialize};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Taste.
    Hint,
    /// Legal to apply, surely unwanted.
    Warning,
    /// Unfit to apply or promote.
    Error,
}

impl Severity {
    /// The word used in every output.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Hint => "hint",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// One rule of the catalog.
#[derive(Debug)]
pub struct Rule {
    /// Letter of the family and three digits, stable for ever.
    pub code: &'static str,
    /// The name people say.
    pub name: &'static str,
    /// What its findings weigh unless configured otherwise.
    pub severity: Severity,
    /// One line: when it is reported.
    pub summary: &'static str,
    /// What to do about a finding, unless the finding knows better.
    pub help: &'static str,
    /// The page `tplkit explain` shows: why, a failing and a fixed example.
    pub page: &'static str,
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
    }
}

impl Eq for Rule {}

impl Rule {
    /// The address of its page.
    pub fn address(&self) -> String {
        let pages = concat!(
            env!("CARGO_PKG_REPOSITORY"),
            "/blob/main/src/finding/catalog/pages"
        );
        format!("{pages}/{}-{}.md", self.code, self.name)
    }

    /// The letter of its family.
    pub fn family(&self) -> char {
        self.code.chars().next().unwrap_or('?')
    }
}
