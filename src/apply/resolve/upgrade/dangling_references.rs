//! New records that name what people removed (`upgrade` 3.4.4): somebody decides whether that comes back, or
//! they arrive without it.

use super::Merging;
use super::not_carried::not_carried;
use crate::apply::resolve::absent_names;
use crate::json::Value;
use crate::json::path::push_dotted;
use crate::workspace::{AnyRecord, RecordKind};

impl Merging<'_, '_> {
    /// Notes what in new records would name a record that is not there.
    pub(super) fn new_records(&mut self) {
        for (reference, declared) in &self.built.declared {
            if !declared.fresh || declared.blueprint {
                continue;
            }
            for (path, value) in parts(&declared.record) {
                for named in absent_names::refs(value) {
                    let theirs = Some(absent_names::plain(value));
                    let entry =
                        not_carried(declared.record.kind, reference, Some(&path), None, theirs);
                    self.dangling.entry(named).or_default().push(entry);
                }
            }
        }
    }
}

/// The parts of a config under the paths that they have as leaves.
fn parts(record: &AnyRecord) -> Vec<(String, &Value)> {
    match (&record.config, record.kind) {
        (config, RecordKind::Workflow) => {
            let part = |path: &str, key| Some((path.to_owned(), config.get(key)?));
            [
                part("trigger", "triggerConfig"),
                part("shape", "graphConfig"),
            ]
            .into_iter()
            .flatten()
            .collect()
        }
        (Value::List(objects), _) if objects.len() > 1 => {
            let objects = objects.iter().enumerate();
            objects
                .flat_map(|(at, object)| keys(&format!("config.{at}"), object))
                .collect()
        }
        (Value::List(objects), _) => objects
            .iter()
            .flat_map(|object| keys("config", object))
            .collect(),
        (object, _) => keys("config", object),
    }
}

fn keys<'v>(head: &str, object: &'v Value) -> Vec<(String, &'v Value)> {
    let members = object.as_object().into_iter().flatten();
    members
        .map(|(key, value)| {
            let mut path = head.to_owned();
            push_dotted(&mut path, key);
            (path, value)
        })
        .collect()
}
