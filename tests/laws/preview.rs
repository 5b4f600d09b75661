//! A preview says what the apply then does.

use tplkit::apply::{Preview, Question, package_digest, preview};
use tplkit::check::Checked;
use tplkit::definitions::Definitions;
use tplkit::package::model::{Reason, Word as _};
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::memory::Memory;
use tplkit::workspace::{Source as _, Target as _, ready};

use crate::job::{Job, job, minter};
use crate::seeds::{Verdict, each, hold, same};
use crate::world::{exported, read, selection, workspace};

#[test]
fn a_preview_says_what_the_apply_then_does() {
    each(|seed| {
        let source = workspace(seed);
        let text = exported(&source, &selection(seed, &source))?;
        let package = read(&text)?;
        let (job, destination) = job(seed, &package, &source);
        let mut target = Memory::new(destination);
        said_and_done(&text, &package, &job, &mut target, &[])?;
        // And again, bound to what is there now.
        let earlier = target.next_job();
        let again = Job {
            minter: minter(seed + 1_000_000),
            ..job
        };
        said_and_done(&text, &package, &again, &mut target, &earlier)
    });
}

fn said_and_done(
    text: &str,
    package: &Checked<'_>,
    job: &Job<'_>,
    target: &mut Memory,
    earlier: &[Entry],
) -> Verdict {
    let digest = package_digest(text);
    let question = Question {
        package,
        package_digest: &digest,
        request: &job.request,
        earlier,
        definitions: Definitions::embedded(),
    };
    let destination = ready(target.structure()).map_err(|error| error.to_string())?;
    let said = ready(preview(target, &destination, question)).map_err(|error| error.to_string())?;
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
        let told = said.rows.get(reference).copied().unwrap_or_default();
        let counts = [
            (
                told.insert,
                table.inserted + table.failed.unwrap_or_default(),
            ),
            (told.existing, table.existing),
            (told.skipped, table.skipped),
        ];
        hold(counts.iter().all(|(said, done)| said == done), || {
            format!("{reference}: said {told:?}, done {table:?}")
        })?;
        // Nobody foresees what is refused: neither the cells of those rows nor the links to them.
        if report.errors.is_empty() {
            let emptied = emptied(package, reference, &report.unresolved);
            hold(told.dropped_links == emptied, || {
                let links = told.dropped_links;
                format!("{reference}: {links} links said to be dropped, {emptied} were")
            })?;
        }
    }
    Ok(())
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
