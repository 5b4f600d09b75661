//! Finds tables whose rows would be duplicated, because nothing identifies the rows of earlier jobs
//! (`upgrade` 1.3).

use std::collections::{HashMap, HashSet};

use crate::apply::ledger_rows::{LedgerRows, verified_key};
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
    // By table the rows that some entry of the package is known by.
    let mut claimed: HashMap<Id, HashSet<Id>> = HashMap::new();
    let mut unknown: Vec<(&TableWork, Id)> = Vec::new();
    for table in tables {
        let entry = package.payloads.get(table.entry);
        let (Some(entry), Some(feature)) = (entry, table.feature) else {
            continue;
        };
        let known = ledger.recognise(feature, entry);
        let ids = known.iter().flatten().map(|known| known.id);
        claimed.entry(feature).or_default().extend(ids);
        let given = request.rows_modes.contains_key(&table.feature_ref);
        let key = verified_key(entry);
        let told_apart = key.is_some_and(|key| ledger.distinguishes(feature, key));
        if !given
            && !told_apart
            && table.mode != Mode::None
            && !known.is_empty()
            && known.iter().all(Option::is_none)
        {
            unknown.push((table, feature));
        }
    }
    unknown.sort_by_key(|(table, _)| table.entry);
    let steps = package.manifest.plan.steps.iter();
    let steps: Vec<&str> = steps.map(|step| step.uid.as_str()).collect();
    let none = HashSet::new();
    let refusals = unknown.into_iter().filter_map(|(table, feature)| {
        let claimed = claimed.get(&feature).unwrap_or(&none);
        let before = ledger.others(feature, claimed, &steps);
        let rows = package.payloads.get(table.entry)?.count();
        (before > 0).then(|| refusal(&table.feature_ref, before, rows))
    });
    refusals.collect()
}

fn refusal(reference: &str, before: usize, rows: usize) -> Refusal {
    let detail = format!(
        "`rowsModes.{reference}`: earlier applies wrote rows into this table: {before}. The package brings rows: {rows}. Neither their uids nor a verified key tell which of them are the same, so they would stand twice. Export the package with `--onto` the earlier one, give the mode of this table (`all` writes every row), or make a separate copy (`copy`)."
    );
    Refusal::about(Code::RowsUnmatched, reference, detail)
}
