//! A dry-run target: it accepts every unit that the workspace would accept, and stores nothing
//! there.
//!
//! In: a readable workspace, and the records about to be created in it. Units are checked against
//! the rows of the workspace and of earlier units; only what later units need stays in memory. The
//! lookups' results feed the digest of the plan.

mod lookup;
mod tables;

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use crate::apply::Approved;
use crate::printable::hex;
use crate::problem::Code;
use crate::workspace::ledger::{CellsPart, Entry};
use crate::workspace::{
    Change, CommitError, Id, Lookup, Refused, RowData, RowWrite, StoredRow, Structure, Target,
    Unit, fetch_each, hidden_each, match_each,
};
use tables::{Tables, Unique, Value, known_as};

/// Values per query.
const VALUES_PER_QUERY: usize = 500;

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
    /// Cells of rows that gave up unique values; they are read once more.
    freed: HashMap<Id, Vec<RowData>>,
    /// Rows that the apply changes and that are hidden from its user.
    hidden: HashSet<Id>,
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
            freed: HashMap::new(),
            hidden: HashSet::new(),
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

    /// A digest of what the workspace returned.
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
            for (unknown, values) in unknown
                .chunks(VALUES_PER_QUERY)
                .zip(values.chunks(VALUES_PER_QUERY))
            {
                let taken = self.taken_at_base(feature, column, values).await;
                let taken = taken.map_err(CommitError::Store)?;
                self.looked_up.extend(unknown.iter().copied().zip(taken));
            }
        }
        Ok(())
    }

    /// Which values rows of the workspace hold.
    async fn taken_at_base(
        &self,
        feature: Id,
        column: &Unique,
        values: &[String],
    ) -> Result<Vec<bool>, T::Error> {
        if column.at_base {
            return self.base.taken(feature, &column.name, values).await;
        }
        // It becomes unique by this apply: then every row that is seen counts.
        let found = match_each(self.base, feature, &column.name, values, |row| {
            row.is_some()
        });
        found.await
    }

    /// A row of the workspace, with the unique values that it has now.
    fn as_freed(&self, row: StoredRow) -> StoredRow {
        let written = self.freed.get(&row.id).into_iter().flatten();
        StoredRow {
            id: row.id,
            data: written.fold(row.data, |data, cells| data.written(cells, false)),
        }
    }

    /// Whether a row of the workspace that was found by a value has another one now.
    fn has_given_up(&self, row: &StoredRow, column: &str, value: &str) -> bool {
        let written = self.freed.get(&row.id).into_iter().flatten();
        let now = written.filter_map(|cells| cells.cell(column)).next_back();
        now.is_some_and(|now| known_as(now) != known_as(value))
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
        frees: bool,
    ) -> Result<(), CommitError<T::Error>> {
        let ids: Vec<Id> = writes.iter().map(|write| write.id).collect();
        let hidden = hidden_each(self, feature, &ids).await;
        let mut hidden = hidden.map_err(CommitError::Store)?.into_iter();
        let (mut remaining, mut unseen) = (writes.iter(), Vec::new());
        let after = fetch_each(self, feature, &ids, |stored| {
            let write = remaining.next()?;
            let hidden = hidden.next().flatten();
            unseen.extend(hidden.iter().map(|row| row.id));
            let stored = stored.or(hidden);
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
        self.hidden.extend(unseen);
        for write in writes.iter().filter(|_| frees) {
            let known = self.freed.entry(write.id).or_default();
            known.push(write.cells.clone());
        }
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

impl<T: Lookup + Sync> Target for DryRun<'_, T> {
    async fn ledger(&self) -> Result<Vec<Entry>, T::Error> {
        Ok(Vec::new())
    }

    async fn commit(&mut self, unit: Unit) -> Result<(), CommitError<T::Error>> {
        let frees = matches!(
            &unit.entry,
            Some(Entry::Cells(cells)) if cells.part == CellsPart::UniqueValues
        );
        for change in &unit.changes {
            match change {
                Change::InsertRows { feature, rows } => self.insert(*feature, rows).await?,
                Change::UpdateRows { feature, rows } => {
                    self.update(*feature, rows, frees).await?;
                }
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
