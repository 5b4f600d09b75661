//! Migrations beside each other.

use std::thread;

use crate::stores::{Place, on_both_stores};

on_both_stores!(many_may_open_an_empty_store_at_once);

async fn many_may_open_an_empty_store_at_once(place: Place) {
    let threads: Vec<_> = (0..6)
        .map(|_| {
            let url = place.url.clone();
            thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build();
                let store = runtime
                    .expect("a runtime")
                    .block_on(tplkit_server::store::Store::open(&url));
                store.map(drop)
            })
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().expect("ends"), Ok(()));
    }
    place.open().await.ready().await.expect("answers");
}
