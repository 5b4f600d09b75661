//! Runs all rules on one file.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::OnceLock;

use super::anomalies::anomalies;
use super::facts::Facts;
use super::parallel::run_parallel;
use super::promotion;
use super::{rows, rules};
use crate::definitions::Definitions;
use crate::finding::catalog::{J001, J003, J005, X003, X004};
use crate::finding::position::without_mark;
use crate::finding::{FileKind, FileReport, Finding, Place, Verdict};
use crate::json::{Doc, Node, Outline, Part, SyntaxError, validate};
use crate::package::text_of;

/// How a file is to be checked.
#[derive(Debug, Clone, Copy)]
pub struct CheckOptions<'o> {
    /// The registry that configs and cells are held against.
    pub definitions: &'o Definitions,
    /// Whether the five promotion rules are measured too (then P002 speaks instead of X004).
    pub promotion: bool,
    /// Whether the file was named on its own: then a file that is not a package is a finding.
    pub named: bool,
    /// How many threads one large file may use.
    pub threads: usize,
}

impl Default for CheckOptions<'static> {
    fn default() -> Self {
        CheckOptions {
            definitions: Definitions::embedded(),
            promotion: false,
            named: true,
            threads: 1,
        }
    }
}

/// From this size on, all threads find out where the lists of a file end.
const OUTLINED_FROM: usize = 1 << 20;

/// Checks the bytes of one file. Offsets in the report do not count a byte-order mark.
pub fn check(bytes: &[u8], options: &CheckOptions<'_>) -> FileReport {
    let (text, outline) = if options.threads > 1 && bytes.len() >= OUTLINED_FROM {
        read_outlined(bytes, options.threads)
    } else {
        (text_of(bytes), None)
    };
    match text {
        Ok(text) => check_outlined(text, outline.as_ref(), options),
        Err(error) => FileReport::refused(invalid_json(&error)),
    }
}

/// The text of a file and its outline. That it is UTF-8 is one piece of work next to the parts of the outline.
fn read_outlined(bytes: &[u8], threads: usize) -> (Result<&str, SyntaxError>, Option<Outline>) {
    let body = without_mark(bytes);
    let text = OnceLock::new();
    let parts = run_parallel(Outline::count(body) + 1, threads, |piece| {
        let part = piece.checked_sub(1).map(|part| Part::new(body, part));
        if part.is_none() {
            text.get_or_init(|| text_of(bytes));
        }
        part
    });
    let outline = Outline::new(parts.into_iter().flatten().collect());
    (*text.get_or_init(|| text_of(bytes)), Some(outline))
}

/// Checks a text without byte-order mark.
pub fn check_text(text: &str, options: &CheckOptions<'_>) -> FileReport {
    check_outlined(text, None, options)
}

fn check_outlined(text: &str, outline: Option<&Outline>, options: &CheckOptions<'_>) -> FileReport {
    let doc = match Doc::parse_outlined(text, outline) {
        Ok(doc) => doc,
        Err(error) => return FileReport::refused(invalid_json(&earliest(text, error))),
    };
    let manifest = match find_manifest(doc.root()) {
        Ok(manifest) if manifest.get("templateVersion").is_some() => manifest,
        other => {
            let report = no_package(&doc, other.unwrap_or_else(|node| node), options);
            return with_anomalies(&doc, report);
        }
    };
    match findings(&doc, manifest, options) {
        Ok((findings, verdicts)) => FileReport::new(FileKind::Package, findings, verdicts),
        Err(error) => FileReport::refused(invalid_json(&error)),
    }
}

/// Measures the five promotion rules alone. A file that cannot be measured (no JSON, no object)
/// has one finding and no verdicts; one without `templateVersion` fails the first rule.
pub fn promote(bytes: &[u8], options: &CheckOptions<'_>) -> FileReport {
    let text = match text_of(bytes) {
        Ok(text) => text,
        Err(error) => return FileReport::refused(invalid_json(&error)),
    };
    let doc = match Doc::parse_package(text) {
        Ok(doc) => doc,
        Err(error) => return FileReport::refused(invalid_json(&earliest(text, error))),
    };
    let options = CheckOptions {
        promotion: true,
        ..*options
    };
    let manifest = match find_manifest(doc.root()) {
        // In a walked folder an object without a version is a file of another sort.
        Ok(manifest) if options.named || manifest.get("templateVersion").is_some() => manifest,
        Ok(node) | Err(node) => return no_package(&doc, node, &options),
    };
    match findings(&doc, manifest, &options) {
        Ok((_, verdicts)) => FileReport::new(FileKind::Package, Vec::new(), verdicts),
        Err(error) => FileReport::refused(invalid_json(&error)),
    }
}

/// J001 for an error.
fn invalid_json(error: &SyntaxError) -> Finding {
    let place = Place {
        pointer: String::new(),
        span: error.offset..error.offset,
    };
    Finding::new(&J001, place, error.kind.to_string())
}

/// The first error of a text: rows that were jumped over may hide an earlier one.
fn earliest(text: &str, error: SyntaxError) -> SyntaxError {
    validate(text).err().unwrap_or(error)
}

/// The manifest object, or the value that should have been one.
fn find_manifest(root: Node<'_>) -> Result<Node<'_>, Node<'_>> {
    let manifest = root.get("manifest").unwrap_or(root);
    if manifest.is_object() {
        Ok(manifest)
    } else {
        Err(manifest)
    }
}

/// A file that is JSON and no package: a finding when it was named, plain otherwise.
fn no_package(doc: &Doc<'_>, manifest: Node<'_>, options: &CheckOptions<'_>) -> FileReport {
    // Lists that a package would have as rows were not read yet.
    if let Err(error) = validate(doc.text()) {
        return FileReport::refused(invalid_json(&error));
    }
    if !options.named {
        return FileReport::new(FileKind::Plain, Vec::new(), None);
    }
    let message: Cow<'_, str> = if manifest.is_object() {
        "the manifest declares no `templateVersion`".into()
    } else if manifest == doc.root() {
        format!("the file holds {}, not an object", manifest.type_name()).into()
    } else {
        format!("`manifest` is {}, not an object", manifest.type_name()).into()
    };
    FileReport::new(
        FileKind::Plain,
        vec![Finding::at(&J003, manifest, message)],
        None,
    )
}

/// Adds J002 and J009 to what is said of a named file that is no package: a key that appears twice may be why it is none.
fn with_anomalies(doc: &Doc<'_>, report: FileReport) -> FileReport {
    if report.kind != FileKind::Plain || report.findings.is_empty() {
        return report; // It is no JSON (J001), or was not named.
    }
    // Lists that a package would have as rows were not read yet.
    let Ok(whole) = Doc::parse(doc.text()) else {
        return report;
    };
    let mut findings = anomalies(&whole);
    findings.extend(report.findings);
    FileReport::new(report.kind, findings, report.promotion)
}

/// All findings of a package, and in a promotion the five verdicts.
fn findings(
    doc: &Doc<'_>,
    manifest: Node<'_>,
    options: &CheckOptions<'_>,
) -> Result<(Vec<Finding>, Option<Vec<Verdict>>), SyntaxError> {
    let facts = Facts::new(doc, manifest, options.definitions);
    let mut findings = anomalies(doc);
    rules::run(&facts, options.promotion, &mut findings);
    let mut rows = rows::check_rows(&facts, doc, options.threads)?;
    findings.append(&mut rows.findings);
    if !options.promotion {
        findings.extend(
            rows.tenant_places
                .iter()
                .map(|(place, message)| Finding::new(&X004, place.clone(), message)),
        );
    }
    quiet_general(&mut findings);
    let verdicts = || promotion::verdicts(&facts, &rows);
    Ok((findings, options.promotion.then(verdicts)))
}

/// J005 is for values that no more specific rule speaks about: where one does, it is silent. What a text looks like
/// (X003, X004) says nothing about its type.
fn quiet_general(findings: &mut Vec<Finding>) {
    if !findings.iter().any(|finding| finding.rule == &J005) {
        return;
    }
    let specific: HashSet<String> = findings
        .iter()
        .filter(|finding| finding.rule.family() != 'J' && ![&X003, &X004].contains(&finding.rule))
        .map(|finding| finding.place.pointer.clone())
        .collect();
    findings.retain(|finding| finding.rule != &J005 || !specific.contains(&finding.place.pointer));
}
