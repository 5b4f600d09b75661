//! A worker dies after every unit of an upgrade, or before it is written: in the end everything is as the library
//! makes it in memory, where nobody dies.

use serde_json::{Value, json};
use tplkit::apply::{
    ApplyError, BasePackage, JobHistory, Minter, Report, Resolutions, ResolveInput, note_adopted,
    resolve, run_from,
};
use tplkit::check::Checked;
use tplkit::definitions::Definitions;
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::memory::Memory;
use tplkit::workspace::{
    CommitError, Id, Lookup, Source, StoredRow, Structure, Target, Unit, ready,
};
use tplkit_server::jobs::{Destination, Status};
use tplkit_server::workspace::ReadError;
use uuid::Uuid;

use super::fixtures;
use super::outcome::{Outcome, ledger};
use super::packages::{Package, everything};
use super::same::work;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    an_upgrade_survives_the_death_of_its_worker_at_every_unit,
    an_upgrade_of_what_was_set_up_by_hand_survives_it,
);

/// The workspace of a job whose worker dies at the unit of that number: before it is written, or after it.
struct Dying {
    inner: Destination,
    units: usize,
    written: bool,
}

impl Source for Dying {
    type Error = ReadError;

    async fn structure(&self) -> Result<Structure, ReadError> {
        self.inner.structure().await
    }

    async fn rows(
        &self,
        feature: Id,
        after: Option<Id>,
        limit: usize,
    ) -> Result<Vec<StoredRow>, ReadError> {
        self.inner.rows(feature, after, limit).await
    }
}

impl Lookup for Dying {
    async fn matching(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<Option<StoredRow>>, ReadError> {
        self.inner.matching(feature, column, values).await
    }

    async fn fetch(&self, feature: Id, rows: &[Id]) -> Result<Vec<Option<StoredRow>>, ReadError> {
        self.inner.fetch(feature, rows).await
    }

    async fn taken(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<bool>, ReadError> {
        self.inner.taken(feature, column, values).await
    }

    async fn row_capacity(&self) -> Result<Option<u64>, ReadError> {
        self.inner.row_capacity().await
    }

    async fn sequence(&self, feature: Id, column: Id) -> Result<Option<u64>, ReadError> {
        self.inner.sequence(feature, column).await
    }
}

impl Target for Dying {
    async fn ledger(&self) -> Result<Vec<Entry>, ReadError> {
        self.inner.ledger().await
    }

    async fn commit(&mut self, unit: Unit) -> Result<(), CommitError<ReadError>> {
        if self.units > 0 {
            self.units -= 1;
            return self.inner.commit(unit).await;
        }
        if self.written {
            self.inner.commit(unit).await?;
        }
        Err(CommitError::Fenced)
    }
}

/// Rows are reference data.
fn as_reference(package: &mut Package) {
    let mut envelope: Value = serde_json::from_str(&package.text).expect("JSON");
    let items = envelope["manifest"]["items"].as_array_mut().expect("items");
    for item in items.iter_mut().filter(|item| item["kind"] == "rows") {
        item["dataClass"] = "reference".into();
    }
    package.text = envelope.to_string();
}

/// Its next version: labels, names of automations, and a cell of every third row.
fn next(package: &Package) -> Package {
    let mut envelope: Value = serde_json::from_str(&package.text).expect("JSON");
    let steps = envelope["manifest"]["plan"]["steps"].as_array_mut();
    for step in steps.expect("steps") {
        if step["tool"] == "create_feature" {
            step["args"]["label"] = "Second".into();
        }
        if step["tool"] == "create_workflow_v2" {
            let name = format!("{} 2", step["args"]["name"].as_str().expect("a name"));
            step["args"]["name"] = name.into();
        }
    }
    for entry in envelope["payloads"].as_array_mut().expect("payloads") {
        let rows = entry["rows"].as_array_mut().expect("rows").iter_mut();
        for row in rows.step_by(3) {
            row["data"]["notes"] = "second".into();
        }
        let columns = entry["columns"].as_array_mut().expect("columns");
        if !columns.contains(&json!("notes")) {
            columns.push("notes".into());
        }
    }
    Package {
        text: envelope.to_string(),
        request: tplkit::apply::Request {
            upgrade: true,
            ..package.request.clone()
        },
    }
}

/// One attempt at an upgrade of what people set up by hand.
async fn adopt<T: Target<Error: std::fmt::Debug>>(
    target: &mut T,
    packages: (&Package, &Package),
    minter: Minter,
) -> Result<Report, ApplyError<T::Error>> {
    let (_, base) = packages;
    let resolutions: Resolutions = base.request.resolutions.clone();
    let applied = Checked::trusted(&base.text).expect("reads");
    let given = BasePackage {
        job: None,
        package: &applied,
        resolutions: &resolutions,
        legacy_jobs: &[],
        rows: &[],
    };
    note_adopted(target, given, Definitions::embedded()).await?;
    attempt(target, packages, &[], minter).await
}

/// One attempt at an upgrade.
async fn attempt<T: Target<Error: std::fmt::Debug>>(
    target: &mut T,
    (package, base): (&Package, &Package),
    entries: &[Entry],
    minter: Minter,
) -> Result<Report, ApplyError<T::Error>> {
    let (checked, applied) = (
        Checked::trusted(&package.text).expect("reads"),
        Checked::trusted(&base.text).expect("reads"),
    );
    let resolutions: Resolutions = base.request.resolutions.clone();
    let past = JobHistory {
        entries,
        base: Some(BasePackage {
            job: None,
            package: &applied,
            resolutions: &resolutions,
            legacy_jobs: &[],
            rows: &[],
        }),
    };
    let own = target.ledger().await.expect("reads");
    let structure = target.structure().await.expect("reads");
    let known = [entries, &own].concat();
    let deciding = JobHistory {
        entries: &known,
        ..past
    };
    let definitions = Definitions::embedded();
    let approved = resolve(
        ResolveInput {
            package: &checked,
            request: &package.request,
            destination: &structure,
            past: deciding,
            definitions,
        },
        minter,
    );
    let approved = approved.expect("approved");
    let payloads = &checked.payloads;
    let mut unwatched = |_| {};
    run_from(
        target,
        &approved,
        payloads,
        past,
        definitions,
        &mut unwatched,
    )
    .await
}

/// A workspace to which the first version was applied, and what is known of that.
struct Applied {
    organization: Uuid,
    workspace: Uuid,
    template: Uuid,
    ledger: Vec<Entry>,
    /// The same in memory.
    memory: Option<Memory>,
    /// Whether people set it up, as far as the store knows.
    by_hand: bool,
}

impl Applied {
    async fn new(world: &World, package: &Package) -> Applied {
        let World { store, context, .. } = world;
        let organization = world.organization("O", None).await;
        let workspace = fixtures::workspace(store, context, organization).await;
        let before = Outcome::of(store, workspace).await;
        let new = package.job(context, organization, workspace);
        let (job, minter, template) = (new.id, new.minter, new.template);
        assert!(fixtures::create(store, new).await);
        assert_eq!(work(world, job).await.status, Status::Completed);
        let (mut memory, _) = package.expected(before.state(), minter);
        memory.next_job();
        Applied {
            organization,
            workspace,
            template,
            ledger: ledger(store, organization, job).await,
            memory: Some(memory),
            by_hand: false,
        }
    }

    /// A workspace with the same in it, of which no job knows.
    async fn by_hand(world: &World, package: &Package) -> Applied {
        let applied = Applied::new(world, package).await;
        let sql = "DELETE FROM main.template_jobs WHERE organization_id = $1";
        world.sql(sql, vec![applied.organization.into()]).await;
        Applied {
            ledger: Vec::new(),
            by_hand: true,
            ..applied
        }
    }

    /// One attempt at an upgrade.
    async fn attempt<T: Target<Error: std::fmt::Debug>>(
        &self,
        target: &mut T,
        packages: (&Package, &Package),
        minter: Minter,
    ) -> Result<Report, ApplyError<T::Error>> {
        if self.by_hand {
            adopt(target, packages, minter).await
        } else {
            attempt(target, packages, &self.ledger, minter).await
        }
    }
}

async fn an_upgrade_survives_the_death_of_its_worker_at_every_unit(place: Place) {
    survives(place, false).await;
}

async fn an_upgrade_of_what_was_set_up_by_hand_survives_it(place: Place) {
    survives(place, true).await;
}

async fn survives(place: Place, by_hand: bool) {
    let world = World::new(place).await;
    let World { store, context, .. } = &world;
    let mut first = everything(2, 12);
    as_reference(&mut first);
    let second = next(&first);
    let mut died = 0;
    for written in [false, true] {
        for units in 0.. {
            let mut applied = if by_hand {
                Applied::by_hand(&world, &first).await
            } else {
                Applied::new(&world, &first).await
            };
            let mut new = second.job(context, applied.organization, applied.workspace);
            new.template = applied.template;
            if by_hand {
                new.base = first.parts();
            }
            let (job, minter) = (new.id, new.minter);
            assert!(fixtures::create(store, new).await);
            let lease = fixtures::taken(store, context, job, 60).await;
            let inner = fixtures::destination(store, context, lease.clone()).await;
            let mut target = Dying {
                inner,
                units,
                written,
            };
            let packages = (&second, &first);
            let ran = Box::pin(applied.attempt(&mut target, packages, minter)).await;
            let dies = ran.is_err();
            lease.release(store, context, 0).await.expect("is released");
            let done = if dies {
                work(&world, job).await
            } else {
                fixtures::job(store, context, job).await
            };
            assert_eq!(done.status, Status::Completed, "{:?}", done.error);
            let mut memory = applied.memory.take().expect("a memory");
            let expected = ready(applied.attempt(&mut memory, packages, minter)).expect("is done");
            assert_eq!((expected.structure_updated, expected.published), (5, 3));
            let report: Report =
                serde_json::from_str(done.report.as_deref().expect("a report")).expect("a report");
            assert_eq!(report.structure_updated, 5, "{units} {written}");
            assert_eq!((report.published, &*report.not_published), (3, &[][..]));
            for (table, counts) in &expected.rows {
                assert_eq!(
                    report.rows[table].updated, counts.updated,
                    "{table} {units}"
                );
            }
            Outcome::of(store, applied.workspace).await.is(&memory);
            if !dies {
                break;
            }
            died += 1;
        }
    }
    assert!(died > 8, "{died}");
}
