//! Applying: interrupted or not, once or twice, and back again.

use tplkit::apply::{Report, undo};
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::memory::{Crash, Memory};
use tplkit::workspace::{Target as _, ready};

use crate::job::{Job, job, minter};
use crate::seeds::{Dice, each, hold, same};
use crate::world::{exported, read, selection, workspace};

fn saved(target: &Memory) -> String {
    target.state().save().unwrap()
}

/// What an interrupted job reports in the end, as if nothing had happened.
fn folded(report: &Report) -> String {
    let mut report = report.clone();
    for table in report.rows.values_mut() {
        table.inserted += table.skipped;
        table.skipped = 0;
    }
    format!("{report:#?}")
}

#[test]
fn an_interrupted_job_ends_as_if_nothing_had_happened() {
    each(|seed| {
        let source = workspace(seed);
        let text = exported(&source, &selection(seed, &source))?;
        let package = read(&text)?;
        let (job, destination) = job(seed, &package, &source);
        let mut whole = Memory::new(destination.clone());
        let report = job.run(&mut whole, &[])?;
        let calls = usize::try_from(whole.calls()).unwrap();

        let mut dice = Dice::new(seed ^ 0xC4A5);
        let mut broken = Memory::new(destination);
        for _ in 0..=dice.below(4) {
            broken.crash_at(Crash {
                call: dice.below(calls) as u64,
                written: dice.below(2) == 0,
            });
            let finished = job.attempt(&mut broken, &[])?.is_some();
            broken.recover();
            if finished {
                break;
            }
        }
        let ledger = ready(broken.ledger()).map_err(|error| error.to_string())?;
        let resumed = job.run(&mut broken, &[])?;
        same("the state", &saved(&broken), &saved(&whole))?;
        // The answer alone may have been lost: a job that is done reports a pass that does nothing.
        if ledger.contains(&Entry::Completed) {
            return Ok(());
        }
        same("the report", &folded(&resumed), &folded(&report))
    });
}

#[test]
fn again_changes_nothing() {
    each(|seed| {
        let source = workspace(seed);
        let text = exported(&source, &selection(seed, &source))?;
        let package = read(&text)?;
        let (job, destination) = job(seed, &package, &source);
        let mut target = Memory::new(destination);
        let first = job.run(&mut target, &[])?;
        let before = saved(&target);
        let earlier = target.next_job();
        let again = Job {
            minter: minter(seed + 1_000_000),
            request: job.request.clone(),
            ..job
        };
        let second = again.run(&mut target, &earlier)?;
        same("the state", &saved(&target), &before)?;
        hold(second.published == 0, || "published again".to_owned())?;
        for (table, report) in &second.rows {
            let owed = first.rows.get(table).map_or(0, |table| table.inserted);
            hold(report.inserted == 0 && report.skipped == owed, || {
                format!("{table}: {report:?} after {:?}", first.rows.get(table))
            })?;
        }
        Ok(())
    });
}

#[test]
fn undo_brings_back_what_was_there() {
    each(|seed| {
        let source = workspace(seed);
        let text = exported(&source, &selection(seed, &source))?;
        let package = read(&text)?;
        let (job, destination) = job(seed, &package, &source);
        let mut target = Memory::new(destination);
        let before = saved(&target);
        job.run(&mut target, &[])?;
        ready(undo(&mut target, false)).map_err(|error| format!("no undo: {error}"))?;
        same("the state", &saved(&target), &before)?;
        let twice = ready(undo(&mut target, false));
        hold(twice.is_err(), || "undone twice".to_owned())
    });
}
