//! Applies a package to a workspace in memory, after a look at what would happen, and takes it
//! back again.
//!
//! `cargo run --example apply_package -- examples/event-planning.json`

#![expect(clippy::print_stdout, reason = "an example shows what it did")]

use std::error::Error;

use tplkit::apply::{
    JobHistory, Minter, PreviewInput, Request, Resolution, ResolveInput, package_digest,
};
use tplkit::apply::{preview, resolve, run, undo};
use tplkit::check::{CheckOptions, Checked};
use tplkit::definitions::Definitions;
use tplkit::workspace::memory::{Memory, State};
use tplkit::workspace::{Id, Source, ready};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "examples/event-planning.json".to_owned());
    let text = std::fs::read_to_string(path)?;
    let definitions = Definitions::embedded();

    // Only a package without errors can be applied.
    let package = Checked::read(&text, &CheckOptions::default())?;

    // What has a blueprint is created; everything else that the package does not bring is skipped.
    let mut request = Request::default();
    let layers = package.manifest.layers();
    for dependency in layers.map_or(&[][..], |layers| &layers.dependencies) {
        let decided = match dependency.blueprint {
            Some(_) => Resolution::Import,
            None => Resolution::Skip,
        };
        request
            .resolutions
            .insert(dependency.reference.clone(), decided);
    }

    // Nothing in memory ever waits; a store on a network would be awaited.
    let empty = State::empty(Id::from_u128(1), Id::from_u128(2), "demo", "Demo");
    let mut workspace = Memory::new(empty.clone());
    let structure = ready(workspace.structure())?;
    let plan = ready(preview(
        &workspace,
        &structure,
        PreviewInput {
            package: &package,
            package_digest: &package_digest(&text),
            request: &request,
            earlier: &[],
            base: None,
            definitions,
        },
    ))?;
    println!("would create {} records", plan.create.len());

    // Every id of the job follows from its start and a random number, so that it can be resumed.
    let minter = Minter::at("2026-03-01T09:30:00Z".parse()?, 7);
    match resolve(
        ResolveInput {
            package: &package,
            request: &request,
            destination: &structure,
            past: JobHistory::default(),
            definitions,
        },
        minter,
    ) {
        Err(refusals) => refusals.iter().for_each(|refusal| println!("{refusal}")),
        Ok(approved) => {
            let mut watch = |_| {};
            let rows = &package.payloads;
            let report = ready(run(
                &mut workspace,
                &approved,
                rows,
                &[],
                definitions,
                &mut watch,
            ))?;
            for (table, counts) in &report.rows {
                println!("{table}: {} rows", counts.inserted);
            }
            println!("{} things to look at", report.unresolved.len());
            ready(undo(&mut workspace, false))?;
            println!("back as it was: {}", workspace.state() == empty);
        }
    }
    Ok(())
}
