//! Leaves that make a column stricter, measured against the cells that are there (`upgrade` 3.4.6).

use std::collections::BTreeMap;

use super::document::{Conflict, ConflictCode};
use crate::json::Value;
use crate::workspace::{Id, RecordKind};

/// What of the cells would not fit, by the ref of the column and the path of the leaf.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Measured(BTreeMap<(String, String), MeasuredLeaf>);

/// A leaf that not all cells fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredLeaf {
    /// Why they do not.
    pub code: ConflictCode,
    /// How many do not.
    pub count: u64,
    /// The first rows that do not.
    pub places: Vec<Id>,
    /// Whether the package's value may be taken all the same.
    pub may_be_taken: bool,
}

impl Measured {
    /// Adds a leaf.
    pub fn add(&mut self, reference: &str, path: &str, leaf: MeasuredLeaf) {
        let key = (reference.to_owned(), path.to_owned());
        self.0.insert(key, leaf);
    }

    /// What is known of a leaf; nothing of one that all cells fit.
    pub fn get(&self, reference: &str, path: &str) -> Option<&MeasuredLeaf> {
        self.0.get(&(reference.to_owned(), path.to_owned()))
    }

    /// Whether all cells fit.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl MeasuredLeaf {
    /// The conflict that it is, with base, theirs and ours.
    pub fn conflict(
        &self,
        kind: RecordKind,
        reference: &str,
        id: Option<Id>,
        path: &str,
        values: [Value; 3],
    ) -> Conflict {
        Conflict {
            count: Some(self.count),
            places: self.places.clone(),
            ..Conflict::of(self.code, kind.as_str(), reference, id, Some(path), values)
        }
    }
}
