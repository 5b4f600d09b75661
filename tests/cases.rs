//! The sample packages say exactly what their table says: codes, places, severities, verdicts.

use std::collections::BTreeSet;

use serde_json::Value;
use tplkit::check::{CheckOptions, check, promote};
use tplkit::finding::{FileReport, Severity};

const FOLDER: &str = "tests/fixtures/cases";

fn read(kind: &str, name: &str) -> Vec<u8> {
    let path = format!("{FOLDER}/{kind}/{name}.json");
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn expected() -> Value {
    let text = std::fs::read_to_string(format!("{FOLDER}/expected.json")).expect("the table");
    serde_json::from_str(&text).expect("the table is JSON")
}

fn strings(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// Line and column of a byte, from 1.
fn position(bytes: &[u8], offset: usize) -> (u64, u64) {
    let text = tplkit::package::text_of(bytes).unwrap_or_default();
    let before = &text[..offset.min(text.len())];
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        + 1;
    (line as u64, column as u64)
}

fn show(report: &FileReport) -> String {
    let line = |finding: &tplkit::finding::Finding| {
        format!(
            "\n    {} {} {}",
            finding.rule.code, finding.place.pointer, finding.message
        )
    };
    report.findings.iter().map(line).collect()
}

/// What `check` gets wrong about one file, in words.
fn complaints(bytes: &[u8], required: &Value) -> Vec<String> {
    let report = check(bytes, &CheckOptions::default());
    let mut complaints = Vec::new();
    let codes: BTreeSet<&str> = report
        .findings
        .iter()
        .map(|finding| finding.rule.code)
        .collect();
    let wanted: BTreeSet<&str> = strings(&required["codes"]).into_iter().collect();
    if codes != wanted {
        complaints.push(format!(
            "codes {codes:?}, expected {wanted:?}{}",
            show(&report)
        ));
    }
    if let Some(main) = required["main"]
        .as_str()
        .filter(|main| wanted.contains(main))
    {
        let pointers = strings(&required["pointers"]);
        let places = required["positions"].as_array();
        let fits = report.findings.iter().any(|finding| {
            let at = position(bytes, finding.place.span.start);
            finding.rule.code == main
                && pointers.contains(&finding.place.pointer.as_str())
                && required["severity"] == finding.severity.as_str()
                && places.is_none_or(|places| places.contains(&serde_json::json!([at.0, at.1])))
        });
        if !fits {
            complaints.push(format!(
                "{main} is not at {pointers:?} {places:?}{}",
                show(&report)
            ));
        }
    }
    if let Some(exit) = required["exit"]["check"].as_u64() {
        let failed = report
            .findings
            .iter()
            .any(|finding| finding.severity == Severity::Error);
        if u64::from(failed) != exit {
            complaints.push(format!("check exits {exit}"));
        }
    }
    complaints
}

/// What `promote` gets wrong about one file.
fn verdict_complaints(bytes: &[u8], required: &Value) -> Vec<String> {
    let report = promote(bytes, &CheckOptions::default());
    let passed = |index: usize| {
        report
            .promotion
            .as_ref()
            .map(|verdicts| (verdicts[index].rule.code, verdicts[index].passed))
    };
    match &required["promotion"] {
        Value::Null if report.promotion.is_some() => vec!["verdicts, expected none".to_owned()],
        Value::Object(wanted) => (0..5)
            .filter_map(passed)
            .filter(|(code, passed)| wanted.get(*code).and_then(Value::as_bool) != Some(*passed))
            .map(|(code, passed)| format!("{code} passed: {passed}"))
            .chain(report.promotion.is_none().then(|| "no verdicts".to_owned()))
            .collect(),
        _ => Vec::new(),
    }
}

#[test]
fn valid_packages_have_no_finding() {
    let mut complaints = Vec::new();
    for name in expected()["valid"].as_object().expect("a table").keys() {
        let report = check(&read("valid", name), &CheckOptions::default());
        if !report.findings.is_empty() {
            complaints.push(format!("{name}:{}", show(&report)));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn mutants_have_the_findings_they_are_made_for() {
    let table = expected();
    let mut all = Vec::new();
    for (name, required) in table["mutants"].as_object().expect("a table") {
        let bytes = read("mutants", name);
        let found = complaints(&bytes, required)
            .into_iter()
            .chain(verdict_complaints(&bytes, required));
        all.extend(found.map(|complaint| format!("{name}: {complaint}")));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}
