//! Findings as `miette` draws them.

use miette::{GraphicalReportHandler, GraphicalTheme, NarratableReportHandler};
use tplkit::check::{CheckOptions, check_text};
use tplkit::finding::{Located, LocatedReport};

fn findings(text: &str) -> Vec<Located> {
    let report = check_text(text, &CheckOptions::default());
    LocatedReport::new(text.as_bytes(), report).findings
}

fn drawn(finding: Located) -> String {
    let mut out = String::new();
    let handler =
        GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(80);
    handler
        .render_report(&mut out, &finding.in_file("crm.json"))
        .expect("is drawn");
    out
}

/// A line of a megabyte, with the fault at its end.
#[test]
fn a_file_of_one_long_line_has_its_true_line_and_column() {
    let text = format!(
        r#"{{"templateVersion": 2, "name": "{}", "lable": "x\u001b[2J"}}"#,
        "a".repeat(1_000_000)
    );
    let finding = findings(&text)
        .into_iter()
        .find(|one| one.message.contains("lable"))
        .expect("a finding");
    let column = text.find("\"lable\"").expect("the key") + 1;
    let shown = drawn(finding.clone());
    assert!(shown.contains(&format!("[crm.json:1:{column}]")), "{shown}");
    assert!(
        shown.contains("unknown-field") || shown.contains(finding.rule.name),
        "{shown}"
    );
    assert!(shown.lines().count() < 20, "{shown}");
    let mut narrated = String::new();
    NarratableReportHandler::new()
        .render_report(&mut narrated, &finding.in_file("crm.json"))
        .expect("is rendered");
    assert!(narrated.contains("Did you mean"), "{narrated}");
}

#[test]
fn every_finding_of_a_broken_package_is_drawn() {
    for file in ["examples/broken-invoices.json"] {
        let text = std::fs::read_to_string(file).expect("an example");
        for finding in findings(&text) {
            let shown = drawn(finding.clone());
            let at = finding.spot.start;
            assert!(
                shown.contains(&format!("[crm.json:{}:{}]", at.line, at.column)),
                "{shown}"
            );
            assert!(shown.contains(finding.rule.code), "{shown}");
            let marked = finding.excerpt.marked.trim_end();
            assert!(shown.contains(marked), "{marked}\n{shown}");
        }
    }
}
