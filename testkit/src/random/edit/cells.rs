//! Changes of rows.

use std::collections::BTreeSet;

use tplkit::json::{Object, Value};
use tplkit::workspace::{Column, Id, RowData, StoredRow};

use super::{Generator, is_empty, set};
use crate::random::rows::{fold, is_link};
use crate::random::values::value;

impl Generator<'_> {
    pub(super) fn cells_of(&self, table: usize, column: &Column) -> Vec<Option<Value>> {
        let rows = self.rows.get(&self.table(table).id);
        let cell = |row: &StoredRow| {
            let cell = row.data.cell(&column.name)?;
            Value::parse(cell).ok().filter(|value| !is_empty(value))
        };
        rows.into_iter().flatten().map(cell).collect()
    }

    pub(super) fn is_filled(&self, table: usize, column: &Column) -> bool {
        self.cells_of(table, column).iter().all(Option::is_some)
    }

    pub(super) fn is_distinct(&self, table: usize, column: &Column) -> bool {
        let cells = self.cells_of(table, column);
        let cells: Vec<String> = cells.iter().flatten().map(fold).collect();
        let distinct: BTreeSet<&String> = cells.iter().collect();
        distinct.len() == cells.len()
    }

    /// Whether some link takes its values from the column.
    pub(super) fn is_linked(&self, table: usize, column: &str) -> bool {
        !self.links_to(table, column).is_empty()
    }

    /// Tables with the names of columns that take their values from the column.
    fn links_to(&self, table: usize, column: &str) -> Vec<(Id, String)> {
        let feature = self.table(table).id.to_string();
        let shows = |link: &&Column| {
            let text = |key: &str| link.config.get(key).and_then(Value::as_str);
            is_link(link)
                && text("linkedFeatureId") == Some(&feature)
                && text("linkedValueColumn") == Some(column)
        };
        let tables = self.structure.features.iter().chain(&self.structure.shared);
        let links = tables.flat_map(|table| {
            let links = table.columns.iter().filter(shows);
            links.map(|link| (table.id, link.name.clone()))
        });
        links.collect()
    }

    /// Whether a cell may get another value although links show it: these still know the row by it.
    fn may_follow(&self, table: usize, column: &Column, at: usize, value: &Value) -> bool {
        let cells = self.cells_of(table, column);
        let is = |value: &Value| {
            let folded = fold(value);
            cells
                .iter()
                .flatten()
                .filter(|cell| fold(cell) == folded)
                .count()
        };
        let before = cells.get(at).and_then(Option::as_ref);
        !is_empty(value) && is(value) == 0 && before.is_some_and(|before| is(before) == 1)
    }

    /// Gives the cells of links that show a value another one.
    fn follow(&mut self, links: &[(Id, String)], before: &Value, after: &Value) {
        let follow = |cell: &mut Value| {
            if cell == before {
                cell.clone_from(after);
            }
        };
        for (table, column) in links {
            for row in self.rows.get_mut(table).into_iter().flatten() {
                let cell = row
                    .data
                    .cell(column)
                    .and_then(|cell| Value::parse(cell).ok());
                let Some(mut cell) = cell else { continue };
                let was = cell.clone();
                match &mut cell {
                    Value::List(elements) => elements.iter_mut().for_each(follow),
                    one => follow(one),
                }
                if cell != was {
                    set(row, column, cell);
                }
            }
        }
    }

    /// A value for a cell, that fits what is there besides.
    pub(super) fn fitting(&mut self, table: usize, column: &Column) -> Option<Value> {
        let taken = self.cells_of(table, column);
        let taken: Vec<String> = taken.iter().flatten().map(fold).collect();
        for _ in 0..20 {
            let found = if self.dice.chance(15) && !column.is_required() {
                Value::Null
            } else {
                value(&mut self.dice, column)
            };
            let empty = is_empty(&found);
            if empty && column.is_required() {
                continue;
            }
            if !empty && column.is_unique() && taken.contains(&fold(&found)) {
                continue;
            }
            return Some(found);
        }
        None
    }

    /// The value of some row in a column, when that row can get another one.
    fn handed_over(&mut self, table: usize, column: &Column) -> Option<Value> {
        let feature = self.table(table).id;
        let count = self.rows.get(&feature).map_or(0, Vec::len);
        let at = self.dice.below(count);
        let value = self.fitting(table, column)?;
        if !self.may_follow(table, column, at, &value) {
            return None;
        }
        let links = self.links_to(table, &column.name);
        let row = self.rows.get_mut(&feature)?.get_mut(at)?;
        let before = Value::parse(row.data.cell(&column.name)?).ok()?;
        set(row, &column.name, value.clone());
        self.follow(&links, &before, &value);
        Some(before)
    }

    pub(super) fn recell(&mut self) -> Option<String> {
        let table = self.some_own()?;
        let columns = self.table(table).columns.clone();
        let plain = |column: &&Column| {
            !column.is_identity() && !is_link(column) && column.column_type != "button"
        };
        let columns: Vec<&Column> = columns.iter().filter(plain).collect();
        let column = (*self.dice.pick(&columns)?).clone();
        let value = self.fitting(table, &column)?;
        let feature = self.table(table).id;
        let count = self.rows.get(&feature).map_or(0, Vec::len);
        let at = self.dice.below(count);
        let links = self.links_to(table, &column.name);
        if !links.is_empty() && !self.may_follow(table, &column, at, &value) {
            return None;
        }
        let row = self.rows.get_mut(&feature)?.get_mut(at)?;
        let before = row.data.cell(&column.name);
        let before = before.and_then(|before| Value::parse(before).ok());
        let done = format!(
            "row {at} of {feature}: {:?} is {}",
            column.name,
            value.write()
        );
        set(row, &column.name, value.clone());
        if let Some(before) = before {
            self.follow(&links, &before, &value);
        }
        Some(done)
    }

    pub(super) fn add_row(&mut self) -> Option<String> {
        let table = self.some_own()?;
        let feature = self.table(table).clone();
        let mut cells = Object::new();
        for column in &feature.columns {
            if column.is_sequence() || is_link(column) && column.is_required() {
                return None;
            }
            if column.is_identity() {
                cells.insert(column.name.clone(), self.dice.uuid().to_string().into());
            } else if !is_link(column) && column.column_type != "button" {
                let mut value = None;
                if column.is_unique() && self.dice.chance(50) {
                    value = self.handed_over(table, column);
                }
                let value = match value {
                    Some(value) => value,
                    None => self.fitting(table, column)?,
                };
                cells.insert(column.name.clone(), value);
            }
        }
        let id = self.dice.id();
        let data = RowData::of(&cells);
        let done = format!("a row of {:?}: {}", feature.name, data.as_str());
        let rows = self.rows.entry(feature.id).or_default();
        rows.push(StoredRow { id, data });
        rows.sort_by_key(|row| row.id);
        Some(done)
    }

    pub(super) fn remove_row(&mut self, authors: bool) -> Option<String> {
        let table = self.some_own()?;
        let feature = self.table(table).clone();
        // A link of the package always finds its row.
        if authors
            && feature
                .columns
                .iter()
                .any(|one| self.is_linked(table, &one.name))
        {
            return None;
        }
        let rows = self.rows.get_mut(&feature.id)?;
        let at = self.dice.below(rows.len());
        rows.get(at)?;
        rows.remove(at);
        Some(format!("row {at} of {:?} is gone", feature.name))
    }
}
