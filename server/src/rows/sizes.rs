//! Remembers which tables have large rows, so that queries read no more rows than fit a response.
//!
//! It is only a hint: responses are bounded without it, at the cost of reading more than needed.

use std::sync::Arc;

use quick_cache::sync::Cache;
use uuid::Uuid;

use crate::store::BOUND;

/// How many tables are remembered.
const MAX_TABLES: usize = 1024;
/// From which size on five hundred rows, which are looked up together, are too many to be held.
const LARGE_ROW_BYTES: usize = BOUND / 500;

/// The size of the largest row that was read last, for tables where it is large. Cheap to clone.
#[derive(Clone)]
pub struct RowSizes(Arc<Cache<Uuid, usize>>);

impl Default for RowSizes {
    fn default() -> RowSizes {
        RowSizes(Arc::new(Cache::new(MAX_TABLES)))
    }
}

impl std::fmt::Debug for RowSizes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RowSizes({})", self.0.len())
    }
}

impl RowSizes {
    /// The size of a row of that table in bytes; zero where it is not worth a thought.
    pub fn of(&self, feature: Uuid) -> usize {
        self.0.get(&feature).unwrap_or(0)
    }

    /// Notes how large the largest of some rows was that were looked up: they say nothing of the others, so
    /// what is known of the table stays.
    pub fn note_looked_up(&self, feature: Uuid, size: usize) {
        if size > LARGE_ROW_BYTES && size > self.of(feature) {
            self.0.insert(feature, size);
        }
    }

    /// Notes what the rows were like that were read last.
    pub fn note(&self, feature: Uuid, size: Option<usize>) {
        match size {
            Some(size) => self.0.insert(feature, size),
            // Most tables have none, and need not be written to.
            None if self.0.get(&feature).is_some() => drop(self.0.remove(&feature)),
            None => {}
        }
    }
}
