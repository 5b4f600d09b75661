//! Many at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value as Json, json};
use uuid::Uuid;

use super::seed::{COLUMNS, number, path, table};
use crate::api::client::{Client, Response};
use crate::api::model::id;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    of_fifty_equal_values_one_goes_in,
    of_fifty_posts_with_one_key_one_has_an_effect,
    concurrent_merges_of_different_keys_all_survive,
    a_sequence_never_gives_a_number_twice,
    values_that_change_hands_do_not_hang,
    many_readers_get_each_their_own_row,
    who_is_removed_reads_nothing_from_then_on,
);

fn at_once(count: usize, ask: impl Fn(usize) -> Response + Sync) -> Vec<Response> {
    std::thread::scope(|scope| {
        let ask = &ask;
        let threads: Vec<_> = (0..count).map(|n| scope.spawn(move || ask(n))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a response"))
            .collect()
    })
}

fn count(responses: &[Response], status: u16) -> usize {
    responses
        .iter()
        .filter(|response| response.status == status)
        .count()
}

async fn of_fifty_equal_values_one_goes_in(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let responses = at_once(50, |n| {
        let mode = ["on", "strict", "off"][n % 3];
        let body = json!({"data": {"name": "n", "sku": "one"}});
        editor.post(&path(feature, &format!("?validate={mode}")), &body)
    });
    assert_eq!((count(&responses, 201), count(&responses, 409)), (1, 49));
    for response in responses.iter().filter(|response| response.status == 409) {
        assert_eq!(response.code(), "unique_violation");
        assert_eq!(response.json()["column"], "sku");
    }
    assert_eq!(number(&world, "SELECT count(*) FROM rows", vec![]).await, 1);
}

async fn of_fifty_posts_with_one_key_one_has_an_effect(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", "k"),
    ];
    let body = br#"{"rows":[{"data":{"name":"n","sku":"one"}},{"data":{"name":"m"}}]}"#;
    let responses = at_once(50, |_| {
        editor.send("POST", &path(feature, ":batch"), &headers, Some(body))
    });
    let fine: Vec<&Response> = responses
        .iter()
        .filter(|response| response.status == 201)
        .collect();
    assert!(!fine.is_empty());
    for response in &responses {
        if response.status == 201 {
            assert_eq!(response.body, fine[0].body);
        } else {
            assert_eq!(response.code(), "idempotency_in_progress");
        }
    }
    let replayed = |response: &&&Response| response.header("idempotency-replayed").is_some();
    assert_eq!(fine.iter().filter(replayed).count(), fine.len() - 1);
    assert_eq!(number(&world, "SELECT count(*) FROM rows", vec![]).await, 2);
}

fn create(client: &Client, feature: Uuid, data: &serde_json::Value) -> String {
    let row = client.post(&path(feature, ""), &json!({"data": data}));
    let row = row.expect(201).json();
    path(feature, &format!("/{}", row["id"].as_str().expect("an id")))
}

pub(in crate::api) async fn concurrent_merges_of_different_keys_all_survive(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let one = create(&editor, feature, &json!({"name": "n"}));
    let responses = at_once(24, |n| {
        let data = json!({"data": {format!("k{n}"): n}});
        editor.patch(&format!("{one}?merge=true"), &data)
    });
    assert_eq!(count(&responses, 200), 24);
    let row = editor.get(&one).json();
    for n in 0..24 {
        assert_eq!(row["data"][format!("k{n}")], n);
    }
    // Each adds a key, so their number says in which order they came.
    let mut changes: Vec<(usize, String)> = responses.iter().map(change).collect();
    changes.sort();
    assert!(
        changes.is_sorted_by(|one, other| one.1 < other.1),
        "{changes:?}"
    );
    let last = changes[23].1.as_str();
    assert_eq!(row["updated_at"], last);
    // By a process whose clock is behind.
    world.wait(-60);
    let data = json!({"data": {"name": "m"}});
    let later = editor.patch(&format!("{one}?merge=true"), &data);
    let later = later.expect(200).json();
    assert!(later["updated_at"].as_str() > Some(last), "{later}");
    assert_eq!(editor.get(&one).json(), later);
}

/// How many cells a row has, and when it changed.
fn change(response: &Response) -> (usize, String) {
    let row = response.json();
    let cells = row["data"].as_object().expect("cells").len();
    let at = row["updated_at"].as_str().expect("an instant");
    (cells, at.to_owned())
}

async fn a_sequence_never_gives_a_number_twice(place: Place) {
    let world = World::new(place).await;
    let columns = [("no", "number", "id", r#"{"idType":"sequence"}"#)];
    let feature = table(&world, &columns).await;
    let editor = world.as_user("editor@acme.test");
    let responses = at_once(20, |n| {
        if n % 4 == 0 {
            let rows = json!({"rows": [{"data": {}}, {"data": {}}, {"data": {}}]});
            editor.post(&path(feature, ":batch"), &rows)
        } else {
            editor.post(&path(feature, ""), &json!({"data": {}}))
        }
    });
    let mut numbers = Vec::new();
    for response in responses {
        let response = response.expect(201).json();
        let rows = response["items"].as_array().cloned();
        for row in rows.unwrap_or_else(|| vec![response]) {
            numbers.push(row["data"]["no"].as_i64().expect("a number"));
        }
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=30).collect::<Vec<_>>());
}

/// Two rows that exchange their values wait for each other in a circle; somebody has to give way.
async fn values_that_change_hands_do_not_hang(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let rows: Vec<String> = ["a", "b"]
        .iter()
        .map(|sku| create(&editor, feature, &json!({"name": "n", "sku": sku})))
        .collect();
    let responses = at_once(16, |n| {
        let sku = ["b", "a"][n % 2];
        let data = json!({"data": {"sku": sku}});
        editor.patch(&format!("{}?merge=true", rows[n % 2]), &data)
    });
    assert_eq!(
        count(&responses, 200) + count(&responses, 409),
        16,
        "{responses:?}"
    );
    let skus: Vec<_> = rows
        .iter()
        .map(|row| editor.get(row).json()["data"]["sku"].clone())
        .collect();
    assert_ne!(skus[0], skus[1]);
}

async fn many_readers_get_each_their_own_row(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let rows: Vec<Json> = (0..40)
        .map(|n| json!({"data": {"name": format!("row {n}")}}))
        .collect();
    let made = editor.post(&path(feature, ":batch"), &json!({"rows": rows}));
    let made = made.expect(201).json();
    let made = made["items"].as_array().expect("a list");
    let people = ["owner", "admin", "editor", "viewer"];
    let people = people.map(|name| world.as_user(&format!("{name}@acme.test")));
    let stranger = world.as_user("stranger@other.test");
    let responses = at_once(24, |n| {
        let mut last = None;
        for (turn, row) in made.iter().enumerate() {
            let tail = format!("/{}", row["id"].as_str().expect("an id"));
            if (turn + n) % 9 == 0 {
                stranger
                    .get(&path(feature, &tail))
                    .refused(404, "not_found");
            }
            // Half of them are one person.
            let person = &people[if n % 2 == 0 { 2 } else { (n / 2) % 4 }];
            let response = person.get(&path(feature, &tail)).expect(200);
            assert_eq!(response.json(), *row);
            last = Some(response);
        }
        last.expect("a response")
    });
    assert_eq!(count(&responses, 200), 24);
}

async fn who_is_removed_reads_nothing_from_then_on(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let (owner, editor) = (
        world.as_user("owner@acme.test"),
        world.as_user("editor@acme.test"),
    );
    let row = editor.create(&path(feature, ""), &json!({"data": {"name": "n"}}));
    let row = path(feature, &format!("/{}", id(&row)));
    let user = editor.get("/v1/me").expect(200).json();
    let user = id(&user);
    let (seen, removed) = (AtomicUsize::new(0), AtomicBool::new(false));
    at_once(13, |n| {
        if n == 0 {
            while seen.load(Ordering::SeqCst) < 60 {
                std::thread::yield_now();
            }
            let member = world.path(&format!("/members/{user}"));
            let response = owner.delete(&member).expect(204);
            removed.store(true, Ordering::SeqCst);
            return response;
        }
        let mut refused = 0;
        loop {
            let gone = removed.load(Ordering::SeqCst);
            let response = editor.get(&row);
            if gone {
                assert_eq!(response.status, 404, "{}", response.code());
                refused += 1;
                if refused == 10 {
                    return response;
                }
            } else if response.status == 200 {
                seen.fetch_add(1, Ordering::SeqCst);
            }
        }
    });
}
