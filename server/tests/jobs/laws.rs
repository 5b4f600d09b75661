//! Upgrades obey their laws on the stores as they do in memory: laws and triples are those of the test tools.
//!
//! `TPLKIT_CASES` says on how many triples each law is tried (a tenth of it, ten without), `TPLKIT_SEED` runs
//! one of them again.

use std::sync::atomic::AtomicBool;
use std::thread;

use tokio::runtime::Handle;
use tplkit::workspace::ledger::Entry;
use tplkit_server::jobs::{self, Destination, Lease, Undo, UndoResult};
use tplkit_server::store::{Scope, StoreError};
use tplkit_testkit::upgrades::{LAWS, Place as Workspace, Places, Triple, failure, hold};
use uuid::Uuid;

use super::fixtures;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(laws_of_upgrades_hold);

/// No job of a test takes an hour.
const LEASE_SECONDS: i64 = 3600;

/// A law holds futures of whole applies, which a build without optimization keeps on the stack.
const STACK: usize = 64 << 20;

/// The law that takes longest.
const KILLED: &str = "killed_it_ends_as_not_killed";

/// Workspaces of one store.
struct InStore {
    world: World,
}

/// One of them.
struct OneInStore<'w> {
    world: &'w World,
    organization: Uuid,
    workspace: Uuid,
    jobs: Vec<Lease>,
    open: Option<Destination>,
}

impl<'w> Places for &'w InStore {
    type Place = OneInStore<'w>;

    async fn fresh(&self) -> OneInStore<'w> {
        let World { store, context, .. } = &self.world;
        let organization = self.world.organization("O", None).await;
        OneInStore {
            world: &self.world,
            organization,
            workspace: fixtures::workspace(store, context, organization).await,
            jobs: Vec::new(),
            open: None,
        }
    }
}

impl Workspace for OneInStore<'_> {
    type Target = Destination;

    async fn begin(&mut self) -> usize {
        let World { store, context, .. } = self.world;
        let new = fixtures::new(context, self.organization, self.workspace);
        let id = new.id;
        assert!(fixtures::create(store, new).await);
        let lease = fixtures::taken(store, context, id, LEASE_SECONDS).await;
        self.jobs.push(lease);
        self.jobs.len() - 1
    }

    async fn open(&mut self, job: usize) -> &mut Destination {
        let lease = self.jobs[job].clone();
        let World {
            store,
            context,
            app,
            ..
        } = self.world;
        let opened = Destination::unrestricted(store, context, &app.tables, lease);
        self.open.insert(opened)
    }

    async fn undo(&mut self, job: usize) -> Result<(), String> {
        let World {
            store,
            context,
            app,
            ..
        } = self.world;
        let job = fixtures::job(store, context, self.jobs[job].job).await;
        let by = job.created_by.unwrap_or_default();
        let length = LEASE_SECONDS * 1_000_000;
        let begun = Undo::begin(store, context, &job, by, false, length).await;
        let undo = begun.expect("responds").expect("is free");
        let stop = AtomicBool::new(false);
        match undo.run(store, context, &app.tables, &stop).await {
            UndoResult::Done => Ok(()),
            other => Err(format!("no undo: {other:?}")),
        }
    }

    async fn ledger(&mut self, job: usize) -> Vec<Entry> {
        let of = (self.organization, self.jobs[job].job);
        let read = self.world.store.read(&Scope::Operator, of, |tx, of| {
            Box::pin(jobs::own(tx, of.0, of.1))
        });
        let read: Result<Vec<Entry>, StoreError> = read.await;
        read.expect("reads")
    }
}

async fn laws_of_upgrades_hold(place: Place) {
    let world = World::new(place).await;
    let handle = Handle::current();
    let hold = move || handle.block_on(hold_all(InStore { world }));
    let thread = thread::Builder::new().stack_size(STACK).spawn(hold);
    let held = thread.expect("a thread").join();
    assert!(held.is_ok(), "a law does not hold");
}

async fn hold_all(places: InStore) {
    let places = &places;
    let (first, count) = match number("TPLKIT_SEED") {
        Some(seed) => (seed, 1),
        None => (0, number("TPLKIT_CASES").unwrap_or(100).div_ceil(10)),
    };
    for seed in first..first + count {
        for law in LAWS {
            // It applies again and again, and is tried by hand on every unit of one upgrade besides.
            if law == KILLED && count > 1 && seed % 3 != 0 {
                continue;
            }
            let run = |triple: Triple| async move { Box::pin(hold(law, &places, &triple)).await };
            if let Some(wrong) = failure(&Triple::of(seed), run).await {
                panic!("{law}: TPLKIT_SEED={seed}: {wrong}");
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "says how much is tested")]
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
