//! What every workspace promises, as cases that each implementation runs alike.
//!
//! The exporter and the executor rely on the traits, not on a store. An implementation hands in
//! [`Workspaces`], runs [`cases()`] and gets a list of what is wrong. Futures are `Send` and wait
//! for nothing but the target, so a case runs on any runtime, or on none ([`tplkit::workspace::ready`]).

mod drafts;
mod ledger;
mod matching;
mod removal;
mod rows;
mod structure;
mod subject;
#[cfg(test)]
mod tests;
mod unique;
mod units;

use std::future::Future;
use std::pin::Pin;

use tplkit::workspace::Target;

use subject::Subject;

/// Where the cases get their workspaces from.
pub trait Workspaces: Sync {
    /// The implementation.
    type Target: Target + Send + Sync;

    /// An empty workspace, and a job on it that has written nothing yet.
    fn fresh(&self) -> impl Future<Output = Self::Target> + Send;

    /// Another number each time. Ids follow from it, so that cases do not meet in one store.
    fn seed(&self) -> u64;
}

/// What a case returns: nothing, or what is wrong.
pub type CaseResult = Result<(), String>;

/// One promise.
pub struct Case<W> {
    /// What is promised.
    pub name: &'static str,
    run: for<'w> fn(&'w W) -> Running<'w>,
}

/// A case that is running.
pub type Running<'w> = Pin<Box<dyn Future<Output = CaseResult> + Send + 'w>>;

impl<W> Case<W> {
    /// Holds the implementation against the promise.
    pub fn run<'w>(&self, workspaces: &'w W) -> Running<'w> {
        (self.run)(workspaces)
    }
}

/// All promises.
pub fn cases<W: Workspaces>() -> Vec<Case<W>> {
    [
        structure::cases(),
        rows::cases(),
        unique::cases(),
        matching::cases(),
        units::cases(),
        ledger::cases(),
        removal::cases(),
        drafts::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Runs all cases, one after the other; what is wrong, with the case that found it.
pub async fn all<W: Workspaces>(workspaces: &W) -> Vec<(&'static str, String)> {
    let mut wrong = Vec::new();
    for case in cases::<W>() {
        if let Err(why) = case.run(workspaces).await {
            wrong.push((case.name, why));
        }
    }
    wrong
}
