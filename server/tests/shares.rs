//! Several processes on one PostgreSQL: what all of them do for one organization at a time is bounded, and
//! neither another organization nor a process that has died is in anybody's way.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tplkit_server::app::Config;
use tplkit_server::lanes::LaneSizes;
use tplkit_server::store::{Scope, Share, Store, StoreError};
use uuid::Uuid;

use crate::api::client::Client;
use crate::api::model::id;
use crate::api::world::{PASSWORD, World};
use crate::stores::{Place, run};

/// Something that runs in a lane of some process until it is asked to end.
struct Held {
    task: JoinHandle<Result<(), StoreError>>,
    end: Arc<Notify>,
}

impl Held {
    async fn new(store: &Store, share: Share) -> Held {
        let (begun, end) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (store, input) = (store.clone(), (begun.clone(), end.clone()));
        let task = tokio::spawn(share.of(async move {
            store
                .snapshot(&Scope::Operator, input, |tx, (begun, end)| {
                    Box::pin(async move {
                        tx.query("SELECT 1", &[]).await?;
                        begun.notify_one();
                        end.notified().await;
                        Ok(())
                    })
                })
                .await
        }));
        begun.notified().await;
        Held { task, end }
    }

    async fn end(self) {
        self.end.notify_one();
        self.task.await.expect("ends").expect("was begun");
    }
}

/// Asks a store for something that has to have a place, and does nothing with it.
async fn once(store: &Store, share: Share) -> Result<(), StoreError> {
    let read = store.snapshot(&Scope::Operator, (), |tx, ()| {
        Box::pin(async move { tx.query("SELECT 1", &[]).await.map(drop) })
    });
    share.of(read).await
}

/// Somebody's table, and a query about it that no index serves.
fn fixture(client: &Client, organization: Uuid) -> (String, String) {
    let body = json!({"organization_id": organization, "label": "W"});
    let workspace = id(&client.create("/v1/workspaces", &body));
    let body = json!({"workspace_id": workspace, "label": "T"});
    let feature = id(&client.create("/v1/features", &body));
    let body = json!({"label": "t", "type": "text"});
    client.create(&format!("/v1/features/{feature}/columns"), &body);
    let rows = format!("/v1/features/{feature}/rows");
    client.create(&rows, &json!({"data": {"t": "x"}}));
    let query = format!("{rows}?sort=t");
    (rows, query)
}

/// Somebody signed in at a process, to which the table is known.
fn signed_in(process: &Client, email: &str, query: &str) -> Client {
    let body = json!({"email": email, "password": PASSWORD});
    let tokens = process.post("/v1/auth/token", &body).expect(200).json();
    let client = process.with(tokens["access_token"].as_str().expect("a token"));
    for _ in 0..2 {
        client.get(query).expect(200);
    }
    client
}

#[test]
fn all_processes_together_do_for_an_organization_what_one_lane_holds() {
    run(Place::postgres(), |place| async move {
        let world = World::new(place).await;
        let (rows, query) = fixture(&world.as_user("owner@acme.test"), world.acme);
        let (_, theirs) = fixture(&world.as_user("stranger@other.test"), world.other);
        let config = Config {
            rate: None,
            ..Config::default()
        };
        let third = world.second_server(world.place.open().await, config).await;
        let owner = signed_in(&third, "owner@acme.test", &query);
        let stranger = signed_in(&third, "stranger@other.test", &theirs);

        // Two processes are as full as they get.
        let second = world.place.open().await;
        let share = world.app.lanes.queries.share(world.acme);
        let mut held = Vec::new();
        for number in 0..LaneSizes::of_machine().queries {
            let store = if number % 2 == 0 {
                &world.store
            } else {
                &second
            };
            held.push(Held::new(store, share).await);
        }
        let refused = owner.get(&query).refused(429, "busy");
        assert_eq!(refused.header("retry-after"), Some("1"));
        assert_eq!(once(&second, share).await, Err(StoreError::Busy));
        // That is nothing to others, to other work, or to what is short.
        stranger.get(&theirs).expect(200);
        owner.get(&rows).expect(200);
        let batch = json!({"rows": [{"data": {"t": "y"}}]});
        owner.post(&format!("{rows}:batch"), &batch).expect(201);

        // What ends, and what dies, leaves its place.
        held.pop().expect("one").end().await;
        owner.get(&query).expect(200);
        held.push(Held::new(&world.store, share).await);
        owner.get(&query).refused(429, "busy");
        held.pop().expect("one").task.abort();
        while once(&second, share).await.is_err() {}
        owner.get(&query).expect(200);
        for held in held {
            held.end().await;
        }
    });
}

#[test]
fn who_waits_for_a_place_gets_it_when_there_is_one() {
    run(Place::postgres(), |place| async move {
        let store = place.open().await;
        let hour = std::time::Duration::from_secs(3600);
        let share = Share::new(0, Uuid::from_u128(1), 2, hour);
        let first = Held::new(&store, share).await;
        let second = Held::new(&store, share).await;
        let waiting = tokio::spawn({
            let store = store.clone();
            async move { once(&store, share).await }
        });
        // Whoever waits holds nothing of the store.
        while store.depth().busy != 2 {
            tokio::task::yield_now().await;
        }
        once(&store, Share::new(0, Uuid::from_u128(2), 2, hour))
            .await
            .expect("has places of its own");
        assert!(!waiting.is_finished());
        first.end().await;
        waiting.await.expect("ends").expect("has a place");
        second.end().await;
    });
}
