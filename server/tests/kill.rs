//! The process is killed while it is written to, and everything that it acknowledged is there.
//!
//! Clients write to a table of their own each, so that each knows what has to stand in it: every
//! acknowledged write, and of the one that was in flight when the process died all or nothing. The
//! store is looked at past the server for what clients do not see: counters and unique values.
//! `TPLKIT_KILLS` says how often (5).

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tplkit_server::context::random;
use tplkit_server::store::{Row, Scope, StoreError};

use crate::cluster::{self, Cluster};
use crate::load::all;
use crate::process::{EMAIL, SECRET, Serving, database, owner};
use crate::stores::{self, Place, of_a_test};

const CLIENTS: usize = 4;

/// A connection and who asks.
pub(crate) struct Wire {
    stream: BufReader<TcpStream>,
    pub(crate) token: String,
}

impl Wire {
    pub(crate) fn new(serving: &Serving, token: &str) -> Wire {
        Wire::to(&serving.address, token)
    }

    /// To whoever listens there.
    pub(crate) fn to(address: &str, token: &str) -> Wire {
        let stream = TcpStream::connect(address).expect("connects");
        stream.set_nodelay(true).expect("a socket");
        Wire {
            stream: BufReader::new(stream),
            token: token.to_owned(),
        }
    }

    /// Status and document, or nothing when the server or its database died over it.
    pub(crate) fn ask(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Option<(u16, Value)> {
        self.ask_with_key("", method, path, body)
    }

    /// The same under an `Idempotency-Key`, unless that is empty.
    pub(crate) fn ask_with_key(
        &mut self,
        key: &str,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Option<(u16, Value)> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut text = format!("{method} {path} HTTP/1.1\r\nhost: test\r\n");
        if !self.token.is_empty() {
            text.extend(["authorization: Bearer ", &self.token, "\r\n"]);
        }
        if !key.is_empty() {
            text.extend(["idempotency-key: ", key, "\r\n"]);
        }
        if !body.is_empty() {
            let length = body.len().to_string();
            text.extend([
                "content-type: application/json\r\ncontent-length: ",
                &length,
                "\r\n",
            ]);
        }
        text.push_str("\r\n");
        text.push_str(&body);
        self.stream.get_mut().write_all(text.as_bytes()).ok()?;
        let (mut status, mut length) = (0, 0);
        loop {
            let mut line = String::new();
            if self.stream.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if line == "\r\n" {
                break;
            }
            if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
                status = rest.get(..3)?.parse().ok()?;
            } else if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.trim_end().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).ok()?;
        // The database went away: whether it had written by then, nobody knows.
        if status == 503 {
            return None;
        }
        Some((status, serde_json::from_slice(&body).unwrap_or_default()))
    }

    #[track_caller]
    pub(crate) fn made(&mut self, path: &str, body: &Value) -> String {
        let (status, record) = self.ask("POST", path, Some(body)).expect("a response");
        assert_eq!(status, 201, "{record}");
        record["id"].as_str().expect("an id").to_owned()
    }
}

pub(crate) fn signed_in(serving: &Serving) -> Wire {
    let mut wire = Wire::new(serving, "");
    let body = json!({"email": EMAIL, "password": SECRET});
    let (_, tokens) = wire
        .ask("POST", "/v1/auth/token", Some(&body))
        .expect("a response");
    let token = tokens["access_token"].as_str().expect("a token");
    Wire::new(serving, token)
}

/// What one client knows.
struct Ledger {
    feature: String,
    /// The rows that have to be there, and their data.
    rows: BTreeMap<String, Value>,
    /// Labels of the structure that was acknowledged, by id of the view.
    views: BTreeMap<String, String>,
    /// What nobody heard a response to.
    open: Option<Open>,
    /// Rises with every value that is written, so that none is written twice.
    next: u64,
    acknowledged: usize,
}

/// A write whose response did not come.
enum Open {
    Create(Vec<Value>),
    Patch(String, Value),
    Delete(String),
    View(String),
    Label(String, String),
}

impl Ledger {
    fn new(wire: &mut Wire, workspace: &str) -> Ledger {
        let body = json!({"workspace_id": workspace, "label": "F"});
        let feature = wire.made("/v1/features", &body);
        let columns = format!("/v1/features/{feature}/columns");
        let column = json!({"label": "code", "type": "text", "config": {"unique": true}});
        wire.made(&columns, &column);
        wire.made(&columns, &json!({"label": "n", "type": "number"}));
        Ledger {
            feature,
            rows: BTreeMap::new(),
            views: BTreeMap::new(),
            open: None,
            next: 0,
            acknowledged: 0,
        }
    }

    fn path(&self, tail: &str) -> String {
        format!("/v1/features/{}/rows{tail}", self.feature)
    }

    fn data(&mut self) -> Value {
        self.next += 1;
        json!({"code": format!("c{}", self.next), "n": self.next})
    }

    /// One write after another until a response fails to come, or `over`: a client that asked nothing
    /// while the database was gone may never have noticed.
    fn write(&mut self, wire: &mut Wire, over: &AtomicBool) {
        while !over.load(Ordering::SeqCst) && self.step(wire).is_some() {}
    }

    fn step(&mut self, wire: &mut Wire) -> Option<()> {
        let any: u64 = u64::from_be_bytes(random());
        let one = usize::try_from(any >> 8).unwrap_or(0) % self.rows.len().max(1);
        let row = self.rows.keys().nth(one).cloned();
        match (any % 10, row) {
            (0, _) => {
                let all: Vec<Value> = (0..7).map(|_| self.data()).collect();
                let rows: Vec<Value> = all.iter().map(|data| json!({"data": data})).collect();
                self.open = Some(Open::Create(all));
                let body = json!({"rows": rows});
                let response = wire.ask("POST", &self.path(":batch"), Some(&body))?;
                assert_eq!(response.0, 201, "{}", response.1);
                for row in response.1["items"].as_array().expect("rows") {
                    self.enter(row);
                }
            }
            (1, _) => {
                self.next += 1;
                let label = format!("v{}", self.next);
                self.open = Some(Open::View(label.clone()));
                let body = json!({"feature_id": self.feature, "label": label, "type": "table"});
                let (status, view) = wire.ask("POST", "/v1/views", Some(&body))?;
                assert_eq!(status, 201, "{view}");
                let id = view["id"].as_str().expect("an id").to_owned();
                self.views.insert(id, label);
            }
            (2, _) if !self.views.is_empty() => {
                self.next += 1;
                let (id, label) = (self.views.keys().next()?.clone(), format!("l{}", self.next));
                self.open = Some(Open::Label(id.clone(), label.clone()));
                let body = json!({"label": label});
                let (status, view) = wire.ask("PATCH", &format!("/v1/views/{id}"), Some(&body))?;
                assert_eq!(status, 200, "{view}");
                self.views.insert(id, label);
            }
            (3, Some(row)) => {
                self.open = Some(Open::Delete(row.clone()));
                let (status, _) = wire.ask("DELETE", &self.path(&format!("/{row}")), None)?;
                assert_eq!(status, 204);
                self.rows.remove(&row);
            }
            (4 | 5, Some(row)) => {
                let data = self.data();
                self.open = Some(Open::Patch(row.clone(), data.clone()));
                let body = json!({"data": data});
                let path = self.path(&format!("/{row}"));
                let (status, row) = wire.ask("PATCH", &path, Some(&body))?;
                assert_eq!(status, 200, "{row}");
                self.enter(&row);
            }
            (6, Some(row)) => {
                // A repeated value, alone and at the end of a batch: nothing of it may be found.
                let taken = json!({"data": {"code": self.rows[&row]["code"], "refused": true}});
                let fresh = json!({"data": {"refused": true}});
                let body = json!({"rows": [fresh, taken]});
                let (status, _) = wire.ask("POST", &self.path(":batch"), Some(&body))?;
                assert_eq!(status, 409);
                return Some(());
            }
            _ => {
                let data = self.data();
                self.open = Some(Open::Create(vec![data.clone()]));
                let body = json!({"data": data});
                let (status, row) = wire.ask("POST", &self.path(""), Some(&body))?;
                assert_eq!(status, 201, "{row}");
                self.enter(&row);
            }
        }
        self.open = None;
        self.acknowledged += 1;
        Some(())
    }

    fn enter(&mut self, row: &Value) {
        let id = row["id"].as_str().expect("an id").to_owned();
        self.rows.insert(id, row["data"].clone());
    }

    /// Holds what is there against what has to be, and goes on from it.
    fn check(&mut self, wire: &mut Wire) {
        let found: BTreeMap<String, Value> = all(wire, &self.path(""))
            .into_iter()
            .map(|row| (id(&row), row["data"].clone()))
            .collect();
        let views = format!("/v1/views?feature_id={}", self.feature);
        let views: BTreeMap<String, String> = all(wire, &views)
            .into_iter()
            .map(|view| (id(&view), view["label"].as_str().expect("text").to_owned()))
            .collect();
        // The open write was done whole, or not at all.
        let (mut rows_after, mut views_after) = (self.rows.clone(), self.views.clone());
        match self.open.take() {
            None => {}
            Some(Open::Create(all)) => {
                let new = found.iter().filter(|(id, _)| !self.rows.contains_key(*id));
                let new: Vec<(String, Value)> =
                    new.map(|(id, data)| (id.clone(), data.clone())).collect();
                let data: Vec<&Value> = new.iter().map(|(_, data)| data).collect();
                if !new.is_empty() {
                    assert_eq!(data, all.iter().collect::<Vec<_>>(), "half a batch");
                    rows_after.extend(new);
                }
            }
            Some(Open::Patch(id, data)) => {
                rows_after.insert(id, data);
            }
            Some(Open::Delete(id)) => {
                rows_after.remove(&id);
            }
            Some(Open::View(label)) => {
                let new = views.iter().find(|(_, found)| **found == label);
                views_after.extend(new.map(|(id, label)| (id.clone(), label.clone())));
            }
            Some(Open::Label(id, label)) => {
                views_after.insert(id, label);
            }
        }
        assert!(
            found == self.rows || found == rows_after,
            "an acknowledged row is missing or one too many is there"
        );
        assert!(
            views == self.views || views == views_after,
            "an acknowledged view is missing or one too many is there"
        );
        let (_, count) = wire
            .ask("GET", &self.path(":aggregate?op=count"), None)
            .expect("a response");
        assert_eq!(count["result"], found.len(), "the counter");
        // The newest values stand reserved; the store has all of them, in `agree`.
        for data in found.values().rev().take(40) {
            let body = json!({"data": {"code": data["code"]}});
            let (status, _) = wire
                .ask("POST", &self.path(""), Some(&body))
                .expect("a response");
            assert_eq!(status, 409, "{data} could be repeated");
        }
        (self.rows, self.views) = (found, views);
    }
}

fn id(record: &Value) -> String {
    record["id"].as_str().expect("an id").to_owned()
}

fn start(database: &str) -> Serving {
    Serving::start_with(database, &["--rate-limit", "off"], &[])
}

/// How often.
pub(crate) fn kills() -> usize {
    let count = cluster::variable("TPLKIT_KILLS");
    let count = count.map(|count| count.to_string_lossy().parse().expect("a number"));
    count.unwrap_or(5)
}

/// What died.
enum Killed {
    Server,
    Database,
}

/// Writes, has something killed under it, and looks at what is left; again and again.
fn survive(database: &str, mut kill: impl FnMut(usize, &Serving) -> Killed) {
    let organization = owner(database);
    let mut serving = start(database);
    let mut wire = signed_in(&serving);
    let body = json!({"organization_id": organization, "label": "W"});
    let workspace = wire.made("/v1/workspaces", &body);
    let mut ledgers: Vec<Ledger> = (0..CLIENTS)
        .map(|_| Ledger::new(&mut wire, &workspace))
        .collect();
    let token = wire.token.clone();
    for number in 0..kills() {
        let (ended, over) = (AtomicBool::new(false), AtomicBool::new(false));
        let killed = thread::scope(|scope| {
            for ledger in &mut ledgers {
                let mut wire = Wire::new(&serving, &token);
                let (ended, over) = (&ended, &over);
                scope.spawn(move || {
                    ledger.write(&mut wire, over);
                    assert!(ended.load(Ordering::SeqCst), "the server ended by itself");
                });
            }
            let [any] = random::<1>();
            thread::sleep(Duration::from_millis(150 + 2 * u64::from(any)));
            ended.store(true, Ordering::SeqCst);
            let killed = kill(number, &serving);
            over.store(true, Ordering::SeqCst);
            killed
        });
        match killed {
            Killed::Server => {
                let _ = serving.child.wait();
                stores::run(Some(Place::at(database.to_owned())), agree);
                serving = start(database);
            }
            Killed::Database => {
                while !serving.get("/v1/ready").starts_with("HTTP/1.1 200") {
                    thread::sleep(Duration::from_millis(50));
                }
                stores::run(Some(Place::at(database.to_owned())), agree);
            }
        }
        let mut wire = Wire::new(&serving, &token);
        for ledger in &mut ledgers {
            ledger.check(&mut wire);
        }
    }
    let acknowledged: usize = ledgers.iter().map(|ledger| ledger.acknowledged).sum();
    assert!(acknowledged >= 20 * kills(), "{acknowledged}");
}

/// Reported by the store itself: there is no table whose counter is wrong, and no value of no row.
async fn agree(place: Place) {
    let store = place.open().await;
    for sql in [
        "SELECT count(*) FROM features f WHERE \
         (SELECT count(*) FROM rows r WHERE r.organization_id = f.organization_id AND r.feature_id = f.id) <> \
         (SELECT coalesce(sum(count), 0) FROM row_counts c WHERE c.organization_id = f.organization_id AND c.feature_id = f.id)",
        "SELECT count(*) FROM features f WHERE \
         (SELECT count(*) FROM row_values v WHERE v.organization_id = f.organization_id AND v.feature_id = f.id) <> \
         (SELECT count(*) FROM rows r WHERE r.organization_id = f.organization_id AND r.feature_id = f.id AND r.data ->> 'code' IS NOT NULL)",
        "SELECT count(*) FROM row_values v WHERE NOT EXISTS \
         (SELECT 1 FROM rows r WHERE r.organization_id = v.organization_id AND r.feature_id = v.feature_id AND r.id = v.row_id)",
    ] {
        let found = store.write(&Scope::Operator, (), move |tx, ()| {
            Box::pin(async move { tx.execute(&of_a_test(sql), &[]).await })
        });
        let rows: Result<Vec<Row>, StoreError> = found.await;
        let wrong: i64 = rows.expect(sql)[0].get(0).expect("a number");
        assert_eq!(wrong, 0, "{sql}");
    }
}

fn kill_server(serving: &Serving) -> Killed {
    serving.signal("-KILL");
    Killed::Server
}

#[test]
fn what_was_acknowledged_survives_with_sqlite() {
    let folder = tempfile::tempdir().expect("a folder");
    survive(&database(folder.path()), |_, serving| kill_server(serving));
}

#[test]
fn what_was_acknowledged_survives_with_postgres() {
    let Some(programs) = cluster::programs() else {
        return;
    };
    let mut cluster = Cluster::start(programs).expect("starts");
    // What is acknowledged here has to be on disk, other than in the other tests.
    let careful = "ALTER DATABASE postgres SET synchronous_commit = on";
    cluster.psql(careful).expect("a result");
    let url = cluster.url("postgres");
    survive(&url, |number, serving| match number % 3 {
        0 => kill_server(serving),
        1 => {
            cluster.crash().expect("dies");
            cluster.resume().expect("starts");
            Killed::Database
        }
        _ => {
            let backend = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' \
                 AND pid <> pg_backend_pid() ORDER BY query_start DESC LIMIT 1";
            let pid = cluster.psql(backend).expect("a result");
            let sent = Command::new("kill").args(["-KILL", &pid]).status();
            assert!(sent.expect("kill exists").success());
            // All others go with it.
            thread::sleep(Duration::from_millis(300));
            Killed::Database
        }
    });
}
