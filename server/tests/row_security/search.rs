//! Either layer alone keeps what the index of searched cells finds to those who see the rows.

use tplkit_server::store::{Dialect, Isolation, Scope, StoreError, Value, Visible};
use uuid::Uuid;

use super::seed::{
    NONE, ONLY_FIRST, ONLY_SECOND, OURS, THEIRS, caller, of, run, seed, user, workspace,
};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    either_layer_alone_hides_what_the_index_finds,
    either_layer_alone_protects_the_index,
);

/// The rows that the index finds, on SQLite.
const FOUND: &str = "SELECT known.organization_id FROM search_terms AS words CROSS JOIN row_search AS known \
     ON known.number = words.rowid WHERE words.search_terms MATCH 'word' \
     AND {tenant known.organization_id} AND {workspace known.workspace_id}";
/// What the index itself shows: it is as visible as these rows.
const NUMBERS: &str = "SELECT words.rowid FROM search_terms AS words WHERE words.search_terms MATCH 'word' \
     AND {tenant $1} AND $1 IS NOT NULL";
const WRITE: &str = "INSERT OR REPLACE INTO main.search_terms (rowid, terms) SELECT number, $1 FROM row_search \
     WHERE {tenant organization_id} AND {workspace workspace_id}";
const REMOVE: &str = "DELETE FROM main.search_terms WHERE rowid IN (SELECT number FROM row_search \
     WHERE {tenant organization_id} AND {workspace workspace_id})";
/// The rows that the index finds, on PostgreSQL.
const ROWS: &str = "SELECT unnest(search_rows($1, $2, $3, 0, 10)) WHERE {tenant $1}";
const TERMS: &str = "UPDATE main.row_search SET terms = $1 WHERE {tenant organization_id}";

/// Whether the store is SQLite; there and on PostgreSQL each organization has one row, which has the word.
async fn seeded(place: &Place) -> bool {
    seed(place).await;
    let store = place.open().await;
    let dialect = store.read(&Scope::Operator, (), |tx, ()| {
        Box::pin(async move { Ok::<_, StoreError>(tx.dialect()? == Dialect::Sqlite) })
    });
    let is_sqlite = dialect.await.expect("reads");
    let (sql, word) = if is_sqlite {
        (WRITE, Value::from("word"))
    } else {
        (TERMS, Value::Ints(vec![7]))
    };
    run(&store, &Scope::Operator, sql, vec![word])
        .await
        .expect(sql);
    is_sqlite
}

fn search_parameters(organization: Uuid) -> Vec<Value> {
    vec![
        organization.into(),
        of(organization, 6).into(),
        Value::Ints(vec![7]),
    ]
}

async fn either_layer_alone_hides_what_the_index_finds(place: Place) {
    let is_sqlite = seeded(&place).await;
    let shut_out = Scope::from(Visible {
        caller: user(OURS),
        organizations: vec![OURS],
        hidden: vec![workspace(OURS)],
        ..Visible::default()
    });
    for isolation in [Isolation::BOTH, ONLY_FIRST, ONLY_SECOND, NONE] {
        let store = place.open_without(isolation).await;
        let count = async |scope: &Scope, sql, parameters| {
            run(&store, scope, sql, parameters).await.expect(sql).len()
        };
        if is_sqlite {
            let open = usize::from(isolation == NONE);
            assert_eq!(
                count(&caller(), FOUND, vec![]).await,
                1 + open,
                "{isolation:?}"
            );
            assert_eq!(
                count(&shut_out, FOUND, vec![]).await,
                2 * open,
                "{isolation:?}"
            );
            // The view is of the second layer; the first has no words about the index itself.
            let both = 1 + usize::from(!isolation.row_security);
            let numbers = count(&caller(), NUMBERS, vec![OURS.into()]).await;
            assert_eq!(numbers, both, "{isolation:?}");
            continue;
        }
        // The function asks itself, in every mode.
        assert_eq!(
            count(&caller(), ROWS, search_parameters(OURS)).await,
            1,
            "{isolation:?}"
        );
        assert_eq!(
            count(&caller(), ROWS, search_parameters(THEIRS)).await,
            0,
            "{isolation:?}"
        );
    }
}

async fn either_layer_alone_protects_the_index(place: Place) {
    if !seeded(&place).await {
        return;
    }
    for (isolation, gone) in [(ONLY_FIRST, 1), (ONLY_SECOND, 1), (NONE, 2)] {
        let store = place.open_without(isolation).await;
        let count = async |sql, parameters| {
            let operator = place.open().await;
            run(&operator, &Scope::Operator, sql, parameters)
                .await
                .expect(sql)
                .len()
        };
        let changed = run(&store, &caller(), WRITE, vec!["another".into()]).await;
        changed.expect(WRITE);
        assert_eq!(count(FOUND, vec![]).await, 2 - gone, "{isolation:?}");
        let back = place.open().await;
        let word = run(&back, &Scope::Operator, WRITE, vec!["word".into()]).await;
        word.expect(WRITE);
        run(&store, &caller(), REMOVE, vec![]).await.expect(REMOVE);
        assert_eq!(count(FOUND, vec![]).await, 2 - gone, "{isolation:?}");
        let word = run(&back, &Scope::Operator, WRITE, vec!["word".into()]).await;
        word.expect(WRITE);
    }
}

/// Without the settings of a request, the function that reads past the policies finds nothing.
#[cfg(unix)]
#[test]
fn without_a_scope_the_index_of_postgresql_finds_nothing() {
    use tokio_postgres::NoTls;

    crate::stores::run(Place::postgres(), |place| async move {
        assert!(!seeded(&place).await);
        let connected = tokio_postgres::connect(&place.url, NoTls).await;
        let (client, connection) = connected.expect("connects");
        tokio::spawn(connection);
        let ask = "SELECT cardinality(main.search_rows($1, $2, '{7}', 0, 10))";
        let (organization, feature) = (OURS, of(OURS, 6));
        let found = async |settings: &str| -> i32 {
            client.batch_execute(settings).await.expect(settings);
            let row = client.query_one(ask, &[&organization, &feature]).await;
            row.expect(ask).get(0)
        };
        assert_eq!(found("SET ROLE tplkit_request").await, 0);
        assert_eq!(found("SET tplkit.organizations = ''").await, 0);
        let theirs = format!("SET tplkit.organizations = '{{{THEIRS}}}'");
        assert_eq!(found(&theirs).await, 0);
        let ours = format!("SET tplkit.organizations = '{{{OURS}}}'");
        assert_eq!(found(&ours).await, 1);
        // Nobody puts other tables or operators in its way.
        let path = "SET search_path = pg_temp, main; CREATE TEMP TABLE row_search (a int)";
        let in_the_way = client.batch_execute(path).await;
        if in_the_way.is_ok() {
            assert_eq!(found("SELECT 1").await, 1);
        }
        let gate = "SET ROLE tplkit_gate";
        client.batch_execute(gate).await.expect(gate);
        let refused = client.query_one(ask, &[&organization, &feature]).await;
        assert!(refused.is_err(), "the gate has no use for it");
    });
}
