//! A request about one table sees that table alone, with either layer alone.

use tplkit_server::ids::{FeatureKey, TableKey};
use tplkit_server::store::{Isolation, OneTable, Scope, StoreError, Visible};
use uuid::Uuid;

use super::seed::{
    NONE, ONLY_FIRST, ONLY_SECOND, OURS, THEIRS, inside, of, run, seed, user, workspace,
};
use super::workspaces::WITHIN;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    either_layer_alone_shows_one_table_alone,
    of_one_table_that_is_guarded_the_own_rows_are_seen,
);

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
            let of_sibling = about(workspace(OURS), Some(other));
            let seen = usize::from(!isolation.row_security && read.contains("{row "));
            assert_eq!(count(&of_sibling, read).await, seen, "{isolation:?} {read}");
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
        guarded_in: vec![FeatureKey {
            workspace: workspace(THEIRS),
            feature: of(OURS, 61),
        }],
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
        guarded_in: vec![FeatureKey {
            workspace: table.workspace,
            feature: table.feature,
        }],
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
