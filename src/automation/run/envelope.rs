//! The envelope: the data that passes between the steps of a run.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use uuid::Uuid;

use crate::automation::Path;
use crate::json::{Object, Value};

/// A row as steps see it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Record {
    /// `id`, `created_at` and the like: what is known of it next to its cells.
    pub own: Object,
    /// Its cells by technical name.
    pub data: Object,
}

impl Record {
    /// A row as the API writes it: an object with `data` and the rest next to it. An object without
    /// `data` is taken for the cells alone.
    pub fn of(row: &Value) -> Record {
        let Some(members) = row.as_object() else {
            return Record::default();
        };
        match members.get("data") {
            Some(Value::Object(data)) => Record {
                own: members
                    .iter()
                    .filter(|(key, _)| *key != "data")
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect(),
                data: data.clone(),
            },
            _ => Record {
                own: Object::new(),
                data: members.clone(),
            },
        }
    }

    /// Like [`Record::of`], from an owned row: nothing is copied.
    pub fn take(row: Value) -> Record {
        let Value::Object(mut members) = row else {
            return Record::default();
        };
        match members.shift_remove("data") {
            Some(Value::Object(data)) => Record { own: members, data },
            other => {
                if let Some(other) = other {
                    members.insert("data".to_owned(), other);
                }
                Record {
                    own: Object::new(),
                    data: members,
                }
            }
        }
    }

    /// The row as the API writes it.
    pub fn document(&self) -> Value {
        let mut members = self.own.clone();
        members.insert("data".to_owned(), Value::Object(self.data.clone()));
        Value::Object(members)
    }

    /// A cell; where no cell has that name, what every row has.
    fn cell(&self, column: &str) -> Option<&Value> {
        self.data.get(column).or_else(|| match column {
            "id" | "created_at" | "updated_at" => self.own.get(column),
            _ => None,
        })
    }
}

/// Variables, outputs and records at one moment of a run.
#[derive(Debug, Clone, Default)]
pub struct Envelope {
    /// The row that fired.
    pub trigger: Option<Record>,
    /// The current records, shared with the reads that brought them: there may be many.
    pub records: Vec<Arc<Record>>,
    /// What steps have set.
    pub variables: Object,
    /// What steps have announced, by their ids.
    pub outputs: HashMap<String, Object>,
    /// The records that reads have announced, by their ids.
    pub reads: HashMap<String, Vec<Arc<Record>>>,
}

impl Envelope {
    /// The envelope of a run that a row has fired: it is the current record, too. Without a row it is
    /// empty.
    pub fn new(trigger: Option<Record>) -> Envelope {
        Envelope {
            records: trigger.iter().cloned().map(Arc::new).collect(),
            trigger,
            ..Envelope::default()
        }
    }

    /// Table and id of the current record, where it is a row of a store.
    pub fn current_row(&self) -> Option<(Uuid, Uuid)> {
        let own = &self.records.first()?.own;
        let id = |name| own.get(name)?.as_str()?.parse().ok();
        Some((id("feature_id")?, id("id")?))
    }

    /// What travels: `vars`, as steps have set them, and `records`. The row that fired stays as it was, and
    /// outputs are reported with their steps.
    pub fn document(&self) -> Object {
        let records = documents(&self.records);
        Object::from_iter([
            ("vars".to_owned(), Value::Object(self.variables.clone())),
            ("records".to_owned(), Value::List(records)),
        ])
    }

    /// The records that a path yields as a whole, if it yields such.
    pub(super) fn records_of(&self, path: &Path<'_>) -> Option<&[Arc<Record>]> {
        match path {
            Path::StepOutput { id, output } if *output == "records" => {
                self.reads.get(*id).map(Vec::as_slice)
            }
            _ => None,
        }
    }

    /// What a path yields; null for what is not there.
    pub fn find(&self, path: &Path<'_>, now: Timestamp) -> Cow<'_, Value> {
        if let Some(records) = self.records_of(path) {
            return Cow::Owned(Value::List(documents(records)));
        }
        let found = match path {
            Path::Variable(name) => self.variables.get(*name),
            Path::TriggerColumn(column) => self.trigger.as_ref().and_then(|row| row.cell(column)),
            Path::StepOutput { id, output } => self
                .outputs
                .get(*id)
                .and_then(|outputs| outputs.get(*output)),
            Path::RecordColumn(column) => self.records.first().and_then(|row| row.cell(column)),
            Path::RecordsColumn { index, column } => {
                self.records.get(*index).and_then(|row| row.cell(column))
            }
            Path::Now => {
                let now = now.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
                return Cow::Owned(now.into());
            }
            Path::Today => return Cow::Owned(now.strftime("%Y-%m-%d").to_string().into()),
        };
        found.map_or(Cow::Owned(Value::Null), Cow::Borrowed)
    }
}

/// Rows as the API writes them.
pub(super) fn documents(records: &[Arc<Record>]) -> Vec<Value> {
    records.iter().map(|record| record.document()).collect()
}
