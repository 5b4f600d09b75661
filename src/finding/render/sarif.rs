//! SARIF 2.1.0, as code scanning services read it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{FileEntry, Report, digests, uri};
use crate::finding::page::{readable, reason};
use crate::finding::{FileEdit, Located, LocatedFix, RelatedSpot, Rule, Severity, SourceSpot};
use crate::printable::{self, line};

/// Writes the log of one run; only rules that spoke are described.
pub fn sarif(report: &Report) -> String {
    let mut rules: Vec<&'static Rule> = report
        .files
        .iter()
        .flat_map(FileEntry::reported)
        .map(|finding| finding.rule)
        .collect();
    rules.sort_by_key(|rule| rule.code);
    rules.dedup();
    let results: Vec<Value> = report
        .files
        .iter()
        .flat_map(|file| results(file, &rules))
        .collect();
    let notifications: Vec<Value> = report.errors.iter().map(notification).collect();
    let log = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "tplkit",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules.iter().map(|rule| describe(rule)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": report.errors.is_empty(),
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    });
    // A value always serializes.
    let text = serde_json::to_string_pretty(&log).unwrap_or_default();
    printable::json(&(text + "\n"))
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Hint => "note",
    }
}

/// Services show descriptions as sentences, and ask for their end.
fn sentence(text: &str) -> String {
    let end = if text.ends_with(['.', '!', '?']) {
        ""
    } else {
        "."
    };
    format!("{text}{end}")
}

fn describe(rule: &Rule) -> Value {
    json!({
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": sentence(rule.summary)},
        "fullDescription": {"text": sentence(&reason(rule.page))},
        "help": {"text": sentence(rule.help), "markdown": readable(rule.page)},
        "defaultConfiguration": {"level": level(rule.severity)},
    })
}

fn notification(error: &super::ReportError) -> Value {
    let mut value = json!({"level": "error", "message": {"text": line(&error.message)}});
    if let Some(path) = &error.path {
        value["locations"] =
            json!([{"physicalLocation": {"artifactLocation": {"uri": uri(path)}}}]);
    }
    value
}

fn results(file: &FileEntry, rules: &[&'static Rule]) -> Vec<Value> {
    digests(file)
        .map(|(finding, digest)| {
            let mut value = result(file, finding, &digest, rules);
            if let Some(fix) = &finding.fix {
                value["fixes"] = json!([replacements(file, fix)]);
            }
            value
        })
        .collect()
}

fn result(file: &FileEntry, finding: &Located, digest: &str, rules: &[&'static Rule]) -> Value {
    let mut value = json!({
        "ruleId": finding.rule.code,
        "ruleIndex": rules.iter().position(|rule| *rule == finding.rule),
        "level": level(finding.severity),
        "message": {"text": sentence(&line(&finding.message))},
        // What to do is not part of what is wrong: the rule says it in general, this for the place.
        "properties": {"help": line(&finding.help)},
        "locations": [location(file, &finding.spot)],
        "partialFingerprints": {"tplkit/v1": digest},
    });
    if !finding.related.is_empty() {
        let related = finding.related.iter().map(|RelatedSpot { spot, message }| {
            let mut location = location(file, spot);
            location["message"] = json!({"text": line(message)});
            location
        });
        value["relatedLocations"] = related.collect();
    }
    value
}

fn location(file: &FileEntry, spot: &SourceSpot) -> Value {
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": {"uri": uri(&file.path_of(spot))},
            "region": {
                "startLine": spot.start.line,
                "startColumn": spot.start.column,
                "endLine": spot.end.line,
                "endColumn": spot.end.column,
            },
        },
    });
    if !spot.pointer.is_empty() {
        location["logicalLocations"] =
            json!([{"fullyQualifiedName": spot.pointer, "kind": "member"}]);
    }
    location
}

/// Edits are reported by bytes: they have no line and column of their own in a report. SARIF counts
/// them from the start of the file, so the byte-order mark counts here and nowhere else.
fn replacements(file: &FileEntry, fix: &LocatedFix) -> Value {
    let mut changes: BTreeMap<&Option<String>, Vec<Value>> = BTreeMap::new();
    for FileEdit { file, mark, edit } in &fix.edits {
        changes.entry(file).or_default().push(json!({
            "deletedRegion": {"byteOffset": mark + edit.span.start, "byteLength": edit.span.len()},
            "insertedContent": {"text": edit.text},
        }));
    }
    let changes = changes.into_iter().map(|(inside, replacements)| {
        json!({
            "artifactLocation": {"uri": uri(&file.path_in(inside.as_deref()))},
            "replacements": replacements,
        })
    });
    json!({
        "description": {"text": fix.title},
        "artifactChanges": changes.collect::<Vec<_>>(),
    })
}
