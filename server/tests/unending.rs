//! A statement that PostgreSQL does not end at its limit, while it responds to others.

use std::process::Command;
use std::time::Duration;

use tokio::time::{sleep, timeout};
use tplkit_server::store::{Options, Scope, Store, StoreError};

use crate::cluster;
use crate::stores::{Place, run};

/// Sends a signal to a process.
fn signal(signal: &str, process: &str) {
    let sent = Command::new("kill").args([signal, process]).status();
    assert!(sent.expect("kill exists").success());
}

/// The process in which that database sleeps.
async fn sleeping(place: &Place) -> String {
    let cluster = cluster::shared().expect("it is there");
    let find = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() \
         AND state = 'active' AND query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()";
    for _ in 0..100 {
        let found = cluster.psql_in(place.database_name(), find);
        let found = found.expect("a result");
        if !found.is_empty() {
            return found;
        }
        sleep(Duration::from_millis(10)).await;
    }
    panic!("nothing sleeps");
}

/// A process that is stopped ends nothing, as one that is in the middle of a comparison.
#[test]
fn a_statement_that_is_not_ended_is_too_long_and_no_outage() {
    run(Place::plain_postgres(), |place| async move {
        let options = Options {
            statement_timeout: Duration::from_secs(2),
        };
        let store = Store::open_with(&place.url, &options).await.expect("opens");
        let reader = store.clone();
        let slow = tokio::spawn(async move {
            let read = reader.read(&Scope::Operator, (), |tx, ()| {
                let statement = "SELECT CAST(pg_sleep(60) AS text)";
                Box::pin(async move { Ok(tx.last(statement, &[]).await?.len()) })
            });
            let read: Result<usize, StoreError> = read.await;
            read
        });
        let process = sleeping(&place).await;
        signal("-STOP", &process);
        let ended = timeout(Duration::from_secs(10), slow).await;
        let ready = store.ready().await;
        signal("-CONT", &process);
        let ended = ended.expect("nobody waits for it twice").expect("runs");
        assert_eq!(ended, Err(StoreError::TooLong));
        ready.expect("goes on");
    });
}
