//! Loads that one signed-in user may put on a server within the usual limits.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::partner;
use super::support::load::{Connection, Request};
use super::support::server::{Server, batch, id};

/// Connections on which it comes.
const CONNECTIONS: usize = 16;
/// Between the beginnings of two requests on one of them: together a hundred a second.
const PACE: Duration = Duration::from_millis(160);

/// What is asked again and again.
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    request: Request,
}

/// What came back.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) done: AtomicUsize,
    pub(crate) busy: AtomicUsize,
    pub(crate) other: AtomicUsize,
}

/// All loads.
pub(crate) fn all(database: &str, server: &Server, package: &str) -> Vec<Attack> {
    let patterns: Vec<String> = (0..100)
        .map(|n| format!("filter=note:ilike:*{n}*x*y*"))
        .collect();
    let patterns = format!("match=any&{}", patterns.join("&"));
    let values: Vec<String> = (0..500).map(|n| n.to_string()).collect();
    let values: Vec<String> = (0..16)
        .map(|n| format!("filter=note:in:{n}%7C{}", values.join("%7C")))
        .collect();
    let values = format!("match=any&{}", values.join("&"));
    let export = format!("/v1/workspaces/{}/export", server.workspace);
    let import = format!(
        "/v1/templates/import?organization_id={}",
        server.organization
    );
    let body = json!({"rows": "all"});
    let template = partner::post(
        server,
        &import,
        &serde_json::from_str(package).expect("JSON"),
    );
    let plan = format!("/v1/templates/{}/plan", id(&template));
    let planned = json!({"workspaceId": server.workspace, "resolutions": {}});
    let waiting = partner::runs(database, server);
    let attack = |name, request| Attack { name, request };
    vec![
        attack(
            "page by 100 patterns",
            server.get(&format!("rows?{patterns}")),
        ),
        attack(
            "count by 100 patterns",
            server.get(&format!("rows:aggregate?op=count&{patterns}")),
        ),
        attack(
            "page by lists of values",
            server.get(&format!("rows?{values}")),
        ),
        attack("sort by any key", server.get("rows?sort=note&limit=200")),
        attack(
            "sum over all",
            server.get("rows:aggregate?op=sum&column=amount"),
        ),
        attack("batch of 500", server.post("rows:batch", &batch(0, 500))),
        attack("export with rows", server.request("POST", &export, &body)),
        attack("import", server.request_text("POST", &import, package)),
        attack("plan", server.request("POST", &plan, &planned)),
        // Last: its runs wait for longer than it is measured.
        attack("slow partner", server.request("POST", &waiting, &json!({}))),
    ]
}

impl Attack {
    /// Asks on many connections until the victim has seen enough.
    pub(crate) fn during<T>(&self, server: &Server, victim: impl FnOnce() -> T) -> (Seen, T) {
        let (seen, over) = (Seen::default(), AtomicBool::new(false));
        let found = thread::scope(|scope| {
            for _ in 0..CONNECTIONS {
                scope.spawn(|| self.ask(server, &seen, &over));
            }
            // Until the load is what it will be.
            thread::sleep(PACE * 4);
            let found = victim();
            over.store(true, Ordering::Relaxed);
            found
        });
        (seen, found)
    }

    fn ask(&self, server: &Server, seen: &Seen, over: &AtomicBool) {
        let mut connection = Connection::open(server.address);
        while !over.load(Ordering::Relaxed) {
            let begun = Instant::now();
            let (status, response) = connection.ask(&self.request);
            let busy = status == 429 && response.windows(6).any(|word| word == b"\"busy\"");
            let counter = match status {
                200..300 => &seen.done,
                _ if busy => &seen.busy,
                _ => &seen.other,
            };
            counter.fetch_add(1, Ordering::Relaxed);
            thread::sleep(PACE.saturating_sub(begun.elapsed()));
        }
    }
}
