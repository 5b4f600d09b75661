//! A fault at any step of the structure leaves the store as it was, to the last row.

use tplkit::apply::{JobHistory, ResolveInput, resolve};
use tplkit::check::Checked;
use tplkit::definitions::Definitions;
use tplkit::problem::Code;
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::{Change, CommitError, Progress, Source as _, Target as _, Unit};
use tplkit_server::store::{Row, Scope, Store, StoreError};
use tplkit_testkit::random::{Shape, workspace};

use super::fixtures;
use super::packages::Package;
use crate::api::world::World;
use crate::stores::{Place, of_a_test, on_both_stores};

on_both_stores!(a_fault_at_any_step_leaves_nothing);

const TABLES: [&str; 11] = [
    "SELECT count(*) FROM workspaces",
    "SELECT count(*) FROM modules",
    "SELECT count(*) FROM rails",
    "SELECT count(*) FROM features",
    "SELECT count(*) FROM columns",
    "SELECT count(*) FROM views",
    "SELECT count(*) FROM workflows",
    "SELECT count(*) FROM workflow_versions",
    "SELECT count(*) FROM row_values",
    "SELECT count(*) FROM row_counts",
    "SELECT count(*) FROM template_job_entries",
];

async fn lines(store: &Store) -> Vec<i64> {
    let counted = store.read(&Scope::Operator, (), |tx, ()| {
        Box::pin(async move {
            let mut lines = Vec::new();
            for sql in TABLES {
                let rows: Vec<Row> = tx.execute(&of_a_test(sql), &[]).await?;
                lines.push(rows[0].get(0)?);
            }
            Ok::<_, StoreError>(lines)
        })
    });
    counted.await.expect("counts")
}

async fn a_fault_at_any_step_leaves_nothing(place: Place) {
    let world = World::new(place).await;
    let World { store, context, .. } = &world;
    let here = fixtures::workspace(store, context, world.acme).await;
    let new = fixtures::new(context, world.acme, here);
    let (job, minter) = (new.id, new.minter);
    assert!(fixtures::create(store, new).await);
    let lease = fixtures::taken(store, context, job, 60).await;
    let mut target = fixtures::destination(store, context, lease).await;
    let package = Package::of(workspace(2, &Shape::closed()));
    let checked = Checked::trusted(&package.text).expect("reads");
    let before = (target.structure().await.expect("reads"), lines(store).await);
    let definitions = Definitions::embedded();
    let approved = resolve(
        ResolveInput {
            package: &checked,
            request: &package.request,
            destination: &before.0,
            past: JobHistory::default(),
            definitions,
        },
        minter,
    );
    let work = approved.expect("can be applied").structure;
    let unit = |changes: Vec<Change>| Unit {
        changes,
        entry: Some(Entry::Structure(work.entry.clone())),
        progress: Progress::default(),
        report: None,
    };
    let fault = Change::Publish {
        workflow: context.id(),
    };
    for at in 0..=work.changes.len() {
        let mut changes = work.changes.clone();
        changes.insert(at, fault.clone());
        match target.commit(unit(changes)).await {
            Err(CommitError::Refused(refused)) => assert_eq!(refused.code, Code::NotFound),
            other => panic!("{at}: {other:?}"),
        }
        let after = (target.structure().await.expect("reads"), lines(store).await);
        assert_eq!(after, before, "{at}");
    }
    let whole = unit(work.changes.clone());
    target.commit(whole).await.expect("is written");
    assert_ne!(lines(store).await, before.1);
}
