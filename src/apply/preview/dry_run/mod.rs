//! A dry-run target: it accepts every unit that the workspace would accept, and stores nothing
//! there.
//!
//! In: a readable workspace, and the records about to be created in it. Units are checked against
//! the rows of the workspace and of earlier units; only what later units need stays in memory. The
//! lookups' results feed the digest of the plan.

mod tables;

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use super::digest::hex;
use crate::apply::Approved;
use crate::problem::Code;
use crate::workspace::ledger::Entry;
use crate::workspace::{
    Change, CommitError, Id, Lookup, Refused, RowData, RowWrite, Source, StoredRow, Structure,
    Target, Unit, fetch_each, hidden_each, match_each,
};
use tables::{Tables, Value, known_as};

/// As many values as are asked for at once.
const BATCH: usize = 500;

/// Columns whose values links read, by table.
pub(in crate::apply) type ColumnsRead = HashMap<Id, Vec<String>>;

/// The target.
pub(in crate::apply) struct DryRun<'t, T> {
    base: &'t T,
    tables: Tables,
    /// How many rows more may be written.
    room: Option<u64>,
    read: ColumnsRead,
    /// Where sequences stand that the run has moved on.
    sequences: HashMap<Id, u64>,
    /// Which values the workspace was asked for, and whether it has them.
    looked_up: HashMap<Value, bool>,
    lookups_digest: Mutex<Sha256>,
    /// Columns of which it is noted what is written into rows that are there, by table.
    watched: HashMap<Id, Vec<String>>,
    written: WrittenCells,
}

/// Cells by row and column.
pub(super) type WrittenCells = HashMap<Id, HashMap<String, String>>;

/// A row that a unit changes.
struct UpdatedRow {
    /// What later units need of it.
    row: StoredRow,
    /// Values that it takes, and values that it lets go.
    claims: Vec<Value>,
    released: Vec<Value>,
}

impl<'t, T: Lookup + Sync> DryRun<'t, T> {
    /// Begins with the workspace as it is and what is about to be created.
    pub(in crate::apply) async fn new(
        base: &'t T,
        destination: &Structure,
        approved: &Approved,
        read: ColumnsRead,
    ) -> Result<DryRun<'t, T>, T::Error> {
        Ok(DryRun {
            base,
            tables: Tables::of(destination, approved),
            room: base.row_capacity().await?,
            read,
            sequences: HashMap::new(),
            looked_up: HashMap::new(),
            lookups_digest: Mutex::default(),
            watched: HashMap::new(),
            written: HashMap::new(),
        })
    }

    /// Notes from now on what is written into these columns, by table.
    pub(super) fn watch(&mut self, columns: HashMap<Id, Vec<String>>) {
        self.watched = columns;
    }

    /// What was written into them.
    pub(super) fn into_written(self) -> WrittenCells {
        self.written
    }

    fn note_written(&mut self, feature: Id, write: &RowWrite) {
        for column in self.watched.get(&feature).into_iter().flatten() {
            let cell = write.cells.cell(column);
            let cell = cell.or_else(|| write.replace.then_some("null"));
            if let Some(cell) = cell {
                let row = self.written.entry(write.id).or_default();
                row.insert(column.clone(), cell.to_owned());
            }
        }
    }

    /// A digest of what the workspace answered.
    pub(super) fn lookups_digest(&self) -> String {
        let responses = self
            .lookups_digest
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        hex(responses.clone().finalize().as_slice())
    }

    fn note(&self, response: &dyn std::fmt::Debug) {
        let mut responses = self
            .lookups_digest
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        responses.update(format!("{response:?}\u{1f}"));
    }

    /// Notes a row that was found: which one, and what links read of it.
    fn note_row(&self, feature: Id, row: Option<&StoredRow>) {
        let columns = self.read.get(&feature).map_or(&[][..], Vec::as_slice);
        let read = row.map(|row| {
            let cells = columns.iter().map(|column| row.data.cell(column));
            (row.id, cells.collect::<Vec<_>>())
        });
        self.note(&read);
    }

    async fn insert(
        &mut self,
        feature: Id,
        rows: &[StoredRow],
    ) -> Result<(), CommitError<T::Error>> {
        let count = rows.len() as u64;
        if count > 0 && self.room.is_some_and(|room| room < count) {
            let message = "the organization has as many rows as it may have";
            return Err(refused(Code::QuotaExceeded, message).into());
        }
        let claims: Vec<Vec<Value>> = rows
            .iter()
            .map(|row| self.tables.claims(feature, row))
            .collect();
        self.look_up_values(feature, rows, &claims).await?;
        let mut entering: HashSet<&Value> = HashSet::new();
        for (at, claims) in claims.iter().enumerate() {
            for claim in claims {
                if self.is_taken(claim) || !entering.insert(claim) {
                    return Err(self.repeated(at, claim).into());
                }
            }
        }
        self.room = self.room.map(|room| room - count);
        self.tables.keep(feature, rows, &claims);
        self.looked_up.clear();
        Ok(())
    }

    /// Whether a row of the workspace or of an earlier unit holds a value.
    fn is_taken(&self, claim: &Value) -> bool {
        match self.tables.holds(claim) {
            Some(taken) => taken,
            None => self.looked_up.get(claim).copied().unwrap_or_default(),
        }
    }

    fn repeated(&self, row: usize, claim: &Value) -> Refused {
        Refused {
            row: Some(row),
            column: self.tables.column(claim).map(str::to_owned),
            ..refused(
                Code::UniqueViolation,
                "a row holds the same value in a unique column",
            )
        }
    }

    /// Asks the workspace for the values that rows claim, unless it was asked before.
    async fn look_up_values(
        &mut self,
        feature: Id,
        rows: &[StoredRow],
        claims: &[Vec<Value>],
    ) -> Result<(), CommitError<T::Error>> {
        if self.tables.is_fresh(feature) {
            return Ok(());
        }
        for (at, column) in self.tables.unique(feature).iter().enumerate() {
            let (mut unknown, mut values) = (Vec::new(), Vec::new());
            for (row, claims) in rows.iter().zip(claims) {
                let claim = claims.iter().find(|claim| claim.column == at);
                let claim = claim.filter(|claim| !self.looked_up.contains_key(claim));
                let cell = row.data.cell(&column.name);
                if let Some((claim, cell)) = claim.zip(cell) {
                    unknown.push(*claim);
                    values.push(cell.to_owned());
                }
            }
            for (unknown, values) in unknown.chunks(BATCH).zip(values.chunks(BATCH)) {
                let taken = if column.at_base {
                    self.base.taken(feature, &column.name, values).await
                } else {
                    // It becomes unique by this apply: then every row that is seen counts.
                    match_each(self.base, feature, &column.name, values, |row| {
                        row.is_some()
                    })
                    .await
                };
                let taken = taken.map_err(CommitError::Store)?;
                self.looked_up.extend(unknown.iter().copied().zip(taken));
            }
        }
        Ok(())
    }

    /// What becomes of a row.
    fn updated(&self, feature: Id, write: &RowWrite, before: &StoredRow) -> UpdatedRow {
        let row = StoredRow {
            id: write.id,
            data: before.data.written(&write.cells, write.replace),
        };
        let before_claims = self.tables.claims(feature, before);
        let mut claims = self.tables.claims(feature, &row);
        let released = before_claims.iter().filter(|value| !claims.contains(value));
        let released = released.copied().collect();
        claims.retain(|value| !before_claims.contains(value));
        UpdatedRow {
            row: self.tables.needed(feature, row),
            claims,
            released,
        }
    }

    async fn update(
        &mut self,
        feature: Id,
        writes: &[RowWrite],
    ) -> Result<(), CommitError<T::Error>> {
        let ids: Vec<Id> = writes.iter().map(|write| write.id).collect();
        let hidden = hidden_each(self, feature, &ids).await;
        let mut hidden = hidden.map_err(CommitError::Store)?.into_iter();
        let mut remaining = writes.iter();
        let after = fetch_each(self, feature, &ids, |stored| {
            let write = remaining.next()?;
            let stored = stored.or(hidden.next().flatten());
            // Of a row that entered in this run and is not kept nothing was written in these columns.
            let minted = || StoredRow {
                id: write.id,
                data: RowData::trusted("{}"),
            };
            let stored = stored.or_else(|| self.tables.is_minted(write.id).then(minted));
            stored.map(|before| self.updated(feature, write, &before))
        });
        let after = after.await.map_err(CommitError::Store)?;
        let (mut rows, mut claims, mut released) = (Vec::new(), Vec::new(), HashSet::new());
        for (at, updated) in after.into_iter().enumerate() {
            let Some(updated) = updated else {
                let message = format!("there is no row {}", writes[at].id);
                return Err(Refused {
                    row: Some(at),
                    ..refused(Code::NotFound, message)
                }
                .into());
            };
            rows.push(updated.row);
            claims.push(updated.claims);
            released.extend(updated.released);
        }
        self.look_up_values(feature, &rows, &claims).await?;
        let mut entering: HashSet<Value> = HashSet::new();
        for (at, claims) in claims.iter().enumerate() {
            for claim in claims {
                // What one of these rows gives up another may take.
                let taken = self.is_taken(claim) && !released.contains(claim);
                if taken || !entering.insert(*claim) {
                    return Err(self.repeated(at, claim).into());
                }
            }
        }
        for write in writes {
            self.note_written(feature, write);
        }
        self.tables.release(&released);
        self.tables.keep(feature, &rows, &claims);
        self.looked_up.clear();
        Ok(())
    }
}

fn refused(code: Code, message: impl Into<String>) -> Refused {
    Refused {
        code,
        row: None,
        column: None,
        message: message.into(),
    }
}

impl<T: Lookup + Sync> Source for DryRun<'_, T> {
    type Error = T::Error;

    async fn structure(&self) -> Result<Structure, T::Error> {
        self.base.structure().await
    }

    async fn rows(
        &self,
        feature: Id,
        after: Option<Id>,
        limit: usize,
    ) -> Result<Vec<StoredRow>, T::Error> {
        self.base.rows(feature, after, limit).await
    }
}

impl<T: Lookup + Sync> Lookup for DryRun<'_, T> {
    async fn matching(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<Option<StoredRow>>, T::Error> {
        let mut found = vec![None; values.len()];
        if !self.tables.is_fresh(feature) {
            // Perhaps of the first of them alone.
            found = self.base.matching(feature, column, values).await?;
            let is_key = self.tables.is_key(feature, column);
            for row in &found {
                match row {
                    row if is_key => self.note_row(feature, row.as_ref()),
                    // Which row has an identity makes no difference.
                    row => self.note(&row.is_some()),
                }
            }
        }
        for (value, found) in values.iter().zip(&mut found) {
            if found.is_none() {
                *found =
                    known_as(value).and_then(|value| self.tables.kept_by(feature, column, value));
            }
        }
        Ok(found)
    }

    async fn fetch(&self, feature: Id, rows: &[Id]) -> Result<Vec<Option<StoredRow>>, T::Error> {
        let mut found: Vec<Option<StoredRow>> = rows
            .iter()
            .map(|id| self.tables.kept(feature, *id))
            .collect();
        if self.tables.is_fresh(feature) {
            return Ok(found);
        }
        let absent = |at: &usize| found[*at].is_none() && !self.tables.is_minted(rows[*at]);
        let open: Vec<usize> = (0..rows.len()).filter(absent).collect();
        let ids: Vec<Id> = open.iter().map(|at| rows[*at]).collect();
        let stored = match ids.as_slice() {
            [] => Vec::new(),
            ids => self.base.fetch(feature, ids).await?,
        };
        let unanswered = open.get(stored.len()).copied();
        for (at, row) in open.into_iter().zip(stored) {
            self.note_row(feature, row.as_ref());
            found[at] = row;
        }
        found.truncate(unanswered.unwrap_or(rows.len()));
        Ok(found)
    }

    async fn hidden(&self, feature: Id, rows: &[Id]) -> Result<Vec<Option<StoredRow>>, T::Error> {
        if self.tables.is_fresh(feature) {
            return Ok(vec![None; rows.len()]);
        }
        let found = self.base.hidden(feature, rows).await?;
        let kept = |(id, row): (&Id, Option<StoredRow>)| {
            self.note_row(feature, row.as_ref());
            row.map(|row| self.tables.kept(feature, *id).unwrap_or(row))
        };
        Ok(rows.iter().zip(found).map(kept).collect())
    }

    async fn taken(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<bool>, T::Error> {
        // Of the values of a unit that was just refused everything is known.
        let claims = values.iter();
        let claims = claims.map(|value| self.tables.claim(feature, column, value));
        Ok(claims
            .map(|claim| claim.is_some_and(|claim| self.is_taken(&claim)))
            .collect())
    }

    async fn row_capacity(&self) -> Result<Option<u64>, T::Error> {
        Ok(self.room)
    }

    async fn sequence(&self, feature: Id, column: Id) -> Result<u64, T::Error> {
        match self.sequences.get(&column) {
            Some(stands) => Ok(*stands),
            None if self.tables.is_fresh(feature) || self.tables.is_minted(column) => Ok(1),
            None => self.base.sequence(feature, column).await,
        }
    }
}

impl<T: Lookup + Sync> Target for DryRun<'_, T> {
    async fn ledger(&self) -> Result<Vec<Entry>, T::Error> {
        Ok(Vec::new())
    }

    async fn commit(&mut self, unit: Unit) -> Result<(), CommitError<T::Error>> {
        for change in &unit.changes {
            match change {
                Change::InsertRows { feature, rows } => self.insert(*feature, rows).await?,
                Change::UpdateRows { feature, rows } => self.update(*feature, rows).await?,
                Change::MoveSequence { column, to, .. } => {
                    self.sequences.insert(*column, *to);
                }
                // Structure counts as created from the beginning.
                _ => {}
            }
        }
        Ok(())
    }
}
