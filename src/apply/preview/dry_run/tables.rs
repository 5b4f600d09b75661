//! The tables of a dry run: their unique columns, and the rows and values of its own units.

use std::collections::{HashMap, HashSet};

use sha2::{Digest as _, Sha256};

use crate::apply::{Approved, Minter, Mode, RowStepWork};
use crate::rows::{Cell, sorted_to};
use crate::workspace::{Change, Column, Id, New, RecordKind, StoredRow, Structure};

/// A value in a unique column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Value {
    feature: Id,
    /// The position of the column among the unique ones.
    pub(super) column: usize,
    known_as: [u8; 32],
}

impl Value {
    fn half(&self) -> [u8; 16] {
        *self.known_as.first_chunk().unwrap_or(&[0; 16])
    }
}

/// A unique column.
#[derive(Debug, Clone)]
pub(super) struct Unique {
    pub(super) name: String,
    id: Id,
    /// Whether it is unique in the workspace as it is.
    pub(super) at_base: bool,
}

/// A table that rows enter.
#[derive(Debug, Default)]
struct DryRunTable {
    /// Whether it does not exist yet.
    fresh: bool,
    unique: Vec<Unique>,
    /// Columns, at the destination, by which rows are looked up.
    keys: Vec<String>,
    /// Whether rows are asked for by their ids later.
    keeps: bool,
    rows: HashMap<Id, StoredRow>,
    by_key: HashMap<(usize, [u8; 32]), Id>,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Tables {
    by_id: HashMap<Id, DryRunTable>,
    /// By unique column whether a value stands now: claimed by units of the run, or let go by them. There is
    /// one for each row, so of a value half of what it is known as is kept: nobody finds two that share it.
    values: HashMap<(Id, usize), HashMap<[u8; 16], bool>>,
    minter: Minter,
}

/// A value as it is known: by its sorted canonical text, as the stores keep unique values. Null is none.
pub(super) fn known_as(cell: &str) -> Option<[u8; 32]> {
    match Cell::new(cell) {
        Cell::Null => None,
        Cell::List(_) | Cell::Object(_) => {
            let mut sorted = String::with_capacity(cell.len());
            sorted_to(&mut sorted, cell);
            Some(Sha256::digest(sorted).into())
        }
        _ => {
            let mut canonical = String::with_capacity(cell.len());
            crate::rows::canonical_to(&mut canonical, cell);
            Some(Sha256::digest(canonical).into())
        }
    }
}

impl Tables {
    /// The tables as they are once the structure is created.
    pub(super) fn of(destination: &Structure, approved: &Approved) -> Tables {
        let mut tables: HashMap<Id, DryRunTable> = HashMap::new();
        for feature in destination.features.iter().chain(&destination.shared) {
            let columns = feature.columns.iter().filter(|column| column.is_unique());
            let unique = columns.map(|column| unique(column, true));
            let table = DryRunTable {
                unique: unique.collect(),
                ..DryRunTable::default()
            };
            tables.insert(feature.id, table);
        }
        for change in &approved.structure.changes {
            match change {
                Change::Create(New::Feature(feature)) => {
                    let table = DryRunTable {
                        fresh: true,
                        ..DryRunTable::default()
                    };
                    tables.insert(feature.id, table);
                }
                Change::Create(New::Column { feature, column }) => {
                    let table = tables.entry(*feature).or_default();
                    let column = column.is_unique().then(|| unique(column, false));
                    table.unique.extend(column);
                }
                Change::Configure {
                    kind: RecordKind::Column,
                    id,
                    config,
                } => configure(&mut tables, destination, *id, config),
                _ => {}
            }
        }
        let updates = approved
            .row_steps
            .iter()
            .any(|step| matches!(step.work, RowStepWork::Update { .. }));
        for work in &approved.tables {
            let Some(table) = work.feature.and_then(|id| tables.get_mut(&id)) else {
                continue;
            };
            table.keeps |= updates;
            if let Mode::MissingByKey { column } = &work.mode {
                let mut columns = work.columns.iter();
                let key = columns.find(|work| work.package_name == *column);
                table.keys.extend(key.map(|work| work.column.name.clone()));
            }
        }
        Tables {
            by_id: tables,
            values: HashMap::new(),
            minter: approved.minter,
        }
    }

    /// Whether a table does not exist yet.
    pub(super) fn is_fresh(&self, feature: Id) -> bool {
        self.by_id.get(&feature).is_none_or(|table| table.fresh)
    }

    /// Whether rows are looked up by that column.
    pub(super) fn is_key(&self, feature: Id, column: &str) -> bool {
        let table = self.by_id.get(&feature);
        table.is_some_and(|table| table.keys.iter().any(|key| key == column))
    }

    /// Whether a row is one of the run's own.
    pub(super) fn is_minted(&self, row: Id) -> bool {
        self.minter.minted(row)
    }

    /// The unique columns of a table.
    pub(super) fn unique(&self, feature: Id) -> Vec<Unique> {
        let table = self.by_id.get(&feature);
        table.map(|table| table.unique.clone()).unwrap_or_default()
    }

    /// The column of a value.
    pub(super) fn column(&self, value: &Value) -> Option<&str> {
        let table = self.by_id.get(&value.feature)?;
        Some(&table.unique.get(value.column)?.name)
    }

    /// What a cell claims in that column.
    pub(super) fn claim(&self, feature: Id, column: &str, cell: &str) -> Option<Value> {
        let mut unique = self.by_id.get(&feature)?.unique.iter().enumerate();
        let (at, _) = unique.find(|(_, unique)| unique.name == column)?;
        Some(Value {
            feature,
            column: at,
            known_as: known_as(cell)?,
        })
    }

    /// What a row claims.
    pub(super) fn claims(&self, feature: Id, row: &StoredRow) -> Vec<Value> {
        let Some(table) = self.by_id.get(&feature) else {
            return Vec::new();
        };
        let cells = table.unique.iter();
        let cells = cells.filter_map(|column| Some((column, row.data.cell(&column.name)?)));
        cells
            .filter_map(|(column, cell)| self.claim(feature, &column.name, cell))
            .collect()
    }

    /// Whether a value stands, as far as the run decides that.
    pub(super) fn holds(&self, value: &Value) -> Option<bool> {
        let of_column = self.values.get(&(value.feature, value.column))?;
        of_column.get(&value.half()).copied()
    }

    /// Lets values go.
    pub(super) fn release(&mut self, values: &HashSet<Value>) {
        for value in values {
            self.note(value, false);
        }
    }

    fn note(&mut self, value: &Value, stands: bool) {
        let of_column = self.values.entry((value.feature, value.column));
        of_column.or_default().insert(value.half(), stands);
    }

    /// What is needed of a row that changes: all of it where rows are asked for later, else what it claims.
    pub(super) fn needed(&self, feature: Id, row: StoredRow) -> StoredRow {
        let Some(table) = self.by_id.get(&feature) else {
            return row;
        };
        if table.keeps || !table.keys.is_empty() {
            return row;
        }
        let unique: Vec<&str> = table.unique.iter().map(|one| one.name.as_str()).collect();
        StoredRow {
            id: row.id,
            data: row.data.only(&unique),
        }
    }

    /// Takes rows with what they claim.
    pub(super) fn keep(&mut self, feature: Id, rows: &[StoredRow], claims: &[Vec<Value>]) {
        for value in claims.iter().flatten() {
            self.note(value, true);
        }
        let Some(table) = self.by_id.get_mut(&feature) else {
            return;
        };
        if !table.keeps && table.keys.is_empty() {
            return;
        }
        for row in rows {
            for (at, key) in table.keys.iter().enumerate() {
                if let Some(value) = row.data.cell(key).and_then(known_as) {
                    table.by_key.entry((at, value)).or_insert(row.id);
                }
            }
            table.rows.insert(row.id, row.clone());
        }
    }

    /// Whether a row is one of the run.
    pub(super) fn keeps(&self, feature: Id, row: Id) -> bool {
        let table = self.by_id.get(&feature);
        table.is_some_and(|table| table.rows.contains_key(&row))
    }

    /// A row of the run.
    pub(super) fn kept(&self, feature: Id, row: Id) -> Option<StoredRow> {
        self.by_id.get(&feature)?.rows.get(&row).cloned()
    }

    /// A row of the run by its key.
    pub(super) fn kept_by(&self, feature: Id, column: &str, value: [u8; 32]) -> Option<StoredRow> {
        let table = self.by_id.get(&feature)?;
        let at = table.keys.iter().position(|key| key == column)?;
        let row = table.by_key.get(&(at, value))?;
        table.rows.get(row).cloned()
    }
}

fn unique(column: &Column, at_base: bool) -> Unique {
    Unique {
        name: column.name.clone(),
        id: column.id,
        at_base,
    }
}

/// A column that gets another config may become unique, or cease to be.
fn configure(
    tables: &mut HashMap<Id, DryRunTable>,
    destination: &Structure,
    id: Id,
    config: &crate::json::Value,
) {
    let mut features = destination.features.iter().chain(&destination.shared);
    let found = features.find_map(|feature| Some((feature.id, feature.column(id)?)));
    let (Some((feature, column)), Some(config)) = (found, config.as_object()) else {
        return;
    };
    let column = Column {
        config: config.clone(),
        ..column.clone()
    };
    let table = tables.entry(feature).or_default();
    let known: HashSet<Id> = table.unique.iter().map(|unique| unique.id).collect();
    match (column.is_unique(), known.contains(&id)) {
        (true, false) => table.unique.push(unique(&column, false)),
        (false, true) => table.unique.retain(|unique| unique.id != id),
        _ => {}
    }
}
