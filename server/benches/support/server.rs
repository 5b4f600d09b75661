//! The server as a process, with a table of rows.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::load::{Connection, Request};
use super::rows;

const EMAIL: &str = "bench@example.com";
const PASSWORD: &str = "correct horse battery";

/// What the store keeps indexes of, besides the ids of rows and when they were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Indexed {
    /// Of nothing: no view names a column.
    Nothing,
    /// Of the columns that saved views name.
    Views,
    /// Of these, and of one that repeats nothing.
    ViewsAndCodes,
    /// Of nothing but what the notes contain.
    Searched,
}

/// A running server.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    token: String,
    feature: String,
    pub(crate) workspace: String,
    pub(crate) organization: String,
    pub(crate) ids: Vec<String>,
    /// Kept until the server is gone.
    folder: Option<tempfile::TempDir>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.folder.take();
    }
}

/// The body of a batch.
pub(crate) fn batch(from: usize, count: usize) -> Value {
    let rows: Vec<Value> = (from..from + count)
        .map(|n| json!({"data": rows::data(n)}))
        .collect();
    json!({"rows": rows})
}

pub(crate) fn admin(database: &str, arguments: &[&str], input: &str) -> Value {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tplkit-server"))
        .arg("admin")
        .args(arguments)
        .args(["--database", database])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(input.as_bytes()).expect("writes");
    drop(pipe);
    let output = child.wait_with_output().expect("ends");
    serde_json::from_slice(&output.stdout).expect("a record")
}

pub(crate) fn id(record: &Value) -> String {
    record["id"].as_str().expect("an id").to_owned()
}

impl Server {
    pub(crate) fn on_sqlite(count: usize, indexed: Indexed) -> Server {
        let folder = tempfile::tempdir().expect("a folder");
        let database = format!("sqlite:{}", folder.path().join("bench.db").display());
        let mut server = Server::start(&database, count, indexed);
        server.folder = Some(folder);
        server
    }

    /// Starts on an empty store, and fills it with so many rows.
    pub(crate) fn start(database: &str, count: usize, indexed: Indexed) -> Server {
        Server::of_program(
            env!("CARGO_BIN_EXE_tplkit-server"),
            database,
            count,
            indexed,
        )
    }

    /// The same with so many KiB of memory of its own at most.
    pub(crate) fn start_within(
        memory: u64,
        database: &str,
        count: usize,
        indexed: Indexed,
    ) -> Server {
        let limited = format!("ulimit -d {memory} && exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &limited, env!("CARGO_BIN_EXE_tplkit-server")]);
        Server::of_command(command, database, count, indexed)
    }

    /// The same with a program of another build.
    pub(crate) fn of_program(
        program: &str,
        database: &str,
        count: usize,
        indexed: Indexed,
    ) -> Server {
        Server::of_command(Command::new(program), database, count, indexed)
    }

    /// The same by a command that leads to the program.
    pub(crate) fn of_command(
        mut command: Command,
        database: &str,
        count: usize,
        indexed: Indexed,
    ) -> Server {
        let organization = id(&admin(
            database,
            &["create-organization", "--label", "Bench"],
            "",
        ));
        let create = ["create-user", "--email", EMAIL, "--password-stdin"];
        admin(database, &create, PASSWORD);
        let add = [
            "add-member",
            "--organization",
            &organization,
            "--email",
            EMAIL,
            "--role",
            "owner",
        ];
        admin(database, &add, "");
        let mut child = command
            .args(["serve", "--listen", "127.0.0.1:0", "--rate-limit", "off"])
            .args(["--log-level", "warn", "--database", database])
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let address = line
            .trim()
            .strip_prefix("listening on http://")
            .expect("an address");
        let mut server = Server {
            child,
            address: address.parse().expect("an address"),
            token: String::new(),
            feature: String::new(),
            workspace: String::new(),
            organization,
            ids: Vec::new(),
            folder: None,
        };
        server.fill(count, indexed);
        server
    }

    fn fill(&mut self, count: usize, indexed: Indexed) {
        let mut connection = Connection::open(self.address);
        let mut send = |token: &str, path: &str, body: &Value| -> Value {
            let request = Request::new("POST", path, token, Some(&body.to_string()));
            let (status, response) = connection.ask(&request);
            assert!(
                status < 300,
                "{path}: {}",
                String::from_utf8_lossy(&response)
            );
            serde_json::from_slice(&response).expect("JSON")
        };
        let response = send(
            "",
            "/v1/auth/token",
            &json!({"email": EMAIL, "password": PASSWORD}),
        );
        let token = response["access_token"]
            .as_str()
            .expect("a token")
            .to_owned();
        let workspace = json!({"organization_id": self.organization, "label": "Bench"});
        let workspace = id(&send(&token, "/v1/workspaces", &workspace));
        let feature = json!({"workspace_id": workspace, "label": "Customers"});
        let feature = id(&send(&token, "/v1/features", &feature));
        let columns = format!("/v1/features/{feature}/columns");
        for (name, kind) in [
            ("code", "text"),
            ("name", "text"),
            ("city", "text"),
            ("amount", "number"),
            ("note", "text"),
        ] {
            let mut column = json!({"label": name, "name": name, "type": kind});
            if name == "code" && indexed == Indexed::ViewsAndCodes {
                column["config"] = json!({"unique": true});
            }
            if name == "note" && indexed == Indexed::Searched {
                column["config"] = json!({"search": true});
            }
            send(&token, &columns, &column);
        }
        // Saved views say what is asked for often.
        let views: &[&str] = match indexed {
            Indexed::Nothing | Indexed::Searched => &[],
            Indexed::Views | Indexed::ViewsAndCodes => &["name", "city", "amount"],
        };
        for sort in views {
            let config = json!({"sort": {"column": sort, "desc": false}});
            let view =
                json!({"feature_id": feature, "label": sort, "type": "table", "config": config});
            send(&token, "/v1/views", &view);
        }
        let path = format!("/v1/features/{feature}/rows:batch");
        for from in (0..count).step_by(500) {
            let response = send(&token, &path, &batch(from, 500.min(count - from)));
            let items = response["items"].as_array().expect("a list");
            self.ids.extend(items.iter().map(id));
        }
        (self.token, self.workspace, self.feature) = (token, workspace, feature);
    }

    /// The database, where it is a file.
    pub(crate) fn file(&self) -> Option<std::path::PathBuf> {
        let folder = self.folder.as_ref()?;
        Some(folder.path().join("bench.db"))
    }

    /// Its process, as the system names it.
    pub(crate) fn process(&self) -> String {
        self.child.id().to_string()
    }

    pub(crate) fn get(&self, tail: &str) -> Request {
        let path = format!("/v1/features/{}/{tail}", self.feature);
        Request::new("GET", &path, &self.token, None)
    }

    pub(crate) fn post(&self, tail: &str, body: &Value) -> Request {
        let path = format!("/v1/features/{}/{tail}", self.feature);
        self.request("POST", &path, body)
    }

    pub(crate) fn request(&self, method: &str, path: &str, body: &Value) -> Request {
        Request::new(method, path, &self.token, Some(&body.to_string()))
    }

    /// The token of the owner.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// The same with a body that is written already.
    pub(crate) fn request_text(&self, method: &str, path: &str, body: &str) -> Request {
        Request::new(method, path, &self.token, Some(body))
    }

    pub(crate) fn get_path(&self, path: &str) -> Request {
        Request::new("GET", path, &self.token, None)
    }

    /// A new API key that may read and write rows.
    pub(crate) fn key(&self, name: &str) -> String {
        let scopes = ["read", "write"];
        let body = json!({"organization_id": self.organization, "name": name, "scopes": scopes});
        let mut connection = Connection::open(self.address);
        let (status, response) = connection.ask(&self.request("POST", "/v1/api-keys", &body));
        assert_eq!(status, 201, "{}", String::from_utf8_lossy(&response));
        let record: Value = serde_json::from_slice(&response).expect("JSON");
        record["key"].as_str().expect("a key").to_owned()
    }

    /// A request about the table with a credential of its own.
    pub(crate) fn with_key(
        &self,
        key: &str,
        method: &str,
        tail: &str,
        body: Option<&Value>,
    ) -> Request {
        let path = format!("/v1/features/{}/{tail}", self.feature);
        let body = body.map(Value::to_string);
        Request::new(method, &path, key, body.as_deref())
    }

    /// A cursor some pages into a list.
    pub(crate) fn middle(&self, question: &str) -> String {
        let mut connection = Connection::open(self.address);
        let mut cursor = String::new();
        for _ in 0..3 {
            let after = if cursor.is_empty() {
                String::new()
            } else {
                format!("&cursor={cursor}")
            };
            let request = self.get(&format!("rows?{question}&limit=200{after}"));
            let (status, response) = connection.ask(&request);
            assert_eq!(status, 200, "{}", String::from_utf8_lossy(&response));
            let page: Value = serde_json::from_slice(&response).expect("JSON");
            page["next_cursor"]
                .as_str()
                .expect("more pages")
                .clone_into(&mut cursor);
        }
        cursor
    }

    /// Bytes of memory that are its own, mapped pages of files left out.
    pub(crate) fn resident(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap_or_default();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"));
        let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
        kilobytes.unwrap_or(0) << 10
    }
}
