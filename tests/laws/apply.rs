//! Applying: interrupted or not, once or twice.

use tplkit::apply::Report;
use tplkit::check::Checked;
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::memory::State;
use tplkit::workspace::{Target as _, ready};
use tplkit_testkit::crashing::{Crash, Memory};

use crate::job::{Job, job};
use crate::people::delete;
use crate::seeds::{Dice, Verdict, each, hold, same};
use crate::world::{everything, exported, is_long, read, saved, selection, small, workspace};

/// What an interrupted job reports in the end, as if nothing had happened.
fn folded(report: &Report) -> String {
    let mut report = report.clone();
    for table in report.rows.values_mut() {
        table.inserted += table.skipped;
        table.skipped = 0;
    }
    format!("{report:#?}")
}

/// What comes of a job that nothing interrupted.
struct Uninterrupted {
    calls: usize,
    state: String,
    report: String,
}

/// Runs a job that nothing interrupts.
fn uninterrupted(job: &Job<'_>, destination: &State) -> Result<Uninterrupted, String> {
    let mut target = Memory::new(destination.clone());
    let report = job.run(&mut target, &[])?;
    Ok(Uninterrupted {
        calls: usize::try_from(target.calls()).unwrap(),
        state: saved(&target),
        report: folded(&report),
    })
}

/// Killed at these calls, one attempt after the other, then left alone.
fn killed(job: &Job<'_>, destination: &State, expected: &Uninterrupted, at: &[Crash]) -> Verdict {
    let mut target = Memory::new(destination.clone());
    for crash in at {
        target.crash_at(*crash);
        let finished = job.attempt(&mut target, &[])?.is_some();
        target.recover();
        if finished {
            break;
        }
    }
    let ledger = ready(target.ledger()).map_err(|error| error.to_string())?;
    let resumed = job.run(&mut target, &[])?;
    let failure = |error| format!("killed at {at:?}: {error}");
    same("the state", &saved(&target), &expected.state).map_err(failure)?;
    // The response alone may have been lost: a job that is done reports a pass that does nothing.
    if !ledger.contains(&Entry::Completed) {
        same("the report", &folded(&resumed), &expected.report).map_err(failure)?;
    }
    Ok(())
}

fn crash(call: usize, written: bool) -> Crash {
    let call = call as u64;
    Crash { call, written }
}

#[test]
fn an_interrupted_job_ends_as_if_nothing_had_happened() {
    each(|seed| {
        let source = workspace(seed);
        let text = exported(&source, &selection(seed, &source))?;
        let package = read(&text)?;
        let (job, destination) = job(seed, &package, &source);
        let expected = uninterrupted(&job, &destination)?;
        let mut dice = Dice::new(seed ^ 0xC4A5);
        let mut at = Vec::new();
        for _ in 0..=dice.below(6) {
            at.push(crash(dice.below(expected.calls), dice.below(2) == 0));
        }
        killed(&job, &destination, &expected, &at)
    });
}

#[test]
fn a_job_can_be_killed_at_every_call() {
    each(|seed| {
        let source = small(seed);
        let text = exported(&source, &everything())?;
        let package = read(&text)?;
        let (job, destination) = job(seed, &package, &source);
        let expected = uninterrupted(&job, &destination)?;
        let mut dice = Dice::new(seed ^ 0xDEAD);
        // Large ones have many calls that are all alike.
        let step = if is_long(seed) { 5 } else { 1 };
        let first = dice.below(step);
        for call in (first..expected.calls).step_by(step) {
            for written in [false, true] {
                let mut at = vec![crash(call, written)];
                if dice.below(2) == 0 {
                    at.push(crash(dice.below(expected.calls), dice.below(2) == 0));
                }
                killed(&job, &destination, &expected, &at)?;
            }
        }
        Ok(())
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
        // Whether many rows are looked up at once makes no difference.
        target.limit_lookups(1 + usize::try_from(seed % 3).unwrap_or_default());
        let second = job.later(1).run(&mut target, &earlier)?;
        same("the state", &saved(&target), &before)?;
        hold(second.published == 0, || "published again".to_owned())?;
        for (table, report) in &second.rows {
            let expected = first.rows.get(table).map_or(0, |table| table.inserted);
            // What was refused once is tried again.
            hold(report.inserted == 0 && report.skipped == expected, || {
                format!("{table}: {report:?} after {:?}", first.rows.get(table))
            })?;
        }
        // Neither does the job's own pass over what it has completed.
        let ledger = earlier.clone();
        target.take_up(earlier);
        let third = job.run(&mut target, &[])?;
        same("the state after its own", &saved(&target), &before)?;
        hold(third.published == 0, || "published a third time".to_owned())?;
        let now = ready(target.ledger()).map_err(|error| error.to_string())?;
        hold(now == ledger, || "the ledger grew".to_owned())
    });
}

#[test]
fn what_people_deleted_is_fixed_once() {
    each(|seed| {
        let source = workspace(seed);
        let text = exported(&source, &selection(seed, &source))?;
        let package = read(&text)?;
        let (job, destination) = job(seed, &package, &source);
        let mut target = Memory::new(destination);
        job.run(&mut target, &[])?;
        let mut earlier = target.next_job();
        let mut state = target.state();
        delete(&mut Dice::new(seed ^ 0xDE1), &earlier, &mut state);
        let rows = count(&package, &earlier, &state);
        let mut target = Memory::new(state);
        job.later(1).run(&mut target, &earlier)?;
        let now = count(&package, &earlier, &target.state());
        hold(now == rows, || {
            format!("{now} rows where people left {rows}")
        })?;
        let fixed = saved(&target);
        earlier.extend(target.next_job());
        job.later(2).run(&mut target, &earlier)?;
        same("the state", &saved(&target), &fixed)
    });
}

/// Rows in tables that the job made and that people left.
fn count(package: &Checked<'_>, ledger: &[Entry], state: &State) -> usize {
    let tables = package.payloads.iter();
    let tables = tables.filter_map(|entry| crate::people::made(ledger, &entry.feature_ref));
    let rows = tables.filter_map(|table| state.rows.get(&table));
    rows.map(Vec::len).sum()
}
