//! A job on the store comes to what the library comes to in memory: the same records, the same rows
//! under the same ids, the same links and numbers, the same report.

use tokio::sync::watch;
use tplkit::automation::step_ids;
use tplkit::definitions::Definitions;
use tplkit::json::{Doc, Value as Json};
use tplkit::upgrade::RowsDrift;
use tplkit_server::background::TaskContext;
use tplkit_server::jobs::{Job, PackedPart, Status, Worker};
use tplkit_server::wake::WorkerSignal;
use tplkit_testkit::random::{Shape, workspace};
use uuid::Uuid;

use super::fixtures;
use super::outcome::{Outcome, drift, expected_ledger, ledger, plain, published};
use super::packages::{Package, everything};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    one_of_everything_comes_out_as_in_memory,
    random_packages_come_out_as_in_memory,
    steps_that_have_no_id_are_given_one,
    a_job_begins_when_the_signal_comes_and_is_given_back_at_the_end,
    a_job_that_is_given_back_again_and_again_comes_out_as_in_memory,
    a_job_that_cannot_be_done_says_why,
    names_that_are_taken_meanwhile_are_chosen_anew,
);

/// Lets the workers of a process carry out what there is to do, until a job is finished.
pub(super) async fn work(world: &World, job: Uuid) -> Job {
    let (stop, stopped) = watch::channel(false);
    let worker = Worker {
        task_context: task_context(world),
        lease_seconds: 60,
        signal: WorkerSignal::default(),
    };
    let working = tokio::spawn(worker.run(stopped));
    let done = finished(world, job).await;
    stop.send(true).expect("hears");
    working.await.expect("ends");
    done
}

fn task_context(world: &World) -> TaskContext {
    TaskContext {
        store: world.store.clone(),
        context: world.context.clone(),
        metrics: world.app.metrics.clone(),
        tables: world.app.tables.clone(),
        keep_runs: None,
        files: tplkit_server::files::Files::in_place(None),
    }
}

async fn finished(world: &World, job: Uuid) -> Job {
    loop {
        let found = fixtures::job(&world.store, &world.context, job).await;
        if found.status.is_finished() {
            return found;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// Applies a package to an empty workspace and holds the outcome against the library's.
async fn hold(world: &World, package: &Package) -> Job {
    let World { store, context, .. } = world;
    let organization = world.organization("O", None).await;
    let workspace = fixtures::workspace(store, context, organization).await;
    let before = Outcome::of(store, workspace).await;
    let new = package.job(context, organization, workspace);
    let (id, minter) = (new.id, new.minter);
    assert!(fixtures::create(store, new).await);
    let job = work(world, id).await;
    assert_eq!(job.status, Status::Completed, "{:?}", job.error);
    assert_eq!((job.locked_until, job.error.as_deref()), (None, None));
    let (expected, report) = package.expected(before.state(), minter);
    let reported = job.report.as_deref().expect("a report");
    let reported: tplkit::apply::Report = serde_json::from_str(reported).expect("a report");
    assert_eq!(
        plain(reported.clone()),
        plain(report.clone()),
        "{reported:#?} {report:#?}"
    );
    Outcome::of(store, workspace).await.is(&expected);
    let entries = ledger(store, organization, id).await;
    assert_eq!(entries, expected_ledger(&expected));
    let drift = drift(store, workspace, package, entries).await;
    assert!(!drift.drift, "{drift:#?}");
    let mut rows = drift.rows.values();
    assert!(rows.all(|rows| *rows == RowsDrift::default()), "{drift:#?}");
    job
}

async fn one_of_everything_comes_out_as_in_memory(place: Place) {
    let world = World::new(place).await;
    let job = hold(&world, &everything(4, 600)).await;
    assert_eq!((job.phase.as_str(), job.done, job.total), ("publish", 3, 3));
    let entries = ledger(&world.store, job.organization, job.id).await;
    assert_eq!(published(&entries).len(), 3);
}

/// On the store and in memory the same ones, and those that are there stay.
async fn steps_that_have_no_id_are_given_one(place: Place) {
    let world = World::new(place).await;
    let mut package = everything(2, 10);
    package.nest_steps_without_ids();
    let job = hold(&world, &package).await;
    let structure = Outcome::of(&world.store, job.workspace).await.structure;
    let mut all = std::collections::BTreeSet::new();
    for automation in structure.automations {
        let graph = Json::Object(automation.graph_config).write();
        let doc = Doc::parse(&graph).expect("JSON");
        let steps = doc.root().get("steps").expect("steps");
        let ids = step_ids(Definitions::embedded(), steps);
        assert_eq!(ids.len(), 4, "{graph}");
        for id in ids {
            let id = id.as_str().expect("a text").to_owned();
            assert!(id.len() == 16 && id.starts_with("stp_"), "{id}");
            all.insert(id);
        }
        assert!(all.contains("stp_thisonestays"), "{graph}");
    }
    // Three automations: what is minted is nowhere twice.
    assert_eq!(all.len(), 3 * 3 + 1, "{all:?}");
}

#[expect(
    clippy::print_stderr,
    reason = "the runner shows it when the test fails: which package it was"
)]
async fn random_packages_come_out_as_in_memory(place: Place) {
    let world = World::new(place).await;
    for seed in 0..seeds() {
        let shape = match seed % 2 {
            0 => Shape::closed(),
            _ => Shape::wild(),
        };
        eprintln!("seed {seed}");
        hold(&world, &Package::of(workspace(seed, &shape))).await;
    }
}

/// `TPLKIT_CASES` random packages.
fn seeds() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "says how much is tested")]
    let cases = std::env::var("TPLKIT_CASES").ok();
    cases.and_then(|cases| cases.parse().ok()).unwrap_or(12)
}

async fn a_job_begins_when_the_signal_comes_and_is_given_back_at_the_end(place: Place) {
    let world = World::new(place).await;
    let World { store, context, .. } = &world;
    let (stop, stopped) = watch::channel(false);
    let signal = WorkerSignal::default();
    let worker = Worker {
        task_context: task_context(&world),
        lease_seconds: 60,
        signal: signal.clone(),
    };
    let working = tokio::spawn(worker.run(stopped));
    let package = everything(2, 3);
    let workspace = fixtures::workspace(store, context, world.acme).await;
    let new = package.job(context, world.acme, workspace);
    let id = new.id;
    assert!(fixtures::create(store, new).await);
    signal.notify();
    finished(&world, id).await;
    // Told to stop in the middle of a job: it is free at once for whoever comes next.
    let package = everything(3, 2000);
    let workspace = fixtures::workspace(store, context, world.acme).await;
    let new = package.job(context, world.acme, workspace);
    let id = new.id;
    assert!(fixtures::create(store, new).await);
    signal.notify();
    while fixtures::job(store, context, id).await.status != Status::Rows {
        let job = fixtures::job(store, context, id).await;
        assert!(!job.status.is_finished(), "{job:?}");
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    stop.send(true).expect("hears");
    working.await.expect("ends");
    let job = fixtures::job(store, context, id).await;
    assert_eq!(job.locked_until, None);
    assert!(!job.status.is_finished(), "too fast to be stopped");
    assert_eq!(work(&world, id).await.status, Status::Completed);
}

/// Whoever stops has a batch in flight most of the time: it is written before the job is given back, or
/// never.
async fn a_job_that_is_given_back_again_and_again_comes_out_as_in_memory(place: Place) {
    let world = World::new(place).await;
    let World { store, context, .. } = &world;
    let organization = world.organization("O", None).await;
    let workspace = fixtures::workspace(store, context, organization).await;
    let before = Outcome::of(store, workspace).await;
    let package = everything(2, 1100);
    let new = package.job(context, organization, workspace);
    let (id, minter) = (new.id, new.minter);
    assert!(fixtures::create(store, new).await);
    let (mut stops, mut last) = (0, fixtures::job(store, context, id).await);
    while !last.status.is_finished() {
        let (stop, stopped) = watch::channel(false);
        let worker = Worker {
            task_context: task_context(&world),
            lease_seconds: 60,
            signal: WorkerSignal::default(),
        };
        let working = tokio::spawn(worker.run(stopped));
        let goes_on = async || {
            let job = fixtures::job(store, context, id).await;
            job.status.is_finished() || (job.phase, job.done) != (last.phase.clone(), last.done)
        };
        while !goes_on().await {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        stop.send(true).expect("hears");
        working.await.expect("ends");
        last = fixtures::job(store, context, id).await;
        assert_eq!(last.locked_until, None);
        stops += usize::from(!last.status.is_finished());
    }
    assert!(stops > 3, "{stops}");
    assert_eq!(last.status, Status::Completed, "{:?}", last.error);
    let (expected, report) = package.expected(before.state(), minter);
    let reported = last.report.as_deref().expect("a report");
    let reported = serde_json::from_str(reported).expect("a report");
    assert_eq!(plain(reported), plain(report));
    Outcome::of(store, workspace).await.is(&expected);
}

async fn a_job_that_cannot_be_done_says_why(place: Place) {
    let world = World::new(place).await;
    let World { store, context, .. } = &world;
    let workspace = fixtures::workspace(store, context, world.acme).await;
    let mut new = everything(1, 1).job(context, world.acme, workspace);
    new.parts[0] = PackedPart::pack("{}");
    let id = new.id;
    assert!(fixtures::create(store, new).await);
    let job = work(&world, id).await;
    assert_eq!((job.status, job.locked_until), (Status::Failed, None));
    let error: serde_json::Value =
        serde_json::from_str(job.error.as_deref().expect("an error")).expect("JSON");
    assert_eq!(error["code"], "internal");
    assert!(
        error["detail"]
            .as_str()
            .expect("text")
            .contains("apply the template again")
    );
}

/// Jobs of several templates choose names for one workspace at the same time.
async fn names_that_are_taken_meanwhile_are_chosen_anew(place: Place) {
    const JOBS: usize = 12;
    let world = World::new(place).await;
    let World { store, context, .. } = &world;
    let workspace = fixtures::workspace(store, context, world.acme).await;
    let package = everything(1, 1);
    let mut jobs = Vec::new();
    for _ in 0..JOBS {
        let new = package.job(context, world.acme, workspace);
        jobs.push(new.id);
        assert!(fixtures::create(store, new).await);
    }
    let (stop, stopped) = watch::channel(false);
    let workers = (0..JOBS).map(|_| {
        let worker = Worker {
            task_context: task_context(&world),
            lease_seconds: 60,
            signal: WorkerSignal::default(),
        };
        tokio::spawn(worker.run(stopped.clone()))
    });
    let workers: Vec<_> = workers.collect();
    let mut renamed = 0;
    for id in jobs {
        let job = finished(&world, id).await;
        assert_eq!(job.status, Status::Completed, "{:?}", job.error);
        let report = job.report.expect("a report");
        renamed += usize::from(!report.contains(r#""renamed":[]"#));
    }
    assert_eq!(renamed, JOBS - 1);
    stop.send(true).expect("hears");
    for worker in workers {
        worker.await.expect("ends");
    }
}
