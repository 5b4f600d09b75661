//! A whole test: apply, again, undo, and the automations that it fires.

use std::convert::Infallible;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::TestFailure;
use super::backend::{AppliedTest, Backend, FireOutcome};
use super::declared::Declared;
use super::fire::{Fire, Trigger, compare_lists};
use super::memory::MemoryBackend;
use super::prepare::TestSetup;
use crate::apply::{Report, Resolution};
use crate::json::Value;
use crate::package::model::Manifest;
use crate::workspace::ledger::Entry;
use crate::workspace::{Id, RecordKind, ready};

/// What came of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestOutcome {
    /// What is not as it was expected; nothing: it passed.
    pub failures: Vec<TestFailure>,
    /// What the apply did; nothing when it was refused.
    pub report: Option<Report>,
}

/// Carries a test out in memory.
pub fn check(test: &Declared, setup: TestSetup<'_, '_>) -> TestOutcome {
    let mut backend = MemoryBackend::new(setup);
    let checked = ready(check_on(test, &setup.package.manifest, &mut backend));
    match checked {
        Ok(outcome) => outcome,
        Err(never) => {
            let never: Infallible = never;
            match never {}
        }
    }
}

/// Carries a test out.
///
/// # Errors
/// Those of the backend.
pub async fn check_on<B: Backend>(
    test: &Declared,
    manifest: &Manifest,
    backend: &mut B,
) -> Result<TestOutcome, B::Error> {
    let mut failures = Vec::new();
    let applied = match backend.apply(test).await? {
        Ok(applied) => applied,
        Err(found) => {
            failures.push(TestFailure::new("apply", "applied", found));
            return Ok(TestOutcome {
                failures,
                report: None,
            });
        }
    };
    test.expect
        .compare(manifest, &applied.preview, &applied.report, &mut failures);
    if applied.again_changed {
        failures.push(TestFailure::new("expect.again", "unchanged", "changed"));
    }
    if !applied.restored {
        let (expected, found) = ("empty", "something is left");
        failures.push(TestFailure::new("expect.undo", expected, found));
    }
    let records = Records::of(&applied);
    for (at, fire) in test.fires.iter().enumerate() {
        let path = format!("fire[{at}]");
        fired(fire, &path, &records, backend, &mut failures).await?;
    }
    Ok(TestOutcome {
        failures,
        report: Some(applied.report),
    })
}

/// What refs stand for.
struct Records(IndexMap<(RecordKind, String), Id>);

impl Records {
    fn of(applied: &AppliedTest) -> Records {
        let mut records = IndexMap::new();
        for (reference, resolution) in &applied.request.resolutions {
            if let Resolution::Map { id, .. } = resolution
                && let Ok(id) = Id::parse_str(id)
            {
                records.insert((RecordKind::Feature, reference.clone()), id);
            }
        }
        for entry in &applied.ledger {
            if let Entry::Structure(structure) = entry {
                for made in structure.created.iter().chain(&structure.known) {
                    records.insert((made.kind, made.reference.clone()), made.id);
                }
            }
        }
        Records(records)
    }

    fn get(&self, kind: RecordKind, reference: &str) -> Option<Id> {
        self.0.get(&(kind, reference.to_owned())).copied()
    }
}

async fn fired<B: Backend>(
    fire: &Fire,
    path: &str,
    records: &Records,
    backend: &mut B,
    failures: &mut Vec<TestFailure>,
) -> Result<(), B::Error> {
    let outcome = match records.get(RecordKind::Workflow, &fire.automation) {
        Some(automation) => backend.fire(automation, &fire.trigger).await?,
        None => FireOutcome::Missing,
    };
    match outcome {
        FireOutcome::Ran(effects) => fire.compare(path, &effects, failures),
        FireOutcome::Missing => {
            let (place, expected) = (format!("{path}.automation"), fire.automation.as_str());
            failures.push(TestFailure::new(place, expected, Value::Null));
            return Ok(());
        }
        FireOutcome::NotFired(why) => {
            let what = match fire.trigger {
                Trigger::Row(_) => "row",
                _ => "automation",
            };
            failures.push(TestFailure::new(format!("{path}.{what}"), "fires", why));
            return Ok(());
        }
    }
    for (reference, expected) in &fire.rows {
        let place = format!("{path}.rows.{reference}");
        let Some(table) = records.get(RecordKind::Feature, reference) else {
            failures.push(TestFailure::new(place, "a table", Value::Null));
            continue;
        };
        compare_lists(&place, expected, &backend.rows(table).await?, failures);
    }
    Ok(())
}
