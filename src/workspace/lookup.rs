//! Lookups of an apply or a plan in a workspace, in addition to its structure.

use std::future::Future;

use super::{Id, Source, StoredRow};

/// A workspace in which rows are looked up by what they hold.
///
/// A plan needs no more than this, so a workspace that nobody may write to can be planned for.
pub trait Lookup: Source {
    /// For each JSON value the first row, by ascending id, whose cell in `column` equals it
    /// ([`crate::rows::equal`]).
    fn matching(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> impl Future<Output = Result<Vec<Option<StoredRow>>, Self::Error>> + Send;

    /// The rows of these ids, as far as they exist.
    fn fetch(
        &self,
        feature: Id,
        rows: &[Id],
    ) -> impl Future<Output = Result<Vec<Option<StoredRow>>, Self::Error>> + Send;

    /// For each JSON value, as rows hold it, whether a row of the table holds it in that unique column: any
    /// row, also one that is hidden from whoever the job is for, because a row with the same value is
    /// refused all the same.
    fn taken(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> impl Future<Output = Result<Vec<bool>, Self::Error>> + Send;

    /// How many rows more may be written; nothing when there is no limit, or none that is known.
    fn row_capacity(&self) -> impl Future<Output = Result<Option<u64>, Self::Error>> + Send;

    /// The number that the next empty cell of a sequence column gets.
    fn sequence(
        &self,
        feature: Id,
        column: Id,
    ) -> impl Future<Output = Result<u64, Self::Error>> + Send;
}
