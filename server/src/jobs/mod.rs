//! Template jobs: asked for by a request, carried out by whichever process holds them.
//!
//! Goes in: an approved package with what was decided about it ([`New`]). Comes out: a [`Job`] that
//! people can watch, and in the end its report. What is decided about a package, what is written and in
//! which order says the library; here stands who may write (the `lease`), what is remembered
//! (`ledger`), and that the work goes on whatever happens to a process ([`Worker`]).

mod attempt;
mod cancel;
mod create;
mod failure;
mod job;
mod lease;
mod ledger;
mod package;
mod permission;
mod redaction;
mod renewal;
mod status;
mod target;
mod undo;
mod undo_worker;
mod visibility;
mod worker;

pub use cancel::cancel;
pub use create::{New, create, reopen};
pub use job::{COLUMNS, Job, find, unfinished};
pub use lease::{Lease, take, take_any};
pub use ledger::{earlier, own};
pub use package::{Order, Part, read as read_package};
pub use permission::hand_over;
pub use redaction::redact;
pub use renewal::under;
pub use status::Status;
pub use target::Destination;
pub use undo::{Ended, Undo};
pub use worker::{JobSignal, Worker};
