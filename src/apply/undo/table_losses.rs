//! What an undo would lose of one table, in words.

use std::fmt;

use crate::finding::render::counted;
use crate::workspace::{Feature, Id, RecordKind};

/// What an undo would lose of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableLosses {
    /// The table; or another record, of which leaves would be lost.
    pub feature: Id,
    /// The table that it is or belongs to; nothing for records that everybody sees who sees the workspace.
    pub table: Option<Id>,
    /// What it is.
    pub kind: RecordKind,
    /// Its name.
    pub name: String,
    /// Rows of the job that were edited since.
    pub edited: Vec<Id>,
    /// How many rows of others a table holds that the job created.
    pub foreign: u64,
    /// How many of its leaves were changed since.
    pub leaves: u64,
    /// Whether all that stays as people made it when the undo is forced: values that an upgrade changed. Else it goes.
    pub stays: bool,
}

impl TableLosses {
    /// Nothing of a table.
    pub(super) fn nothing(feature: &Feature) -> TableLosses {
        TableLosses {
            feature: feature.id,
            table: Some(feature.id),
            kind: RecordKind::Feature,
            name: feature.name.clone(),
            edited: Vec::new(),
            foreign: 0,
            leaves: 0,
            stays: false,
        }
    }

    /// In words, of the table under that name.
    pub fn of(&self, table: &str) -> String {
        let rows = |count: usize| counted(count, "row");
        let edited = self.edited.len();
        let mut parts = Vec::new();
        if edited > 0 {
            parts.push(format!("{} edited since", rows(edited)));
        }
        if self.foreign > 0 {
            let foreign = usize::try_from(self.foreign).unwrap_or(usize::MAX);
            parts.push(format!("{} of others", rows(foreign)));
        }
        if self.leaves > 0 {
            let leaves = if self.leaves == 1 { "leaf" } else { "leaves" };
            parts.push(format!("{} {leaves} changed since", self.leaves));
        }
        format!("{table} has {}", parts.join(" and "))
    }
}

impl fmt::Display for TableLosses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.of(&format!("{} {:?}", self.kind.noun(), self.name)))
    }
}
