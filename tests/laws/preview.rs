//! A preview says what the apply then does.

use tplkit::apply::{
    Preview, PreviewInput, Report, RowsPreview, TableReport, package_digest, preview,
};
use tplkit::check::Checked;
use tplkit::definitions::Definitions;
use tplkit::package::model::{Reason, WireWord as _};
use tplkit::problem::Code;
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::memory::Memory;
use tplkit::workspace::{Source as _, Target as _, ready};

use crate::decide::modes;
use crate::job::{Job, job};
use crate::people::{delete, fill};
use crate::seeds::{Dice, Verdict, each, hold, same};
use crate::world::{exported, read, selection, workspace};

#[test]
fn a_preview_says_what_the_apply_then_does() {
    each(|seed| {
        let source = workspace(seed);
        let text = exported(&source, &selection(seed, &source))?;
        let package = read(&text)?;
        let (mut job, destination) = job(seed, &package, &source);
        let mut dice = Dice::new(seed ^ 0x0A5C);
        let mut state = destination;
        let mut earlier = Vec::new();
        // First nothing is there, then what people left of it, then the same once more; each time
        // somebody may ask for other rows.
        for round in 0..3 {
            job.request.include_rows = dice.below(8) > 0;
            let mut target = Memory::new(state);
            if dice.below(4) == 0 {
                target.limit_rows(u64::try_from(dice.below(40)).unwrap());
            }
            let in_round = |error| format!("round {round}: {error}");
            plan_and_apply(&text, &package, &job, &mut target, &earlier).map_err(in_round)?;
            earlier.extend(target.next_job());
            state = target.state();
            job = job.later(1);
            if dice.below(2) == 0 {
                delete(&mut dice, &earlier, &mut state);
            }
            if dice.below(2) == 0 {
                fill(&mut dice, &package, &earlier, &mut state);
            }
            modes(&package, &mut job.request, &mut dice);
        }
        Ok(())
    });
}

fn plan_and_apply(
    text: &str,
    package: &Checked<'_>,
    job: &Job<'_>,
    target: &mut Memory,
    earlier: &[Entry],
) -> Verdict {
    let digest = package_digest(text);
    let input = PreviewInput {
        package,
        package_digest: &digest,
        request: &job.request,
        earlier,
        base: None,
        definitions: Definitions::embedded(),
    };
    let destination = ready(target.structure()).map_err(|error| error.to_string())?;
    let said = ready(preview(target, &destination, input)).map_err(|error| error.to_string())?;
    let report = job.run(target, earlier)?;
    let equal = |what: &str, said: String, done: String| same(what, &said, &done);
    let (renamed, dropped) = (&report.renamed, &report.dropped_keys);
    equal(
        "rename",
        format!("{:#?}", said.rename),
        format!("{renamed:#?}"),
    )?;
    equal(
        "dropped_keys",
        format!("{:#?}", said.dropped_keys),
        format!("{dropped:#?}"),
    )?;
    let live = u64::try_from(said.go_live.len()).unwrap();
    hold(live == report.published, || {
        format!("{live} should go live, {} did", report.published)
    })?;
    let ledger = ready(target.ledger()).map_err(|error| error.to_string())?;
    equal("create", created(&said), made(&ledger))?;
    for (reference, table) in &report.rows {
        let planned = said.rows.get(reference).cloned().unwrap_or_default();
        let counts = [
            (planned.insert, table.inserted),
            (planned.failed, table.failed),
            (planned.existing, table.existing),
            (planned.skipped, table.skipped),
        ];
        hold(counts.iter().all(|(said, done)| said == done), || {
            format!(
                "{reference}: said {planned:?}, done {table:?} {:?}",
                report.errors
            )
        })?;
        let emptied = emptied(package, reference, &report.unresolved);
        hold(planned.dropped_links == emptied, || {
            let links = planned.dropped_links;
            format!("{reference}: {links} links said to be dropped, {emptied} were")
        })?;
        same_reasons(reference, &planned, table, &report)?;
    }
    Ok(())
}

/// The plan gives the same reasons as the report, as far as that lists them.
fn same_reasons(
    reference: &str,
    planned: &RowsPreview,
    table: &TableReport,
    report: &Report,
) -> Verdict {
    let sum: u64 = planned.reasons.iter().map(|reason| reason.count).sum();
    hold(sum == planned.failed, || {
        format!("{reference}: {planned:?} gives {sum} reasons")
    })?;
    let errors = report.errors.iter();
    let errors = errors.filter(|error| error.reference == reference);
    let mut listed = std::collections::BTreeMap::new();
    for error in errors {
        let rows = match error.code {
            Code::QuotaExceeded => continue,
            _ => error.last - error.first + 1,
        };
        *listed
            .entry((error.code.as_str(), error.column.clone()))
            .or_insert(0) += rows;
    }
    let short = table.errors_more > 0;
    let fits = listed.iter().all(|((code, column), rows)| {
        let mut reasons = planned.reasons.iter();
        let reason = reasons.find(|one| one.code.as_str() == *code && one.column == *column);
        reason.is_some_and(|one| one.count == *rows || short && one.count > *rows)
    });
    hold(fits, || {
        format!("{reference}: said {planned:?}, done {:?}", report.errors)
    })
}

/// Link cells of a table that the report calls emptied because their row is not there.
fn emptied(
    package: &Checked<'_>,
    reference: &str,
    unresolved: &[tplkit::apply::UnresolvedEntry],
) -> u64 {
    let entry = package.payloads.iter();
    let uid = entry
        .filter(|entry| entry.feature_ref == reference)
        .map(|entry| entry.item_uid.as_str())
        .next();
    let cells = unresolved.iter().filter(|entry| {
        Some(entry.uid.as_str()) == uid && entry.reason == Reason::RowRefDropped.word()
    });
    cells.filter_map(|entry| entry.count).sum()
}

fn created(said: &Preview) -> String {
    let lines = said.create.iter();
    let lines = lines.map(|one| format!("{:?} {} {}\n", one.kind, one.reference, one.name));
    lines.collect()
}

fn made(ledger: &[Entry]) -> String {
    let structures = ledger.iter().filter_map(|entry| match entry {
        Entry::Structure(structure) => Some(structure),
        _ => None,
    });
    let created = structures.flat_map(|structure| &structure.created);
    let lines = created.map(|one| format!("{:?} {} {}\n", one.kind, one.reference, one.name));
    lines.collect()
}
