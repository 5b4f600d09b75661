//! A statement that takes too long ends, alone.

use std::time::Duration;

use tplkit_server::refusal::Refusal;
use tplkit_server::store::{Options, Scope, Store, StoreError};

use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_read_that_takes_too_long_ends,
    a_write_that_takes_too_long_takes_nobody_along,
    a_write_that_is_refused_leaves_nothing,
);

/// Ten lines.
macro_rules! ten {
    ($name:literal) => {
        concat!(
            "(VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10)) AS ",
            $name
        )
    };
}

/// Counts to 10,000,000,000,000, one by one.
macro_rules! endless {
    () => {
        concat!(
            "SELECT count(*) FROM ",
            ten!("a"),
            ", ",
            ten!("b"),
            ", ",
            ten!("c"),
            ", ",
            ten!("d"),
            ", ",
            ten!("e"),
            ", ",
            ten!("f"),
            ", ",
            ten!("g"),
            ", ",
            ten!("h"),
            ", ",
            ten!("i"),
            ", ",
            ten!("j"),
            ", ",
            ten!("k"),
            ", ",
            ten!("l"),
            ", ",
            ten!("m")
        )
    };
}

async fn open(place: &Place) -> Store {
    let options = Options {
        statement_timeout: Duration::from_millis(200),
    };
    Store::open_with(&place.url, &options).await.expect("opens")
}

async fn read(store: &Store) -> Result<usize, StoreError> {
    store
        .read(&Scope::Operator, (), |tx, ()| {
            Box::pin(async move { Ok(tx.last(endless!(), &[]).await?.len()) })
        })
        .await
}

async fn a_read_that_takes_too_long_ends(place: Place) {
    let store = open(&place).await;
    assert_eq!(read(&store).await, Err(StoreError::TooLong));
    let problem = Refusal::from(StoreError::TooLong);
    assert_eq!(problem.code.as_str(), "store_unavailable");
    assert_eq!(problem.retry_after, Some(1));
    assert!(problem.detail().contains("too long"), "{problem:?}");
    store.ready().await.expect("goes on");
}

async fn label(store: &Store, number: u128) -> Result<usize, StoreError> {
    let id = uuid::Uuid::from_u128(number);
    store
        .write(&Scope::Operator, id, |tx, id| {
            let sql = "INSERT INTO main.organizations (id, label, config, created_at, updated_at) \
                 VALUES ($1, 'x', $2, 0, 0)";
            let parameters = [(*id).into(), "{}".into()];
            Box::pin(async move { Ok(tx.query(sql, &parameters).await?.len()) })
        })
        .await
}

async fn a_write_that_takes_too_long_takes_nobody_along(place: Place) {
    let store = open(&place).await;
    label(&store, 1).await.expect("writes");
    let slow = store.write(&Scope::Operator, (), |tx, ()| {
        let sql = concat!(
            "UPDATE main.organizations SET label = 'y' WHERE 0 < (",
            endless!(),
            ") {across test}"
        );
        Box::pin(async move { Ok::<_, StoreError>(tx.query(sql, &[]).await?.len()) })
    });
    // On SQLite they share a transaction with the slow one.
    let before = futures_util::future::join_all((2..20).map(|number| label(&store, number)));
    let after = futures_util::future::join_all((20..40).map(|number| label(&store, number)));
    let (before, slow, after) = tokio::join!(before, slow, after);
    assert_eq!(slow, Err(StoreError::TooLong));
    for written in before.into_iter().chain(after) {
        written.expect("writes");
    }
    let count = store.read(&Scope::Operator, (), |tx, ()| {
        let sql = "SELECT count(*) FROM organizations WHERE label = 'x' {across test}";
        Box::pin(async move {
            let rows = tx.last(sql, &[]).await?;
            rows[0].get::<i64>(0)
        })
    });
    assert_eq!(count.await, Ok(39));
}

async fn refused(store: &Store, number: u128) -> Result<(), StoreError> {
    let id = uuid::Uuid::from_u128(number);
    store
        .write(&Scope::Operator, id, |tx, id| {
            let sql = "INSERT INTO main.organizations (id, label, config, created_at, updated_at) \
                 VALUES ($1, 'refused', $2, 0, 0)";
            let parameters = [(*id).into(), "{}".into()];
            Box::pin(async move {
                tx.query(sql, &parameters).await?;
                Err(StoreError::OutOfScope)
            })
        })
        .await
}

/// On SQLite writes that wait share a commit: the first of it stands without a savepoint.
async fn a_write_that_is_refused_leaves_nothing(place: Place) {
    let store = Store::open(&place.url).await.expect("opens");
    assert_eq!(refused(&store, 1).await, Err(StoreError::OutOfScope));
    for round in 1..20 {
        let at = round * 1000;
        let all = futures_util::future::join_all((at..at + 12).map(|number| {
            let store = &store;
            async move {
                // Of some rounds the first is refused, of others the last.
                if number % 3 == round % 3 {
                    assert_eq!(refused(store, number).await, Err(StoreError::OutOfScope));
                } else {
                    label(store, number).await.expect("writes");
                }
            }
        }));
        all.await;
    }
    let count = store.read(&Scope::Operator, (), |tx, ()| {
        let sql = "SELECT count(*), count(CASE WHEN label = 'x' THEN 1 END) FROM organizations {across test}";
        Box::pin(async move {
            let rows = tx.last(sql, &[]).await?;
            Ok::<_, StoreError>((rows[0].get::<i64>(0)?, rows[0].get::<i64>(1)?))
        })
    });
    assert_eq!(count.await, Ok((19 * 8, 19 * 8)));
}
