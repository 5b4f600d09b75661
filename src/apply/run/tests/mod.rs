//! Tests of what the executor writes and reports, rule by rule.

mod batches;
mod contested;
mod failed;
mod identities;
mod keys;
mod links;
mod refused_batches;
mod resume;
mod row_steps;

use crate::apply::test_plan::{TestPlan, nothing};
use crate::apply::{Report, TableReport};
use crate::crashing::Memory;

/// Runs a sample in a workspace with nothing in it.
fn applied(sample: &TestPlan) -> (Memory, Report) {
    let mut memory = Memory::new(nothing());
    let report = sample.run(&mut memory);
    (memory, report)
}

/// Path and count of every entry about cells that the job emptied.
fn dropped(report: &Report) -> Vec<(String, u64)> {
    let entries = report.unresolved.iter();
    entries
        .filter(|entry| entry.reason == "row_ref_dropped")
        .inspect(|entry| {
            assert_eq!(
                (&*entry.kind, &*entry.form, &*entry.action),
                ("rows", "uuid", "chave esvaziada")
            );
        })
        .map(|entry| (entry.path.clone(), entry.count.unwrap_or_default()))
        .collect()
}

/// The counts of a table.
fn counts(report: &Report, name: &str) -> TableReport {
    report.rows[&format!("f_{name}")]
}
