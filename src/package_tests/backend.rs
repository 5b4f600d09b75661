//! What a test runs on, as a trait: `memory` implements it for workspaces in memory, the server for its store.
//!
//! A backend carries out, and says what happened. Whether that is as expected is decided by `check` alone.

use super::declared::Declared;
use super::effects::RunEffects;
use super::fire::Trigger;
use crate::apply::{Preview, Report, Request};
use crate::json::{Object, Value};
use crate::workspace::Id;
use crate::workspace::ledger::Entry;

/// What a test runs on.
pub trait Backend {
    /// Why it does not respond: no fault of the test.
    type Error;

    /// Applies the package of the test as it asks, applies it again, and undoes both; afterwards automations
    /// run where the first apply has left the workspace. When the apply is refused: why, as `found` of a failure.
    fn apply(
        &mut self,
        test: &Declared,
    ) -> impl Future<Output = Result<Result<AppliedTest, Value>, Self::Error>>;

    /// Runs an automation, then what its writes fire.
    fn fire(
        &mut self,
        automation: Id,
        trigger: &Trigger,
    ) -> impl Future<Output = Result<FireOutcome, Self::Error>>;

    /// The cells of all rows of a table, in order of their ids.
    fn rows(&mut self, table: Id) -> impl Future<Output = Result<Vec<Object>, Self::Error>>;
}

/// What an apply did.
#[derive(Debug, Clone, PartialEq)]
pub struct AppliedTest {
    /// How it was asked for, with ids in place of names.
    pub request: Request,
    /// What it was going to do.
    pub preview: Preview,
    /// What it did.
    pub report: Report,
    /// What it wrote, and its base before it.
    pub ledger: Vec<Entry>,
    /// Whether the same apply once more changed anything.
    pub again_changed: bool,
    /// Whether the undo gave back the workspace that was there before.
    pub restored: bool,
}

/// What came of firing an automation.
#[derive(Debug, Clone, PartialEq)]
pub enum FireOutcome {
    /// There is no such automation.
    Missing,
    /// It did not run, and why.
    NotFired(String),
    /// It ran.
    Ran(RunEffects),
}
