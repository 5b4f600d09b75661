//! Columns that become stricter than cells allow (`upgrade` 3.4.6): what is new in tables that are there, and
//! decisions that would lose cells.

use super::Merging;
use crate::apply::Refusal;
use crate::finding::render::counted;
use crate::json::{Object, Value};
use crate::problem::Code;
use crate::upgrade::LeafDecision;
use crate::upgrade::rule::{DecidedLeaf, LeafOutcome, verdict};
use crate::upgrade::{Conflict, ConflictCode, Take};
use crate::workspace::{Change, Id, New, RecordKind};

/// Leaves of a new column that cells may not fit: path and key.
const STRICT: [(&str, &str); 2] = [("config.required", "required"), ("config.unique", "unique")];

impl Merging<'_, '_> {
    /// Decides about new columns over rows that they do not fit: without the key they are created.
    pub(super) fn strict_columns(&mut self) {
        for (reference, id) in self.new_columns() {
            for (path, key) in STRICT {
                self.strict_column(&reference, id, path, key);
            }
        }
    }

    /// Columns that tables get which are there.
    fn new_columns(&self) -> Vec<(String, Id)> {
        let declared = self.built.declared.iter();
        let new = declared.filter(|(_, declared)| {
            let parent = declared.record.parent;
            declared.fresh
                && declared.record.kind == RecordKind::Column
                && parent.is_some_and(|parent| self.destination.feature(parent).is_some())
        });
        new.map(|(reference, declared)| ((*reference).to_owned(), declared.record.id))
            .collect()
    }

    fn strict_column(&mut self, reference: &str, id: Id, path: &str, key: &str) {
        let theirs = Value::from(true);
        // A key that is absent equals its default.
        let read = |value: &Value| match self.read(value) {
            Value::Bool(false) => Value::Null,
            value => value,
        };
        // Whatever is decided there, it is about a leaf.
        let found = self.tracked.at(reference, path, &Value::Null, &read);
        let Some(leaf) = self.tracked.measured(reference, path) else {
            return;
        };
        if let LeafDecision::Take(Take::Value(value)) = found
            && !matches!(self.read(value), Value::Bool(_) | Value::Null)
        {
            self.refuse_value(reference, path);
        }
        let read = |value: &Value| self.read(value);
        let values = [Value::Null, theirs.clone(), Value::Null];
        let decided = DecidedLeaf {
            reference,
            path,
            list: false,
        };
        let (set, conflict) = match found {
            LeafDecision::Take(Take::Value(value)) if read(value) != theirs => {
                self.tracked.uses(reference, path);
                (Some(read(value)), None)
            }
            _ => match verdict(decided, &values, self.tracked, &read) {
                LeafOutcome::Conflict => {
                    let conflict = leaf.conflict(RecordKind::Column, reference, None, path, values);
                    (Some(Value::Null), Some(conflict))
                }
                LeafOutcome::Kept { .. } => (Some(Value::Null), None),
                LeafOutcome::Written(_) | LeafOutcome::Same => (None, None),
            },
        };
        if let Some(conflict) = conflict {
            self.work.conflicts.push(conflict);
            // Undecided, its base has no such key either.
            if let Some(declared) = self.built.declared.get_mut(reference)
                && let Value::Object(config) = &mut declared.record.config
            {
                config.shift_remove(key);
            }
        } else {
            self.work.decided += 1;
        }
        if let Some(value) = set {
            self.relax(reference, id, key, &value);
        }
    }

    /// Creates a column with another value under a key, or without the key.
    fn relax(&mut self, reference: &str, id: Id, key: &str, value: &Value) {
        let set = |config: &mut Object| {
            if *value == Value::Null {
                config.shift_remove(key);
            } else {
                config.insert(key.to_owned(), value.clone());
            }
        };
        for change in &mut self.built.work.changes {
            match change {
                Change::Create(New::Column { column, .. }) if column.id == id => {
                    set(&mut column.config);
                }
                Change::Configure {
                    kind: RecordKind::Column,
                    id: of,
                    config: Value::Object(config),
                } if *of == id => set(config),
                _ => {}
            }
        }
        if let Some(column) = self.built.columns.get_mut(reference) {
            set(&mut column.column.config);
        }
    }

    /// Refuses a decision for a type that cells do not fit, where nothing allows to lose them.
    pub(super) fn losing(&mut self, conflict: &Conflict) {
        let path = conflict.path.as_deref().unwrap_or_default();
        let reference = &conflict.reference;
        if conflict.code != ConflictCode::TypeChangeLoses
            || !self.tracked.is_losing(reference, path)
        {
            return;
        }
        let count = conflict.count.unwrap_or_default();
        let cells = counted(usize::try_from(count).unwrap_or(usize::MAX), "cell");
        let fit = if count == 1 { "does" } else { "do" };
        let detail = format!(
            "`decisions.{reference}.{path}`: {cells} {fit} not fit the type and would be lost. Allow it (`allowDestructive`), or keep the column (`ours`)."
        );
        self.work.losing.push(Refusal {
            cells: Some(count),
            ..Refusal::about(Code::Destructive, reference, detail)
        });
    }
}
