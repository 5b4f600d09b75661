//! A record that a path names, with a query that is read before the store is asked. Faults of the query are reported
//! only to callers who see the record.

use uuid::Uuid;

use crate::refusal::Refusal;

/// The id of a path, and the query.
#[derive(Debug)]
pub(super) struct Checked<T> {
    /// The id in the path.
    pub(super) id: Uuid,
    /// The query, or why it is refused. Only callers who see the record get this refusal.
    pub(super) query: Result<T, Refusal>,
}
