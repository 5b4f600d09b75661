//! The closest peer in one file: `PocketBase`, with the same rows and the same questions; as it comes, and with
//! indexes on the columns that saved views name here.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::load::{Connection, Question, Request};
use super::rows;

const EMAIL: &str = "bench@example.com";
const PASSWORD: &str = "correct horse battery";

/// A running `PocketBase`.
pub(crate) struct PocketBase {
    child: Child,
    pub(crate) address: SocketAddr,
    token: String,
    ids: Vec<String>,
    indexes: Indexes,
    _folder: tempfile::TempDir,
}

impl Drop for PocketBase {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program, where it is installed.
pub(crate) fn program() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("TPLKIT_POCKETBASE") {
        return Some(path.into());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join("pocketbase"))
        .find(|file| file.is_file())
}

/// What `PocketBase` has next to the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Indexes {
    /// An index of ids.
    None,
    /// One for each column that has a slot here.
    Same,
}

impl PocketBase {
    pub(crate) fn start(program: &Path, count: usize, indexes: Indexes) -> PocketBase {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data");
        let quiet = |command: &mut Command| {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        };
        let mut upsert = Command::new(program);
        upsert
            .args(["superuser", "upsert", EMAIL, PASSWORD, "--dir"])
            .arg(&data);
        quiet(&mut upsert);
        assert!(upsert.status().expect("runs").success());
        let free = TcpListener::bind("127.0.0.1:0").expect("binds");
        let address = free.local_addr().expect("an address");
        drop(free);
        let mut serve = Command::new(program);
        serve
            .args(["serve", "--http", &address.to_string(), "--dir"])
            .arg(&data);
        quiet(&mut serve);
        let child = serve.spawn().expect("starts");
        while std::net::TcpStream::connect(address).is_err() {
            thread::sleep(Duration::from_millis(50));
        }
        let mut base = PocketBase {
            child,
            address,
            token: String::new(),
            ids: Vec::new(),
            indexes,
            _folder: folder,
        };
        base.fill(count);
        base
    }

    pub(crate) fn name(&self) -> &'static str {
        match self.indexes {
            Indexes::None => "PocketBase",
            Indexes::Same => "with the same indexes",
        }
    }

    fn fill(&mut self, count: usize) {
        let mut connection = Connection::open(self.address);
        let mut send = |token: &str, method: &str, path: &str, body: &Value| -> Value {
            let request = Request::new(method, path, token, Some(&body.to_string()));
            let (status, response) = connection.ask(&request);
            assert!(
                status < 300,
                "{path}: {}",
                String::from_utf8_lossy(&response)
            );
            serde_json::from_slice(&response).unwrap_or_default()
        };
        let path = "/api/collections/_superusers/auth-with-password";
        let response = send(
            "",
            "POST",
            path,
            &json!({"identity": EMAIL, "password": PASSWORD}),
        );
        response["token"]
            .as_str()
            .expect("a token")
            .clone_into(&mut self.token);
        let token = self.token.clone();
        let batch = json!({"batch": {"enabled": true, "maxRequests": 1000, "timeout": 60}});
        send(&token, "PATCH", "/api/settings", &batch);
        let fields = json!([
            {"name": "code", "type": "text"},
            {"name": "name", "type": "text"},
            {"name": "city", "type": "text"},
            {"name": "amount", "type": "number"},
            {"name": "note", "type": "text"},
        ]);
        let of = |column: &&str| format!("CREATE INDEX by_{column} ON bench ({column}, id)");
        let columns = ["name", "city", "amount"].iter();
        let indexes: Vec<String> = match self.indexes {
            Indexes::None => Vec::new(),
            Indexes::Same => columns.map(of).collect(),
        };
        let collection =
            json!({"name": "bench", "type": "base", "fields": fields, "indexes": indexes});
        send(&token, "POST", "/api/collections", &collection);
        for from in (0..count).step_by(500) {
            let body = batch_of(from, 500.min(count - from));
            let response = send(&token, "POST", "/api/batch", &body);
            for item in response.as_array().expect("a list") {
                self.ids
                    .push(item["body"]["id"].as_str().expect("an id").to_owned());
            }
        }
    }

    /// The questions of the comparison, as this server is best asked.
    pub(crate) fn questions(&self) -> Vec<Question<'_>> {
        let records = "/api/collections/bench/records";
        let count = self.ids.len();
        let pick = move |worker: usize, n: usize| rows::mixed(worker * 7919 + n) % count;
        let page = format!("{records}?perPage=25&skipTotal=1");
        let (first, filtered, sorted, both) = (page.clone(), page.clone(), page.clone(), page);
        let named = |n: usize| format!("filter=name%3D%22{}%22", rows::name(n).replace(' ', "%20"));
        vec![
            Question::new("by id", 200, move |w, n| {
                self.get(&format!("{records}/{}", self.ids[pick(w, n)]))
            }),
            Question::new("first page", 200, move |_, _| self.get(&first)),
            Question::new("filter page", 200, move |w, n| {
                self.get(&format!("{filtered}&{}", named(pick(w, n))))
            }),
            Question::new("filter and sort page", 200, move |w, n| {
                self.get(&format!("{both}&sort=-amount&{}", named(pick(w, n))))
            }),
            Question::new("sort page", 200, move |_, _| {
                self.get(&format!("{sorted}&sort=-amount"))
            }),
            Question::new("count with filter", 200, move |_, _| {
                self.get(&format!("{records}?perPage=1&filter=city%3D%22Porto%22"))
            }),
            Question::new("insert", 200, move |_, n| {
                self.post(records, &rows::data(n))
            }),
            Question::new("batch of 500", 200, move |_, n| {
                self.post("/api/batch", &batch_of(n * 500, 500))
            }),
        ]
    }

    fn get(&self, path: &str) -> Request {
        Request::new("GET", path, &self.token, None)
    }

    fn post(&self, path: &str, body: &Value) -> Request {
        Request::new("POST", path, &self.token, Some(&body.to_string()))
    }
}

/// A batch of inserts.
fn batch_of(from: usize, count: usize) -> Value {
    let requests: Vec<Value> = (from..from + count)
        .map(|n| {
            json!({"method": "POST", "url": "/api/collections/bench/records", "body": rows::data(n)})
        })
        .collect();
    json!({"requests": requests})
}
