//! Checks a package without storing it.

use schemars::JsonSchema;
use serde::Serialize;
use tplkit::check::{CheckOptions, check};
use tplkit::finding::{Finding, Severity};

use super::package_refusal;
use crate::refusal::Refusal;

/// How many findings are listed.
const MAX_LISTED_FINDINGS: usize = 1_000;

/// What the rules say of a package.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PackageVerdict")]
pub(crate) struct PackageVerdict {
    /// `clean` without an error: the catalog takes the package. Else `findings`.
    #[schemars(extend("enum" = ["clean", "findings"]))]
    outcome: &'static str,
    /// The first thousand, errors first, each kind by its place.
    findings: Vec<PackageFinding>,
    /// How many there are that are not listed.
    findings_more: usize,
}

/// One finding about a package.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PackageFinding {
    /// The code of the rule.
    code: &'static str,
    /// The name of the rule.
    name: &'static str,
    /// The weight; errors keep a package out of the catalog.
    #[schemars(extend("enum" = ["error", "warning", "hint"]))]
    severity: &'static str,
    /// JSON Pointer to the value at fault.
    path: String,
    /// What is wrong.
    message: String,
    /// What to do.
    help: String,
}

impl PackageVerdict {
    /// Holds a package to every rule. Text that is not JSON has findings, too.
    ///
    /// # Errors
    /// 422 for JSON that is not an object, and for an empty body: neither is a body of this request.
    pub(crate) fn of(package: &[u8]) -> Result<PackageVerdict, Refusal> {
        let report = check(package, &CheckOptions::default());
        let is_json = report.findings.iter().all(|one| one.rule.code != "J001");
        if package.is_empty() || (is_json && !begins_an_object(package)) {
            package_refusal::accept(&report)?;
        }
        let mut found = report.findings;
        found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        let clean = found.iter().all(|one| one.severity != Severity::Error);
        Ok(PackageVerdict {
            outcome: if clean { "clean" } else { "findings" },
            findings_more: found.len().saturating_sub(MAX_LISTED_FINDINGS),
            findings: found
                .into_iter()
                .take(MAX_LISTED_FINDINGS)
                .map(PackageFinding::of)
                .collect(),
        })
    }
}

fn begins_an_object(package: &[u8]) -> bool {
    let text = package.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(package);
    text.trim_ascii_start().starts_with(b"{")
}

impl PackageFinding {
    fn of(finding: Finding) -> PackageFinding {
        PackageFinding {
            code: finding.rule.code,
            name: finding.rule.name,
            severity: finding.severity.as_str(),
            path: finding.place.pointer,
            message: finding.message,
            help: finding.help,
        }
    }
}
