//! Reads a package into the typed model and lists what travels in it and what it needs.
//!
//! `cargo run --example read_package -- examples/crm.json`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;

use tplkit::json::Doc;
use tplkit::package::model::{Package, WireWord};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "examples/crm.json".to_owned());
    let text = std::fs::read_to_string(path)?;

    // Rows stay unread in the tree, so that looking at a manifest is cheap; the model reads them.
    let doc = Doc::parse_package(&text)?;
    let package = Package::read(&doc)?;

    for item in package.manifest.items() {
        let name = item.reference.as_deref().unwrap_or(&item.uid);
        println!("{:8} {name}: {}", item.kind.word(), item.label);
    }
    for entry in package.payloads() {
        println!("{} rows for {}", entry.rows.len(), entry.feature_ref);
    }
    if let Some(layers) = package.manifest.layers() {
        for dependency in &layers.dependencies {
            println!(
                "needs the {} {}: {}",
                dependency.kind.as_str(),
                dependency.reference,
                dependency.description
            );
        }
    }
    Ok(())
}
