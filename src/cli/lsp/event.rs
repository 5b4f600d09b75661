//! What the loop waits for.

use std::sync::Arc;

use lsp_server::Message;
use serde_json::Value;
use tplkit::finding::LocatedReport;

use super::documents::Unit;
use super::snapshot::Snapshot;

/// What the loop waits for.
#[derive(Debug)]
pub(super) enum Event {
    /// A message of the editor.
    Message(Message),
    /// JSON that is no message, with the id of the request that it was meant to be.
    Invalid(Value),
    /// A check that went on next to the loop.
    Checked(Box<Checked>),
    /// Nothing comes any more.
    Closed,
}

/// A check that went on next to the loop.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) unit: Unit,
    pub(super) revision: u64,
    pub(super) snapshot: Snapshot,
    pub(super) report: Arc<LocatedReport>,
}
