//! How a chain of steps runs: the same offline and on a server.
//!
//! A [`RunState`] is a graph, an [`Envelope`] and a place in the graph. It is asked for the next step, which
//! comes with everything resolved that its tokens name ([`Due`]); whoever executes does what the step asks
//! for, and hands back what came of it. A run does nothing by itself, holds no clock and remembers no
//! more than it was given: executed again with the same outputs it takes the same way, and that is how a
//! run goes on after a crash.
//!
//! | Module | |
//! |---|---|
//! | `envelope` | what travels between the steps, and what a token yields |
//! | `bounds`, `reason` | how large a run may become; the codes of what ends one |
//! | `resolve` | expressions into values |
//! | `request_path`, `recipients` | what values may bring into a path, and into the addressees of a mail |
//! | `compare` | conditions and cases |
//! | `act` | what a step asks of the world |
//! | `row_query` | which rows a read wants |
//! | `state` | from step to step |
//! | `schedule` | when a `cron` trigger is due |
//! | `stub` | a world of sample rows in which nothing is done |

mod act;
pub mod bounds;
pub(super) mod compare;
mod envelope;
mod reason;
mod recipients;
mod request_path;
mod resolve;
mod row_query;
mod schedule;
mod state;
mod stub;
#[cfg(test)]
mod tests;

pub use act::{Act, Binding, Mail, Notice, Request, Scope, Wait, Write, WriteMode};
pub use envelope::{Envelope, Record};
pub use reason::Reason;
pub use resolve::Failure;
pub use row_query::RowQuery;
pub use schedule::{Schedule, Timer};
pub use state::{Due, Next, RunState};
pub use stub::{StepReport, Stub};
