//! A database that has no more connections to give: the process goes on with those that it has.

use std::thread;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use tplkit_server::store::{Row, Scope, Store, StoreError};

use crate::api::client::Client;
use crate::api::model::{Model, uuid};
use crate::cluster::{self, Cluster};
use crate::process::{EMAIL, SECRET, Serving, owner};
use crate::stores::{Place, run};

/// How many connections the role may have.
const FEW: usize = 4;

/// A role that may have few connections, and a database of it.
struct Few {
    cluster: &'static Cluster,
    name: String,
    url: String,
}

impl Few {
    fn new(name: &str) -> Option<Few> {
        // Whoever made this one has made the roles of requests.
        drop(Place::plain_postgres()?);
        let cluster = cluster::shared()?;
        let name = format!("few_{name}_{}", std::process::id());
        let url = cluster.url(&name);
        let url = url.replace("user=postgres", &format!("user={name}"));
        let few = Few { cluster, name, url };
        let name = &few.name;
        few.sql(&format!("CREATE ROLE {name} LOGIN CONNECTION LIMIT {FEW}"));
        few.sql(&format!(
            "GRANT tplkit_gate, tplkit_operator, tplkit_request TO {name}"
        ));
        few.sql(&format!("CREATE DATABASE {name} OWNER {name}"));
        Some(few)
    }

    fn sql(&self, sql: &str) {
        self.cluster.psql(sql).expect(sql);
    }
}

impl Drop for Few {
    fn drop(&mut self) {
        // The cluster goes in the end, with everything in it.
        let name = &self.name;
        let _ = self.cluster.remove(name);
        let _ = self.cluster.psql(&format!("DROP ROLE {name}"));
    }
}

#[test]
fn requests_wait_for_the_connections_of_their_process() {
    let Some(few) = Few::new("requests") else {
        return;
    };
    let organization = uuid(&owner(&few.url));
    let serving = Serving::start_with(&few.url, &["--rate-limit", "off", "--no-worker"], &[]);
    let nobody = Client::new(serving.address.parse().expect("an address"));
    let sign_in = json!({"email": EMAIL, "password": SECRET});
    let tokens = nobody.post("/v1/auth/token", &sign_in).expect(200).json();
    let owner = nobody.with(tokens["access_token"].as_str().expect("a token"));
    let rows = format!(
        "/v1/features/{}/rows",
        Model::new(&owner, organization).feature
    );
    let at_once = |ask: &(dyn Fn() + Sync)| {
        thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(ask);
            }
        });
    };
    for _ in 0..3 {
        // These take all that there are.
        at_once(&|| drop(owner.post(&rows, &json!({"data": {}})).expect(201)));
        for _ in 0..5 {
            owner.get(&rows).expect(200);
            owner.post(&rows, &json!({"data": {}})).expect(201);
        }
        at_once(&|| drop(owner.get(&rows).expect(200)));
    }
    drop(serving);
}

#[test]
fn connections_for_reads_make_room_for_others() {
    let Some(few) = Few::new("reads") else {
        return;
    };
    let place = Place::at(few.url.clone());
    run(Some(place), |place| async move {
        let store = Store::open(&place.url).await.expect("opens");
        // The connection that migrated has gone by then.
        tokio::time::sleep(Duration::from_millis(300)).await;
        let slow = "SELECT CAST(pg_sleep(0.5) AS text)";
        let reads = (0..FEW).map(|_| {
            store.short_read(&Scope::Operator, (), move |tx, ()| {
                Box::pin(tx.last(slow, &[]))
            })
        });
        let read: Vec<Result<Vec<Row>, StoreError>> = join_all(reads).await;
        assert!(read.iter().all(Result::is_ok), "{read:?}");
        let written: Result<Vec<Row>, StoreError> = store
            .write(&Scope::Operator, (), |tx, ()| {
                Box::pin(tx.query("SELECT 1", &[]))
            })
            .await;
        written.expect("a connection");
    });
}
