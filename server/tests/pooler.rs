//! `PgBouncer` between the server and PostgreSQL, as its package brings it: settings reach every transaction,
//! and none stays behind on a session that goes to somebody else next.

use std::io::{self, Write as _};
use std::thread;
use std::time::Duration;

use serde_json::json;
use tplkit_server::store::{Options, Row, Scope, Store, StoreError};
use tplkit_server_testkit::pooler::{Pooler, program};

use crate::api::model::{Model, id};
use crate::api::world::World;
use crate::cluster;
use crate::stores::{Place, run};

/// A database of the cluster, and the way to it through a pooler.
fn pooled(settings: &str, needs_prepared: bool) -> Option<(Place, Pooler, Place)> {
    let place = Place::empty_postgres()?;
    let (program, prepared) = program()?;
    if needs_prepared && !prepared {
        let _ = writeln!(
            io::stderr(),
            "\nSKIPPED: {} is older than 1.21 and keeps no prepared statements in transaction mode. \
             TPLKIT_PGBOUNCER names another one.\n",
            program.display()
        );
        return None;
    }
    let cluster = cluster::shared()?;
    let pooler = Pooler::start(&program, cluster, settings).expect("the pooler starts");
    let through = Place::at(pooler.url(place.database_name()));
    Some((place, pooler, through))
}

#[test]
fn the_api_works_through_a_pooler_in_session_mode_as_it_comes() {
    let Some((_place, _pooler, through)) = pooled("pool_mode = session\n", false) else {
        return;
    };
    run(Some(through), api);
}

#[test]
fn the_api_works_where_the_pooler_drops_what_it_does_not_know() {
    let settings = "pool_mode = session\nignore_startup_parameters = options\n";
    let Some((_place, _pooler, through)) = pooled(settings, false) else {
        return;
    };
    run(Some(through), api);
}

#[test]
fn the_api_works_through_a_pooler_in_transaction_mode() {
    let settings = "pool_mode = transaction\nmax_prepared_statements = 500\n";
    let Some((_place, _pooler, through)) = pooled(settings, true) else {
        return;
    };
    run(Some(through), api);
}

/// It takes the next of its sessions for each transaction, where the statements of another one are unknown.
#[test]
fn a_pooler_that_loses_prepared_statements_is_named() {
    let Some((program, false)) = program() else {
        return;
    };
    let Some(place) = Place::empty_postgres() else {
        return;
    };
    let cluster = cluster::shared().expect("it is there");
    let settings = "pool_mode = transaction\nserver_round_robin = 1\n";
    let pooler = Pooler::start(&program, cluster, settings).expect("the pooler starts");
    let through = Place::at(pooler.url(place.database_name()));
    run(Some(through), |through| async move {
        let refused = refused(&through.url).await;
        assert!(matches!(refused, StoreError::TurnedAway(_)), "{refused}");
        let text = refused.to_string();
        assert!(text.contains("max_prepared_statements"), "{text}");
    });
}

/// What a store says in the end that asks several things at once.
async fn refused(url: &str) -> StoreError {
    let store = match Store::open(url).await {
        Ok(store) => store,
        Err(refused) => return refused,
    };
    for _ in 0..100 {
        let all = futures_util::future::join_all((0..8).map(|_| store.ready()));
        if let Some(refused) = all.await.into_iter().find_map(Result::err) {
            return refused;
        }
    }
    panic!("every statement was found");
}

/// The pooler resets nothing between its clients here, so that whatever were left would be seen.
#[test]
fn nothing_stays_behind_on_a_session_of_the_pooler() {
    let settings = "pool_mode = session\nserver_reset_query =\n";
    let Some((place, pooler, through)) = pooled(settings, false) else {
        return;
    };
    let shown = "SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) FROM pg_settings \
         WHERE name IN ('search_path', 'statement_timeout', 'lock_timeout', 'plan_cache_mode', \
         'enable_seqscan', 'jit', 'role', 'idle_in_transaction_session_timeout', \
         'synchronous_commit') OR name LIKE 'tplkit.%' AND setting <> ''";
    let cluster = cluster::shared().expect("it is there");
    let name = place.database_name();
    let fresh = cluster.psql_in(name, shown).expect("a result");
    run(Some(through), api);
    // Sessions go back to the pooler when the store closes them, and the next clients get them.
    let count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
         AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
    let count = cluster.psql_in(name, count).expect("a result");
    assert_ne!(count, "0", "the pooler keeps its sessions");
    let clients: Vec<_> = (0..8)
        .map(|_| {
            let url = pooler.url(name);
            let sql = format!("SELECT pg_sleep(0.2); {shown}");
            thread::spawn(move || {
                let cluster = cluster::shared().expect("it is there");
                cluster.psql_at(&url, &sql).expect("a result")
            })
        })
        .collect();
    for client in clients {
        let found = client.join().expect("ends");
        assert_eq!(found.trim(), fresh);
    }
}

/// No setting of a session says that there.
#[test]
fn transactions_name_their_isolation() {
    let settings = "pool_mode = session\nignore_startup_parameters = options\n";
    let Some((place, _pooler, through)) = pooled(settings, false) else {
        return;
    };
    let name = place.database_name();
    place.execute(&format!(
        "ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'"
    ));
    run(Some(through), |through| async move {
        let store = Store::open(&through.url).await.expect("opens");
        let asked = "SELECT current_setting('transaction_isolation')";
        let read: Result<Vec<Row>, StoreError> = store
            .read(&Scope::Operator, (), move |tx, ()| {
                Box::pin(tx.query(asked, &[]))
            })
            .await;
        let written: Result<Vec<Row>, StoreError> = store
            .write(&Scope::Operator, (), move |tx, ()| {
                Box::pin(tx.query(asked, &[]))
            })
            .await;
        for rows in [read, written] {
            let isolation: String = rows.expect("a result")[0].get(0).expect("a text");
            assert_eq!(isolation, "read committed");
        }
    });
}

/// What stands for the API: people sign in, tables are made, rows written, sorted, counted, shared reads
/// asked, all of it by two servers; and a statement ends when its time is over.
async fn api(place: Place) {
    let url = place.url.clone();
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let model = Model::new(&admin, world.acme)
        .with_template(&admin, world.acme)
        .with_workflow(&admin, "w");
    let columns = format!("/v1/features/{}/columns", model.feature);
    admin.create(
        &columns,
        &json!({"label": "Name", "type": "text", "name": "name"}),
    );
    let rows = format!("/v1/features/{}/rows", model.feature);
    let mut ids = Vec::new();
    for number in 0..40 {
        let row = admin.create(&rows, &json!({"data": {"name": format!("n{number:02}")}}));
        ids.push(id(&row));
    }
    let plan = format!("/v1/templates/{}/plan", model.template);
    let into = json!({"workspaceId": model.workspace});
    admin.post(&plan, &into).expect(200);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for row in &ids {
                    let found = admin.get(&format!("{rows}/{row}")).expect(200).json();
                    assert_eq!(found["id"], row.as_str());
                }
                let page = admin.get(&format!("{rows}?sort=-name&limit=2")).expect(200);
                assert_eq!(page.json()["items"][0]["data"]["name"], "n39");
            });
        }
    });
    let nobody = world.nobody.get(&rows);
    nobody.expect(401);
    world.as_user("stranger@other.test").get(&rows).expect(404);
    let second = Store::open(&url).await.expect("a second server");
    second.ready().await.expect("is ready");
    let options = Options {
        statement_timeout: Duration::from_millis(200),
    };
    let hurried = Store::open_with(&url, &options).await.expect("opens");
    let slow = hurried.read(&Scope::Operator, (), |tx, ()| {
        Box::pin(async move { tx.query("SELECT pg_sleep(30)", &[]).await.map(drop) })
    });
    assert_eq!(slow.await, Err(StoreError::TooLong));
}
