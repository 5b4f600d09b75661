//! What travels between the steps of a run.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::automation::Path;
use crate::json::{Object, Value};

/// A row as steps see it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Record {
    /// `id`, `created_at` and the like: what is known of it beside its cells.
    pub own: Object,
    /// Its cells by technical name.
    pub data: Object,
}

impl Record {
    /// A row as the API writes it: an object with `data` and the rest beside it. An object without
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
    /// The current records.
    pub records: Vec<Record>,
    /// What steps have set.
    pub variables: Object,
    /// What steps have announced, by their ids.
    pub outputs: HashMap<String, Object>,
}

impl Envelope {
    /// The envelope of a run that a row has fired: it is the current record, too. Without a row it is
    /// empty.
    pub fn new(trigger: Option<Record>) -> Envelope {
        Envelope {
            records: trigger.iter().cloned().collect(),
            trigger,
            ..Envelope::default()
        }
    }

    /// What travels: `vars`, as steps have set them, and `records`. The row that fired stays as it was, and
    /// outputs are told with their steps.
    pub fn document(&self) -> Object {
        let records = self.records.iter().map(Record::document).collect();
        Object::from_iter([
            ("vars".to_owned(), Value::Object(self.variables.clone())),
            ("records".to_owned(), Value::List(records)),
        ])
    }

    /// What a path yields; null for what is not there.
    pub fn value(&self, path: &Path<'_>, now: Timestamp) -> Value {
        let cell = |record: Option<&Record>, column: &str| {
            record.and_then(|record| record.cell(column)).cloned()
        };
        let found = match path {
            Path::Variable(name) => self.variables.get(*name).cloned(),
            Path::TriggerColumn(column) => cell(self.trigger.as_ref(), column),
            Path::StepOutput { id, output } => self
                .outputs
                .get(*id)
                .and_then(|outputs| outputs.get(*output))
                .cloned(),
            Path::RecordColumn(column) => cell(self.records.first(), column),
            Path::RecordsColumn { index, column } => cell(self.records.get(*index), column),
            Path::Now => Some(now.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string().into()),
            Path::Today => Some(now.strftime("%Y-%m-%d").to_string().into()),
        };
        found.unwrap_or_default()
    }
}
