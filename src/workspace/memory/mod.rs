//! A workspace in memory: for simulations, for tests, and loaded from one JSON file.
//!
//! It keeps every promise of the traits: units are atomic, unique values stay unique, ledger and
//! changes are written together. It can also crash at any call, before or after the call had its
//! effect, which is how crash and resume are tested by the thousand.

mod cells;
mod changes;
mod contradictions;
mod drafts;
mod index;
mod records;
mod state;
mod table;
#[cfg(test)]
mod tests;
mod update;

use std::collections::BTreeSet;

use super::ledger::Entry;
use super::{CommitError, Id, Lookup, Source, StoredRow, Structure, Target, UnfilteredRow, Unit};

pub use state::{AppliedJob, DraftVersion, State, StateError};
use table::MemoryTable;

/// A workspace in memory, bound to one job.
#[derive(Debug)]
pub struct Memory {
    state: State,
    tables: Tables,
    ledger: Vec<Entry>,
    /// How many rows there may be.
    row_quota: Option<u64>,
    /// How many rows a lookup returns at once.
    lookup_limit: usize,
    /// Rows that are kept from whoever the job is for.
    hidden: BTreeSet<Id>,
}

/// Rows of all tables.
pub(super) type Tables = std::collections::BTreeMap<Id, MemoryTable>;

/// Why the in-memory workspace did not respond.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// No such table.
    #[error("there is no table {0}")]
    UnknownFeature(Id),
}

impl Memory {
    /// A workspace in that state, with a new job.
    pub fn new(mut state: State) -> Memory {
        let rows = std::mem::take(&mut state.rows);
        let tables = rows
            .into_iter()
            .map(|(feature, rows)| (feature, MemoryTable::new(rows)))
            .collect();
        Memory {
            state,
            tables,
            ledger: Vec::new(),
            row_quota: None,
            lookup_limit: usize::MAX,
            hidden: BTreeSet::new(),
        }
    }

    /// The state as it is now.
    pub fn state(&self) -> State {
        let rows = self.tables.iter();
        State {
            rows: rows
                .filter(|(_, table)| !table.rows().is_empty())
                .map(|(feature, table)| (*feature, table.rows().to_vec()))
                .collect(),
            ..self.state.clone()
        }
    }

    /// Begins another job; the ledger of the one before is handed out.
    pub fn next_job(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.ledger)
    }

    /// Goes back to an earlier job.
    pub fn take_up(&mut self, ledger: Vec<Entry>) {
        self.ledger = ledger;
    }

    /// Takes no more rows than these, in all tables together.
    pub fn limit_rows(&mut self, quota: u64) {
        self.row_quota = Some(quota);
    }

    /// Looks up no more rows than these at once, as stores do whose rows are large.
    pub fn limit_lookups(&mut self, lookup_limit: usize) {
        self.lookup_limit = lookup_limit.max(1);
    }

    /// Keeps rows from whoever the job is for: when rows are fetched or looked for they are not there.
    pub fn hide(&mut self, rows: &[Id]) {
        self.hidden.extend(rows);
    }

    fn check_known(&self, feature: Id) -> Result<(), MemoryError> {
        match self.state.structure.feature(feature) {
            Some(_) => Ok(()),
            None => Err(MemoryError::UnknownFeature(feature)),
        }
    }

    fn rows_of(&self, feature: Id) -> Result<&[StoredRow], MemoryError> {
        self.check_known(feature)?;
        Ok(self.tables.get(&feature).map_or(&[], MemoryTable::rows))
    }
}

impl Source for Memory {
    type Error = MemoryError;

    async fn structure(&self) -> Result<Structure, MemoryError> {
        let mut structure = self.state.structure.clone();
        for automation in &mut structure.automations {
            automation.has_draft = !automation.draft && drafts::exist(&self.state, automation.id);
        }
        Ok(structure)
    }

    async fn rows(
        &self,
        feature: Id,
        after: Option<Id>,
        limit: usize,
    ) -> Result<Vec<StoredRow>, MemoryError> {
        let rows = self.rows_of(feature)?;
        let from = after.map_or(0, |after| rows.partition_point(|row| row.id <= after));
        let to = rows.len().min(from.saturating_add(limit));
        Ok(rows[from..to].to_vec())
    }
}

impl Lookup for Memory {
    async fn matching(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<Option<StoredRow>>, MemoryError> {
        self.check_known(feature)?;
        let values = &values[..values.len().min(self.lookup_limit)];
        Ok(match self.tables.get(&feature) {
            Some(table) => table.matching(column, values, &self.hidden),
            None => vec![None; values.len()],
        })
    }

    async fn fetch(&self, feature: Id, ids: &[Id]) -> Result<Vec<Option<StoredRow>>, MemoryError> {
        self.check_known(feature)?;
        let table = self.tables.get(&feature);
        let seen = |id: &&Id| !self.hidden.contains(*id);
        let find = |id: &Id| table.and_then(|table| table.get(*id)).cloned();
        let ids = ids.iter().take(self.lookup_limit);
        Ok(ids.map(|id| Some(id).filter(seen).and_then(find)).collect())
    }

    async fn hidden(&self, feature: Id, ids: &[Id]) -> Result<Vec<Option<StoredRow>>, MemoryError> {
        self.check_known(feature)?;
        let table = self.tables.get(&feature);
        let kept = |id: &&Id| self.hidden.contains(*id);
        let find = |id: &Id| table.and_then(|table| table.get(*id)).cloned();
        let ids = ids.iter().take(self.lookup_limit);
        Ok(ids.map(|id| Some(id).filter(kept).and_then(find)).collect())
    }

    async fn with_hidden(
        &self,
        feature: Id,
        after: Option<Id>,
        limit: usize,
    ) -> Result<Vec<UnfilteredRow>, MemoryError> {
        let rows = self.rows(feature, after, limit).await?.into_iter();
        let kept = |row: StoredRow| {
            let hidden = self.hidden.contains(&row.id);
            UnfilteredRow { row, hidden }
        };
        Ok(rows.map(kept).collect())
    }

    async fn taken(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<bool>, MemoryError> {
        self.check_known(feature)?;
        let Some(table) = self.tables.get(&feature) else {
            return Ok(vec![false; values.len()]);
        };
        // Hidden rows, too.
        let found = table.matching(column, values, &BTreeSet::new());
        Ok(found.iter().map(Option::is_some).collect())
    }

    async fn row_capacity(&self) -> Result<Option<u64>, MemoryError> {
        let written = self.tables.values().map(|table| table.rows().len() as u64);
        let written: u64 = written.sum();
        Ok(self.row_quota.map(|quota| quota.saturating_sub(written)))
    }

    async fn sequence(&self, feature: Id, column: Id) -> Result<Option<u64>, MemoryError> {
        self.check_known(feature)?;
        Ok(Some(self.state.sequence(column)))
    }
}

impl Target for Memory {
    async fn ledger(&self) -> Result<Vec<Entry>, MemoryError> {
        Ok(self.ledger.clone())
    }

    async fn commit(&mut self, unit: Unit) -> Result<(), CommitError<MemoryError>> {
        changes::write(
            &mut self.state,
            &mut self.tables,
            self.row_quota,
            unit.changes,
        )?;
        self.ledger.extend(unit.entry);
        Ok(())
    }
}
