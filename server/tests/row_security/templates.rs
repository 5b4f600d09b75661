//! Templates for everybody, and what administrators of the platform see of them.

use tplkit_server::store::{Isolation, Scope, Store, StoreError, Visible};

use super::seed::{
    ONLY_FIRST, ONLY_SECOND, OURS, THEIRS, caller, of, run, seed, seed_again, seen, user,
};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    templates_for_everybody_are_read_by_everybody_and_changed_by_nobody_else,
    administrators_of_the_platform_see_templates_and_promote_them,
);

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
