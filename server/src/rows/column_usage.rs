//! Counts how often columns are queried, to decide which get a slot.
//!
//! Counts live in this process and are bounded: rarely used columns are dropped first. Background
//! tasks assign ([`slot_assignment`](super::slot_assignment)) and fill the slots.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use uuid::Uuid;

/// How many columns are counted at a time.
const MAX_COLUMNS: usize = 4096;
/// How often a column has to be asked for.
const MIN_USES_FOR_SLOT: u32 = 50;

/// Counts queries about columns without a slot. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct ColumnUsage(Arc<Mutex<HashMap<(Uuid, String), u32>>>);

impl ColumnUsage {
    /// Somebody filters or sorts by a column that has no slot.
    pub fn note(&self, feature: Uuid, column: &str) {
        self.with(|counts| {
            if let Some(count) = counts.get_mut(&(feature, column.to_owned())) {
                *count = count.saturating_add(1);
                return;
            }
            while counts.len() >= MAX_COLUMNS {
                counts.retain(|_, count| {
                    *count /= 2;
                    *count > 0
                });
            }
            counts.insert((feature, column.to_owned()), 1);
        });
    }

    /// Takes out the columns that were asked for often, by table.
    pub fn take(&self) -> Vec<(Uuid, Vec<String>)> {
        let mut hot: Vec<(Uuid, String)> = self.with(|counts| {
            let often = counts.extract_if(|_, count| *count >= MIN_USES_FOR_SLOT);
            often.map(|(column, _)| column).collect()
        });
        hot.sort_unstable();
        let mut tables: Vec<(Uuid, Vec<String>)> = Vec::new();
        for (feature, column) in hot {
            match tables.last_mut() {
                Some((last, columns)) if *last == feature => columns.push(column),
                _ => tables.push((feature, vec![column])),
            }
        }
        tables
    }

    fn with<T>(&self, work: impl FnOnce(&mut HashMap<(Uuid, String), u32>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::{ColumnUsage, MAX_COLUMNS, MIN_USES_FOR_SLOT};

    #[test]
    fn what_is_asked_often_is_reported_once() {
        let hot = ColumnUsage::default();
        let table = Uuid::from_u128(7);
        for _ in 0..MIN_USES_FOR_SLOT {
            hot.note(table, "b");
            hot.note(table, "a");
        }
        hot.note(table, "rare");
        let both = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(hot.take(), [(table, both)]);
        assert_eq!(hot.take(), []);
    }

    #[test]
    fn it_never_grows_without_bound_and_keeps_what_is_asked_often() {
        let hot = ColumnUsage::default();
        let table = Uuid::from_u128(7);
        for n in 0..10 * MAX_COLUMNS {
            hot.note(table, &n.to_string());
            hot.note(table, "often");
            hot.with(|counts| assert!(counts.len() <= MAX_COLUMNS));
        }
        assert_eq!(hot.take(), [(table, vec!["often".to_owned()])]);
    }
}
