//! Clients that write one row after another, each under an `Idempotency-Key`, and send a row again under its
//! key until a response says that it is there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::kill::Wire;

/// How long somebody waits for what has to come, before the test has failed.
const PATIENCE: Duration = Duration::from_secs(120);

/// Clients at work.
pub(crate) struct Load {
    acknowledged: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
    clients: Vec<JoinHandle<Written>>,
}

/// What one client has done.
#[derive(Default)]
pub(crate) struct Written {
    /// Every row that was acknowledged.
    pub(crate) notes: Vec<String>,
    /// When requests were sent, and when they turned out to have no response, or not the one that was asked for.
    pub(crate) failed: Vec<(Instant, Instant)>,
}

impl Load {
    /// So many clients at that address, which write into a table with a column `note`.
    pub(crate) fn start(clients: usize, address: &str, token: &str, feature: &str) -> Load {
        let (acknowledged, over) = <(Arc<AtomicUsize>, Arc<AtomicBool>)>::default();
        let clients = (0..clients).map(|client| {
            let (acknowledged, over) = (acknowledged.clone(), over.clone());
            let (address, token) = (address.to_owned(), token.to_owned());
            let rows = format!("/v1/features/{feature}/rows");
            thread::spawn(move || {
                let mut written = Written::default();
                let mut wire = Wire::to(&address, &token);
                while !over.load(Ordering::SeqCst) {
                    let note = format!("{client}-{}", written.notes.len());
                    let body = json!({"data": {"note": note}});
                    loop {
                        let sent = now();
                        let response = wire.ask_with_key(&note, "POST", &rows, Some(&body));
                        match &response {
                            Some((201, row)) => break assert_eq!(row["data"]["note"], note),
                            // Nothing came, or the store is away (503, which is none here, too), the proxy found
                            // nobody (502, 504), or the request before this one is still at work (409).
                            None | Some((409 | 502 | 504, _)) => {}
                            Some(other) => panic!("{note}: {other:?}"),
                        }
                        written.failed.push((sent, now()));
                        thread::sleep(Duration::from_millis(10));
                        if response.is_none() {
                            wire = Wire::to(&address, &token);
                        }
                    }
                    written.notes.push(note);
                    acknowledged.fetch_add(1, Ordering::SeqCst);
                }
                written
            })
        });
        Load {
            clients: clients.collect(),
            acknowledged,
            over,
        }
    }

    /// Waits until so many more are acknowledged; gives how long that took.
    pub(crate) fn wait_for(&self, more: usize) -> Duration {
        let (begun, before) = (now(), self.acknowledged.load(Ordering::SeqCst));
        while self.acknowledged.load(Ordering::SeqCst) < before + more {
            assert!(begun.elapsed() < PATIENCE, "nothing is written any more");
            assert!(
                !self.clients.iter().any(JoinHandle::is_finished),
                "a client has given up"
            );
            thread::sleep(Duration::from_millis(1));
        }
        begun.elapsed()
    }

    /// Lets each client end with what it has begun.
    pub(crate) fn stop(self) -> Vec<Written> {
        self.over.store(true, Ordering::SeqCst);
        let clients = self.clients.into_iter();
        clients
            .map(|client| client.join().expect("a client ends in order"))
            .collect()
    }
}

/// Everything of a list, whose path may have a query.
pub(crate) fn all(wire: &mut Wire, path: &str) -> Vec<Value> {
    let (mut items, mut cursor) = (Vec::new(), String::new());
    let separator = if path.contains('?') { '&' } else { '?' };
    loop {
        let path = format!("{path}{separator}limit=200{cursor}");
        let (status, page) = wire.ask("GET", &path, None).expect("a response");
        assert_eq!(status, 200, "{page}");
        items.extend(page["items"].as_array().expect("a list").iter().cloned());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return items,
        }
    }
}

/// How often each note stands in a table.
pub(crate) fn notes(wire: &mut Wire, feature: &str) -> BTreeMap<String, usize> {
    let mut notes = BTreeMap::new();
    for row in all(wire, &format!("/v1/features/{feature}/rows")) {
        let note = row["data"]["note"].as_str().expect("a note");
        *notes.entry(note.to_owned()).or_default() += 1;
    }
    notes
}

/// Each row that was acknowledged is there once, and no other is.
pub(crate) fn assert_exact(written: &[Written], found: &BTreeMap<String, usize>) {
    let acknowledged = written.iter().flat_map(|written| &written.notes);
    let expected: BTreeMap<String, usize> = acknowledged.map(|note| (note.clone(), 1)).collect();
    let differs = |one: &BTreeMap<String, usize>, other: &BTreeMap<String, usize>| -> Vec<String> {
        let differs = one
            .iter()
            .filter(|(note, times)| other.get(*note) != Some(*times));
        differs
            .map(|(note, times)| format!("{note}: {times}"))
            .collect()
    };
    assert_eq!(
        differs(&expected, found),
        Vec::<String>::new(),
        "lost, or there twice"
    );
    assert_eq!(
        differs(found, &expected),
        Vec::<String>::new(),
        "not acknowledged, or there twice"
    );
}

/// A table with a column `note`.
pub(crate) fn table(wire: &mut Wire, workspace: &str, label: &str) -> String {
    let body = json!({"workspace_id": workspace, "label": label});
    let feature = wire.made("/v1/features", &body);
    let columns = format!("/v1/features/{feature}/columns");
    wire.made(&columns, &json!({"label": "note", "type": "text"}));
    feature
}

#[expect(
    clippy::disallowed_methods,
    reason = "failures are compared by when they were sent"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}
