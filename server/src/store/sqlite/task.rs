//! What the threads run.

use super::connection::SecuredConnection;
use crate::store::{Scope, StoreError};

/// An operation for a thread, and its result.
pub(in crate::store) trait Task: Send {
    /// For whom it runs.
    fn scope(&self) -> Scope;
    /// Whether it is expected to be short.
    fn is_brief(&self) -> bool;
    /// Whether it reads so much that short reads must not wait behind it.
    fn is_heavy(&self) -> bool;
    /// Whether it reads all of something large once, so that nothing of it is worth being kept in memory.
    fn is_passage(&self) -> bool;
    /// Whether what it writes may be lost in a power cut, because it is looked for, or written again.
    fn may_be_lost(&self) -> bool;
    /// Runs it; false when what it wrote is to be undone.
    fn run(&mut self, connection: SecuredConnection) -> (SecuredConnection, bool);
    /// Reports the one who waits: the task's own response, unless the store failed.
    fn finish(self: Box<Self>, committed: Result<(), StoreError>);
}
