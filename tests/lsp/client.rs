//! A scripted client: it starts `tplkit lsp`, sends messages and waits for theirs.

use std::collections::VecDeque;
use std::io::{BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// How long a message may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A conversation.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Notifications that came while something else was waited for.
    early: VecDeque<Value>,
    next_id: i32,
    /// The result of `initialize`.
    pub(crate) initialized: Value,
}

/// What an editor of today offers.
pub(crate) fn capabilities() -> Value {
    json!({
        "general": {"positionEncodings": ["utf-16", "utf-8"]},
        "workspace": {"workspaceEdit": {
            "documentChanges": true,
            "resourceOperations": ["create", "rename", "delete"],
        }},
        "textDocument": {"publishDiagnostics": {"relatedInformation": true}},
    })
}

impl Client {
    /// With the capabilities of an editor of today.
    pub(crate) fn start() -> Client {
        Client::with(&capabilities())
    }

    pub(crate) fn with(capabilities: &Value) -> Client {
        let mut client = Client::silent();
        let params = json!({"processId": null, "rootUri": null, "capabilities": capabilities});
        client.initialized = client.request("initialize", &params);
        client.notify("initialized", &json!({}));
        client
    }

    /// Before `initialize`.
    pub(crate) fn silent() -> Client {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tplkit"))
            .args(["lsp", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("start");
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("stdout");
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            while let Some(message) = read(&mut reader) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Client {
            child,
            stdin,
            messages,
            early: VecDeque::new(),
            next_id: 1,
            initialized: Value::Null,
        }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let body = message.to_string();
        self.send_raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("open");
        stdin.write_all(bytes).expect("written");
        stdin.flush().expect("flushed");
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// The result of a request that succeeds.
    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let mut response = self.exchange(method, params);
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].take()
    }

    /// The error of a request that fails.
    #[track_caller]
    pub(crate) fn refused(&mut self, method: &str, params: &Value) -> (i64, String) {
        let response = self.exchange(method, params);
        let error = &response["error"];
        let code = error["code"]
            .as_i64()
            .unwrap_or_else(|| panic!("{method}: {response}"));
        (
            code,
            error["message"].as_str().expect("a message").to_owned(),
        )
    }

    /// The whole response.
    pub(crate) fn exchange(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.receive();
            if message.get("id") == Some(&json!(id)) {
                return message;
            }
            self.early.push_back(message);
        }
    }

    /// The next response, whatever it is to.
    pub(crate) fn response(&mut self) -> Value {
        loop {
            let message = self.receive();
            if message.get("method").is_none() {
                return message;
            }
            self.early.push_back(message);
        }
    }

    fn receive(&self) -> Value {
        self.messages
            .recv_timeout(PATIENCE)
            .expect("a message in time")
    }

    pub(crate) fn open(&mut self, uri: &str, text: &str) {
        let document = json!({"uri": uri, "languageId": "json", "version": 1, "text": text});
        self.notify("textDocument/didOpen", &json!({"textDocument": document}));
    }

    /// Replaces the whole text.
    pub(crate) fn replace(&mut self, uri: &str, version: i64, text: &str) {
        self.change(uri, version, &json!([{"text": text}]));
    }

    pub(crate) fn change(&mut self, uri: &str, version: i64, changes: &Value) {
        self.notify(
            "textDocument/didChange",
            &json!({"textDocument": {"uri": uri, "version": version}, "contentChanges": changes}),
        );
    }

    /// The next message of that method.
    pub(crate) fn notified(&mut self, method: &str) -> Value {
        let early = self
            .early
            .iter()
            .position(|message| message["method"] == method);
        if let Some(mut message) = early.and_then(|at| self.early.remove(at)) {
            return message["params"].take();
        }
        loop {
            let mut message = self.receive();
            if message["method"] == method {
                return message["params"].take();
            }
            self.early.push_back(message);
        }
    }

    /// The diagnostics that are published next.
    pub(crate) fn published(&mut self) -> Value {
        self.notified("textDocument/publishDiagnostics")
    }

    /// The diagnostics that are published for a version of a document.
    pub(crate) fn diagnostics(&mut self, uri: &str, version: i64) -> Vec<Value> {
        loop {
            let mut params = self.published();
            if params["uri"] == uri && params["version"] == version {
                return params["diagnostics"]
                    .as_array_mut()
                    .expect("a list")
                    .split_off(0);
            }
        }
    }

    /// Asks about a place.
    pub(crate) fn at(&mut self, method: &str, uri: &str, place: (usize, usize)) -> Value {
        self.request(method, &at(uri, place))
    }

    /// Ends the conversation; the exit code.
    pub(crate) fn end(mut self) -> i32 {
        self.request("shutdown", &Value::Null);
        self.notify("exit", &Value::Null);
        self.exit_code()
    }

    pub(crate) fn exit_code(mut self) -> i32 {
        self.stdin = None;
        self.child.wait().expect("ended").code().expect("a code")
    }

    /// The exit code, and what was said on standard error.
    pub(crate) fn last_words(mut self) -> (Option<i32>, String) {
        self.stdin = None;
        let mut said = String::new();
        let mut stderr = self.child.stderr.take().expect("stderr");
        stderr.read_to_string(&mut said).expect("text");
        let code = self.child.wait().expect("ended").code();
        (code, said)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The parameters of a request about a place.
pub(crate) fn at(uri: &str, (line, character): (usize, usize)) -> Value {
    json!({
        "textDocument": {"uri": uri},
        "position": {"line": line, "character": character},
    })
}

fn read(reader: &mut impl std::io::BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// A folder of its own, and URIs of files in it.
pub(crate) struct TestFolder {
    dir: TempDir,
}

impl TestFolder {
    pub(crate) fn new() -> TestFolder {
        TestFolder {
            dir: TempDir::new().expect("folder"),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn uri(&self, name: &str) -> String {
        format!("file://{}", self.path(name).display())
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("read")
    }

    /// Runs `tplkit` in the folder; standard output.
    pub(crate) fn tplkit(&self, words: &[&str]) -> String {
        run_in(self.dir.path(), words)
    }
}

pub(crate) fn run_in(folder: &Path, words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_tplkit"))
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("run");
    String::from_utf8(output.stdout).expect("text")
}
