//! Finds tables whose rows would be duplicated, because nothing identifies the rows of earlier jobs
//! (`upgrade` 1.3).

use std::collections::HashSet;

use crate::apply::ledger_rows::LedgerRows;
use crate::apply::{Mode, Refusal, Request, TableWork};
use crate::check::Checked;
use crate::problem::Code;
use crate::workspace::Id;

/// A refusal for each such table, in the order of the payloads.
pub(super) fn unmatched_rows(
    package: &Checked<'_>,
    request: &Request,
    tables: &[TableWork],
    ledger: &LedgerRows,
) -> Vec<Refusal> {
    let rows_of = |table: &TableWork| {
        let entry = package.payloads.get(table.entry)?;
        Some(ledger.recognise(table.feature?, entry, &table.earlier_names))
    };
    let mut unknown: Vec<&TableWork> = tables
        .iter()
        .filter(|table| {
            let given = request.rows_modes.contains_key(&table.feature_ref);
            !given && table.mode != Mode::None && !is_distinguished(package, table, ledger)
        })
        .filter(|table| {
            let known = rows_of(table).unwrap_or_default();
            !known.is_empty() && known.iter().all(Option::is_none)
        })
        .collect();
    unknown.sort_by_key(|table| table.entry);
    let steps = package.manifest.plan.steps.iter();
    let steps: Vec<&str> = steps.map(|step| step.uid.as_str()).collect();
    let refusals = unknown.into_iter().filter_map(|table| {
        let feature = table.feature?;
        // Rows that another entry of the package is known by are the same for certain.
        let here = tables.iter().filter(|other| other.feature == Some(feature));
        let claimed: HashSet<Id> = here
            .filter_map(rows_of)
            .flatten()
            .flatten()
            .map(|known| known.id)
            .collect();
        let before = ledger.others(feature, &claimed, &steps);
        let rows = package.payloads.get(table.entry)?.count();
        (before > 0).then(|| refusal(&table.feature_ref, before, rows))
    });
    refusals.collect()
}

/// Whether keys distinguish the rows of a table from those of earlier applies: the verified one of the package, else
/// the one that the rows had then.
fn is_distinguished(package: &Checked<'_>, table: &TableWork, ledger: &LedgerRows) -> bool {
    let entry = package.payloads.get(table.entry);
    entry
        .zip(table.feature)
        .is_some_and(|(entry, feature)| ledger.distinguishes(feature, entry, &table.earlier_names))
}

fn refusal(reference: &str, before: usize, rows: usize) -> Refusal {
    let detail = format!(
        "`rowsModes.{reference}`: earlier applies wrote rows into this table: {before}. The package brings rows: {rows}. Neither their uids nor a verified key tell which of them are the same, so they would stand twice. Export the package with `--onto` the earlier one, give the mode of this table (`all` writes every row), or make a separate copy (`copy`)."
    );
    Refusal::about(Code::RowsUnmatched, reference, detail)
}
