//! The store keeps the promises that the library asks of every workspace: the suite is the library's.

use std::sync::atomic::{AtomicU64, Ordering};

use tplkit_server::jobs::Destination;
use tplkit_testkit::contract::{Workspaces, all};

use super::fixtures;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(every_promise_is_kept);

/// Workspaces of one store, each with a job that has just been taken up.
struct InStore {
    world: World,
    number: AtomicU64,
}

impl Workspaces for InStore {
    type Target = Destination;

    async fn fresh(&self) -> Destination {
        let World { store, context, .. } = &self.world;
        let organization = self.world.organization("O", None).await;
        let workspace = fixtures::workspace(store, context, organization).await;
        let new = fixtures::new(context, organization, workspace);
        let id = new.id;
        assert!(fixtures::create(store, new).await);
        let lease = fixtures::taken(store, context, id, 60).await;
        fixtures::destination(store, context, lease).await
    }

    fn seed(&self) -> u64 {
        self.number.fetch_add(1, Ordering::Relaxed)
    }
}

async fn every_promise_is_kept(place: Place) {
    let world = World::new(place).await;
    let number = AtomicU64::new(1);
    let wrong = all(&InStore { world, number }).await;
    assert!(wrong.is_empty(), "{wrong:#?}");
}
