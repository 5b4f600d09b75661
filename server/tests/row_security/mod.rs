//! Either layer alone keeps organizations apart, for every table and every kind of statement.

mod files;
#[cfg(unix)]
mod policies;
mod seed;

use tplkit_server::ids::TableKey;
use tplkit_server::store::{Isolation, OneTable, Row, Scope, Store, StoreError, Value, Visible};
use uuid::Uuid;

use crate::stores::{Place, on_both_stores};

use seed::{
    NONE, ONLY_FIRST, ONLY_SECOND, OURS, THEIRS, caller, inside, of, run, seed, seed_again, user,
    workspace,
};

on_both_stores!(
    either_layer_alone_hides_every_row,
    either_layer_alone_protects_every_row,
    a_workspace_for_members_is_hidden_by_row_security,
    either_layer_alone_hides_what_lies_in_a_hidden_workspace,
    either_layer_alone_shows_of_a_guarded_feature_ones_own_rows,
    either_layer_alone_shows_one_table_alone,
    of_one_table_that_is_guarded_the_own_rows_are_seen,
    templates_for_everybody_are_read_by_everybody_and_changed_by_nobody_else,
    administrators_of_the_platform_see_templates_and_promote_them,
    a_caller_writes_nothing_into_another_organization,
    authentication_sees_credentials_and_no_content,
    settings_do_not_outlive_their_transaction,
    a_read_cannot_write,
);

const READS: [&str; 36] = [
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

async fn seen(store: &Store, sql: &'static str) -> Vec<Uuid> {
    let rows = run(store, &caller(), sql, vec![]).await.expect(sql);
    rows.iter().map(|row| row.get(0).expect("an id")).collect()
}

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

const WRITES: [&str; 56] = [
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
    "UPDATE main.workflow_steps SET number = 2 WHERE {tenant organization_id} RETURNING organization_id",
    "UPDATE main.notifications SET title = 'new' WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.workflow_watchers WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.workflow_events WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.workflow_schedules WHERE {tenant organization_id} RETURNING organization_id",
    "DELETE FROM main.workflow_steps WHERE {tenant organization_id} RETURNING organization_id",
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
const WITHIN: [(&str, &str); 15] = [
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

/// The caller of row security's tests, about one table alone.
fn about(workspace: Uuid, feature: Option<Uuid>) -> Scope {
    Scope::from(Visible {
        caller: user(OURS),
        organizations: vec![OURS],
        only: Some(OneTable { workspace, feature }),
        ..Visible::default()
    })
}

/// Reads of rows as lists, counts and single rows are asked for.
const OF_ROWS: [&str; 4] = [
    "SELECT id FROM rows WHERE {tenant organization_id} AND {workspace workspace_id} AND {row feature_id created_by}",
    "SELECT id FROM rows WHERE {tenant organization_id} AND {seen workspace_id feature_id created_by}",
    "SELECT id FROM {whole rows} WHERE {tenant organization_id} AND {seen workspace_id feature_id created_by}",
    "SELECT id FROM {counted rows} WHERE {tenant organization_id} AND {seen workspace_id feature_id created_by}",
];

async fn either_layer_alone_shows_one_table_alone(place: Place) {
    seed(&place).await;
    let (table, other) = (of(OURS, 6), of(OURS, 50));
    let of_table = about(workspace(OURS), Some(table));
    let of_other = about(of(OURS, 51), Some(other));
    let insert = "INSERT INTO main.rows {into $1} (organization_id, workspace_id, feature_id, id, created_by, \
         created_at, updated_at, data) VALUES ($1, $2, $3, $4, $5, 0, 0, '[]')";
    for isolation in [Isolation::BOTH, ONLY_FIRST, ONLY_SECOND] {
        let store = place.open_without(isolation).await;
        let count =
            async |scope: &Scope, sql| run(&store, scope, sql, vec![]).await.expect(sql).len();
        for (read, write) in WITHIN {
            assert_eq!(count(&of_other, read).await, 0, "{isolation:?} {read}");
            assert_eq!(count(&of_other, write).await, 0, "{isolation:?} {write}");
            assert_eq!(count(&of_table, read).await, 1, "{isolation:?} {read}");
        }
        for read in OF_ROWS {
            assert_eq!(count(&of_other, read).await, 0, "{isolation:?} {read}");
            assert_eq!(count(&of_table, read).await, 1, "{isolation:?} {read}");
            // Of another table of the workspace: statements about rows name their table, or are about it.
            let beside = about(workspace(OURS), Some(other));
            let seen = usize::from(!isolation.row_security && read.contains("{row "));
            assert_eq!(count(&beside, read).await, seen, "{isolation:?} {read}");
        }
        if isolation.row_security {
            let refused = run(&store, &of_other, insert, inside(OURS, &[6, 52, 1])).await;
            assert!(matches!(refused, Err(StoreError::Denied(_))), "{refused:?}");
        }
    }
    let open = place.open_without(NONE).await;
    let leaked = run(&open, &of_other, OF_ROWS[0], vec![]).await;
    assert_eq!(leaked.expect("reads").len(), 2, "the test sees a leak");
}

async fn of_one_table_that_is_guarded_the_own_rows_are_seen(place: Place) {
    seed(&place).await;
    let insert = "INSERT INTO main.rows (organization_id, workspace_id, feature_id, id, created_by, created_at, updated_at, data) \
         VALUES ($1, $2, $3, $4, $5, 0, 0, '[]')";
    let store = place.open().await;
    let of_another = inside(OURS, &[6, 11, 12]);
    run(&store, &Scope::Operator, insert, of_another)
        .await
        .expect(insert);
    for isolation in [Isolation::BOTH, ONLY_FIRST, ONLY_SECOND] {
        let store = place.open_without(isolation).await;
        for (feature, rows) in [(None, 1), (Some(of(OURS, 6)), 2)] {
            for read in OF_ROWS {
                let guarded = if feature.is_none() {
                    vec![of(OURS, 6)]
                } else {
                    vec![]
                };
                let scope = Scope::from(Visible {
                    caller: user(OURS),
                    organizations: vec![OURS],
                    guarded,
                    only: Some(OneTable {
                        workspace: workspace(OURS),
                        feature,
                    }),
                    ..Visible::default()
                });
                let seen = run(&store, &scope, read, vec![]).await.expect(read);
                assert_eq!(seen.len(), rows, "{isolation:?} {feature:?} {read}");
            }
        }
    }
}

#[test]
fn a_caller_about_one_table_keeps_what_concerns_it() {
    let table = TableKey {
        organization: OURS,
        workspace: workspace(OURS),
        feature: of(OURS, 6),
    };
    let caller = Visible {
        caller: user(OURS),
        organizations: vec![OURS, THEIRS],
        administered: vec![THEIRS],
        workspaces: vec![workspace(OURS), workspace(THEIRS)],
        hidden: vec![of(OURS, 60)],
        guarded: vec![of(OURS, 61)],
        guarded_in: vec![(workspace(THEIRS), of(OURS, 61))],
        ..Visible::default()
    };
    let about = caller.only(table).expect("it is visible");
    assert_eq!(about.organizations, [OURS]);
    assert_eq!(about.administered, Vec::<Uuid>::new());
    assert_eq!(about.workspaces, [workspace(OURS)]);
    assert!(about.hidden.is_empty() && about.guarded.is_empty());
    let of_table = |feature| {
        Some(OneTable {
            workspace: table.workspace,
            feature,
        })
    };
    assert_eq!(about.only, of_table(Some(table.feature)));
    let guarded = Visible {
        guarded: vec![table.feature],
        guarded_in: vec![(table.workspace, table.feature)],
        ..caller.clone()
    };
    let about = guarded.only(table).expect("it is visible");
    assert_eq!(about.only, of_table(None));
    assert_eq!(about.guarded, [table.feature]);
    let hidden = Visible {
        hidden: vec![table.workspace],
        ..caller.clone()
    };
    assert_eq!(hidden.only(table), None);
    let elsewhere = Visible {
        organizations: vec![THEIRS],
        ..caller
    };
    assert_eq!(elsewhere.only(table), None);
}

async fn templates_for_everybody_are_read_by_everybody_and_changed_by_nobody_else(place: Place) {
    seed(&place).await;
    let store = place.open().await;
    for (sql, of) in [
        (
            "UPDATE main.templates SET visibility = $1 WHERE organization_id = $2",
            "templates",
        ),
        (
            "UPDATE main.template_payloads SET visibility = $1 WHERE organization_id = $2",
            "payloads",
        ),
    ] {
        let parameters = vec!["public".into(), THEIRS.into()];
        run(&store, &Scope::Operator, sql, parameters)
            .await
            .expect(of);
    }
    let reads = [
        "SELECT organization_id FROM templates WHERE {catalog organization_id visibility} ORDER BY organization_id",
        "SELECT organization_id FROM template_payloads WHERE {catalog organization_id visibility} ORDER BY organization_id",
    ];
    let writes = [
        "UPDATE main.templates SET name = 'new' WHERE {catalog organization_id visibility} RETURNING organization_id",
        "DELETE FROM main.template_payloads WHERE {catalog organization_id visibility} RETURNING organization_id",
    ];
    for isolation in [Isolation::BOTH, ONLY_FIRST, ONLY_SECOND] {
        let store = place.open_without(isolation).await;
        for sql in reads {
            assert_eq!(
                seen(&store, sql).await,
                [OURS, THEIRS],
                "{isolation:?} {sql}"
            );
        }
    }
    // What is shown to everybody is still written behind row security.
    let store = place.open().await;
    for sql in writes {
        assert_eq!(seen(&store, sql).await, [OURS], "{sql}");
    }
    let copy = "INSERT INTO main.templates {into $1} (organization_id, id, visibility, name, tags, template_version, \
         manifest, created_at, updated_at) VALUES ($1, $2, 'public', 't', 'x', 2, 'x', 0, 0)";
    let store = place.open_without(ONLY_SECOND).await;
    let refused = run(
        &store,
        &caller(),
        copy,
        vec![THEIRS.into(), of(THEIRS, 30).into()],
    )
    .await;
    assert!(matches!(refused, Err(StoreError::Denied(_))), "{refused:?}");
}

async fn administrators_of_the_platform_see_templates_and_promote_them(place: Place) {
    let platform = Scope::from(Visible {
        caller: user(OURS),
        platform: true,
        ..Visible::default()
    });
    let rows = async |store: &Store, sql| {
        let rows = run(store, &platform, sql, vec![]).await?;
        Ok::<usize, StoreError>(rows.len())
    };
    for isolation in [Isolation::BOTH, ONLY_FIRST, ONLY_SECOND] {
        seed_again(&place).await;
        let store = place.open_without(isolation).await;
        for (sql, seen) in [
            (
                "SELECT id FROM templates WHERE {catalog organization_id visibility}",
                2,
            ),
            (
                "SELECT item_uid FROM template_payloads WHERE {catalog organization_id visibility}",
                2,
            ),
            (
                "SELECT id FROM templates WHERE {tenant organization_id}",
                if isolation.predicates { 0 } else { 2 },
            ),
            (
                "DELETE FROM main.templates WHERE {tenant organization_id} RETURNING id",
                0,
            ),
            (
                "UPDATE main.rows SET updated_at = 2 WHERE {tenant organization_id} RETURNING id",
                0,
            ),
            (
                "UPDATE main.templates SET visibility = 'system' WHERE {promoting organization_id} RETURNING id",
                2,
            ),
            (
                "UPDATE main.template_payloads SET visibility = 'system' WHERE {promoting organization_id} RETURNING item_uid",
                2,
            ),
        ] {
            assert_eq!(rows(&store, sql).await, Ok(seen), "{isolation:?} {sql}");
        }
        let demoted = "UPDATE main.templates SET visibility = 'org' WHERE {promoting organization_id} RETURNING id";
        if isolation.row_security {
            let refused = rows(&store, demoted).await;
            assert!(matches!(refused, Err(StoreError::Denied(_))), "{refused:?}");
        }
        // Who is none promotes nothing of others.
        let promoted = "UPDATE main.templates SET visibility = 'system' WHERE {promoting organization_id} RETURNING organization_id";
        assert_eq!(seen(&store, promoted).await, [OURS], "{isolation:?}");
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

async fn authentication_sees_credentials_and_no_content(place: Place) {
    seed(&place).await;
    let store = place.open().await;
    let count = async |sql| {
        run(&store, &Scope::Authentication, sql, vec![])
            .await
            .map(|rows| rows.len())
    };
    assert_eq!(count("SELECT id FROM users").await, Ok(2));
    assert_eq!(count("SELECT id FROM api_keys").await, Ok(2));
    // Refused on PostgreSQL, empty on SQLite.
    let hidden = count("SELECT id FROM workspaces").await;
    assert!(
        matches!(hidden, Ok(0) | Err(StoreError::Denied(_))),
        "{hidden:?}"
    );
    let sessions = run(
        &store,
        &caller(),
        "SELECT id FROM sessions WHERE {caller user_id}",
        vec![],
    )
    .await;
    let sessions = sessions.map(|rows| rows.len());
    assert!(
        matches!(sessions, Ok(0) | Err(StoreError::Denied(_))),
        "{sessions:?}"
    );
}

async fn settings_do_not_outlive_their_transaction(place: Place) {
    seed(&place).await;
    let store = place.open_without(ONLY_SECOND).await;
    let sql = "SELECT id FROM organizations WHERE {tenant id}";
    let nobody = Scope::from(Visible::default());
    for _ in 0..20 {
        assert_eq!(
            run(&store, &caller(), sql, vec![])
                .await
                .expect("reads")
                .len(),
            1
        );
        assert_eq!(
            run(&store, &nobody, sql, vec![])
                .await
                .expect("reads")
                .len(),
            0
        );
        // Out of a transaction that failed, too.
        let fails = "SELECT id FROM organizations WHERE {tenant id} AND nonsense";
        assert!(run(&store, &caller(), fails, vec![]).await.is_err());
        assert_eq!(
            run(&store, &nobody, sql, vec![])
                .await
                .expect("reads")
                .len(),
            0
        );
    }
}

async fn a_read_cannot_write(place: Place) {
    seed(&place).await;
    let store = place.open().await;
    let written = store
        .read(&caller(), (), |tx, ()| {
            Box::pin(tx.query(
                "DELETE FROM main.memberships WHERE {tenant organization_id}",
                &[],
            ))
        })
        .await;
    assert!(
        matches!(written, Err(StoreError::Internal(_))),
        "{written:?}"
    );
    assert_eq!(seen(&store, READS[1]).await, [OURS]);
}

/// A table that a migration forgets to close is found here; SQLite has its own such test.
#[cfg(unix)]
#[test]
fn every_table_of_postgresql_forces_row_level_security() {
    crate::stores::run(Place::postgres(), |place| async move {
        drop(place.open().await);
        let connected = tokio_postgres::connect(&place.url, tokio_postgres::NoTls).await;
        let (client, connection) = connected.expect("connects");
        tokio::spawn(connection);
        let tables = "SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity, \
             pg_get_userbyid(c.relowner) LIKE 'tplkit%' \
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
             WHERE n.nspname = 'main' AND c.relkind = 'r' AND c.relname <> 'schema_migrations'";
        let tables = client.query(tables, &[]).await.expect("reads");
        assert!(tables.len() >= 7, "{}", tables.len());
        for table in tables {
            let name: String = table.get(0);
            assert!(table.get::<_, bool>(1), "{name} is open");
            assert!(
                !table.get::<_, bool>(2),
                "{name} belongs to a role that requests run as"
            );
        }
    });
}
