//! As much of GitHub's API as the action asks: pull requests of a commit, comments, artifacts.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

pub(super) const TOKEN: &str = "forge-token";
pub(super) const REPOSITORY: &str = "acme/shop";

#[derive(Default)]
pub(super) struct State {
    pub(super) comments: Vec<Value>,
    /// Each with its bytes.
    pub(super) artifacts: Vec<(Value, Vec<u8>)>,
    /// What every commit belongs to.
    pub(super) pulls: Value,
}

/// The API, on loopback; it ends with the test.
pub(super) struct Forge {
    pub(super) url: String,
    pub(super) state: Arc<Mutex<State>>,
}

struct ReceivedRequest {
    method: String,
    path: String,
    query: String,
    authorized: bool,
    body: Value,
}

impl Forge {
    pub(super) fn start() -> Forge {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let state = Arc::new(Mutex::new(State {
            pulls: json!([]),
            ..State::default()
        }));
        let (address, kept) = (url.clone(), state.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let request = read(&stream).expect("a request");
                let (status, headers, body) =
                    respond(&request, &address, &mut kept.lock().expect("whole"));
                write(&stream, status, &headers, &body);
            }
        });
        Forge { url, state }
    }

    /// Keeps an artifact as a run of the repository `from` does; the repository itself is number 1.
    pub(super) fn keep(&self, name: &str, from: u32, zip: Vec<u8>) {
        let mut state = self.state.lock().expect("whole");
        let id = 100 + state.artifacts.len();
        let record = json!({
            "id": id, "name": name, "expired": false, "created_at": format!("2026-01-01T00:00:{id}Z"),
            "workflow_run": {"repository_id": 1, "head_repository_id": from},
        });
        state.artifacts.push((record, zip));
    }

    pub(super) fn comments(&self) -> Vec<Value> {
        self.state.lock().expect("whole").comments.clone()
    }
}

fn respond(request: &ReceivedRequest, url: &str, state: &mut State) -> (u16, String, Vec<u8>) {
    let json = |status: u16, body: &Value| (status, String::new(), body.to_string().into_bytes());
    let missing = json(404, &json!({"message": "Not Found"}));
    if let Some(id) = request.path.strip_prefix("/blob/") {
        let found = state
            .artifacts
            .iter()
            .find(|(record, _)| record["id"].as_u64() == id.parse().ok());
        return found.map_or(missing, |(_, zip)| (200, String::new(), zip.clone()));
    }
    if !request.authorized {
        return json(401, &json!({"message": "Bad credentials"}));
    }
    let Some(path) = request.path.strip_prefix(&format!("/repos/{REPOSITORY}/")) else {
        return missing;
    };
    let parts: Vec<&str> = path.split('/').collect();
    match (request.method.as_str(), &parts[..]) {
        ("GET", ["commits", _, "pulls"]) => json(200, &state.pulls),
        ("GET", ["issues", "7", "comments"]) => {
            let first = request.query.split('&').any(|part| part == "page=1");
            let page = if first {
                json!(state.comments)
            } else {
                json!([])
            };
            json(200, &page)
        }
        ("POST", ["issues", "7", "comments"]) => {
            let id = state.comments.len() + 1;
            let comment = json!({"id": id, "body": request.body["body"], "user": {"type": "Bot"}});
            state.comments.push(comment.clone());
            json(201, &comment)
        }
        ("PATCH", ["issues", "comments", id]) => {
            let comment = state
                .comments
                .iter_mut()
                .find(|comment| comment["id"].as_u64() == id.parse().ok());
            let comment = comment.expect("a comment");
            comment["body"] = request.body["body"].clone();
            json(200, comment)
        }
        ("GET", ["actions", "artifacts"]) => {
            let listed = state.artifacts.iter().map(|(record, _)| record);
            let named = listed.filter(|record| {
                let name = format!("name={}", record["name"].as_str().unwrap_or_default());
                request.query.split('&').any(|part| part == name)
            });
            json(200, &json!({"artifacts": named.collect::<Vec<_>>()}))
        }
        ("GET", ["actions", "artifacts", id, "zip"]) => {
            (302, format!("Location: {url}/blob/{id}\r\n"), Vec::new())
        }
        _ => missing,
    }
}

fn read(stream: &TcpStream) -> Option<ReceivedRequest> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let mut words = head.lines().next()?.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let length = head
        .lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some(ReceivedRequest {
        method,
        path: path.to_owned(),
        query: query.to_owned(),
        authorized: head.contains(&format!("Authorization: Bearer {TOKEN}\r\n")),
        body: serde_json::from_slice(&body).unwrap_or_default(),
    })
}

fn write(mut stream: &TcpStream, status: u16, headers: &str, body: &[u8]) {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(body);
}
