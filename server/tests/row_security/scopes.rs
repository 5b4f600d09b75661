//! What a transaction may do: sign people in, read, and leave nothing behind.

use tplkit_server::store::{Scope, StoreError, Visible};

use super::organizations::READS;
use super::seed::{ONLY_SECOND, OURS, caller, run, seed, seen};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    authentication_sees_credentials_and_no_content,
    settings_do_not_outlive_their_transaction,
    a_read_cannot_write,
);

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
                "DELETE FROM main.memberships WHERE {tenant organization_id} {across test}",
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
