//! Replaces ids that do not exist yet by names, for people to read.

use std::collections::HashMap;
use std::fmt::Display;

use crate::json::{Object, Value};
use crate::workspace::ledger::Created;

/// What an apply would create, by the ids that stand for it while a plan is made.
pub(super) struct Names(HashMap<String, String>);

impl Names {
    pub(super) fn of(created: &[Created]) -> Names {
        Names::new(
            created
                .iter()
                .map(|made| (made.id.to_string(), made.name.as_str())),
        )
    }

    /// Of records that have no id, by what stands for it.
    pub(super) fn new(records: impl Iterator<Item = (String, impl Display)>) -> Names {
        let named = records.map(|(id, name)| (id, format!("(new) {name}")));
        Names(named.collect())
    }

    /// The value as people read it: whole texts and keys that are such an id become names.
    pub(super) fn replace_ids(&self, value: Value) -> Value {
        if self.0.is_empty() {
            return value;
        }
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::List(list) => {
                Value::List(list.into_iter().map(|one| self.replace_ids(one)).collect())
            }
            Value::Object(members) => {
                let members = members.into_iter();
                let members = members.map(|(key, value)| (self.text(key), self.replace_ids(value)));
                Value::Object(members.collect::<Object>())
            }
            value => value,
        }
    }

    fn text(&self, text: String) -> String {
        self.0.get(&text).cloned().unwrap_or(text)
    }
}
