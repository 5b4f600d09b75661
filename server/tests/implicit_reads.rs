//! Reads of one statement on PostgreSQL, whose transactions no words begin or end.

use std::time::Duration;

use tplkit_server::store::{Row, Scope, Store, StoreError};

use crate::cluster;
use crate::stores::{Place, run};

/// The result of a read of one statement: the text in its only row.
async fn read(store: &Store, statement: &'static str) -> Result<String, StoreError> {
    let rows: Result<Vec<Row>, StoreError> = store
        .short_read(&Scope::Operator, (), move |tx, ()| {
            Box::pin(tx.last(statement, &[]))
        })
        .await;
    rows?.first().expect("a row").get(0)
}

const PATH: &str = "SELECT current_setting('search_path')";
const SEEN_AS: &str = "SELECT CAST(current_user AS text)";

#[test]
fn what_a_read_sets_ends_with_it() {
    run(Place::postgres(), |place| async move {
        let store = Store::open(&place.url).await.expect("opens");
        let set = "SELECT set_config('search_path', 'elsewhere', true)";
        // One after the other they take one session, which prepares each statement once.
        for _ in 0..3 {
            assert_eq!(read(&store, set).await.as_deref(), Ok("elsewhere"));
            assert_eq!(read(&store, PATH).await.as_deref(), Ok("main"));
            assert_eq!(
                read(&store, SEEN_AS).await.as_deref(),
                Ok("tplkit_operator")
            );
        }
    });
}

/// An error ends the transaction, too, and the session goes on.
#[test]
fn a_read_that_fails_leaves_nothing_behind() {
    run(Place::postgres(), |place| async move {
        let store = Store::open(&place.url).await.expect("opens");
        let fail = "SELECT set_config('search_path', CAST(CAST('x' AS bigint) AS text), true)";
        for _ in 0..3 {
            let failed = read(&store, fail).await.expect_err("fails");
            assert!(failed.to_string().contains("22P02"), "{failed}");
            assert_eq!(read(&store, PATH).await.as_deref(), Ok("main"));
        }
    });
}

#[test]
fn a_read_writes_nothing() {
    run(Place::postgres(), |place| async move {
        let store = Store::open(&place.url).await.expect("opens");
        let write = "INSERT INTO main.organizations (id, label, config, created_at, updated_at) \
             VALUES (CAST('00000000-0000-0000-0000-000000000001' AS uuid), 'x', '', 0, 0) \
             RETURNING label {across test}";
        let refused = read(&store, write).await.expect_err("is refused");
        assert!(refused.to_string().contains("25006"), "{refused}");
        let count = "SELECT CAST(count(*) AS text) FROM organizations {across test}";
        assert_eq!(read(&store, count).await.as_deref(), Ok("0"));
    });
}

/// A session that the database has ended is found out when it is taken, and never given out again.
#[test]
fn reads_go_on_when_the_database_has_ended_their_sessions() {
    run(Place::postgres(), |place| async move {
        let store = Store::open(&place.url).await.expect("opens");
        assert_eq!(read(&store, PATH).await.as_deref(), Ok("main"));
        let cluster = cluster::shared().expect("it is there");
        let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
             WHERE datname = current_database() AND backend_type = 'client backend' \
             AND pid <> pg_backend_pid()";
        let name = place.database_name();
        let ended = cluster.psql_in(name, end).expect("a result");
        assert_ne!(ended, "0");
        for _ in 0..500 {
            if read(&store, PATH).await.is_ok() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("no read has succeeded since");
    });
}

/// Nobody gets the response to a read that somebody else has left.
#[test]
fn a_read_that_is_left_gives_its_session_to_nobody() {
    run(Place::postgres(), |place| async move {
        let store = Store::open(&place.url).await.expect("opens");
        let slow = "SELECT CAST(pg_sleep(60) AS text)";
        for _ in 0..3 {
            assert_eq!(read(&store, PATH).await.as_deref(), Ok("main"));
            let left = tokio::time::timeout(Duration::from_millis(50), read(&store, slow)).await;
            assert!(left.is_err(), "{left:?}");
        }
        assert_eq!(read(&store, PATH).await.as_deref(), Ok("main"));
    });
}
