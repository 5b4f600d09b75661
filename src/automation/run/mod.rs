//! Runs automations, offline and on a server alike.
//!
//! A [`RunState`] is a graph, an [`Envelope`] and a position in the graph. It returns the next step
//! with its expressions resolved ([`Due`]); the caller carries out the step and passes its outcome
//! back. A run has no side effects and no clock: with the same outputs it takes the same steps,
//! which is how a run resumes after a crash.
//!
//! | Module | |
//! |---|---|
//! | `envelope` | the data between the steps, and the values of tokens |
//! | `bounds`, `reason` | limits on the size of a run; the codes of its failures |
//! | `resolve` | expressions into values |
//! | `request_path`, `recipients` | safe values in the path of a request, and in the recipients of a mail |
//! | `compare` | conditions and cases |
//! | `act` | the action of a step |
//! | `row_query` | the row query of a read |
//! | `state` | from step to step |
//! | `schedule` | when a `cron` trigger is due |
//! | `stub` | runs on sample rows, without side effects |

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
pub use row_query::{ColumnKind, RowQuery, TableQuery};
pub use schedule::{Schedule, Timer};
pub use state::{Due, NextStep, RunState};
pub use stub::{StepReport, Stub};
