//! A record of the model: its row, its changes, its response.

use serde::ser::{Error as _, SerializeMap as _};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::kind::{KindDescription, OwnFieldForm, RecordKind};
use crate::context::rfc3339;
use crate::store::{Row, StoreError, Value};

/// A record of one of the kinds.
#[derive(Debug, Clone)]
pub struct Record {
    /// What it is.
    pub kind: &'static KindDescription,
    /// The ids of what it lies in, the organization first, the parent last.
    pub within: Vec<Uuid>,
    /// Its own.
    pub id: Uuid,
    /// Technical name.
    pub name: String,
    /// For people.
    pub label: String,
    /// JSON text.
    pub config: String,
    /// In microseconds.
    pub created_at: i64,
    /// In microseconds.
    pub updated_at: i64,
    /// As the kind lists them.
    pub(super) own: Vec<Value>,
}

impl Record {
    /// A record that is to be, its own fields at their least.
    pub(super) fn new(
        kind: &'static KindDescription,
        within: Vec<Uuid>,
        id: Uuid,
        now: i64,
    ) -> Record {
        let own = kind.own.iter().map(|own| match own.form {
            OwnFieldForm::Word(_) => Value::Text(String::new()),
            // Nothing: the statement puts it at the end.
            OwnFieldForm::Integer if own.column == "position" => Value::Null,
            OwnFieldForm::Integer => Value::Int(1),
            OwnFieldForm::Nullable | OwnFieldForm::Maybe => Value::Null,
            OwnFieldForm::Flag => Value::Bool(false),
        });
        Record {
            kind,
            within,
            id,
            name: String::new(),
            label: String::new(),
            config: String::new(),
            created_at: now,
            updated_at: now,
            own: own.collect(),
        }
    }

    /// Reads a row of the columns of its kind.
    pub(super) fn read(kind: &'static KindDescription, row: &Row) -> Result<Record, StoreError> {
        let first = kind.within.len();
        let within = (0..first).map(|index| row.get(index));
        let own = kind.own.iter().enumerate().map(|(index, own)| {
            let index = first + 6 + index;
            Ok(match own.form {
                OwnFieldForm::Word(_) => Value::Text(row.get(index)?),
                OwnFieldForm::Nullable => row.get::<Option<String>>(index)?.into(),
                OwnFieldForm::Integer => Value::Int(row.get(index)?),
                OwnFieldForm::Maybe => row.get::<Option<i64>>(index)?.into(),
                OwnFieldForm::Flag => Value::Bool(row.get(index)?),
            })
        });
        Ok(Record {
            kind,
            within: within.collect::<Result<_, _>>()?,
            id: row.get(first)?,
            name: row.get(first + 1)?,
            label: row.get(first + 2)?,
            config: row.get(first + 3)?,
            created_at: row.get(first + 4)?,
            updated_at: row.get(first + 5)?,
            own: own.collect::<Result<_, StoreError>>()?,
        })
    }

    /// The organization that it belongs to.
    pub fn organization(&self) -> Uuid {
        self.within.first().copied().unwrap_or_default()
    }

    /// The workspace that it lies in or is.
    pub fn workspace(&self) -> Uuid {
        match self.kind.what {
            RecordKind::Workspace => self.id,
            _ => self.within.get(1).copied().unwrap_or_default(),
        }
    }

    /// What it lies in.
    pub fn parent(&self) -> Uuid {
        self.within.last().copied().unwrap_or_default()
    }

    fn value(&self, column: &str) -> Option<&Value> {
        self.own.get(self.kind.position(column)?)
    }

    /// An own field that is a text; empty where the kind has none.
    pub fn text(&self, column: &str) -> &str {
        self.optional_text(column).unwrap_or_default()
    }

    /// An own field that is a text, where it has one.
    pub fn optional_text(&self, column: &str) -> Option<&str> {
        match self.value(column) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// An own field that is a truth value.
    pub fn flag(&self, column: &str) -> bool {
        self.value(column) == Some(&Value::Bool(true))
    }

    /// An own field that is an integer.
    pub fn integer(&self, column: &str) -> Option<i64> {
        match self.value(column) {
            Some(Value::Int(number)) => Some(*number),
            _ => None,
        }
    }

    /// Changes an own field.
    pub(super) fn set(&mut self, column: &str, value: impl Into<Value>) {
        if let Some(position) = self.kind.position(column) {
            self.own[position] = value.into();
        }
    }

    /// Writes the members of the response into an open object.
    pub fn members<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("id", &self.id)?;
        for (column, id) in self.kind.within.iter().zip(&self.within) {
            map.serialize_entry(column, id)?;
        }
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("label", &self.label)?;
        for (own, value) in self.kind.own.iter().zip(&self.own) {
            let Some(key) = own.key else { continue };
            match value {
                Value::Text(text) => map.serialize_entry(key, text)?,
                Value::Int(number) => map.serialize_entry(key, number)?,
                Value::Bool(flag) => map.serialize_entry(key, flag)?,
                _ => map.serialize_entry(key, &())?,
            }
        }
        let config = RawValue::from_string(self.config.clone()).map_err(M::Error::custom)?;
        map.serialize_entry("config", &config)?;
        map.serialize_entry("created_at", &rfc3339(self.created_at))?;
        map.serialize_entry("updated_at", &rfc3339(self.updated_at))
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.members(&mut map)?;
        map.end()
    }
}
