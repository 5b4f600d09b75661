//! How often a transaction crosses the distance to a PostgreSQL that is far away.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, UnixStream};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tplkit_server::store::{Scope, Store, StoreError, Visible};

use crate::cluster;
use crate::stores::{Place, run};

const ONE_WAY: Duration = Duration::from_millis(40);

#[test]
fn a_read_is_one_round_trip_and_a_write_two() {
    run(Place::postgres(), far_away);
}

async fn far_away(place: Place) {
    let database = place
        .url
        .split_once("///")
        .and_then(|(_, rest)| rest.split_once('?'));
    let (database, _) = database.expect("a database");
    let port = proxy().await;
    let store = Store::open(&format!("postgres://postgres@127.0.0.1:{port}/{database}")).await;
    let store = store.expect("opens");
    let scope = Scope::from(Visible::default());
    let mut reads = Vec::new();
    let mut writes = Vec::new();
    // The first ones also connect and prepare.
    for _ in 0..8 {
        let began = now();
        let read: Result<_, StoreError> = store
            .read(&scope, (), |tx, ()| {
                Box::pin(tx.last(
                    "SELECT label FROM organizations WHERE {tenant id} {across test}",
                    &[],
                ))
            })
            .await;
        read.expect("reads");
        reads.push(began.elapsed());
        let began = now();
        let written: Result<_, StoreError> = store
            .write(&scope, (), |tx, ()| {
                Box::pin(tx.query(
                    "UPDATE main.organizations SET label = 'x' WHERE {tenant id} {across test}",
                    &[],
                ))
            })
            .await;
        written.expect("writes");
        writes.push(began.elapsed());
    }
    // The quickest: others may have waited for the machine.
    let trips = |times: Vec<Duration>| {
        let least = times.into_iter().min().expect("times");
        least.as_secs_f64() / (2.0 * ONE_WAY.as_secs_f64())
    };
    let (read, write) = (trips(reads), trips(writes));
    assert!((1.0..1.9).contains(&read), "{read}");
    assert!((2.0..2.9).contains(&write), "{write}");
}

fn now() -> Instant {
    Instant::now()
}

/// Listens on a port and passes everything on to the cluster, late.
async fn proxy() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("listens");
    let port = listener.local_addr().expect("an address").port();
    let socket = cluster::shared()
        .expect("a cluster")
        .socket()
        .join(".s.PGSQL.5432");
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let _ = near.set_nodelay(true);
            let far = UnixStream::connect(&socket).await.expect("connects");
            let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
            delay(near_in, far_out);
            delay(far_in, near_out);
        }
    });
    port
}

fn delay(
    mut from: impl AsyncRead + Unpin + Send + 'static,
    mut to: impl AsyncWrite + Unpin + Send + 'static,
) {
    let (sender, mut receiver) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    tokio::spawn(async move {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(length @ 1..) = from.read(&mut buffer).await {
            let _ = sender.send((now() + ONE_WAY, buffer[..length].to_vec()));
        }
    });
    tokio::spawn(async move {
        while let Some((when, bytes)) = receiver.recv().await {
            tokio::time::sleep_until(when).await;
            if to.write_all(&bytes).await.is_err() {
                return;
            }
        }
    });
}
