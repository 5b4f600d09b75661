//! Who may write for a job: one, and only as long as the lease lasts.

use std::time::Duration;

use serde_json::json;
use tplkit::apply::Request;
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::{
    Change, CommitError, Feature, New, Progress, Source as _, Target as _, Unit,
};
use tplkit_server::auth::Role;
use tplkit_server::context::Context;
use tplkit_server::ids::TemplateKey;
use tplkit_server::jobs::{self, Continuing, Status, take_any};
use tplkit_server::store::{Dialect, Scope, Store, StoreError};
use tplkit_server::workspace::ReadError;
use uuid::Uuid;

use super::fixtures;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    of_many_who_want_a_job_one_gets_it,
    an_organization_has_two_jobs_worked_on_at_a_time,
    one_unfinished_job_of_a_template_stands_in_a_workspace,
    an_attempt_whose_lease_is_over_writes_nothing,
    a_refused_unit_needs_the_lease_as_well,
    a_unit_that_nobody_waits_for_is_never_late,
    an_attempt_from_which_the_store_has_lost_units_writes_no_more,
    every_unit_renews_the_lease,
    every_unit_asks_for_the_right_of_who_asked,
    no_unit_is_written_by_what_its_creator_saw_before,
    a_job_reads_as_an_administrator_until_its_key_expires,
);

async fn asked_for(world: &World) -> Uuid {
    let World { store, context, .. } = world;
    let workspace = fixtures::workspace(store, context, world.acme).await;
    let new = fixtures::new(context, world.acme, workspace);
    let id = new.id;
    assert!(fixtures::create(store, new).await);
    id
}

/// Lets a second go by, on whichever clock leases go by.
async fn second(world: &World) {
    world.wait(1);
    if world.store.kind() == "postgres" {
        tokio::time::sleep(Duration::from_millis(1100)).await;
    }
}

fn unit(context: &Context) -> Unit {
    let id = context.id();
    let feature = Feature {
        id,
        name: format!("f{id}"),
        label: String::new(),
        config: tplkit::json::Object::new(),
        is_shared: false,
        columns: Vec::new(),
        views: Vec::new(),
    };
    Unit {
        changes: vec![Change::Create(New::Feature(feature))],
        entry: Some(Entry::Completed),
        progress: Progress {
            phase: "structure",
            done: 1,
            total: 1,
        },
        report: None,
    }
}

async fn an_organization_has_two_jobs_worked_on_at_a_time(place: Place) {
    let world = World::new(place).await;
    let World { store, context, .. } = &world;
    let mut ours = Vec::new();
    for _ in 0..4 {
        ours.push(asked_for(&world).await);
    }
    let workspace = fixtures::workspace(store, context, world.other).await;
    let new = fixtures::new(context, world.other, workspace);
    let theirs = new.id;
    assert!(fixtures::create(store, new).await);

    let take = || take_any(store, context, 60_000_000);
    let mut taken = Vec::new();
    for job in [ours[0], ours[1], theirs] {
        let (found, lease) = take().await.expect("the store works").expect("is free");
        assert_eq!(found.id, job);
        taken.push(lease);
    }
    // Two more wait: for whoever looks, in whichever process.
    assert!(take().await.expect("the store works").is_none());
    taken[2]
        .release(store, context, 0)
        .await
        .expect("the store works");
    let (found, _) = take().await.expect("the store works").expect("is free");
    assert_eq!(found.id, theirs);
    assert!(take().await.expect("the store works").is_none());

    let failed = taken[0].fail(store, context, "{}".to_owned()).await;
    failed.expect("the store works");
    let (found, _) = take().await.expect("the store works").expect("is free");
    assert_eq!(found.id, ours[2]);
    assert!(take().await.expect("the store works").is_none());
}

async fn of_many_who_want_a_job_one_gets_it(place: Place) {
    let world = World::new(place).await;
    let job = asked_for(&world).await;
    let World { store, context, .. } = &world;
    for round in 0..3 {
        let takers = (0..32).map(|_| {
            let (store, context) = (store.clone(), context.clone());
            tokio::spawn(async move { take_any(&store, &context, 1_000_000).await })
        });
        let takers: Vec<_> = takers.collect();
        let mut winners = Vec::new();
        for taker in takers {
            winners.extend(taker.await.expect("ends").expect("the store works"));
        }
        assert_eq!(winners.len(), 1, "{round}");
        assert_eq!(winners[0].0.id, job);
        assert_eq!(winners[0].0.status, Status::Structure);
        // Nobody gives it back, and so it is free when its time is over.
        second(&world).await;
    }
    let (_, lease) = take_any(store, context, 60_000_000)
        .await
        .expect("the store works")
        .expect("is free");
    let nobody = take_any(store, context, 60_000_000).await;
    assert!(nobody.expect("the store works").is_none());
    lease.release(store, context, 0).await.expect("is released");
    let again = take_any(store, context, 60_000_000).await;
    assert!(again.expect("the store works").is_some());
}

async fn one_unfinished_job_of_a_template_stands_in_a_workspace(place: Place) {
    let world = World::new(place).await;
    let World { store, context, .. } = &world;
    let workspace = fixtures::workspace(store, context, world.acme).await;
    let new = || fixtures::new(context, world.acme, workspace);
    let (first, mut second) = (new(), new());
    let template = first.template;
    second.template = template;
    assert!(fixtures::create(store, first).await);
    assert!(!fixtures::create(store, second).await);
    // Of another template, or elsewhere.
    assert!(fixtures::create(store, new()).await);
    let elsewhere = fixtures::workspace(store, context, world.acme).await;
    let mut other = fixtures::new(context, world.acme, elsewhere);
    other.template = template;
    assert!(fixtures::create(store, other).await);
    let key = TemplateKey {
        organization: world.acme,
        workspace,
        template,
    };
    let input = (key, Request::default(), context.now());
    let found = store.read(&Scope::Operator, input, |tx, (key, request, now)| {
        Box::pin(jobs::unfinished(tx, *key, Continuing::New(request), *now))
    });
    let found: Result<_, StoreError> = found.await;
    let found = found.expect("reads").expect("is there");
    assert_eq!((found.template, found.held), (template, false));
}

async fn an_attempt_whose_lease_is_over_writes_nothing(place: Place) {
    let world = World::new(place).await;
    let World { store, context, .. } = &world;
    let job = asked_for(&world).await;
    let slow = fixtures::taken(store, context, job, 1).await;
    let mut slow = fixtures::destination(store, context, slow).await;
    slow.commit(unit(context)).await.expect("is written");
    let before = slow.structure().await.expect("reads");
    second(&world).await;
    // Nobody else has taken it yet.
    let late = slow.commit(unit(context)).await;
    assert!(matches!(late, Err(CommitError::Fenced)), "{late:?}");
    let renewed = slow
        .lease()
        .renew(store, context)
        .await
        .expect("the store works");
    assert!(!renewed);
    let quick = fixtures::taken(store, context, job, 60).await;
    let mut quick = fixtures::destination(store, context, quick).await;
    let late = slow.commit(unit(context)).await;
    assert!(matches!(late, Err(CommitError::Fenced)), "{late:?}");
    // It lets go of nothing that is not its own, and says nothing about it.
    let lease = slow.lease();
    lease
        .release(store, context, 0)
        .await
        .expect("the store works");
    let failed = lease.fail(store, context, "{}".to_owned()).await;
    failed.expect("the store works");
    assert_eq!(slow.structure().await.expect("reads"), before);
    assert_eq!(slow.ledger().await.expect("reads").len(), 1);
    quick.commit(unit(context)).await.expect("is written");
    let known = fixtures::job(store, context, job).await;
    assert_eq!((known.status, known.held), (Status::Structure, true));
}

async fn a_refused_unit_needs_the_lease_as_well(place: Place) {
    let world = World::new(place).await;
    let World { store, context, .. } = &world;
    let job = asked_for(&world).await;
    let lease = fixtures::taken(store, context, job, 60).await;
    let mut target = fixtures::destination(store, context, lease).await;
    let written = target.commit(unit(context)).await;
    written.expect("is written");
    let refused = Unit {
        changes: vec![Change::Publish {
            workflow: context.id(),
        }],
        ..unit(context)
    };
    let outcome = target.commit(refused.clone()).await;
    assert!(
        matches!(outcome, Err(CommitError::Refused(_))),
        "{outcome:?}"
    );
    let before = target.structure().await.expect("reads");
    let released = target.lease().release(store, context, 0).await;
    released.expect("is released");
    // Whether it could be written or not.
    for unit in [unit(context), refused] {
        let late = target.commit(unit).await;
        assert!(matches!(late, Err(CommitError::Fenced)), "{late:?}");
    }
    assert_eq!(target.structure().await.expect("reads"), before);
    assert_eq!(target.ledger().await.expect("reads").len(), 1);
}

/// Whoever gives a job back perhaps has a unit in flight, and nobody hears of it any more: it is written
/// before the job is somebody else's, or never.
async fn a_unit_that_nobody_waits_for_is_never_late(place: Place) {
    let world = World::new(place).await;
    let World { store, context, .. } = &world;
    let job = asked_for(&world).await;
    let mut written = 0;
    for round in 0..40 {
        let lease = fixtures::taken(store, context, job, 60).await;
        let mut slow = fixtures::destination(store, context, lease.clone()).await;
        let late = unit(context);
        let written_late = tokio::spawn(async move { slow.commit(late).await });
        for _ in 0..round {
            tokio::task::yield_now().await;
        }
        written_late.abort();
        lease.release(store, context, 0).await.expect("is released");
        let lease = fixtures::taken(store, context, job, 60).await;
        let mut quick = fixtures::destination(store, context, lease).await;
        let known = quick.ledger().await.expect("reads").len();
        assert!((written..=written + 1).contains(&known), "{known}");
        for _ in 0..2 {
            // It would get entries that it does not know.
            quick.commit(unit(context)).await.expect("is written");
        }
        written = known + 2;
        let entries = quick.ledger().await.expect("reads").len();
        assert_eq!(entries, written, "in round {round}");
        let tables = quick.structure().await.expect("reads").features.len();
        assert_eq!(tables, written, "in round {round}");
        let released = quick.lease().release(store, context, 0).await;
        released.expect("is released");
    }
}

/// Units of rows may be lost with the database they were written to, while the process that wrote them goes
/// on: what it believes to be there has to be there.
async fn an_attempt_from_which_the_store_has_lost_units_writes_no_more(place: Place) {
    let world = World::new(place).await;
    let World { store, context, .. } = &world;
    let job = asked_for(&world).await;
    let lease = fixtures::taken(store, context, job, 60).await;
    let mut target = fixtures::destination(store, context, lease).await;
    assert_eq!(target.ledger().await.expect("reads").len(), 0);
    for _ in 0..2 {
        target.commit(unit(context)).await.expect("is written");
    }
    let forget = store.write(&Scope::Operator, job, |tx, job| {
        Box::pin(async move {
            let sql = "UPDATE main.template_jobs SET entries = entries - 1 WHERE id = $1 {across test}";
            tx.query(sql, &[(*job).into()]).await?;
            let sql = "DELETE FROM main.template_job_entries WHERE job_id = $1 AND number = 1 {across test}";
            tx.query(sql, &[(*job).into()]).await.map(drop)
        })
    });
    let forgotten: Result<(), StoreError> = forget.await;
    forgotten.expect("is forgotten");
    let before = target.structure().await.expect("reads");
    let next = target.commit(unit(context)).await;
    let Err(CommitError::Store(ReadError::Store(StoreError::Unavailable(why)))) = next else {
        panic!("{next:?}");
    };
    assert!(why.contains("1 of the 2 entries"), "{why}");
    assert_eq!(target.structure().await.expect("reads"), before);
    // Whoever reads the ledger again goes on from there.
    assert_eq!(target.ledger().await.expect("reads").len(), 1);
    target.commit(unit(context)).await.expect("is written");
}

async fn every_unit_renews_the_lease(place: Place) {
    let world = World::new(place).await;
    let World { store, context, .. } = &world;
    let job = asked_for(&world).await;
    let lease = fixtures::taken(store, context, job, 60).await;
    let mut target = fixtures::destination(store, context, lease).await;
    let until = async || {
        let job = fixtures::job(store, context, job).await;
        job.locked_until.expect("is held")
    };
    let mut before = until().await;
    for _ in 0..3 {
        world.wait(1);
        target.commit(unit(context)).await.expect("is written");
        let now = until().await;
        assert!(now > before);
        before = now;
    }
    if store.kind() == "sqlite" {
        assert_eq!(before, context.now() + 60_000_000);
    }
    // A unit that is refused renews nothing.
    let refused = Unit {
        changes: vec![Change::Publish {
            workflow: context.id(),
        }],
        ..unit(context)
    };
    world.wait(1);
    let refused = target.commit(refused).await;
    assert!(matches!(refused, Err(CommitError::Refused(_))));
    assert_eq!(until().await, before);
}

/// On the store with one writer nobody gets between a unit and its end; there it is enough that the lease
/// lasts at its beginning.
#[test]
fn a_lease_is_renewed_while_a_unit_is_written() {
    crate::stores::run(Place::postgres(), async |place: Place| {
        let world = World::new(place).await;
        let World { store, context, .. } = &world;
        let job = asked_for(&world).await;
        let lease = fixtures::taken(store, context, job, 60).await;
        let mut target = fixtures::destination(store, context, lease.clone()).await;
        let workspace = lease.workspace;
        // The unit has begun and waits for somebody who holds the workspace.
        let held = hold(store.clone(), workspace);
        tokio::time::sleep(Duration::from_millis(200)).await;
        let writing = tokio::spawn({
            let unit = unit(context);
            async move { target.commit(unit).await.map_err(|error| error.to_string()) }
        });
        tokio::time::sleep(Duration::from_millis(300)).await;
        let before = fixtures::job(store, context, job).await.locked_until;
        assert!(lease.renew(store, context).await.expect("the store works"));
        assert!(fixtures::job(store, context, job).await.locked_until > before);
        assert!(!writing.is_finished(), "it did not wait");
        held.await.expect("ends");
        writing.await.expect("ends").expect("is written");
    });
}

/// What stands in the way of a unit may have been written by whoever took the job over meanwhile: that is no
/// refusal, which would stand in a report.
#[test]
fn a_unit_that_is_refused_after_its_lease_is_nobodys_news() {
    crate::stores::run(Place::postgres(), async |place: Place| {
        let world = World::new(place).await;
        let World { store, context, .. } = &world;
        let job = asked_for(&world).await;
        let lease = fixtures::taken(store, context, job, 60).await;
        let mut target = fixtures::destination(store, context, lease.clone()).await;
        let mut refused = unit(context);
        refused.changes.push(Change::Publish {
            workflow: context.id(),
        });
        // The unit has begun, and waits before it comes to what is refused.
        let held = hold(store.clone(), lease.workspace);
        tokio::time::sleep(Duration::from_millis(200)).await;
        let late = tokio::spawn(async move { target.commit(refused).await });
        tokio::time::sleep(Duration::from_millis(300)).await;
        lease.release(store, context, 0).await.expect("is released");
        held.await.expect("ends");
        let late = late.await.expect("ends");
        assert!(matches!(late, Err(CommitError::Fenced)), "{late:?}");
    });
}

/// Holds the row of a workspace for a second.
fn hold(store: Store, workspace: Uuid) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        let held = store.write(&Scope::Operator, workspace, |tx, workspace| {
            Box::pin(async move {
                assert_eq!(tx.dialect()?, Dialect::Postgres);
                let sql = "SELECT id FROM workspaces WHERE id = $1 {lock} {across test}";
                tx.query(sql, &[(*workspace).into()]).await?;
                tokio::time::sleep(Duration::from_secs(1)).await;
                Ok::<_, StoreError>(())
            })
        });
        held.await.expect("is held");
    })
}

/// Between two units somebody may have been removed from the organization.
async fn every_unit_asks_for_the_right_of_who_asked(place: Place) {
    let world = World::new(place).await;
    let World { store, context, .. } = &world;
    world.person("starter@acme.test").await;
    let starter = world
        .member(world.acme, "starter@acme.test", Role::Editor)
        .await;
    let workspace = fixtures::workspace(store, context, world.acme).await;
    let new = jobs::New {
        creator: starter,
        ..fixtures::new(context, world.acme, workspace)
    };
    let job = new.id;
    assert!(fixtures::create(store, new).await);
    let lease = fixtures::taken(store, context, job, 60).await;
    let target = fixtures::destination(store, context, lease.clone()).await;
    let mut target = target.asking_right();
    target.commit(unit(context)).await.expect("is written");
    let owner = world.as_user("owner@acme.test");
    owner
        .delete(&world.path(&format!("/members/{starter}")))
        .expect(204);
    let written = target.structure().await.expect("reads").features.len();
    let refused = target.commit(unit(context)).await;
    assert!(
        matches!(refused, Err(CommitError::Store(ReadError::Forbidden))),
        "{refused:?}"
    );
    // What it wrote can be taken back all the same.
    let mut other = fixtures::destination(store, context, lease).await;
    assert_eq!(
        other.structure().await.expect("reads").features.len(),
        written
    );
    other.commit(unit(context)).await.expect("is written");
}

/// What is kept from who asked, and what they may decide, holds for the next unit, not for the next attempt alone.
async fn no_unit_is_written_by_what_its_creator_saw_before(place: Place) {
    let world = World::new(place).await;
    let World { store, context, .. } = &world;
    let owner = world.as_user("owner@acme.test");
    world.person("starter@acme.test").await;
    let starter = world
        .member(world.acme, "starter@acme.test", Role::Editor)
        .await;
    let elsewhere = fixtures::workspace(store, context, world.acme).await;
    let table = json!({"workspace_id": elsewhere, "label": "Customers"});
    let table = owner.create("/v1/features", &table);
    let workspace = fixtures::workspace(store, context, world.acme).await;
    let new = jobs::New {
        creator: starter,
        ..fixtures::new(context, world.acme, workspace)
    };
    let job = new.id;
    assert!(fixtures::create(store, new).await);
    let lease = fixtures::taken(store, context, job, 60).await;
    let table = format!("/v1/features/{}", table["id"].as_str().expect("an id"));
    let changes = [
        (table, json!({"config": {"rowAccess": "own"}})),
        (
            format!("/v1/workspaces/{elsewhere}"),
            json!({"access": "members"}),
        ),
        (
            world.path(&format!("/members/{starter}")),
            json!({"role": "admin"}),
        ),
    ];
    for (path, change) in &changes {
        let target = fixtures::destination(store, context, lease.clone()).await;
        let mut target = target.asking_right();
        target.commit(unit(context)).await.expect("is written");
        let written = target.structure().await.expect("reads").features.len();
        owner.patch(path, change).expect(200);
        let refused = target.commit(unit(context)).await;
        assert!(
            matches!(refused, Err(CommitError::Store(ReadError::RightsChanged))),
            "{path}: {refused:?}"
        );
        let features = target.structure().await.expect("reads").features;
        assert_eq!(features.len(), written, "{path}");
    }
    // Whoever begins anew goes by what holds now.
    let target = fixtures::destination(store, context, lease).await;
    let written = target.asking_right().commit(unit(context)).await;
    written.expect("is written");
}

/// A key is as good as deleted once it has expired: for what its job reads, too.
async fn a_job_reads_as_an_administrator_until_its_key_expires(place: Place) {
    let world = World::new(place).await;
    let World { store, context, .. } = &world;
    let workspace = fixtures::workspace(store, context, world.acme).await;
    let key = context.id();
    let expires_at = context.now() + 30_000_000;
    let made = store.write(
        &Scope::Operator,
        (world.acme, key, expires_at),
        |tx, (organization, key, expires_at)| {
            Box::pin(async move {
                let sql = "INSERT INTO main.api_keys {into $1} (organization_id, id, name, scopes, prefix, \
                     secret_hash, expires_at, created_at) \
                     VALUES ($1, $2, 'k', 'write,structure', 'p', $3, $4, 0)";
                let parameters = [
                    (*organization).into(),
                    (*key).into(),
                    [7; 32].into(),
                    (*expires_at).into(),
                ];
                tx.query(sql, &parameters).await.map(drop)
            })
        },
    );
    let made: Result<(), StoreError> = made.await;
    made.expect("a key");
    let new = jobs::New {
        creator: key,
        ..fixtures::new(context, world.acme, workspace)
    };
    let job = new.id;
    assert!(fixtures::create(store, new).await);
    let lease = fixtures::taken(store, context, job, 3600).await;
    for expired in [false, true] {
        let target = fixtures::destination(store, context, lease.clone()).await;
        let found = target.structure().await.expect("reads");
        assert_eq!(found.row_access_stays, expired);
        world.wait(31);
    }
}
