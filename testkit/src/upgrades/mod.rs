//! Laws of upgrades (`upgrade` 6) on random triples: a package, the next one of its author, and what
//! people make of the first in between.
//!
//! Every implementation of a workspace is held to the same laws: it hands in [`Place`]s. A law
//! gets a [`Triple`], does what it is about in one or several workspaces, and says what is wrong.
//!
//! | What | Module |
//! |---|---|
//! | triples, and smaller ones that fail as well | `triple` |
//! | what people do, as changes of a workspace | `changes` |
//! | jobs one after the other in one workspace | `line` |
//! | killing a job after any unit | `killed` |
//! | deciding what a plan asks | `deciding` |
//! | two workspaces compared by the refs of a package | `compare` |
//! | what people changed, leaf by leaf | `kept` |
//! | the laws | `laws` |

mod changes;
mod compare;
mod deciding;
mod kept;
mod killed;
mod laws;
mod line;
mod memory;
mod triple;

use std::future::Future;
use std::pin::Pin;

use tplkit::workspace::Target;
use tplkit::workspace::ledger::Entry;

pub use laws::{LAWS, law_names};
pub use memory::InMemory;
pub use triple::{Triple, failure};

/// A workspace in which job follows job.
pub trait Place: Send + Sync {
    /// The implementation.
    type Target: Target + Send + Sync;

    /// Begins a job; jobs have the numbers from 0 on.
    fn begin(&mut self) -> impl Future<Output = usize> + Send;

    /// The workspace of a job that is not done, as a process that takes it up sees it.
    fn open(&mut self, job: usize) -> impl Future<Output = &mut Self::Target> + Send;

    /// Takes a job back that is done.
    fn undo(&mut self, job: usize) -> impl Future<Output = Result<(), String>> + Send;

    /// What a job has written.
    fn ledger(&mut self, job: usize) -> impl Future<Output = Vec<Entry>> + Send;
}

/// Where laws get their workspaces from: empty ones, each in an organization of its own.
pub trait Places: Sync {
    /// A workspace.
    type Place: Place;

    /// An empty one.
    fn fresh(&self) -> impl Future<Output = Self::Place> + Send;
}

/// What a law says of a triple.
pub type Verdict = Result<Seen, String>;

/// What a law has met, so that it can be seen to be about something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seen {
    /// The triple has nothing that the law is about.
    Nothing,
    /// Something was done, and nothing was asked.
    Plain,
    /// Something was asked and decided.
    Decided,
}

/// A law that is being checked.
pub type Running<'l> = Pin<Box<dyn Future<Output = Verdict> + Send + 'l>>;

/// Holds one law against one triple.
///
/// # Errors
/// What is wrong.
pub async fn hold<P: Places>(law: &str, places: &P, triple: &Triple) -> Verdict {
    laws::run(law, places, triple).await
}
