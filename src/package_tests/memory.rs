//! Tests in memory: the simulation of an apply, and automations over the rows that it has left.

use std::convert::Infallible;

use super::backend::{AppliedTest, Backend, FireOutcome};
use super::declared::Declared;
use super::fire::Trigger;
use super::prepare::{TestSetup, prepare};
use super::refusals_document::refusals_document;
use super::test_workspace::{TestWorkspace, TriggerRecord};
use crate::apply::{Request, package_digest};
use crate::automation::run::Record;
use crate::context::{FixedClock, Seeded};
use crate::json::{Object, Value};
use crate::simulate::{self, SimulateError, SimulatedUpgrade, Simulation, UpgradeBase};
use crate::workspace::memory::{Memory, State};
use crate::workspace::{Automation, Id};

/// Runs a test in memory.
pub(super) struct MemoryBackend<'p, 't> {
    setup: TestSetup<'p, 't>,
    workspace: Option<TestWorkspace>,
}

impl<'p, 't> MemoryBackend<'p, 't> {
    pub(super) fn new(setup: TestSetup<'p, 't>) -> MemoryBackend<'p, 't> {
        MemoryBackend {
            setup,
            workspace: None,
        }
    }

    fn simulated(
        &self,
        test: &Declared,
        request: &Request,
        state: State,
    ) -> Result<Simulation, SimulateError> {
        let setup = self.setup;
        let digest = package_digest(setup.text);
        let (clock, mut ids) = (FixedClock(test.now), Seeded::new(0x7E57));
        match setup.base {
            None => simulate::simulate(
                setup.package,
                &digest,
                request,
                state,
                setup.definitions,
                &clock,
                &mut ids,
            ),
            Some(base) => {
                let upgrade = SimulatedUpgrade {
                    package: setup.package,
                    package_digest: &digest,
                    request,
                    base: UpgradeBase::Package(base),
                    definitions: setup.definitions,
                };
                simulate::upgrade(upgrade, state, &mut |_| {}, &clock, &mut ids)
            }
        }
    }
}

impl Backend for MemoryBackend<'_, '_> {
    type Error = Infallible;

    async fn apply(&mut self, test: &Declared) -> Result<Result<AppliedTest, Value>, Infallible> {
        let (request, state) = prepare(&test.request, self.setup);
        let simulation = match self.simulated(test, &request, state) {
            Ok(simulation) => simulation,
            Err(error) => return Ok(Err(refused(&error))),
        };
        let memory = Memory::new(simulation.applied);
        self.workspace = Some(TestWorkspace::new(memory, test.now));
        Ok(Ok(AppliedTest {
            request,
            preview: simulation.preview,
            report: simulation.report,
            ledger: simulation.ledger,
            again_changed: simulation.again_changed,
            restored: simulation.restored,
        }))
    }

    async fn fire(&mut self, automation: Id, trigger: &Trigger) -> Result<FireOutcome, Infallible> {
        let Some(workspace) = &mut self.workspace else {
            return Ok(FireOutcome::Missing);
        };
        let mut automations = workspace.structure.automations.iter();
        let Some(automation) = automations.find(|one| one.id == automation).cloned() else {
            return Ok(FireOutcome::Missing);
        };
        Ok(fired(workspace, &automation, trigger).unwrap_or_else(FireOutcome::NotFired))
    }

    async fn rows(&mut self, table: Id) -> Result<Vec<Object>, Infallible> {
        let workspace = self.workspace.iter();
        let rows = workspace.flat_map(|workspace| workspace.rows(table));
        let data = rows.filter_map(|row| Value::parse(row.data.as_str()).ok());
        Ok(data.filter_map(|data| data.as_object().cloned()).collect())
    }
}

fn fired(
    workspace: &mut TestWorkspace,
    automation: &Automation,
    trigger: &Trigger,
) -> Result<FireOutcome, String> {
    let (trigger, at) = match trigger {
        Trigger::Row(cells) => {
            let table = watched_table(&automation.trigger_config).ok_or(NO_TABLE)?;
            let record = workspace.enter(table, cells, automation.id)?;
            (Some(TriggerRecord { table, record }), None)
        }
        Trigger::Body(cells) => {
            let record = Record {
                own: Object::new(),
                data: cells.clone(),
            };
            let table = Id::nil();
            (Some(TriggerRecord { table, record }), None)
        }
        Trigger::At(instant) => (None, Some(*instant)),
        Trigger::Nothing => (None, None),
    };
    Ok(FireOutcome::Ran(workspace.fire(automation, trigger, at)))
}

/// Why no row fires an automation whose trigger has no table.
pub const NO_TABLE: &str = "its trigger names no table that a row could enter";

/// The table that a trigger names.
pub fn watched_table(trigger: &Object) -> Option<Id> {
    let table = trigger.get("config")?.get("featureId")?;
    Id::parse_str(table.as_str()?).ok()
}

/// Why there is nothing that could be compared.
fn refused(error: &SimulateError) -> Value {
    match error {
        SimulateError::Refused(refusals) => refusals_document(refusals),
        SimulateError::Undecided(plan) => refusals_document(&plan.refusals),
        other => other.to_string().into(),
    }
}
