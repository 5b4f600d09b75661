//! Writes a workspace as a package, and says what travels, what stays behind and what is wrong.
//!
//! `cargo run --example export_workspace`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;

use tplkit::context::{FixedClock, Seeded};
use tplkit::definitions::Definitions;
use tplkit::export::{Selection, export};
use tplkit::json::Doc;
use tplkit::package::model::{Package, WireWord};
use tplkit::workspace::memory::Memory;
use tplkit::workspace::ready;
use tplkit_testkit::random::{self, Shape};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // Anything that implements `workspace::Source` can be exported; this one is random, from the test tools.
    let source = Memory::new(random::workspace(7, &Shape::closed()));

    // The body of `POST /v1/workspaces/{id}/export`: what is not named travels whole.
    let selection = r#"{"rows": "all", "identity": {"name": "sample", "semver": "0.1.0"}}"#;
    let selection = Selection::from_json(selection).map_err(|faults| faults[0].clone())?;

    // The library has no clock and no chance of its own: the same input gives the same bytes.
    let clock = FixedClock("2026-03-01T09:30:00Z".parse()?);
    let mut ids = Seeded::new(1);
    let definitions = Definitions::embedded();
    let exported = ready(export(&source, &selection, &clock, &mut ids, definitions))?;

    let doc = Doc::parse_package(&exported.text)?;
    let package = Package::read(&doc)?;
    let manifest = package.manifest;
    println!("{}", manifest.plan.summary.as_deref().unwrap_or_default());
    if let Some(layers) = manifest.layers() {
        for entry in &layers.unresolved {
            println!("{}: {}", entry.reason.word(), entry.path);
        }
        for entry in &layers.redacted {
            println!("cleared: {}", entry.path);
        }
    }
    // The source may hold what no destination takes: the findings come with the package.
    for finding in &exported.findings {
        println!("{} {}", finding.rule.code, finding.message);
    }
    println!("{} bytes of package", exported.text.len());
    Ok(())
}
