//! Undoing gives back what was there, byte for byte, however far the job came.

use tplkit::apply::{UndoProgress, undo, undo_in_units};
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::{Target as _, ready};
use tplkit_testkit::crashing::{Crash, Memory};

use crate::job::job;
use crate::people::delete;
use crate::seeds::{Dice, Verdict, each, hold, same};
use crate::world::{exported, read, saved, selection, workspace};

fn undone(target: &mut Memory, expected: &str) -> Verdict {
    ready(undo(target, false)).map_err(|error| format!("no undo: {error}"))?;
    same("the state", &saved(target), expected)?;
    let twice = ready(undo(target, false));
    hold(twice.is_err(), || "undone twice".to_owned())?;
    same("the state after a second undo", &saved(target), expected)
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
        undone(&mut target, &before)?;
        let late = job.attempt(&mut target, &[]);
        hold(late.is_err(), || "an undone job went on".to_owned())
    });
}

#[test]
fn undo_of_an_interrupted_job_brings_back_what_was_there() {
    each(|seed| {
        let source = workspace(seed);
        let text = exported(&source, &selection(seed, &source))?;
        let package = read(&text)?;
        let (job, destination) = job(seed, &package, &source);
        let mut whole = Memory::new(destination.clone());
        let before = saved(&whole);
        job.run(&mut whole, &[])?;
        let calls = usize::try_from(whole.calls()).unwrap();
        let mut dice = Dice::new(seed ^ 0x04D0);
        let mut target = Memory::new(destination);
        for _ in 0..=dice.below(3) {
            target.crash_at(Crash {
                call: dice.below(calls) as u64,
                written: dice.below(2) == 0,
            });
            job.attempt(&mut target, &[])?;
            target.recover();
        }
        if dice.below(2) == 0 {
            job.run(&mut target, &[])?;
        }
        // An undo that dies is done or not begun.
        let written = dice.below(2) == 0;
        let reached = saved(&target);
        target.crash_at(Crash { call: 1, written });
        let died = ready(undo(&mut target, false)).is_err();
        target.recover();
        hold(died, || "the undo needs one call".to_owned())?;
        let now = saved(&target);
        if now == reached && now != before {
            return undone(&mut target, &before);
        }
        same("the state", &now, &before)
    });
}

#[test]
fn undo_of_a_later_job_leaves_the_earlier_one() {
    each(|seed| {
        let source = workspace(seed);
        let text = exported(&source, &selection(seed, &source))?;
        let package = read(&text)?;
        let (job, destination) = job(seed, &package, &source);
        let mut target = Memory::new(destination);
        let before = saved(&target);
        job.run(&mut target, &[])?;
        let first = target.next_job();
        let mut dice = Dice::new(seed ^ 0x04D1);
        let mut state = target.state();
        let deleting = dice.below(3) > 0;
        if deleting {
            delete(&mut dice, &first, &mut state);
        }
        let mut target = Memory::new(state);
        let between = saved(&target);
        job.later(1).run(&mut target, &first)?;
        undone(&mut target, &between)?;
        if deleting {
            return Ok(());
        }
        target.take_up(first);
        undone(&mut target, &before)
    });
}

/// In units of any size, killed at any calls and asked to stop after any unit, as in one.
#[test]
fn undo_in_units_brings_back_what_was_there_whatever_happens_on_the_way() {
    each(|seed| {
        let source = workspace(seed);
        let text = exported(&source, &selection(seed, &source))?;
        let package = read(&text)?;
        let (job, destination) = job(seed, &package, &source);
        let mut target = Memory::new(destination);
        let before = saved(&target);
        job.run(&mut target, &[])?;
        let mut dice = Dice::new(seed ^ 0x04D2);
        let size = 1 + dice.below(40) as u64;
        for _ in 0..dice.below(6) {
            target.crash_at(Crash {
                call: dice.below(12) as u64,
                written: dice.below(2) == 0,
            });
            let stops = dice.below(3) == 0;
            let ran = ready(undo_in_units(&mut target, false, size, &mut |_| !stops));
            target.recover();
            if let Ok(UndoProgress::Done(_)) = ran {
                return same("the state", &saved(&target), &before);
            }
        }
        // The response to the last unit may have been lost.
        let ledger = ready(target.ledger()).map_err(|error| error.to_string())?;
        if ledger.last() == Some(&Entry::Undone) {
            return same("the state", &saved(&target), &before);
        }
        let left = ready(undo_in_units(&mut target, false, size, &mut |_| true));
        match left {
            Ok(UndoProgress::Done(_)) => {}
            Ok(UndoProgress::Paused) => return Err("nobody asked it to stop".to_owned()),
            Err(error) => return Err(format!("no undo: {error}")),
        }
        same("the state", &saved(&target), &before)
    });
}
