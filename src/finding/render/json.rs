//! The JSON document of `check` and `promote` (contract 3): one fixed shape, whatever happened.
//!
//! `errors` is there only when something could not be checked, `statistics` only when asked for,
//! `diff`, `fixed` and `text` of a file only when a fix was.

use std::borrow::Cow;

use serde::Serialize;

use super::{Count, FileEntry, Report, ReportError, Summary};
use crate::finding::{
    FileEdit, FileKind, Located, LocatedFix, LocatedVerdict, Severity, SourceSpot,
};
use crate::printable;

/// The version of every JSON document that the tool writes.
pub(crate) const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'r> {
    schema_version: u32,
    outcome: &'static str,
    files: Vec<FileDocument<'r>>,
    summary: Summary,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ErrorDocument<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<Vec<Count>>,
}

#[derive(Serialize)]
struct ErrorDocument<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Cow<'r, str>>,
    message: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'r str>,
}

#[derive(Serialize)]
struct FileDocument<'r> {
    path: Cow<'r, str>,
    kind: &'static str,
    findings: Vec<FindingDocument<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    promotion: Option<Vec<VerdictDocument<'r>>>,
    #[serde(skip_serializing_if = "is_zero")]
    fixed: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'r str>,
}

#[derive(Serialize)]
struct FindingDocument<'r> {
    code: &'static str,
    name: &'static str,
    severity: Severity,
    pointer: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'r str>,
    line: usize,
    column: usize,
    offset: usize,
    length: usize,
    message: &'r str,
    help: &'r str,
    related: Vec<PlaceDocument<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<FixDocument<'r>>,
}

#[derive(Serialize)]
struct PlaceDocument<'r> {
    pointer: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'r str>,
    line: usize,
    column: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<usize>,
    message: &'r str,
}

#[derive(Serialize)]
struct FixDocument<'r> {
    title: &'r str,
    safe: bool,
    edits: Vec<EditDocument<'r>>,
}

#[derive(Serialize)]
struct EditDocument<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'r str>,
    offset: usize,
    length: usize,
    text: &'r str,
}

#[derive(Serialize)]
struct VerdictDocument<'r> {
    code: &'static str,
    name: &'static str,
    passed: bool,
    places: Vec<PlaceDocument<'r>>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Writes the document, indented, with a line end.
pub fn json(report: &Report) -> String {
    let document = Document {
        schema_version: SCHEMA_VERSION,
        outcome: report.outcome().as_str(),
        files: report.files.iter().map(file).collect(),
        summary: report.summary(),
        errors: report.errors.iter().map(error).collect(),
        statistics: report.statistics.then(|| report.counts()),
    };
    // These are plain structs of texts and numbers, which always serialize.
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    printable::json(&(text + "\n"))
}

fn error(error: &ReportError) -> ErrorDocument<'_> {
    ErrorDocument {
        path: error.path.as_ref().map(|path| path.to_string_lossy()),
        message: &error.message,
        help: error.help.as_deref(),
    }
}

fn file(file: &FileEntry) -> FileDocument<'_> {
    FileDocument {
        path: file.display(),
        kind: match file.report.kind {
            FileKind::Package => "package",
            FileKind::Plain => "plain",
        },
        findings: file.report.findings.iter().map(finding).collect(),
        promotion: file
            .report
            .promotion
            .as_ref()
            .map(|verdicts| verdicts.iter().map(verdict).collect()),
        fixed: file.fixed,
        diff: file.diff.as_deref(),
        text: file.text.as_deref(),
    }
}

fn finding(finding: &Located) -> FindingDocument<'_> {
    FindingDocument {
        code: finding.rule.code,
        name: finding.rule.name,
        severity: finding.severity,
        pointer: &finding.spot.pointer,
        file: finding.spot.file.as_deref(),
        line: finding.spot.start.line,
        column: finding.spot.start.column,
        offset: finding.spot.span.start,
        length: finding.spot.span.len(),
        message: &finding.message,
        help: &finding.help,
        related: finding
            .related
            .iter()
            .map(|related| place(&related.spot, &related.message))
            .collect(),
        fix: finding.fix.as_ref().map(fix),
    }
}

fn place<'r>(spot: &'r SourceSpot, message: &'r str) -> PlaceDocument<'r> {
    PlaceDocument {
        pointer: &spot.pointer,
        file: spot.file.as_deref(),
        line: spot.start.line,
        column: spot.start.column,
        offset: spot.file.is_some().then_some(spot.span.start),
        length: spot.file.is_some().then_some(spot.span.len()),
        message,
    }
}

fn fix(fix: &LocatedFix) -> FixDocument<'_> {
    let edits = fix
        .edits
        .iter()
        .map(|FileEdit { file, edit, .. }| EditDocument {
            file: file.as_deref(),
            offset: edit.span.start,
            length: edit.span.len(),
            text: &edit.text,
        });
    FixDocument {
        title: &fix.title,
        safe: fix.safe,
        edits: edits.collect(),
    }
}

fn verdict(verdict: &LocatedVerdict) -> VerdictDocument<'_> {
    VerdictDocument {
        code: verdict.rule.code,
        name: verdict.rule.name,
        passed: verdict.passed,
        places: verdict
            .places
            .iter()
            .map(|place_of| place(&place_of.spot, &place_of.message))
            .collect(),
    }
}
