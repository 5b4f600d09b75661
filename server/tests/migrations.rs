//! Migrations next to each other, and stores that were migrated by other programs.

use std::thread;

use tplkit_server::store::{Store, StoreError};

use crate::process::{run, stderr};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    many_may_open_an_empty_store_at_once,
    a_store_of_another_build_is_refused_and_left_alone,
    a_store_without_digests_is_refused_and_left_alone,
    a_store_that_lacks_a_migration_in_the_middle_is_refused,
);

async fn many_may_open_an_empty_store_at_once(place: Place) {
    let place = place.unmigrated();
    let threads: Vec<_> = (0..6)
        .map(|_| {
            let url = place.url.clone();
            thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build();
                let store = runtime.expect("a runtime").block_on(Store::open(&url));
                store.map(drop)
            })
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().expect("ends"), Ok(()));
    }
    place.open().await.ready().await.expect("is ready");
}

const COUNT: &str = "SELECT CAST(count(*) AS text) FROM main.schema_migrations";
/// Takes the newest migration off the ledger, so that a store which is let in would be migrated.
const BEHIND: &str = "DELETE FROM main.schema_migrations \
     WHERE number = (SELECT max(number) FROM main.schema_migrations)";

async fn a_store_of_another_build_is_refused_and_left_alone(place: Place) {
    drop(place.open().await);
    drop(place.open().await);
    place.execute("UPDATE main.schema_migrations SET digest = 'other' WHERE number = 4");
    let refused = Store::open(&place.url).await.map(drop);
    let other = StoreError::OtherMigration("0004_templates".to_owned());
    assert_eq!(refused, Err(other.clone()));
    place.execute(BEHIND);
    let count = place.ask(COUNT);
    assert_eq!(Store::open(&place.url).await.map(drop), Err(other));
    assert_eq!(place.ask(COUNT), count, "nothing was brought up to date");
    refused_by_every_command(&place.url, "0004_templates");
}

async fn a_store_without_digests_is_refused_and_left_alone(place: Place) {
    drop(place.open().await);
    place.execute("ALTER TABLE main.schema_migrations DROP COLUMN digest");
    let refused = Store::open(&place.url).await.map(drop);
    assert_eq!(refused, Err(StoreError::NoDigests));
    place.execute(BEHIND);
    let count = place.ask(COUNT);
    let refused = Store::open(&place.url).await.map(drop);
    assert_eq!(refused, Err(StoreError::NoDigests));
    assert_eq!(place.ask(COUNT), count, "nothing was brought up to date");
    refused_by_every_command(&place.url, "before tplkit-server recorded the digests");
}

async fn a_store_that_lacks_a_migration_in_the_middle_is_refused(place: Place) {
    drop(place.open().await);
    place.execute("DELETE FROM main.schema_migrations WHERE number = 3");
    let refused = Store::open(&place.url).await.map(drop);
    let other = StoreError::OtherMigration("0004_templates".to_owned());
    assert_eq!(refused, Err(other));
}

/// At the start, with the reason and the way out.
fn refused_by_every_command(url: &str, reason: &str) {
    for command in [
        &["serve", "--listen", "127.0.0.1:0"][..],
        &["worker"],
        &["migrate"],
        &["admin", "create-organization", "--label", "Acme"],
    ] {
        let output = run(&[command, &["--database", url]].concat());
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        let message = stderr(&output);
        for word in [reason, "tplkit export", "an empty store", "tplkit apply"] {
            assert!(message.contains(word), "{command:?}: {message}");
        }
    }
}
