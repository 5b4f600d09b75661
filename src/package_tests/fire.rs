//! One automation run, and what is expected of it.

use indexmap::IndexMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::effects::RunEffects;
use super::{TestFailure, compare_keys, is_same};
use crate::json::{Object, Value};

/// What fires an automation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Trigger {
    /// A row that is inserted into the table of its trigger first.
    Row(Object),
    /// What somebody sends who starts it by hand.
    Body(Object),
    /// An instant.
    At(#[serde(with = "super::document::instant")] Timestamp),
    /// Nothing besides.
    Nothing,
}

/// An automation that is run, and what is expected; nothing of what is missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fire {
    /// Its ref.
    pub automation: String,
    /// What fires it.
    pub trigger: Trigger,
    /// The keys of its steps in the order in which they are carried out.
    pub steps: Option<Vec<String>>,
    /// By the id of the step.
    pub outputs: IndexMap<String, Object>,
    /// By the ref of the table: all its rows afterwards.
    pub rows: IndexMap<String, Vec<Object>>,
    /// Notifications of people.
    pub notifications: Option<Vec<Object>>,
    /// What is sent.
    pub mails: Option<Vec<Object>>,
}

impl Fire {
    /// Compares what a run has done with what is expected.
    pub(super) fn compare(&self, path: &str, fired: &RunEffects, failures: &mut Vec<TestFailure>) {
        if let Some(error) = &fired.error {
            failures.push(TestFailure::new(
                format!("{path}.error"),
                Value::Null,
                error.as_str(),
            ));
        }
        if let Some(steps) = &self.steps {
            let texts = |keys: &mut dyn Iterator<Item = &str>| -> Value {
                Value::List(keys.map(Value::from).collect())
            };
            let expected = texts(&mut steps.iter().map(String::as_str));
            let found = texts(&mut fired.steps.iter().map(|step| step.key.as_str()));
            if expected != found {
                failures.push(TestFailure::new(format!("{path}.steps"), expected, found));
            }
        }
        for (id, expected) in &self.outputs {
            let mut steps = fired.steps.iter();
            let step = steps.find(|step| step.id == *id);
            let place = format!("{path}.outputs.{id}");
            match step.and_then(|step| step.output.as_ref()) {
                Some(output) => compare_keys(&place, expected, output, failures),
                None => failures.push(TestFailure::new(place, expected.clone(), Value::Null)),
            }
        }
        let compared = [
            ("notifications", &self.notifications, &fired.notifications),
            ("mails", &self.mails, &fired.mails),
        ];
        for (name, expected, found) in compared {
            if let Some(expected) = expected {
                compare_lists(&format!("{path}.{name}"), expected, found, failures);
            }
        }
    }
}

/// Compares lists of the same length element by element, as far as keys are given.
pub(super) fn compare_lists(
    path: &str,
    expected: &[Object],
    found: &[Object],
    failures: &mut Vec<TestFailure>,
) {
    let list = |objects: &[Object]| -> Value {
        Value::List(objects.iter().cloned().map(Value::Object).collect())
    };
    if expected.len() != found.len() {
        failures.push(TestFailure::new(path, list(expected), list(found)));
        return;
    }
    for (at, (expected, found)) in expected.iter().zip(found).enumerate() {
        let mut expected = expected.clone();
        // One address may stand without its list.
        if let (Some(Value::String(one)), Some(Value::List(all))) =
            (expected.get("to"), found.get("to"))
            && all.len() == 1
            && all
                .first()
                .is_some_and(|only| is_same(only, &one.as_str().into()))
        {
            expected.shift_remove("to");
        }
        compare_keys(&format!("{path}[{at}]"), &expected, found, failures);
    }
}
