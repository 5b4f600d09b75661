//! Either layer alone shows a file to those who uploaded it, to administrators, and to whom a row shows it.

use tplkit_server::store::{Isolation, Scope, Store, StoreError, Value, Visible};
use uuid::Uuid;

use super::seed::{
    NONE, ONLY_FIRST, ONLY_SECOND, OURS, THEIRS, inside, of, run, seed, user, workspace,
};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    either_layer_alone_shows_a_file_by_its_uses,
    either_layer_alone_hides_uses_with_their_rows,
    a_use_keeps_file_table_and_row_in_one_workspace,
    callers_see_nothing_of_the_identity_of_the_store,
);

const READ: &str = "SELECT id FROM files WHERE {tenant organization_id} AND {workspace workspace_id} \
     AND ({uploader organization_id created_by} OR EXISTS (SELECT 1 FROM file_uses \
     WHERE file_uses.organization_id = files.organization_id AND file_uses.file_id = files.id \
     AND {workspace file_uses.workspace_id} AND {row file_uses.feature_id file_uses.row_created_by}))";

/// Somebody of our organization who has uploaded nothing and administers nothing.
fn colleague(guarded: &[Uuid], hidden: &[Uuid]) -> Visible {
    Visible {
        caller: of(OURS, 50),
        organizations: vec![OURS],
        guarded: guarded.to_vec(),
        hidden: hidden.to_vec(),
        ..Visible::default()
    }
}

async fn count(store: &Store, visible: Visible, sql: &'static str) -> usize {
    let rows = run(store, &Scope::from(visible), sql, vec![]).await;
    rows.expect(sql).len()
}

async fn either_layer_alone_shows_a_file_by_its_uses(place: Place) {
    seed(&place).await;
    let (table, other) = (of(OURS, 6), of(OURS, 7));
    let (mut uploader, mut admin) = (colleague(&[table], &[]), colleague(&[table], &[]));
    uploader.caller = user(OURS);
    admin.administered = vec![OURS];
    let mut shut_out = uploader.clone();
    shut_out.hidden = vec![workspace(OURS)];
    let seen = [
        (colleague(&[], &[]), 1),
        (colleague(&[other], &[]), 1),
        // The row is kept from them.
        (colleague(&[table], &[]), 0),
        (colleague(&[], &[workspace(OURS)]), 0),
        (uploader, 1),
        (admin, 1),
        // Only while they see the workspace.
        (shut_out, 0),
    ];
    for isolation in [Isolation::BOTH, ONLY_FIRST, ONLY_SECOND] {
        let store = place.open_without(isolation).await;
        for (visible, number) in &seen {
            let found = count(&store, visible.clone(), READ).await;
            assert_eq!(found, *number, "{isolation:?} {visible:?}");
        }
    }
    // What only keeps a file shows it to nobody.
    let unused = "DELETE FROM main.file_uses";
    let store = place.open().await;
    run(&store, &Scope::Operator, unused, vec![])
        .await
        .expect(unused);
    for isolation in [Isolation::BOTH, ONLY_FIRST, ONLY_SECOND] {
        let store = place.open_without(isolation).await;
        assert_eq!(
            count(&store, colleague(&[], &[]), READ).await,
            0,
            "{isolation:?}"
        );
    }
}

async fn either_layer_alone_hides_uses_with_their_rows(place: Place) {
    const USES: &str = "SELECT row_id FROM file_uses WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND {row feature_id row_created_by}";
    seed(&place).await;
    let table = of(OURS, 6);
    let mut own = colleague(&[table], &[]);
    own.caller = user(OURS);
    let mut admin = colleague(&[table], &[]);
    admin.administered = vec![OURS];
    let seen = [
        (colleague(&[], &[]), 1),
        (own, 1),
        // An administrator sees the file, and no row that is kept from them.
        (admin, 0),
        (colleague(&[table], &[]), 0),
        (colleague(&[], &[workspace(OURS)]), 0),
    ];
    for isolation in [Isolation::BOTH, ONLY_FIRST, ONLY_SECOND] {
        let store = place.open_without(isolation).await;
        for (visible, number) in &seen {
            let found = count(&store, visible.clone(), USES).await;
            assert_eq!(found, *number, "{isolation:?} {visible:?}");
        }
    }
    let open = place.open_without(NONE).await;
    let shut_out = colleague(&[table], &[workspace(OURS)]);
    let leaked = count(&open, shut_out, USES).await;
    assert_eq!(leaked, 2, "the test sees a leak");
}

async fn a_use_keeps_file_table_and_row_in_one_workspace(place: Place) {
    seed(&place).await;
    let store = place.open().await;
    let other = of(OURS, 60);
    let workspaces = "INSERT INTO main.workspaces (organization_id, id, name, label, access, config, created_at, updated_at) \
         VALUES ($1, $2, 'other', 'w', 'organization', 'x', 0, 0)";
    let files = "INSERT INTO main.files (organization_id, workspace_id, id, object_id, created_by, sha256, name, content_type, size, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, 'f', 't', 1, 0)";
    let parameters = vec![OURS.into(), other.into()];
    run(&store, &Scope::Operator, workspaces, parameters)
        .await
        .expect(workspaces);
    let mut parameters = vec![OURS.into(), other.into(), of(OURS, 61).into()];
    parameters.extend([of(OURS, 30).into(), user(OURS).into(), [7; 32].into()]);
    run(&store, &Scope::Operator, files, parameters)
        .await
        .expect(files);
    let clear = "DELETE FROM main.file_uses";
    run(&store, &Scope::Operator, clear, vec![])
        .await
        .expect(clear);
    let uses = "INSERT INTO main.file_uses (organization_id, workspace_id, feature_id, row_id, column_id, file_id, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, 0)";
    let mut foreign = inside(OURS, &[6, 9, 8, 61]);
    let refused = run(&store, &Scope::Operator, uses, foreign.clone()).await;
    assert_eq!(refused.map(drop), Err(StoreError::Reference));
    foreign[1] = other.into();
    let refused = run(&store, &Scope::Operator, uses, foreign).await;
    assert_eq!(refused.map(drop), Err(StoreError::Reference));
    let fits: Vec<Value> = inside(OURS, &[6, 9, 8, 31]);
    run(&store, &Scope::Operator, uses, fits).await.expect(uses);
    // With the row goes the use.
    let rows = "DELETE FROM main.rows WHERE organization_id = $1";
    run(&store, &Scope::Operator, rows, vec![OURS.into()])
        .await
        .expect(rows);
    let left = "SELECT organization_id FROM file_uses";
    let left = run(&store, &Scope::Operator, left, vec![])
        .await
        .expect(left);
    assert_eq!(left.len(), 0, "{THEIRS}");
}

async fn callers_see_nothing_of_the_identity_of_the_store(place: Place) {
    seed(&place).await;
    let store = place.open().await;
    let sql = "SELECT id FROM store_identity WHERE {caller id}";
    let seen = run(&store, &Scope::from(colleague(&[], &[])), sql, vec![]).await;
    let seen = seen.map(|rows| rows.len());
    assert!(
        matches!(seen, Ok(0) | Err(StoreError::Denied(_))),
        "{seen:?}"
    );
    let sql = "SELECT id FROM store_identity";
    let known = run(&store, &Scope::Operator, sql, vec![]).await.expect(sql);
    assert_eq!(known.len(), 1);
}
