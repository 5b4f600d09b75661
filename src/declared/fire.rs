//! One automation run, and what is expected of it.

use indexmap::IndexMap;
use jiff::Timestamp;

use super::world::{RunResult, World};
use super::{TestFailure, compare_keys, is_same};
use crate::automation::run::Record;
use crate::json::{Object, Value};
use crate::workspace::{Automation, Id};

/// What fires an automation.
#[derive(Debug, Clone, PartialEq)]
pub enum Trigger {
    /// A row that is inserted into the table of its trigger first.
    Row(Object),
    /// What somebody sends who starts it by hand.
    Body(Object),
    /// An instant.
    At(Timestamp),
    /// Nothing besides.
    Nothing,
}

/// An automation that is run, and what is expected; nothing of what is missing.
#[derive(Debug, Clone, PartialEq)]
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

/// What a run has done.
#[derive(Debug)]
pub(super) struct RunEffects {
    /// The steps, and why it ended early.
    pub(super) executed: RunResult,
    /// Notifications of people.
    pub(super) notifications: Vec<Object>,
    /// What was sent.
    pub(super) mails: Vec<Object>,
}

impl Fire {
    /// Runs it.
    pub(super) fn run(
        &self,
        world: &mut World,
        automation: &Automation,
    ) -> Result<RunEffects, String> {
        let (trigger, at) = match &self.trigger {
            Trigger::Row(cells) => {
                let table = automation.trigger_config.get("config");
                let table = table.and_then(|config| config.get("featureId")?.as_str());
                let table = table.and_then(|id| Id::parse_str(id).ok());
                let table = table.ok_or("its trigger names no table that a row could enter")?;
                let row = world.enter(table, cells, automation.id)?;
                (Some((table, row)), None)
            }
            Trigger::Body(cells) => {
                let record = Record {
                    own: Object::new(),
                    data: cells.clone(),
                };
                (Some((Id::nil(), record)), None)
            }
            Trigger::At(instant) => (None, Some(*instant)),
            Trigger::Nothing => (None, None),
        };
        let executed = world.fire(automation, trigger, at);
        Ok(RunEffects {
            executed,
            notifications: std::mem::take(&mut world.notifications),
            mails: std::mem::take(&mut world.mails),
        })
    }

    /// Compares what a run has done with what is expected.
    pub(super) fn compare(&self, path: &str, fired: &RunEffects, failures: &mut Vec<TestFailure>) {
        let executed = &fired.executed;
        if let Some(error) = &executed.error {
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
            let found = texts(&mut executed.steps.iter().map(|step| step.key.as_str()));
            if expected != found {
                failures.push(TestFailure::new(format!("{path}.steps"), expected, found));
            }
        }
        for (id, expected) in &self.outputs {
            let mut steps = executed.steps.iter();
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
