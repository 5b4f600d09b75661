//! A tidy workspace comes through: exported, applied elsewhere and exported again, it is the same.

use tplkit::workspace::memory::Memory;
use tplkit_testkit::random::{self, Shape};

use crate::decide::decided;
use crate::job::Job;
use crate::normal::normal;
use crate::seeds::{each, hold, same};
use crate::world::{empty_counterpart, everything, exported, read};

#[test]
fn a_tidy_workspace_comes_through() {
    each(|seed| {
        let state = random::workspace(seed, &Shape::closed());
        let text = exported(&state, &everything())?;
        let package = read(&text)?;
        let destination = empty_counterpart(&state);
        let job = Job::new(&package, decided(&package, &destination, None), seed);
        let mut target = Memory::new(destination);
        let report = job.run(&mut target, &[])?;
        let errors = &report.errors;
        hold(errors.is_empty(), || format!("errors: {errors:?}"))?;
        let renamed = &report.renamed;
        hold(renamed.is_empty(), || format!("renamed: {renamed:?}"))?;
        let again = exported(&target.state(), &everything())?;
        same("what comes through", &normal(&again)?, &normal(&text)?)
    });
}
