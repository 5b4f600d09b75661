//! Maps ids of records that an earlier job created and someone deleted since to the ids of their
//! replacements, so that configs do not point at deleted records.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::bind::Disposition;
use super::bindings::Bindings;
use super::earlier_records::EarlierJobs;
use crate::json::Value;

/// New ids by the old ones.
#[derive(Debug, Default)]
pub(super) struct Recreated(HashMap<String, String>);

impl Recreated {
    /// Of everything that is created anew.
    pub(super) fn of(
        dispositions: &IndexMap<&str, Disposition<'_>>,
        bindings: &Bindings<'_>,
        earlier: &EarlierJobs<'_>,
    ) -> Recreated {
        let records = dispositions.keys().filter_map(|reference| {
            let record = bindings.record(reference).filter(|record| record.anew)?;
            let made = earlier.all(reference, record.kind).iter();
            Some(made.map(|made| (made.id.to_string(), record.id.to_string())))
        });
        Recreated(records.flatten().collect())
    }

    /// The value with new ids; nothing when it holds none of the old ones.
    pub(super) fn apply(&self, value: &Value) -> Option<Value> {
        if self.0.is_empty() {
            return None;
        }
        match value {
            Value::String(text) => self.0.get(text).map(|id| id.as_str().into()),
            Value::List(elements) => {
                let fixed: Vec<_> = elements.iter().map(|element| self.apply(element)).collect();
                fixed.iter().any(Option::is_some).then(|| {
                    let elements = elements.iter().zip(fixed);
                    let elements = elements.map(|(old, new)| new.unwrap_or_else(|| old.clone()));
                    Value::List(elements.collect())
                })
            }
            Value::Object(members) => {
                let fixed: Vec<_> = members
                    .iter()
                    .map(|(key, value)| (self.0.get(key), self.apply(value)))
                    .collect();
                let any = fixed
                    .iter()
                    .any(|(key, value)| key.is_some() || value.is_some());
                any.then(|| {
                    let members = members.iter().zip(fixed);
                    let members = members.map(|((key, old), (name, new))| {
                        let value = new.unwrap_or_else(|| old.clone());
                        (name.unwrap_or(key).clone(), value)
                    });
                    Value::Object(members.collect())
                })
            }
            _ => None,
        }
    }
}
