//! Findings as diagnostics.

use serde_json::{Value, json};
use tplkit::finding::{Located, LocatedReport, RelatedSpot, Severity};

use super::snapshot::View;
use super::wire;

/// A finding in the file where it stands.
#[derive(Debug)]
pub(super) struct Diagnosed<'r> {
    pub(super) finding: &'r Located,
    pub(super) diagnostic: Value,
}

/// The findings of one file with their diagnostics, in order of place.
pub(super) fn of_file<'r>(
    view: &View<'_>,
    report: &'r LocatedReport,
    file: Option<&str>,
) -> Vec<Diagnosed<'r>> {
    let (document, mark) = view.document(file);
    let findings = report.findings.iter();
    let here = findings.filter(|finding| finding.spot.file.as_deref() == file);
    here.map(|finding| {
        let span = &finding.spot.span;
        // Editors underline every line of a range: the first one is enough.
        let line = document.first_line(&(span.start + mark..span.end + mark));
        Diagnosed {
            finding,
            diagnostic: json!({
                "range": wire::range_json(&document, &line, view.encoding),
                "severity": severity(finding.severity),
                "code": finding.rule.code,
                "source": "tplkit",
                "message": message(finding),
                "relatedInformation": related(view, finding),
            }),
        }
    })
    .collect()
}

/// The diagnostics alone.
pub(super) fn list(view: &View<'_>, report: &LocatedReport, file: Option<&str>) -> Vec<Value> {
    let diagnosed = of_file(view, report, file).into_iter();
    diagnosed.map(|found| found.diagnostic).collect()
}

fn severity(severity: Severity) -> u8 {
    match severity {
        Severity::Error => 1,
        Severity::Warning => 2,
        Severity::Hint => 3,
    }
}

fn message(finding: &Located) -> String {
    if finding.help.is_empty() {
        finding.message.clone()
    } else {
        format!("{}\n{}", finding.message, finding.help)
    }
}

fn related(view: &View<'_>, finding: &Located) -> Vec<Value> {
    let related = finding.related.iter().map(|RelatedSpot { spot, message }| {
        let file = spot.file.as_deref();
        let (document, mark) = view.document(file);
        let span = spot.span.start + mark..spot.span.end + mark;
        let line = document.first_line(&span);
        json!({
            "location": {
                "uri": view.uri(file),
                "range": wire::range_json(&document, &line, view.encoding),
            },
            "message": message,
        })
    });
    related.collect()
}
