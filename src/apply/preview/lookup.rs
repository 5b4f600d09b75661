//! Asking the destination for rows, a batch of questions at a time.

use crate::workspace::{Id, StoredRow, Target};

/// As many as the executor writes at once.
const BATCH: usize = 500;

/// For each value the row that holds it.
pub(super) async fn matching<T: Target>(
    target: &T,
    feature: Id,
    column: &str,
    values: &[String],
) -> Result<Vec<Option<StoredRow>>, T::Error> {
    let mut found = Vec::with_capacity(values.len());
    for batch in values.chunks(BATCH) {
        found.extend(target.matching(feature, column, batch).await?);
    }
    Ok(found)
}

/// The rows of these ids, as far as they exist.
pub(super) async fn fetch<T: Target>(
    target: &T,
    feature: Id,
    ids: &[Id],
) -> Result<Vec<Option<StoredRow>>, T::Error> {
    let mut found = Vec::with_capacity(ids.len());
    for batch in ids.chunks(BATCH) {
        found.extend(target.fetch(feature, batch).await?);
    }
    Ok(found)
}
