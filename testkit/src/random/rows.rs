//! Rows: cells of every kind, identities and sequences, links that hit and links that miss.

use std::collections::{BTreeMap, BTreeSet};

use tplkit::json::{Object, Value};
use tplkit::workspace::{Column, Id, RowData, StoredRow};

use super::values::{digits, value};
use super::{Generator, names};

/// The cells of a table that is being made, row by row.
type Cells = Vec<(Id, Object)>;

impl Generator<'_> {
    /// The rows of all tables. Links come last: they hold what other rows hold.
    pub(super) fn rows(&mut self) {
        let mut tables: Vec<Cells> = (0..self.tables()).map(|table| self.cells(table)).collect();
        for table in 0..tables.len() {
            self.link(table, &mut tables);
        }
        for (table, rows) in tables.into_iter().enumerate() {
            let stored = rows.into_iter().map(|(id, cells)| self.stored(id, cells));
            let stored = stored.collect();
            self.rows.insert(self.table(table).id, stored);
        }
    }

    /// Cells keep any order: people fill forms as they like.
    fn stored(&mut self, id: Id, cells: Object) -> StoredRow {
        let mut members: Vec<(String, Value)> = cells.into_iter().collect();
        if self.dice.chance(30) {
            self.dice.shuffle(&mut members);
        }
        let data = RowData::of(&members.into_iter().collect());
        StoredRow { id, data }
    }

    fn cells(&mut self, table: usize) -> Cells {
        let count = if self.dice.chance(15) {
            0
        } else {
            self.dice.between(0, self.shape.rows)
        };
        let mut rows: Cells = (0..count)
            .map(|_| (self.dice.id(), Object::new()))
            .collect();
        for column in self.table(table).columns.clone() {
            if column.is_sequence() {
                self.number_rows(&column, &mut rows);
            } else if column.is_identity() {
                self.name_rows(&column, &mut rows);
            } else if !is_link(&column) && column.column_type != "button" {
                self.fill(&column, &mut rows);
            }
        }
        if self.untidy(15) {
            for (_, cells) in &mut rows {
                if self.dice.chance(50) {
                    cells.insert("Gone column".to_owned(), "left over".into());
                }
            }
        }
        rows
    }

    fn number_rows(&mut self, column: &Column, rows: &mut Cells) {
        let mut next = 1;
        for (_, cells) in rows {
            // Numbers of rows that are gone stay unused.
            next += if self.dice.chance(20) { 3 } else { 0 };
            cells.insert(column.name.clone(), digits(&next.to_string()));
            next += 1;
        }
        self.sequences.insert(column.id, next);
    }

    fn name_rows(&mut self, column: &Column, rows: &mut Cells) {
        let mut taken = BTreeSet::new();
        for (id, cells) in rows {
            // Rows that were there before the column have no identity.
            if self.untidy(5) {
                continue;
            }
            let minted = if self.untidy(5) {
                *id
            } else {
                self.dice.uuid()
            };
            let mut identity = minted.to_string();
            if column.name != "id" && self.dice.chance(30) {
                let given = names::text(&mut self.dice);
                if !given.is_empty() {
                    identity = given;
                }
            }
            if taken.insert(identity.clone()) {
                cells.insert(column.name.clone(), identity.into());
            } else {
                cells.insert(column.name.clone(), minted.to_string().into());
            }
        }
    }

    fn fill(&mut self, column: &Column, rows: &mut Cells) {
        let mut taken = BTreeSet::new();
        for (_, cells) in rows.iter_mut() {
            let expected = column.is_required() && !self.untidy(5);
            if !expected && self.dice.chance(20) {
                if self.dice.chance(30) {
                    cells.insert(column.name.clone(), Value::Null);
                }
                continue;
            }
            let mut found = None;
            for _ in 0..40 {
                let value = value(&mut self.dice, column);
                let empty = match &value {
                    Value::Null => true,
                    Value::String(text) => text.is_empty(),
                    Value::List(elements) => elements.is_empty(),
                    _ => false,
                };
                let repeated = column.is_unique() && taken.contains(&fold(&value));
                if !(expected && empty || repeated) {
                    found = Some(value);
                    break;
                }
            }
            let Some(value) = found else { continue };
            if value != Value::Null {
                taken.insert(fold(&value));
            }
            cells.insert(column.name.clone(), value);
        }
    }

    fn link(&mut self, table: usize, tables: &mut [Cells]) {
        let columns = self.table(table).columns.clone();
        for column in columns.iter().filter(|column| is_link(column)) {
            let text = |key: &str| column.config.get(key).and_then(Value::as_str);
            let target = (0..self.tables()).find(|at| {
                text("linkedFeatureId") == Some(self.table(*at).id.to_string().as_str())
            });
            // Of two tables that point at each other only one can enter after the other.
            if self.shape.closed && target.is_none_or(|target| target > table) {
                continue;
            }
            let named = text("linkedValueColumn").unwrap_or_default();
            let targets = target.and_then(|target| tables.get(target));
            let values: Vec<Value> = (targets.into_iter().flatten())
                .filter_map(|(_, cells)| cells.get(named))
                .filter(|value| matches!(value, Value::Number(_)) || is_text(value))
                .cloned()
                .collect();
            for at in 0..tables[table].len() {
                if let Some(cell) = self.link_cell(column, &values) {
                    tables[table][at].1.insert(column.name.clone(), cell);
                }
            }
        }
    }

    fn link_cell(&mut self, column: &Column, values: &[Value]) -> Option<Value> {
        let expected = column.is_required();
        if !expected && self.dice.chance(20) {
            return self.dice.chance(30).then_some(Value::Null);
        }
        let several = column.config.get("isMultiSelect") == Some(&Value::Bool(true));
        // The shape of the value decides, not the config.
        let several = several != self.dice.chance(10);
        if !several {
            return self.linked(values);
        }
        let count = self.dice.below(4);
        let mut list = Vec::new();
        for _ in 0..count {
            let element = self.linked(values)?;
            if !self.shape.closed || !list.contains(&element) {
                list.push(element);
            }
        }
        Some(Value::List(list))
    }

    /// The value of some target row; one that no row has, when it is untidy.
    fn linked(&mut self, values: &[Value]) -> Option<Value> {
        if self.untidy(10) {
            return Some(match self.dice.below(3) {
                0 => Value::from(4711),
                1 => self.dice.uuid().to_string().into(),
                _ => "nobody has this".into(),
            });
        }
        self.dice.pick(values).cloned()
    }
}

pub(super) fn is_link(column: &Column) -> bool {
    matches!(column.column_type.as_str(), "linked_select" | "auto_match")
}

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

/// Equal values have equal texts: numbers are in canonical form, and members of objects sorted.
pub(super) fn fold(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let sorted: BTreeMap<&String, String> = members
                .iter()
                .map(|(key, value)| (key, fold(value)))
                .collect();
            format!("{sorted:?}")
        }
        Value::List(elements) => format!("{:?}", elements.iter().map(fold).collect::<Vec<_>>()),
        other => other.write(),
    }
}
