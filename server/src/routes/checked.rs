//! The input of handlers about one thing whose query is checked before the store is asked, and reported after it.

use uuid::Uuid;

use crate::refusal::Refusal;

/// What a path names, and what the query says of it.
#[derive(Debug)]
pub(super) struct Checked<T> {
    /// The id in the path.
    pub(super) id: Uuid,
    /// The query, or what is wrong with it: that is reported to callers who see what the path names, and to no others.
    pub(super) query: Result<T, Refusal>,
}
