//! Rows that automations of a test write, under the rules of every other writer.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::test_workspace::TestWorkspace;
use crate::automation::run::{Binding, Envelope, Failure, Reason, Write, WriteMode, effect_rules};
use crate::definitions::Definitions;
use crate::json::{Object, Value, write_string_to};
use crate::problem::Code;
use crate::rows::{Cell, EntryReason, Identity, Rule, Rules, canonical_to, equal, member};
use crate::workspace::{
    Change, CommitError, Feature, Id, Progress, RowData, RowWrite, StoredRow, Target as _, Unit,
    ready,
};

/// What a row is to hold, and the numbers of sequences that it took.
struct Prepared {
    data: RowData,
    moved: Vec<Change>,
}

impl TestWorkspace {
    /// Carries out a `feature.write`.
    pub(super) fn write(
        &mut self,
        write: &Write,
        envelope: &Envelope,
        table: Option<Id>,
    ) -> Result<Object, Failure> {
        let feature = self.structure.feature(write.feature).cloned();
        let feature = feature.ok_or_else(|| effect_rules::table_gone(write.feature))?;
        for cell in &write.cells {
            if feature.column_named(&cell.column).is_none() {
                return Err(effect_rules::column_gone(cell));
            }
        }
        let cells = write.cells.iter();
        let cells: Object = cells
            .map(|cell| (cell.column.clone(), cell.value.clone()))
            .collect();
        let found = match write.mode {
            WriteMode::UpdateTrigger => {
                let row = envelope.trigger.as_ref();
                let row = row.and_then(|row| row.own.get("id")?.as_str());
                let row = row.and_then(|id| Id::parse_str(id).ok());
                let row = row.filter(|_| table == Some(write.feature));
                vec![row.ok_or_else(effect_rules::no_trigger_row)?]
            }
            WriteMode::Insert => Vec::new(),
            WriteMode::Update | WriteMode::Upsert => self.matching(&feature, write)?,
        };
        let mut written = Vec::new();
        for row in found {
            if self
                .change(&feature, row, &cells)
                .map_err(|why| named(write, why))?
            {
                written.push(row);
            } else if write.mode == WriteMode::UpdateTrigger {
                return Err(effect_rules::trigger_row_gone());
            }
        }
        let inserts = write.mode == WriteMode::Insert
            || (write.mode == WriteMode::Upsert && written.is_empty());
        if inserts {
            let row = self.insert(write.feature, &cells);
            written.push(row.map_err(|why| named(write, why))?.id);
        }
        let first = written.first().map(|id| id.to_string().into());
        let count = i64::try_from(written.len()).unwrap_or(i64::MAX);
        Ok(Object::from_iter([
            ("rowId".to_owned(), first.unwrap_or_default()),
            ("count".to_owned(), count.into()),
        ]))
    }

    fn matching(&self, feature: &Feature, write: &Write) -> Result<Vec<Id>, Failure> {
        let matched = write.matched.and_then(|at| write.cells.get(at));
        let Some(Binding { column, value, .. }) = matched else {
            return Err(effect_rules::no_match_column());
        };
        let written = value.write();
        let known = feature.column_named(column);
        let rule = known.map(|known| Rule::of(known, Definitions::embedded()));
        let raw = match &rule {
            Some(rule) => rule.stored(&written),
            None => Cow::Borrowed(written.as_str()),
        };
        let rows = self.rows(feature.id).into_iter();
        let same = rows
            .filter(|row| member(row.data.as_str(), column).is_some_and(|cell| equal(cell, &raw)));
        let found: Vec<Id> = same.map(|row| row.id).collect();
        if found.len() > effect_rules::MAX_ROWS_PER_WRITE {
            return Err(effect_rules::too_many_rows());
        }
        Ok(found)
    }

    /// Adds a row.
    pub(super) fn insert(&mut self, table: Id, cells: &Object) -> Result<StoredRow, Failure> {
        let feature = self.structure.feature(table).cloned();
        let feature = feature.ok_or_else(|| Failure::new("there is no such table here"))?;
        let id = self.next_id(table);
        let Prepared { data, moved } = self.prepare(&feature, cells, &[])?;
        let row = StoredRow { id, data };
        let mut changes = moved;
        changes.push(Change::InsertRows {
            feature: table,
            rows: vec![row.clone()],
        });
        self.commit(changes)?;
        let filled = changed(&RowData::default(), &row.data);
        self.happens("created", table, &row, &filled);
        Ok(row)
    }

    /// Changes a row; false when it is not there.
    fn change(&mut self, feature: &Feature, id: Id, cells: &Object) -> Result<bool, Failure> {
        let rows = self.rows(feature.id).into_iter();
        let Some(stored) = rows.into_iter().find(|row| row.id == id) else {
            return Ok(false);
        };
        let before = Value::parse(stored.data.as_str()).unwrap_or_default();
        let mut merged = before.as_object().cloned().unwrap_or_default();
        let kept: Vec<String> = merged
            .keys()
            .filter(|key| !cells.contains_key(*key))
            .cloned()
            .collect();
        for (key, value) in cells {
            if *value == Value::Null {
                merged.shift_remove(key);
            } else {
                merged.insert(key.clone(), value.clone());
            }
        }
        let Prepared { data, moved } = self.prepare(feature, &merged, &kept)?;
        let after = StoredRow { id, data };
        let changed = changed(&stored.data, &after.data);
        if changed.is_empty() {
            return Ok(true);
        }
        let mut changes = moved;
        changes.push(Change::UpdateRows {
            feature: feature.id,
            rows: vec![RowWrite {
                id,
                cells: after.data.clone(),
                replace: true,
                digest: None,
            }],
        });
        self.commit(changes)?;
        self.happens("updated", feature.id, &after, &changed);
        Ok(true)
    }

    /// The cells of a row as they are stored; identities are minted where they are missing.
    fn prepare(
        &self,
        feature: &Feature,
        cells: &Object,
        kept: &[String],
    ) -> Result<Prepared, Failure> {
        let rules = Rules::of(&feature.columns, Definitions::embedded());
        let mut entered: BTreeMap<&str, String> = BTreeMap::new();
        for (key, value) in cells {
            let raw = value.write();
            let mut out = String::new();
            match rules.column(key) {
                Some(rule) if !kept.contains(key) => {
                    let cell = rule.check(&raw);
                    let cell =
                        cell.map_err(|kind| fault(&rule.fault(EntryReason::NotStorable(kind))))?;
                    rule.keep(cell, &raw, &mut out);
                }
                _ => canonical_to(&mut out, &raw),
            }
            entered.insert(key, out);
        }
        let mut moved = Vec::new();
        for (rule, column) in rules.columns.iter().zip(&feature.columns) {
            let name = column.name.as_str();
            let empty = entered
                .get(name)
                .is_none_or(|cell| Cell::new(cell).is_empty());
            if let (true, Some(fault_of)) = (empty, rule.missing()) {
                return Err(fault(&fault_of));
            }
            match rule.identity {
                Some(Identity::Uuid) if empty => {
                    entered.insert(name, format!("\"{}\"", self.next_id(column.id)));
                }
                Some(Identity::Sequence) => {
                    let stands = self.memory.state().sequence(column.id);
                    let given = entered.get(name).and_then(|cell| cell.parse::<u64>().ok());
                    let number = given.unwrap_or(stands);
                    if empty {
                        entered.insert(name, number.to_string());
                    }
                    if number >= stands {
                        moved.push(Change::MoveSequence {
                            feature: feature.id,
                            column: column.id,
                            from: stands,
                            to: number.saturating_add(1),
                        });
                    }
                }
                _ => {}
            }
        }
        let mut out = String::from("{");
        for (key, cell) in &entered {
            if out.len() > 1 {
                out.push(',');
            }
            write_string_to(&mut out, key);
            out.push(':');
            out.push_str(cell);
        }
        out.push('}');
        Ok(Prepared {
            data: RowData::trusted(&out),
            moved,
        })
    }

    /// An id behind those of all rows of a table.
    fn next_id(&self, table: Id) -> Id {
        let millis = u128::try_from(self.now.as_millisecond()).unwrap_or_default();
        let first = (millis << 80) | (0x7 << 76) | (0x2 << 62);
        let rows = self.rows(table);
        let last = rows.last().map_or(0, |row| row.id.as_u128());
        Id::from_u128(first.max(last) + 1)
    }

    fn commit(&mut self, changes: Vec<Change>) -> Result<(), Failure> {
        let unit = Unit {
            changes,
            entry: None,
            progress: Progress::default(),
            report: None,
        };
        match ready(self.memory.commit(unit)) {
            Ok(()) => Ok(()),
            Err(CommitError::Refused(refused)) => {
                let field = refused.column.clone().unwrap_or_default();
                let reason = match refused.code {
                    Code::UniqueViolation => "the value is already in another row".to_owned(),
                    _ => refused.to_string(),
                };
                let failure = Failure::at(field, reason);
                Err(failure.because(Reason::Refused(refused.code)))
            }
            Err(error) => Err(Failure::new(error.to_string())),
        }
    }
}

fn fault(fault: &crate::rows::EntryFault) -> Failure {
    let failure = Failure::at(fault.column.clone(), fault.reason.to_string());
    failure.because(Reason::Refused(Code::ValidationFailed))
}

/// A refusal of a row, reported with its binding, in the words of a server.
fn named(write: &Write, failure: Failure) -> Failure {
    let column = &failure.field;
    let reason = match failure.code {
        _ if column.is_empty() => failure.reason.clone(),
        Reason::Refused(Code::UniqueViolation) => {
            format!("The value of the column {column} is already in another row.")
        }
        Reason::Refused(_) => format!("data.{column}: {}", failure.reason),
        _ => return failure,
    };
    let mut cells = write.cells.iter();
    let binding = cells.find(|cell| cell.column == *column);
    let field = match binding {
        Some(binding) => format!("bindings.{}", binding.column),
        None => "bindings".to_owned(),
    };
    let failure = Failure {
        field,
        reason,
        ..failure
    };
    match binding {
        Some(binding) => failure.yields(Some(&binding.expression), &binding.value),
        None => failure,
    }
}

/// The columns whose cells differ. Absent and null are one.
fn changed(before: &RowData, after: &RowData) -> Vec<String> {
    let names = before.cells().chain(after.cells());
    let names: std::collections::BTreeSet<String> =
        names.map(|(key, _)| key.decoded().into_owned()).collect();
    let cell = |data: &RowData, name: &str| data.cell(name).unwrap_or("null").to_owned();
    let differs = |name: &String| !equal(&cell(before, name), &cell(after, name));
    names.into_iter().filter(differs).collect()
}
