//! Runs of one editor's drafts that grow until they are stopped, on a server with 1 GiB of memory.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::partner::post;
use super::support::load::{Connection, Request};
use super::support::server::{Indexed, Server};
use super::support::victim::{Times, Victim};

/// Memory that the server may have of its own, in KiB.
const MEMORY: u64 = 1 << 20;
/// Between two runs.
const PACE: Duration = Duration::from_secs(1);

/// A draft, and the request that begins a dry run of it.
struct Draft {
    name: &'static str,
    runs: Request,
}

/// What the victim saw while runs of one draft grew, and how many there were.
pub(crate) struct Seen {
    pub(crate) name: &'static str,
    pub(crate) times: Times,
    pub(crate) begun: usize,
    pub(crate) refused: usize,
}

/// Asks for a while with nothing else running, and for as long while the runs of each draft grow.
pub(crate) fn measure(database: &str, time: Duration) -> (Times, Vec<Seen>) {
    let server = Server::start_within(MEMORY, database, 500, Indexed::Views);
    let victim = Victim::new(database, server.address, 200);
    let drafts = drafts(&server);
    victim.ask(time);
    let quiet = victim.ask(time);
    let seen = drafts.iter().map(|draft| {
        // What the one before has left behind does not count here.
        thread::sleep(PACE);
        draft.during(&server, || victim.ask(time))
    });
    (quiet, seen.collect())
}

impl Draft {
    fn during(&self, server: &Server, ask: impl FnOnce() -> Times) -> Seen {
        let (begun, refused, over) = (
            AtomicUsize::new(0),
            AtomicUsize::new(0),
            AtomicBool::new(false),
        );
        let times = thread::scope(|scope| {
            scope.spawn(|| {
                let mut connection = Connection::open(server.address);
                while !over.load(Ordering::Relaxed) {
                    let (status, _) = connection.ask(&self.runs);
                    let counter = if status == 202 { &begun } else { &refused };
                    counter.fetch_add(1, Ordering::Relaxed);
                    thread::sleep(PACE);
                }
            });
            let times = ask();
            over.store(true, Ordering::Relaxed);
            times
        });
        Seen {
            name: self.name,
            times,
            begun: begun.into_inner(),
            refused: refused.into_inner(),
        }
    }
}

/// Drafts of texts that double, of lists that grow a hundredfold, of large rows read twice.
fn drafts(server: &Server) -> [Draft; 3] {
    let set = |value: Value| json!({"key": "var.set", "config": {"name": "x", "value": value}});
    let start = || vec![set(json!("0123456789"))];
    let mut doubling = start();
    doubling.extend((0..26).map(|_| set(json!("{{vars.x}}{{vars.x}}"))));
    let mut lists = start();
    lists.extend((0..20).map(|_| set(json!(vec!["{{vars.x}}"; 100]))));
    let table = json!({"workspace_id": server.workspace, "label": "Large"});
    let table = post(server, "/v1/features", &table)["id"].clone();
    let path = format!("/v1/features/{}", table.as_str().expect("an id"));
    let column = json!({"label": "note", "name": "note", "type": "text"});
    post(server, &format!("{path}/columns"), &column);
    for _ in 0..40 {
        let row = json!({"data": {"note": "x".repeat(3_000_000)}});
        post(server, &format!("{path}/rows"), &row);
    }
    let read =
        json!({"key": "feature.read", "config": {"featureId": table, "mergeMode": "append"}});
    let draft = |name, steps: Vec<Value>| {
        let body = json!({"workspace_id": server.workspace, "name": "grows",
            "trigger_config": {"type": "manual"}, "graph_config": {"steps": steps}});
        let made = post(server, "/v1/workflows-v2", &body);
        let id = made["workflow_id"].as_str().expect("an id");
        let runs = format!("/v1/workflows-v2/{id}/runs");
        let runs = server.request("POST", &runs, &json!({"dry_run": true}));
        Draft { name, runs }
    };
    [
        draft("a text that doubles", doubling),
        draft("a list that grows a hundredfold", lists),
        draft("120 MB of rows, read twice", vec![read.clone(), read]),
    ]
}
