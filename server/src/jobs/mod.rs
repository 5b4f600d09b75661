//! Template jobs: created by a request, executed by the process that holds their lease.
//!
//! In: an approved package with its decisions ([`New`]). Out: a [`Job`] to watch, and its report.
//! The library decides what is written and in which order; this module adds the `lease`, the
//! `ledger`, and workers that resume jobs of dead processes ([`Worker`]).

mod applied_lines;
mod attempt;
mod cancel;
mod claim;
mod create;
mod error;
mod failure;
mod job;
mod lease;
mod ledger;
mod line_index;
mod package;
mod permission;
mod redaction;
mod renewal;
mod row_bases;
mod status;
mod target;
mod undo;
mod undo_worker;
mod visibility;
mod worker;

pub use applied_lines::{AppliedLine, lines};
pub use cancel::cancel;
pub use claim::{take, take_any};
pub use create::{New, create, reopen};
pub(crate) use job::JobView;
pub use job::{Job, any_of, find, page};
pub use lease::Lease;
pub use ledger::{
    LedgerPart, LineLedgers, StoredLegacyJob, WantedLedger, earlier, own, upgraded_by, written_by,
};
pub use line_index::{Continuing, unfinished};
pub use package::{JobRequest, PackedPart, read as read_package, read_base};
pub use permission::hand_over;
pub use redaction::redact;
pub use renewal::under;
pub use row_bases::StoredRowBases;
pub use status::Status;
pub use target::Destination;
pub use undo::{Undo, UndoResult, was_asked};
pub use worker::Worker;
