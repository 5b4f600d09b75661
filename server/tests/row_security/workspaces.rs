//! Either layer alone hides workspaces of members, what lies in hidden ones, and rows of guarded tables.

use tplkit_server::store::{Isolation, Scope, StoreError, Value, Visible};
use uuid::Uuid;

use super::seed::{
    NONE, ONLY_FIRST, ONLY_SECOND, OURS, THEIRS, caller, inside, of, run, seed, user, workspace,
};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_workspace_for_members_is_hidden_by_row_security,
    either_layer_alone_hides_what_lies_in_a_hidden_workspace,
    either_layer_alone_shows_of_a_guarded_feature_ones_own_rows,
);

async fn a_workspace_for_members_is_hidden_by_row_security(place: Place) {
    seed(&place).await;
    let store = place.open_without(ONLY_SECOND).await;
    let close = "UPDATE main.workspaces SET access = 'members'";
    run(&store, &Scope::Operator, close, vec![])
        .await
        .expect(close);
    let visible = |administered: &[Uuid], workspaces: &[Uuid]| {
        Scope::from(Visible {
            caller: user(OURS),
            organizations: vec![OURS],
            administered: administered.to_vec(),
            workspaces: workspaces.to_vec(),
            ..Visible::default()
        })
    };
    let sql = "SELECT id FROM workspaces WHERE {tenant organization_id}";
    for (scope, count) in [
        (visible(&[], &[]), 0),
        (visible(&[OURS], &[]), 1),
        (visible(&[], &[workspace(OURS)]), 1),
        (visible(&[THEIRS], &[workspace(THEIRS)]), 0),
    ] {
        let rows = run(&store, &scope, sql, vec![]).await.expect(sql);
        assert_eq!(rows.len(), count, "{scope:?}");
    }
}

/// What lies in a workspace: reads with all the scope predicates, and writes.
pub(super) const WITHIN: [(&str, &str); 16] = [
    (
        "SELECT id FROM files WHERE {tenant organization_id} AND {workspace workspace_id}",
        "UPDATE main.files SET name = 'new' WHERE {tenant organization_id} AND {workspace workspace_id} RETURNING id",
    ),
    (
        "SELECT row_id FROM file_uses WHERE {tenant organization_id} AND {workspace workspace_id}",
        "UPDATE main.file_uses SET created_at = 1 WHERE {tenant organization_id} AND {workspace workspace_id} RETURNING row_id",
    ),
    (
        "SELECT id FROM file_holds WHERE {tenant organization_id} AND {workspace workspace_id}",
        "UPDATE main.file_holds SET created_at = 1 WHERE {tenant organization_id} AND {workspace workspace_id} RETURNING id",
    ),
    (
        "SELECT id FROM modules WHERE {tenant organization_id} AND {workspace workspace_id}",
        "UPDATE main.modules SET label = 'x' WHERE {tenant organization_id} AND {workspace workspace_id} RETURNING id",
    ),
    (
        "SELECT id FROM rails WHERE {tenant organization_id} AND {workspace workspace_id}",
        "DELETE FROM main.rails WHERE {tenant organization_id} AND {workspace workspace_id} RETURNING id",
    ),
    (
        "SELECT id FROM features WHERE {tenant organization_id} AND {workspace workspace_id}",
        "UPDATE main.features SET version = 2 WHERE {tenant organization_id} AND {workspace workspace_id} RETURNING id",
    ),
    (
        "SELECT id FROM views WHERE {tenant organization_id} AND {workspace workspace_id}",
        "DELETE FROM main.views WHERE {tenant organization_id} AND {workspace workspace_id} RETURNING id",
    ),
    (
        "SELECT id FROM columns WHERE {tenant organization_id} AND {workspace workspace_id}",
        "UPDATE main.columns SET slot = 2 WHERE {tenant organization_id} AND {workspace workspace_id} RETURNING id",
    ),
    (
        "SELECT id FROM rows WHERE {tenant organization_id} AND {workspace workspace_id}",
        "DELETE FROM main.rows WHERE {tenant organization_id} AND {workspace workspace_id} RETURNING id",
    ),
    (
        "SELECT row_id FROM row_values WHERE {tenant organization_id} AND {workspace workspace_id}",
        "DELETE FROM main.row_values WHERE {tenant organization_id} AND {workspace workspace_id} RETURNING row_id",
    ),
    (
        "SELECT row_id FROM row_search WHERE {tenant organization_id} AND {workspace workspace_id}",
        "DELETE FROM main.row_search WHERE {tenant organization_id} AND {workspace workspace_id} RETURNING row_id",
    ),
    (
        "SELECT organization_id FROM workflows WHERE {tenant organization_id} AND {workspace workspace_id}",
        "UPDATE main.workflows SET last_version = 2 WHERE {tenant organization_id} AND {workspace workspace_id} RETURNING organization_id",
    ),
    (
        "SELECT organization_id FROM workflow_versions WHERE {tenant organization_id} AND {workspace workspace_id}",
        "UPDATE main.workflow_versions SET name = 'new' WHERE {tenant organization_id} AND {workspace workspace_id} RETURNING organization_id",
    ),
    (
        "SELECT organization_id FROM template_jobs WHERE {tenant organization_id} AND {workspace workspace_id}",
        "UPDATE main.template_jobs SET done = 1 WHERE {tenant organization_id} AND {workspace workspace_id} RETURNING organization_id",
    ),
    (
        "SELECT organization_id FROM template_job_parts WHERE {tenant organization_id} AND {workspace workspace_id}",
        "UPDATE main.template_job_parts SET number = 1 WHERE {tenant organization_id} AND {workspace workspace_id} RETURNING organization_id",
    ),
    (
        "SELECT organization_id FROM template_job_entries WHERE {tenant organization_id} AND {workspace workspace_id}",
        "UPDATE main.template_job_entries SET entry = 'new' WHERE {tenant organization_id} AND {workspace workspace_id} RETURNING organization_id",
    ),
];

async fn either_layer_alone_hides_what_lies_in_a_hidden_workspace(place: Place) {
    seed(&place).await;
    let insert = "INSERT INTO main.modules {into $1} (organization_id, workspace_id, id, name, label, position, \
         config, created_at, updated_at) VALUES ($1, $2, $3, 'n', 'm', 1, 'x', 0, 0)";
    let shut_out = Scope::from(Visible {
        caller: user(OURS),
        organizations: vec![OURS],
        hidden: vec![workspace(OURS)],
        ..Visible::default()
    });
    for isolation in [Isolation::BOTH, ONLY_FIRST, ONLY_SECOND] {
        let store = place.open_without(isolation).await;
        for (read, write) in WITHIN {
            let count = async |scope: &Scope, sql| {
                let rows = run(&store, scope, sql, vec![]).await.expect(sql);
                rows.len()
            };
            assert_eq!(count(&shut_out, read).await, 0, "{isolation:?} {read}");
            assert_eq!(count(&shut_out, write).await, 0, "{isolation:?} {write}");
            assert_eq!(count(&caller(), read).await, 1, "{isolation:?} {read}");
        }
        if isolation.row_security {
            let module = inside(OURS, &[20]);
            let refused = run(&store, &shut_out, insert, module).await;
            assert!(matches!(refused, Err(StoreError::Denied(_))), "{refused:?}");
        }
    }
    let open = place.open_without(NONE).await;
    let (read, _) = WITHIN[3];
    let leaked = run(&open, &shut_out, read, vec![]).await.expect(read);
    assert_eq!(leaked.len(), 2, "the test sees a leak");
}

async fn either_layer_alone_shows_of_a_guarded_feature_ones_own_rows(place: Place) {
    seed(&place).await;
    let insert = "INSERT INTO main.rows (organization_id, workspace_id, feature_id, id, created_by, created_at, updated_at, data) \
         VALUES ($1, $2, $3, $4, $5, 0, 0, '[]')";
    let store = place.open().await;
    let mut of_nobody = inside(OURS, &[6, 10]);
    of_nobody.push(Value::Null);
    for row in [inside(OURS, &[6, 11, 12]), of_nobody] {
        run(&store, &Scope::Operator, insert, row)
            .await
            .expect(insert);
    }
    let scope = |guarded: &[Uuid]| {
        Scope::from(Visible {
            caller: user(OURS),
            organizations: vec![OURS],
            guarded: guarded.to_vec(),
            ..Visible::default()
        })
    };
    let read = "SELECT id FROM rows WHERE {tenant organization_id} AND {row feature_id created_by}";
    let write = "UPDATE main.rows SET updated_at = 2 \
         WHERE {tenant organization_id} AND {row feature_id created_by} RETURNING id";
    let delete = "DELETE FROM main.rows WHERE {tenant organization_id} \
         AND {row feature_id created_by} AND created_at > 0 RETURNING id";
    for isolation in [Isolation::BOTH, ONLY_FIRST, ONLY_SECOND] {
        let store = place.open_without(isolation).await;
        for sql in [read, write] {
            for (scope, count) in [(scope(&[of(OURS, 6)]), 1), (scope(&[of(OURS, 7)]), 3)] {
                let rows = run(&store, &scope, sql, vec![]).await.expect(sql);
                assert_eq!(rows.len(), count, "{isolation:?} {sql}");
            }
        }
        let rows = run(&store, &scope(&[of(OURS, 6)]), delete, vec![]).await;
        assert_eq!(rows.expect(delete).len(), 0);
    }
}
