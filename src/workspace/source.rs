//! Reads a workspace.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::{Id, RowData, Structure};

/// A row as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredRow {
    /// Identity.
    pub id: Id,
    /// Its cells.
    pub data: RowData,
}

/// Bytes of cells behind which a batch of rows may end before its limit.
pub const LARGE_BATCH: usize = 4 << 20;

/// Whether no row of the table follows a batch that [`Source::rows`] gave for that limit.
pub fn is_last_batch(batch: &[StoredRow], limit: usize) -> bool {
    let bytes = batch.iter().map(|row| row.data.as_str().len());
    batch.len() < limit && bytes.sum::<usize>() <= LARGE_BATCH
}

/// A workspace that can be read, with the visibility of the caller.
///
/// While one export reads, it must see one state: an implementation on a store holds a snapshot.
pub trait Source {
    /// Why it cannot be read.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Everything but the rows.
    fn structure(&self) -> impl Future<Output = Result<Structure, Self::Error>> + Send;

    /// At most `limit` rows of a table after the row `after`, by ascending id; fewer only at the
    /// end, or when they are larger than [`LARGE_BATCH`] together ([`is_last_batch`] tells).
    fn rows(
        &self,
        feature: Id,
        after: Option<Id>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<StoredRow>, Self::Error>> + Send;
}

/// The result of a future that never waits, such as everything of the in-memory workspace.
///
/// # Panics
/// When the future waits for something: it needs a runtime then.
pub fn ready<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the future waits for something: run it on a runtime"),
    }
}
