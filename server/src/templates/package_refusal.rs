//! Turns the findings about a package into the refusal of a request.

use tplkit::finding::{FileReport, Finding, Severity};

use crate::refusal::{Code, Fault, Refusal};

/// Rules about JSON itself: what they forbid is forbidden in every body.
const ABOUT_JSON: [&str; 3] = ["J001", "J002", "J009"];

/// The refusal of a package with errors: a fault for each, with the code of its rule and the JSON
/// Pointer of its place (`rest` 6.1).
pub(super) fn accept(report: &FileReport) -> Result<(), Refusal> {
    accept_where(report, |_| true)
}

/// The same of a package that is a member of a body: places are those in the body.
pub(super) fn accept_member(report: &FileReport, member: &str) -> Result<(), Refusal> {
    accept_with(report, |_| true, |pointer| format!("/{member}{pointer}"))
}

/// The same, of the findings that matter.
pub(super) fn accept_where(
    report: &FileReport,
    matters: impl Fn(&Finding) -> bool,
) -> Result<(), Refusal> {
    accept_with(report, matters, str::to_owned)
}

fn accept_with(
    report: &FileReport,
    matters: impl Fn(&Finding) -> bool,
    place: impl Fn(&str) -> String,
) -> Result<(), Refusal> {
    let errors = report.findings.iter();
    let errors = errors.filter(|finding| finding.severity == Severity::Error && matters(finding));
    let faults: Vec<Fault> = errors
        .map(|finding| Fault {
            path: place(&finding.place.pointer),
            code: finding.rule.code,
            message: finding.message.clone(),
        })
        .collect();
    if faults.is_empty() {
        return Ok(());
    }
    let unreadable = faults.iter().any(|fault| ABOUT_JSON.contains(&fault.code));
    let code = if unreadable {
        Code::InvalidJson
    } else {
        Code::ValidationFailed
    };
    Err(Refusal::invalid_with(code, faults))
}
