//! A whole test: apply, again, undo, and the automations that it fires.

use indexmap::IndexMap;
use jiff::Timestamp;

use super::TestFailure;
use super::expect::Expectations;
use super::fire::{Fire, compare_lists};
use super::world::World;
use crate::apply::{Report, Request, Resolution, package_digest};
use crate::check::Checked;
use crate::context::{Fixed, Seeded};
use crate::definitions::{Definitions, ReferenceKind};
use crate::json::{Object, Value};
use crate::package::model::DependencyForm;
use crate::simulate::{self, SimulateError, SimulatedUpgrade, Simulation};
use crate::workspace::ledger::Entry;
use crate::workspace::memory::{Memory, State};
use crate::workspace::{Id, RecordKind};

/// A test.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// How the package is applied.
    pub request: Request,
    /// The clock of everything.
    pub now: Timestamp,
    /// What is expected of the apply.
    pub expect: Expectations,
    /// What is run afterwards, one after the other in the same workspace.
    pub fires: Vec<Fire>,
}

/// What a test is about.
#[derive(Debug, Clone, Copy)]
pub struct Place<'p, 't> {
    /// The package.
    pub package: &'p Checked<'t>,
    /// Its text.
    pub text: &'p str,
    /// The package that was applied before, when this one upgrades it.
    pub base: Option<&'p Checked<'t>>,
    /// Where it is applied.
    pub destination: &'p State,
    /// The definitions of the destination.
    pub definitions: &'p Definitions,
}

/// What came of a test.
#[derive(Debug, Clone, PartialEq)]
pub struct TestOutcome {
    /// What is not as it was expected; nothing: it passed.
    pub failures: Vec<TestFailure>,
    /// What the apply did; nothing when it was refused.
    pub report: Option<Report>,
}

/// Carries a test out.
pub fn check(test: &Declared, place: Place<'_, '_>) -> TestOutcome {
    let mut failures = Vec::new();
    let simulation = match simulated(test, place) {
        Ok(simulation) => simulation,
        Err(error) => {
            let found = refused(&error);
            failures.push(TestFailure::new("apply", "applied", found));
            return TestOutcome {
                failures,
                report: None,
            };
        }
    };
    let results = (&simulation.preview, &simulation.report);
    test.expect
        .compare(&place.package.manifest, results, &mut failures);
    if simulation.again_changed {
        failures.push(TestFailure::new("expect.again", "unchanged", "changed"));
    }
    if !simulation.restored {
        failures.push(TestFailure::new(
            "expect.undo",
            "empty",
            "something is left",
        ));
    }
    let records = Records::of(&simulation.ledger, &test.request);
    let mut world = World::new(Memory::new(simulation.applied.clone()), test.now);
    for (at, fire) in test.fires.iter().enumerate() {
        let path = format!("fire[{at}]");
        fired(fire, &path, &records, &mut world, &mut failures);
    }
    TestOutcome {
        failures,
        report: Some(simulation.report),
    }
}

fn simulated(test: &Declared, place: Place<'_, '_>) -> Result<Simulation, SimulateError> {
    let digest = package_digest(place.text);
    let (clock, mut ids) = (Fixed(test.now), Seeded::new(0x7E57));
    let mut state = place.destination.clone();
    let request = by_id(&test.request, place.package, &state);
    match place.base {
        None => {
            simulate::stand_in(place.package, &request, &mut state);
            simulate::simulate(
                place.package,
                &digest,
                &request,
                state,
                place.definitions,
                &clock,
                &mut ids,
            )
        }
        Some(base) => {
            let request = Request {
                upgrade: true,
                ..request
            };
            let question = SimulatedUpgrade {
                package: place.package,
                package_digest: &digest,
                request: &request,
                base: simulate::UpgradeBase::Package(base),
                definitions: place.definitions,
            };
            simulate::upgrade(question, state, &mut |_| {}, &clock, &mut ids)
        }
    }
}

/// The request with ids in place of technical names: a destination that is built for a test has no ids
/// that anybody could know.
fn by_id(request: &Request, package: &Checked<'_>, state: &State) -> Request {
    let mut request = request.clone();
    for dependency in package.manifest.dependencies() {
        let Some(Resolution::Map { id, .. }) = request.resolutions.get_mut(&dependency.reference)
        else {
            continue;
        };
        if dependency.form == DependencyForm::Name || Id::parse_str(id).is_ok() {
            continue;
        }
        let structure = &state.structure;
        let found = match dependency.kind {
            ReferenceKind::Feature => {
                let mut all = structure.features.iter().chain(&structure.shared);
                all.find(|one| one.name == *id).map(|one| one.id)
            }
            ReferenceKind::View => {
                let views = structure.features.iter().flat_map(|one| &one.views);
                views
                    .into_iter()
                    .find(|one| one.name == *id)
                    .map(|one| one.id)
            }
            ReferenceKind::Module => {
                let mut all = structure.modules.iter();
                all.find(|one| one.name == *id).map(|one| one.id)
            }
            ReferenceKind::WorkflowV2 => {
                let mut all = structure.automations.iter();
                all.find(|one| one.name == *id).map(|one| one.id)
            }
            _ => None,
        };
        if let Some(found) = found {
            *id = found.to_string();
        }
    }
    request
}

/// Why there is nothing that could be compared.
fn refused(error: &SimulateError) -> Value {
    let refusals = match error {
        SimulateError::Refused(refusals) => refusals,
        SimulateError::Undecided(plan) => &plan.refusals,
        other => return other.to_string().into(),
    };
    let texts = refusals.iter().map(|refusal| {
        let about = refusal.reference.as_deref().unwrap_or_default();
        let text = format!("{} {about}: {}", refusal.code, refusal.detail);
        Value::from(text.replacen(" :", ":", 1))
    });
    Value::List(texts.collect())
}

/// What refs stand for.
struct Records(IndexMap<(RecordKind, String), Id>);

impl Records {
    fn of(ledger: &[Entry], request: &Request) -> Records {
        let mut records = IndexMap::new();
        for (reference, resolution) in &request.resolutions {
            if let Resolution::Map { id, .. } = resolution
                && let Ok(id) = Id::parse_str(id)
            {
                records.insert((RecordKind::Feature, reference.clone()), id);
            }
        }
        for entry in ledger {
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

fn fired(
    fire: &Fire,
    path: &str,
    records: &Records,
    world: &mut World,
    failures: &mut Vec<TestFailure>,
) {
    let id = records.get(RecordKind::Workflow, &fire.automation);
    let mut automations = world.structure.automations.iter();
    let automation = automations.find(|one| Some(one.id) == id).cloned();
    let Some(automation) = automation else {
        let place = format!("{path}.automation");
        failures.push(TestFailure::new(
            place,
            fire.automation.as_str(),
            Value::Null,
        ));
        return;
    };
    match fire.run(world, &automation) {
        Ok(fired) => fire.compare(path, &fired, failures),
        Err(why) => {
            let what = match fire.trigger {
                super::Trigger::Row(_) => "row",
                _ => "automation",
            };
            failures.push(TestFailure::new(format!("{path}.{what}"), "fires", why));
            return;
        }
    }
    for (reference, expected) in &fire.rows {
        let place = format!("{path}.rows.{reference}");
        let Some(table) = records.get(RecordKind::Feature, reference) else {
            failures.push(TestFailure::new(place, "a table", Value::Null));
            continue;
        };
        let rows = world.rows(table).into_iter();
        let data = rows.filter_map(|row| Value::parse(row.data.as_str()).ok());
        let found: Vec<Object> = data.filter_map(|data| data.as_object().cloned()).collect();
        compare_lists(&place, expected, &found, failures);
    }
}
