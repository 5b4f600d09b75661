//! Short reads that share a transaction on PostgreSQL: each gets its own response, whatever the others get.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::join_all;
use tplkit_server::store::{Options, Row, Scope, Store, StoreError, Value, Visible};
use uuid::Uuid;

use crate::stores::{Place, run};

/// Which transaction this is: no connection begins two of them at once.
macro_rules! began {
    () => {
        "CAST(extract(epoch FROM now()) * 1000000 AS bigint) % 1000000000000 * 1000000 \
         + pg_backend_pid() % 1000000"
    };
}

/// Its transaction, and a hundred by something; nothing where the organization is another's.
const QUESTION: &str = concat!(
    "SELECT ",
    began!(),
    ", CAST(100 AS bigint) / CAST($1 AS bigint) WHERE {tenant CAST($2 AS uuid)}"
);
/// Its transaction, some time later.
const SLOW: &str = concat!(
    "SELECT ",
    began!(),
    ", CASE WHEN pg_sleep(0.05) IS NULL THEN 0 ELSE CAST($1 AS bigint) END WHERE {tenant CAST($2 AS uuid)}"
);
/// The same, in words that nobody has asked before.
const UNKNOWN: &str = concat!(
    "SELECT ",
    began!(),
    ", CASE WHEN pg_sleep(0.02) IS NULL THEN 1 ELSE CAST($1 AS bigint) END WHERE {tenant CAST($2 AS uuid)}"
);
/// The statement that answers, and as many numbers as are asked for, the largest first.
const MANY: &str = "SELECT current_query(), n FROM generate_series(CAST(1 AS bigint), CAST($1 AS bigint)) AS n \
    WHERE {tenant CAST($2 AS uuid)} ORDER BY n DESC LIMIT 5";
/// The same of a response that no statement can give for many at once.
const SUM: &str = "SELECT current_query(), CAST(sum(CAST($1 AS bigint)) AS bigint) WHERE {tenant CAST($2 AS uuid)}";
/// What is different each time it is asked.
const ONCE: &str =
    "SELECT CAST(gen_random_uuid() AS text), CAST($1 AS bigint) WHERE {tenant CAST($2 AS uuid)}";
/// Its transaction, after as many thousandths of a second as are asked for.
const SLEEP: &str = concat!(
    "SELECT ",
    began!(),
    ", CASE WHEN pg_sleep(CAST($1 AS bigint) / 1000.0) IS NULL THEN 0 ELSE CAST($1 AS bigint) END \
     WHERE {tenant CAST($2 AS uuid)}"
);
const OURS: Uuid = Uuid::from_u128(1);

fn caller(organization: Uuid) -> Scope {
    Scope::from(Visible {
        caller: Uuid::from_u128(7),
        organizations: vec![organization],
        administered: vec![organization],
        ..Visible::default()
    })
}

async fn glance(
    store: &Store,
    scope: &Scope,
    (question, number): (&'static str, i64),
) -> Result<Option<(i64, i64)>, StoreError> {
    let input: [Value; 2] = [number.into(), OURS.into()];
    let rows = store.short_read(scope, input, move |tx, input| {
        Box::pin(async move { tx.last(question, input).await })
    });
    let rows: Vec<Row> = rows.await?;
    let read = |row: &Row| Ok((row.get(0)?, row.get(1)?));
    rows.first().map(read).transpose()
}

/// Lets both questions be known: what was never asked might take long. The first may have to be planned.
async fn known(store: &Store) {
    for question in [QUESTION, QUESTION, SLOW] {
        let response = glance(store, &caller(OURS), (question, 1)).await;
        assert_eq!(response.map(|response| response.is_some()), Ok(true));
    }
}

fn on_postgres<F: Future<Output = ()>>(body: impl FnOnce(Place) -> F) {
    run(Place::postgres(), body);
}

/// How many different transactions answered.
fn transactions<'a>(begun: impl Iterator<Item = &'a (i64, i64)>) -> usize {
    let mut begun: Vec<i64> = begun.map(|(begun, _)| *begun).collect();
    begun.sort_unstable();
    begun.dedup();
    begun.len()
}

/// Asks a hundred things at once, one in ten of them for somebody else; gives the answers.
async fn all_answered(store: &Store, ours: &Scope, others: &Scope) -> Vec<(i64, i64)> {
    let asked = (1..=100).map(|number| {
        // One in ten belongs elsewhere, and is somebody else to the store.
        let scope = if number % 10 == 0 { others } else { ours };
        glance(store, scope, (QUESTION, number))
    });
    let responses = join_all(asked).await;
    let mut found = Vec::new();
    for (response, number) in responses.into_iter().zip(1..) {
        let response = response.expect("is answered");
        assert_eq!(response.is_some(), number % 10 != 0, "{number}");
        if let Some((_, share)) = response {
            assert_eq!(share, 100 / number);
        }
        found.extend(response);
    }
    found
}

#[test]
fn many_at_once_share_transactions_and_nothing_else() {
    on_postgres(|place| async move {
        let store = place.open().await;
        let (ours, others) = (caller(OURS), caller(Uuid::from_u128(2)));
        known(&store).await;
        // A busy machine may take long for anything, and then nothing is shared.
        for round in 1.. {
            let found = all_answered(&store, &ours, &others).await;
            if transactions(found.iter()) < found.len() / 2 {
                break;
            }
            assert!(round < 50, "nothing is ever shared");
        }
    });
}

/// So many that most have to wait for others, on machines of any size.
fn many() -> i64 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    30 * i64::try_from(cores.max(2)).expect("few")
}

/// Asks for many numbers at once, after each was asked for alone; gives the first column of the answers and
/// the second ones.
async fn asked_at_once(
    store: &Store,
    question: &'static str,
    numbers: impl Iterator<Item = i64> + Clone,
) -> Vec<(i64, Vec<(String, i64)>)> {
    let scope = caller(OURS);
    let ask = |number: i64| {
        let input: [Value; 2] = [number.into(), OURS.into()];
        store.short_read(&scope, input, move |tx, input| {
            Box::pin(async move { tx.last(question, input).await })
        })
    };
    // The first may have to be planned.
    for _ in 0..2 {
        let _: Vec<Row> = ask(1).await.expect("is answered");
    }
    let responses: Vec<Result<Vec<Row>, StoreError>> = join_all(numbers.clone().map(ask)).await;
    let read = |row: Row| (row.get(0).expect("a text"), row.get(1).expect("a number"));
    let rows = responses.into_iter().map(|response| {
        let rows = response.expect("is answered").into_iter();
        rows.map(read).collect()
    });
    numbers.zip(rows).collect()
}

#[test]
fn what_differs_in_its_values_is_asked_by_one_statement() {
    on_postgres(|place| async move {
        let store = place.open().await;
        for round in 1.. {
            let responses = asked_at_once(&store, MANY, (0..many()).map(|n| n % 9)).await;
            let mut together = 0;
            for (count, rows) in &responses {
                let numbers: Vec<i64> = rows.iter().map(|(_, number)| *number).collect();
                let right: Vec<i64> = (1..=*count).rev().take(5).collect();
                assert_eq!(numbers, right);
                together += rows
                    .iter()
                    .filter(|(by, _)| by.contains("ORDINALITY"))
                    .count();
            }
            if together > 0 {
                break;
            }
            assert!(round < 50, "nothing is ever asked together");
        }
    });
}

#[test]
fn what_no_statement_answers_for_many_is_asked_for_each() {
    on_postgres(|place| async move {
        let store = place.open().await;
        let responses = asked_at_once(&store, SUM, 0..many()).await;
        for (number, rows) in responses {
            let [(by, sum)] = rows.as_slice() else {
                panic!("{rows:?}");
            };
            assert_eq!(*sum, number);
            assert!(!by.contains("ORDINALITY"), "{by}");
        }
    });
}

#[test]
fn what_many_ask_alike_is_asked_once() {
    on_postgres(|place| async move {
        let store = place.open().await;
        for round in 1.. {
            let responses = asked_at_once(&store, ONCE, (0..many()).map(|n| n % 2)).await;
            let mut answered: Vec<(i64, String)> = Vec::new();
            for (number, rows) in responses {
                let [(response, reported)] = rows.as_slice() else {
                    panic!("{rows:?}");
                };
                assert_eq!(*reported, number);
                answered.push((number, response.clone()));
            }
            answered.sort();
            answered.dedup();
            // No answer is anybody's who asked for another number.
            let mut responses: Vec<&str> =
                answered.iter().map(|(_, response)| &**response).collect();
            responses.sort_unstable();
            responses.dedup();
            assert_eq!(responses.len(), answered.len());
            if i64::try_from(answered.len()).expect("few") < many() / 2 + 1 {
                break;
            }
            assert!(round < 50, "nothing is ever asked once");
        }
    });
}

#[test]
fn one_that_fails_fails_alone() {
    on_postgres(|place| async move {
        let store = place.open().await;
        let scope = caller(OURS);
        known(&store).await;
        let asked = (0..60).map(|number| glance(&store, &scope, (QUESTION, number % 6)));
        for (response, number) in join_all(asked).await.into_iter().zip(0..) {
            match number % 6 {
                0 => {
                    let error = response.expect_err("divides by zero");
                    assert!(error.to_string().contains("22012"), "{error}");
                }
                divisor => {
                    let response = response.expect("is answered");
                    assert_eq!(response.map(|(_, share)| share), Some(100 / divisor));
                }
            }
        }
    });
}

/// Nobody could know before that it would: its words were quick for everybody else.
#[test]
fn one_that_takes_too_long_fails_alone() {
    on_postgres(|place| async move {
        let options = Options {
            statement_timeout: Duration::from_millis(500),
        };
        let store = Store::open_with(&place.url, &options).await.expect("opens");
        let scope = caller(OURS);
        for _ in 0..2 {
            let response = glance(&store, &scope, (SLEEP, 1)).await;
            assert_eq!(response.map(|response| response.is_some()), Ok(true));
        }
        let numbers = (0..20).map(|number| if number == 9 { 2_000 } else { number % 4 });
        let asked = numbers
            .clone()
            .map(|number| glance(&store, &scope, (SLEEP, number)));
        for (response, number) in join_all(asked).await.into_iter().zip(numbers) {
            if number == 2_000 {
                assert!(matches!(response, Err(StoreError::TooLong)), "{response:?}");
            } else {
                let response = response.expect("is answered");
                assert_eq!(response.map(|(_, slept)| slept), Some(number));
            }
        }
    });
}

#[test]
fn nobody_waits_long_for_one_that_was_quick_before() {
    on_postgres(|place| async move {
        let store = place.open().await;
        let scope = caller(OURS);
        for _ in 0..2 {
            let response = glance(&store, &scope, (SLEEP, 1)).await;
            assert_eq!(response.map(|response| response.is_some()), Ok(true));
        }
        // More than may be under way before others have to wait for them.
        let slow = join_all((0..many() / 30).map(|_| glance(&store, &scope, (SLEEP, 4_000))));
        let quick = join_all((0..8).map(|number| glance(&store, &scope, (SLEEP, number))));
        let (mut slow, mut quick) = (pin!(slow), pin!(quick));
        tokio::select! {
            biased;
            responses = &mut slow => panic!("nothing was answered before: {responses:?}"),
            responses = &mut quick => {
                let all = responses.into_iter().zip(0..);
                for (response, number) in all {
                    let response = response.expect("is answered");
                    assert_eq!(response.map(|(_, slept)| slept), Some(number));
                }
            }
        }
        assert!(slow.await.iter().all(Result::is_ok));
    });
}

/// Whether it was asked before or never.
#[test]
fn nobody_waits_for_what_takes_long() {
    on_postgres(|place| async move {
        let store = place.open().await;
        let scope = caller(OURS);
        known(&store).await;
        for question in [SLOW, UNKNOWN] {
            let asked = (0..12).map(|number| glance(&store, &scope, (question, number)));
            let responses = join_all(asked).await.into_iter();
            let found: Vec<_> = responses
                .map(|response| response.expect("is answered").expect("a row"))
                .collect();
            assert_eq!(transactions(found.iter()), 12, "{question}");
        }
    });
}

#[test]
fn who_gives_up_leaves_the_others_their_responses() {
    on_postgres(|place| async move {
        let store = place.open().await;
        let scope = caller(OURS);
        known(&store).await;
        let asked = (1..=40).map(|number| {
            let (store, scope) = (store.clone(), scope.clone());
            tokio::spawn(async move { glance(&store, &scope, (QUESTION, number)).await })
        });
        let asked: Vec<_> = asked.collect();
        // Those that have a transaction of their own are among them.
        for task in asked.iter().step_by(3) {
            task.abort();
        }
        for (task, number) in asked.into_iter().zip(1..) {
            match task.await {
                Ok(response) => {
                    let response = response.expect("is answered");
                    assert_eq!(response.map(|(_, share)| share), Some(100 / number));
                }
                Err(gone) => assert!(gone.is_cancelled() && number % 3 == 1, "{gone}"),
            }
        }
        assert!(glance(&store, &scope, (QUESTION, 1)).await.is_ok());
    });
}
