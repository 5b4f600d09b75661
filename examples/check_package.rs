//! Checks a package and prints every finding with its place.
//!
//! `cargo run --example check_package -- examples/broken-invoices.json`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;

use tplkit::check::{CheckOptions, check};
use tplkit::finding::Severity;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "examples/broken-invoices.json".to_owned());
    let bytes = std::fs::read(path)?;

    // The default options hold the file against the registry that the library was built with.
    let report = check(&bytes, &CheckOptions::default());

    for finding in &report.findings {
        let severity = finding.severity.as_str();
        println!(
            "{severity}[{}] {}: {}",
            finding.rule.code, finding.place.pointer, finding.message
        );
        println!("  {}", finding.help);
    }
    let errors = report
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .count();
    println!("{errors} errors in {} findings", report.findings.len());
    Ok(())
}
