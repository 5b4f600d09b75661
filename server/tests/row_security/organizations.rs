//! Either layer alone keeps organizations apart, for every table and every kind of statement.

use tplkit_server::store::{Isolation, Row, Scope, StoreError};
use uuid::Uuid;

use super::seed::{
    NONE, ONLY_FIRST, ONLY_SECOND, OURS, THEIRS, caller, of, run, seed, seed_again, seen, user,
    workspace,
};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    either_layer_alone_hides_every_row,
    either_layer_alone_protects_every_row,
    a_caller_writes_nothing_into_another_organization,
);

pub(super) const READS: [&str; 38] = [
    "SELECT id FROM organizations WHERE {tenant id}",
    "SELECT organization_id FROM memberships WHERE {tenant organization_id}",
    "SELECT organization_id FROM workspaces WHERE {tenant organization_id}",
    "SELECT organization_id FROM workspace_members WHERE {tenant organization_id}",
    "SELECT organization_id FROM api_keys WHERE {tenant organization_id}",
    "SELECT organization_id FROM modules WHERE {tenant organization_id}",
    "SELECT organization_id FROM rails WHERE {tenant organization_id}",
    "SELECT organization_id FROM features WHERE {tenant organization_id}",
    "SELECT organization_id FROM views WHERE {tenant organization_id}",
    "SELECT organization_id FROM columns WHERE {tenant organization_id}",
    "SELECT organization_id FROM rows WHERE {tenant organization_id}",
    "SELECT organization_id FROM {whole rows} WHERE {tenant organization_id}",
    "SELECT organization_id FROM {counted rows} WHERE {tenant organization_id}",
    "SELECT organization_id FROM row_values WHERE {tenant organization_id}",
    "SELECT organization_id FROM row_search WHERE {tenant organization_id}",
    "SELECT organization_id FROM row_counts WHERE {tenant organization_id}",
    "SELECT organization_id FROM channels WHERE {tenant organization_id}",
    "SELECT organization_id FROM connections WHERE {tenant organization_id}",
    "SELECT organization_id FROM workflows WHERE {tenant organization_id}",
    "SELECT organization_id FROM workflow_versions WHERE {tenant organization_id}",
    "SELECT organization_id FROM templates WHERE {tenant organization_id}",
    "SELECT organization_id FROM template_payloads WHERE {tenant organization_id}",
    "SELECT organization_id FROM template_jobs WHERE {tenant organization_id}",
    "SELECT organization_id FROM template_job_parts WHERE {tenant organization_id}",
    "SELECT organization_id FROM template_job_entries WHERE {tenant organization_id}",
    "SELECT organization_id FROM workflow_watchers WHERE {tenant organization_id}",
    "SELECT organization_id FROM workflow_events WHERE {tenant organization_id}",
    "SELECT organization_id FROM workflow_schedules WHERE {tenant organization_id}",
    "SELECT organization_id FROM workflow_runs WHERE {tenant organization_id}",
    "SELECT organization_id FROM run_chains WHERE {tenant organization_id}",
    "SELECT organization_id FROM workflow_steps WHERE {tenant organization_id}",
    "SELECT organization_id FROM notifications WHERE {tenant organization_id}",
    "SELECT organization_id FROM file_objects WHERE {tenant organization_id}",
    "SELECT organization_id FROM files WHERE {tenant organization_id}",
    "SELECT organization_id FROM file_uses WHERE {tenant organization_id}",
    "SELECT organization_id FROM file_holds WHERE {tenant organization_id}",
    // Through a join and a subselect.
    "SELECT r.organization_id FROM features f LEFT JOIN rows r ON r.organization_id = f.organization_id \
     AND r.feature_id = f.id WHERE {tenant f.organization_id}",
    "SELECT m.organization_id FROM memberships m JOIN workspaces w ON w.organization_id = m.organization_id \
     WHERE {tenant m.organization_id} AND EXISTS (SELECT 1 FROM api_keys k WHERE k.organization_id = w.organization_id)",
];

async fn either_layer_alone_hides_every_row(place: Place) {
    seed(&place).await;
    for isolation in [Isolation::BOTH, ONLY_FIRST, ONLY_SECOND] {
        let store = place.open_without(isolation).await;
        for sql in READS {
            assert_eq!(seen(&store, sql).await, [OURS], "{isolation:?} {sql}");
        }
        let person = "SELECT id FROM users WHERE {caller id}";
        assert_eq!(seen(&store, person).await, [user(OURS)], "{isolation:?}");
    }
    let store = place.open_without(NONE).await;
    for sql in READS {
        assert_eq!(
            seen(&store, sql).await.len(),
            2,
            "the test sees a leak: {sql}"
        );
    }
}

const WRITES: [&str; 60] = [
    "UPDATE main.file_objects SET size = 2 WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.files SET name = 'new' WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.file_uses SET created_at = 1 WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.file_holds SET created_at = 1 WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.file_holds WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.file_uses WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.files WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.file_objects WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.workflow_watchers SET version = 2 WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.workflow_events SET depth = 2 WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.workflow_schedules SET since = 1 WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.workflow_runs SET depth = 2 WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.run_chains SET caused = 2 WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.workflow_steps SET number = 2 WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.notifications SET title = 'new' WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.workflow_watchers WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.workflow_events WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.workflow_schedules WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.workflow_steps WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.run_chains WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.workflow_runs WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.notifications WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.organizations SET label = 'new' WHERE {tenant id} RETURNING id",
    "UPDATE main.memberships SET role = 'viewer' WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.workspaces SET label = 'new' WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.workspace_members SET created_at = 1 WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.api_keys SET name = 'new' WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.modules SET label = 'new' WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.rails SET label = 'new' WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.features SET version = 2 WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.views SET label = 'new' WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.columns SET slot = 1 WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.rows SET updated_at = 1 WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.row_values SET row_id = column_id WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.row_search SET digest = 2 WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.row_search WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.row_counts SET count = 2 WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.row_values WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.row_counts WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.rails WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.views WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.columns WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.rows WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.api_keys WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.workflows SET last_version = 2 WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.workflow_versions SET name = 'new' WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.templates SET name = 'new' WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.template_payloads SET position = 2 WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.template_jobs SET done = 1 WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.template_job_parts SET number = 1 WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.template_job_entries SET entry = 'new' WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.template_job_entries WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.template_job_parts WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.template_jobs WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.template_payloads WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.templates WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.workflow_versions WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.workflows WHERE {tenant organization_id} RETURNING organization_id",
    // With what hangs on it.
    "DELETE FROM main.workspaces WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.memberships WHERE {tenant organization_id} RETURNING organization_id",
];

async fn either_layer_alone_protects_every_row(place: Place) {
    let everything = "SELECT organization_id FROM memberships ORDER BY organization_id";
    for isolation in [ONLY_FIRST, ONLY_SECOND] {
        seed_again(&place).await;
        let store = place.open_without(isolation).await;
        for sql in WRITES {
            assert_eq!(seen(&store, sql).await, [OURS], "{isolation:?} {sql}");
        }
        let left = run(&store, &Scope::Operator, everything, vec![])
            .await
            .expect("reads");
        let left: Vec<Uuid> = left.iter().map(|row| row.get(0).expect("an id")).collect();
        assert_eq!(left, [THEIRS]);
        for sql in READS {
            let left = run(&store, &Scope::Operator, sql, vec![]).await.expect(sql);
            let theirs = |row: &Row| row.get::<Uuid>(0) == Ok(THEIRS);
            assert!(left.iter().any(theirs), "{isolation:?} {sql}");
        }
    }
}

async fn a_caller_writes_nothing_into_another_organization(place: Place) {
    seed(&place).await;
    let insert = "INSERT INTO main.workspaces {into $1} (organization_id, id, name, label, access, config, created_at, updated_at) \
         VALUES ($1, $2, 'mine', 'w', 'organization', 'x', 0, 0)";
    let moved = "UPDATE main.workspaces SET organization_id = $1 WHERE {tenant organization_id} AND id = $2";
    for (isolation, outside) in [(ONLY_FIRST, true), (ONLY_SECOND, false)] {
        let store = place.open_without(isolation).await;
        let refused = run(
            &store,
            &caller(),
            insert,
            vec![THEIRS.into(), of(THEIRS, 9).into()],
        )
        .await;
        match refused {
            Err(StoreError::OutOfScope) => assert!(outside, "{isolation:?}"),
            Err(StoreError::Denied(_)) => assert!(!outside, "{isolation:?}"),
            other => panic!("{isolation:?} {other:?}"),
        }
        let own = run(
            &store,
            &caller(),
            insert,
            vec![OURS.into(), of(OURS, 9).into()],
        )
        .await;
        own.expect("one's own organization");
        let undo = "DELETE FROM main.workspaces WHERE {tenant organization_id} AND name = 'mine'";
        run(&store, &caller(), undo, vec![]).await.expect(undo);
    }
    // No operation moves anything; a statement that did would meet row security.
    let store = place.open().await;
    let refused = run(
        &store,
        &caller(),
        moved,
        vec![THEIRS.into(), workspace(OURS).into()],
    )
    .await;
    assert!(matches!(refused, Err(StoreError::Denied(_))), "{refused:?}");
}
