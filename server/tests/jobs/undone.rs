//! An undo goes on in units, whoever dies on the way, and leaves nothing of the job.

use std::sync::atomic::AtomicBool;

use tokio::sync::watch;
use tplkit::apply::UndoError;
use tplkit::problem::Code;
use tplkit_server::background::TaskContext;
use tplkit_server::jobs::{Job, Status, Undo, UndoResult, Worker, take_any};
use tplkit_server::wake::WorkerSignal;
use uuid::Uuid;

use super::fixtures;
use super::outcome::Outcome;
use super::packages::{Package, everything};
use crate::api::rows::search::assert_index_is_complete;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    an_undo_that_is_left_after_each_unit_leaves_nothing,
    an_undo_that_was_begun_and_not_decided_goes_on,
    an_attempt_that_has_lost_its_lease_takes_nothing_away,
    an_undo_that_is_refused_leaves_the_job_as_it_was,
    an_undo_without_room_for_rows_that_come_back_loses_none,
    rows_of_a_job_are_in_the_index_of_searched_cells_until_it_is_undone,
);

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

/// Lets workers go on until a job is over.
async fn work(world: &World, job: Uuid) -> Job {
    let (stop, stopped) = watch::channel(false);
    let worker = Worker {
        task_context: task_context(world),
        lease_seconds: 60,
        signal: WorkerSignal::default(),
    };
    let working = tokio::spawn(worker.run(stopped));
    let done = loop {
        let found = fixtures::job(&world.store, &world.context, job).await;
        if found.status.is_finished() {
            break found;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    };
    stop.send(true).expect("hears");
    working.await.expect("ends");
    done
}

/// A job that has written more than two units, and what was there before it.
async fn applied(world: &World) -> (Job, Outcome) {
    applied_package(world, &everything(4, 1100)).await
}

async fn applied_package(world: &World, package: &Package) -> (Job, Outcome) {
    let World { store, context, .. } = world;
    let organization = world.organization("O", None).await;
    let workspace = fixtures::workspace(store, context, organization).await;
    let before = Outcome::of(store, workspace).await;
    let new = package.job(context, organization, workspace);
    let id = new.id;
    assert!(fixtures::create(store, new).await);
    let job = work(world, id).await;
    assert_eq!(job.status, Status::Completed, "{:?}", job.error);
    (job, before)
}

async fn begun(world: &World, job: &Job, force: bool) -> Undo {
    let by = job.created_by.unwrap_or_default();
    let begun = Undo::begin(&world.store, &world.context, job, by, force, 60_000_000).await;
    begun.expect("the store works").expect("is free")
}

async fn run(world: &World, undo: &Undo, stops: bool) -> UndoResult {
    let stops = AtomicBool::new(stops);
    undo.run(&world.store, &world.context, &world.app.tables, &stops)
        .await
}

async fn is_undone(world: &World, job: &Job, before: &Outcome) {
    let now = fixtures::job(&world.store, &world.context, job.id).await;
    assert_eq!(
        (now.status, now.locked_until, now.report),
        (Status::Undone, None, job.report.clone())
    );
    assert_eq!(now.done, now.total);
    assert_eq!(&Outcome::of(&world.store, job.workspace).await, before);
}

async fn an_undo_that_is_left_after_each_unit_leaves_nothing(place: Place) {
    let world = World::new(place).await;
    let World { store, context, .. } = &world;
    let (job, before) = applied(&world).await;
    let mut undo = begun(&world, &job, false).await;
    let mut units = 1;
    loop {
        let ended = run(&world, &undo, true).await;
        if !matches!(ended, UndoResult::Paused) {
            assert!(matches!(ended, UndoResult::Done), "{ended:?}");
            break;
        }
        let now = fixtures::job(store, context, job.id).await;
        assert_eq!((now.status, now.phase.as_str()), (Status::Undoing, "undo"));
        assert_eq!(now.done, 2000 * units);
        // Half of it is gone: there is no way back.
        assert!(!undo.give_up(store).await.expect("the store works"));
        undo.lease
            .release(store, context, 0)
            .await
            .expect("is free");
        let taken = take_any(store, context, 60_000_000).await;
        let (taken, lease) = taken.expect("the store works").expect("is free");
        assert_eq!((taken.id, taken.status), (job.id, Status::Undoing));
        undo = Undo::resume(store, lease).await.expect("goes on");
        units += 1;
    }
    assert!(units > 2, "{units}");
    undo.lease
        .release(store, context, 0)
        .await
        .expect("is free");
    is_undone(&world, &job, &before).await;
}

async fn rows_of_a_job_are_in_the_index_of_searched_cells_until_it_is_undone(place: Place) {
    let world = World::new(place).await;
    let mut package = everything(2, 700);
    package.search_texts();
    let (job, _) = applied_package(&world, &package).await;
    let lines = async || -> i64 {
        let rows = world.sql("SELECT count(*) FROM row_search", vec![]).await;
        rows[0].get(0).expect("a number")
    };
    assert!(lines().await >= 1_400, "{}", lines().await);
    assert_index_is_complete(&world).await;
    let undo = begun(&world, &job, false).await;
    let ended = run(&world, &undo, false).await;
    assert!(matches!(ended, UndoResult::Done), "{ended:?}");
    let emptied = tplkit_server::rows::empty_search(&world.store).await;
    emptied.expect("empties");
    assert_eq!(lines().await, 0);
}

/// Whoever asked died before anything was gone: a worker decides.
async fn an_undo_that_was_begun_and_not_decided_goes_on(place: Place) {
    let world = World::new(place).await;
    let World { store, context, .. } = &world;
    let (job, before) = applied(&world).await;
    let undo = begun(&world, &job, false).await;
    undo.lease
        .release(store, context, 0)
        .await
        .expect("is free");
    work(&world, job.id).await;
    is_undone(&world, &job, &before).await;
}

async fn an_attempt_that_has_lost_its_lease_takes_nothing_away(place: Place) {
    let world = World::new(place).await;
    let World { store, context, .. } = &world;
    let (job, before) = applied(&world).await;
    let slow = begun(&world, &job, false).await;
    // Nobody else takes a job that is held.
    let taken = take_any(store, context, 60_000_000).await;
    assert!(taken.expect("the store works").is_none());
    slow.lease
        .release(store, context, 0)
        .await
        .expect("is free");
    let taken = take_any(store, context, 60_000_000).await;
    let (_, lease) = taken.expect("the store works").expect("is free");
    let there = Outcome::of(store, job.workspace).await;
    let ended = run(&world, &slow, false).await;
    assert!(matches!(ended, UndoResult::Fenced), "{ended:?}");
    assert!(!slow.give_up(store).await.expect("the store works"));
    assert_eq!(Outcome::of(store, job.workspace).await, there);
    let quick = Undo::resume(store, lease).await.expect("goes on");
    assert!(matches!(run(&world, &quick, false).await, UndoResult::Done));
    quick
        .lease
        .release(store, context, 0)
        .await
        .expect("is free");
    is_undone(&world, &job, &before).await;
}

/// The row that somebody edited would go in the last unit of rows.
async fn an_undo_that_is_refused_leaves_the_job_as_it_was(place: Place) {
    let world = World::new(place).await;
    let World { store, context, .. } = &world;
    let (job, before) = applied(&world).await;
    let sql = "UPDATE main.rows SET data = {json $2} WHERE id IN \
         (SELECT id FROM rows WHERE workspace_id = $1 ORDER BY id LIMIT 1)";
    let parameters = vec![job.workspace.into(), r#"{"mine":true}"#.into()];
    world.sql(sql, parameters).await;
    let there = Outcome::of(store, job.workspace).await;
    let job = fixtures::job(store, context, job.id).await;
    let undo = begun(&world, &job, false).await;
    let ended = run(&world, &undo, false).await;
    assert!(matches!(ended, UndoResult::Refused(_)), "{ended:?}");
    assert!(undo.give_up(store).await.expect("the store works"));
    assert_eq!(fixtures::job(store, context, job.id).await, job);
    assert_eq!(Outcome::of(store, job.workspace).await, there);
    // A worker that finds it so comes to the same.
    let undo = begun(&world, &job, false).await;
    undo.lease
        .release(store, context, 0)
        .await
        .expect("is free");
    assert_eq!(work(&world, job.id).await.status, Status::Completed);
    assert_eq!(Outcome::of(store, job.workspace).await, there);
    let undo = begun(&world, &job, true).await;
    undo.lease
        .release(store, context, 0)
        .await
        .expect("is free");
    work(&world, job.id).await;
    is_undone(&world, &job, &before).await;
}

/// Before the first unit they refuse it; once it has begun, it waits.
async fn an_undo_without_room_for_rows_that_come_back_loses_none(place: Place) {
    let world = World::new(place).await;
    let World { store, context, .. } = &world;
    let (job, before) = applied(&world).await;
    let sql = "SELECT id FROM features WHERE workspace_id = $1 ORDER BY id LIMIT 1";
    let tables = world.sql(sql, vec![job.workspace.into()]).await;
    let feature: Uuid = tables[0].get(0).expect("an id");
    world.has_taken(job.id, feature, 3000).await;
    let job = fixtures::job(store, context, job.id).await;
    let rows = async || -> i64 {
        let sql = "SELECT count(*) FROM rows WHERE workspace_id = $1";
        let counted = world.sql(sql, vec![job.workspace.into()]).await;
        counted[0].get(0).expect("a number")
    };
    let limit = async |quota: i64| {
        let sql = "UPDATE main.organizations SET row_quota = $2 WHERE id = $1";
        let parameters = vec![job.organization.into(), quota.into()];
        world.sql(sql, parameters).await;
    };
    let there = rows().await;
    limit(there + 2999).await;
    let undo = begun(&world, &job, false).await;
    let ended = run(&world, &undo, false).await;
    let UndoResult::Refused(UndoError::Refused { code, .. }) = ended else {
        panic!("{ended:?}");
    };
    assert_eq!(code, Code::QuotaExceeded);
    assert!(undo.give_up(store).await.expect("the store works"));
    assert_eq!(fixtures::job(store, context, job.id).await, job);
    assert_eq!(rows().await, there);

    limit(there + 3000).await;
    let undo = begun(&world, &job, false).await;
    let ended = run(&world, &undo, true).await;
    assert!(matches!(ended, UndoResult::Paused), "{ended:?}");
    assert_eq!(rows().await, there + 2000);
    limit(there + 2500).await;
    let ended = run(&world, &undo, false).await;
    let UndoResult::Waiting(detail) = ended else {
        panic!("{ended:?}");
    };
    assert_eq!(rows().await, there + 2000);
    let waits = undo.wait(store, context, &detail, 0).await;
    waits.expect("the store works");
    let now = fixtures::job(store, context, job.id).await;
    assert_eq!(now.status, Status::Undoing);
    let error = format!("{:?}", now.error);
    assert!(error.contains("quota_exceeded"), "{error}");

    limit(there + 3000).await;
    let taken = take_any(store, context, 60_000_000).await;
    let (_, lease) = taken.expect("the store works").expect("is free");
    let undo = Undo::resume(store, lease).await.expect("goes on");
    let ended = run(&world, &undo, false).await;
    assert!(matches!(ended, UndoResult::Done), "{ended:?}");
    undo.lease
        .release(store, context, 0)
        .await
        .expect("is free");
    is_undone(&world, &job, &before).await;
    let now = fixtures::job(store, context, job.id).await;
    assert_eq!(format!("{:?}", now.error), "None");
}
