//! What takes long is done in lanes: one organization that fills its half of one is refused, and nobody else
//! notices.

use std::pin::Pin;

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use tplkit_server::app::Config;
use tplkit_server::lanes::{Busy, Lane, LanePermit};
use uuid::Uuid;

use super::client::{Client, Response};
use super::model::{ITEM, id, package};
use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    queries_without_an_index_wait_for_their_lane,
    exports_imports_and_plans_wait_for_their_lane,
    batches_wait_for_their_lane,
    what_waits_is_done_when_there_is_a_place,
    who_may_not_is_refused_first,
    a_lane_that_is_full_here_is_free_in_another_process,
);

type Entering = Pin<Box<dyn Future<Output = Result<LanePermit, Busy>> + Send>>;

/// All that an organization may hold of a lane, and all that may wait for it there.
struct Full {
    permits: Vec<LanePermit>,
    waiting: Vec<Entering>,
}

fn fill(lane: &Lane, organization: Uuid) -> Full {
    let mut full = Full {
        permits: Vec::new(),
        waiting: Vec::new(),
    };
    loop {
        let own = lane.clone();
        let mut entering: Entering = Box::pin(async move { own.enter(organization).await });
        match (&mut entering).now_or_never() {
            Some(Ok(permit)) => full.permits.push(permit),
            Some(Err(Busy)) => return full,
            None => full.waiting.push(entering),
        }
    }
}

#[track_caller]
fn is_busy(response: Response) {
    let response = response.refused(429, "busy");
    let after = response.header("retry-after").expect("when");
    assert!(after.parse::<u32>().expect("seconds") >= 1);
    assert_eq!(response.json()["retry_after"].to_string(), after);
}

/// A table of an organization with a text and a number, and a row in it.
struct Fixture {
    workspace: String,
    table: String,
}

impl Fixture {
    fn new(client: &Client, organization: Uuid) -> Fixture {
        let body = json!({"organization_id": organization, "label": "W"});
        let workspace = id(&client.create("/v1/workspaces", &body));
        let body = json!({"workspace_id": workspace, "label": "T"});
        let feature = id(&client.create("/v1/features", &body));
        for (label, kind) in [("t", "text"), ("n", "number")] {
            let body = json!({"label": label, "type": kind});
            client.create(&format!("/v1/features/{feature}/columns"), &body);
        }
        let table = format!("/v1/features/{feature}/rows");
        client.create(&table, &json!({"data": {"t": "x", "n": 1}}));
        // From now on the table is known.
        client.get(&table).expect(200);
        Fixture { workspace, table }
    }
}

async fn queries_without_an_index_wait_for_their_lane(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let stranger = world.as_user("stranger@other.test");
    let (here, there) = (
        Fixture::new(&owner, world.acme),
        Fixture::new(&stranger, world.other),
    );
    let patterns: Vec<String> = (0..100).map(|n| format!("filter=t:ilike:*{n}*")).collect();
    let patterns = format!("match=any&{}", patterns.join("&"));
    let values: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
    let values = format!("filter=t:in:{}", values.join("%7C"));
    let long = [
        "?filter=t:eq:x".to_owned(),
        "?filter=not.t:eq:x".to_owned(),
        "?filter=updated_at:gt:2020-01-01T00:00:00Z".to_owned(),
        "?sort=t".to_owned(),
        "?sort=nowhere".to_owned(),
        "?sort=-updated_at".to_owned(),
        format!("?{patterns}"),
        format!("?{values}"),
        ":aggregate?op=sum&column=n".to_owned(),
        ":aggregate?op=avg&column=n".to_owned(),
        ":aggregate?op=count&filter=n:gt:0".to_owned(),
        format!(":aggregate?op=count&{patterns}"),
    ];
    let short = [
        "",
        "?limit=200",
        "?sort=-id",
        "?sort=created_at",
        "?fields=t",
        ":aggregate?op=count",
    ];
    let ask = |client: &Client, fixture: &Fixture, tail: &str| {
        client.get(&format!("{}{tail}", fixture.table))
    };
    for tail in &long {
        ask(&owner, &here, tail).expect(200);
    }
    let full = fill(&world.app.lanes.queries, world.acme);
    assert!(!full.permits.is_empty() && !full.waiting.is_empty());
    for tail in &long {
        is_busy(ask(&owner, &here, tail));
        ask(&stranger, &there, tail).expect(200);
    }
    for tail in short {
        ask(&owner, &here, tail).expect(200);
    }
    // What is wrong or hidden needs no place.
    ask(&owner, &here, "?sort=t&limit=0").refused(422, "validation_failed");
    ask(&stranger, &here, "?sort=t").refused(404, "not_found");
    drop(full);
    for tail in &long {
        ask(&owner, &here, tail).expect(200);
    }
}

/// Everything that reads or writes whole packages: method, path, body, status.
fn transfers(
    fixture: &Fixture,
    organization: Uuid,
    template: &str,
) -> Vec<(&'static str, String, Value, u16)> {
    let own = format!("/v1/templates/{template}");
    let apply = json!({"workspaceId": fixture.workspace});
    let manifest = package("x")["manifest"].clone();
    vec![
        (
            "POST",
            format!("/v1/workspaces/{}/export", fixture.workspace),
            json!({"rows": "all"}),
            200,
        ),
        (
            "POST",
            format!("/v1/templates/import?organization_id={organization}"),
            package("x"),
            201,
        ),
        (
            "POST",
            "/v1/templates".to_owned(),
            json!({"organization_id": organization, "manifest": manifest}),
            201,
        ),
        ("GET", format!("{own}/package"), Value::Null, 200),
        ("PUT", format!("{own}/package"), package("y"), 200),
        (
            "PUT",
            format!("{own}/payloads/{ITEM}"),
            package("y")["payloads"][0].clone(),
            200,
        ),
        ("POST", format!("{own}/plan"), apply.clone(), 200),
        ("POST", format!("{own}/apply"), apply, 202),
    ]
}

async fn exports_imports_and_plans_wait_for_their_lane(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let stranger = world.as_user("stranger@other.test");
    let fixture = |client: &Client, organization: Uuid| {
        let fixture = Fixture::new(client, organization);
        let path = format!("/v1/templates/import?organization_id={organization}");
        let template = id(&client.create(&path, &package("x")));
        transfers(&fixture, organization, &template)
    };
    let here = fixture(&owner, world.acme);
    let there = fixture(&stranger, world.other);
    let send = |client: &Client, (method, path, body, _): &(&str, String, Value, u16)| {
        if body.is_null() {
            client.get(path)
        } else {
            client.json(method, path, &body.to_string())
        }
    };
    let full = fill(&world.app.lanes.transfers, world.acme);
    for (own, other) in here.iter().zip(&there) {
        is_busy(send(&owner, own));
        send(&stranger, other).expect(other.3);
    }
    // Nothing came of what was refused, under its key neither.
    let (_, path, body, _) = &here[1];
    let body = body.to_string();
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", "k"),
    ];
    let again = || owner.send("POST", path, &headers, Some(body.as_bytes()));
    is_busy(again());
    assert_eq!(owner.items("/v1/templates").len(), 1);
    drop(full);
    again().expect(201);
    for own in &here {
        send(&owner, own).expect(own.3);
    }
}

async fn batches_wait_for_their_lane(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let stranger = world.as_user("stranger@other.test");
    let (here, there) = (
        Fixture::new(&owner, world.acme),
        Fixture::new(&stranger, world.other),
    );
    let batch = |client: &Client, fixture: &Fixture| {
        let rows: Vec<Value> = (0..500)
            .map(|n| json!({"data": {"t": "y".repeat(200), "n": n}}))
            .collect();
        client.post(&format!("{}:batch", fixture.table), &json!({"rows": rows}))
    };
    let full = fill(&world.app.lanes.batches, world.acme);
    is_busy(batch(&owner, &here));
    batch(&stranger, &there).expect(201);
    owner
        .post(&here.table, &json!({"data": {"n": 1}}))
        .expect(201);
    drop(full);
    batch(&owner, &here).expect(201);
}

async fn what_waits_is_done_when_there_is_a_place(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let fixture = Fixture::new(&owner, world.acme);
    let mut full = fill(&world.app.lanes.queries, world.acme);
    // Room for one more to wait, and as soon as it does a place.
    full.waiting.pop();
    let query = format!("{}?sort=t", fixture.table);
    let reading = std::thread::spawn(move || owner.get(&query));
    while !world.app.lanes.queries.is_full(world.acme) {
        tokio::task::yield_now().await;
    }
    drop(full);
    reading.join().expect("responds").expect(200);
}

async fn who_may_not_is_refused_first(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let stranger = world.as_user("stranger@other.test");
    let fixture = Fixture::new(&owner, world.acme);
    let path = format!("/v1/templates/import?organization_id={}", world.acme);
    let template = id(&owner.create(&path, &package("x")));
    let transfers = transfers(&fixture, world.acme, &template);
    let _mine = fill(&world.app.lanes.transfers, world.acme);
    let _theirs = fill(&world.app.lanes.transfers, world.other);
    for (method, path, body, _) in transfers.iter().filter(|transfer| transfer.0 != "GET") {
        let refused = stranger.json(method, path, &body.to_string());
        refused.refused(404, "not_found");
        world
            .nobody
            .json(method, path, &body.to_string())
            .refused(401, "unauthenticated");
    }
}

async fn a_lane_that_is_full_here_is_free_in_another_process(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let fixture = Fixture::new(&owner, world.acme);
    let config = Config {
        rate: None,
        ..Config::default()
    };
    let second = world.second_server(world.store.clone(), config).await;
    let signed_in = json!({"email": "owner@acme.test", "password": super::world::PASSWORD});
    let tokens = second.post("/v1/auth/token", &signed_in).expect(200).json();
    let second = second.with(tokens["access_token"].as_str().expect("a token"));
    let query = format!("{}?sort=t", fixture.table);
    second.get(&query).expect(200);
    let _full = fill(&world.app.lanes.queries, world.acme);
    is_busy(owner.get(&query));
    second.get(&query).expect(200);
}
