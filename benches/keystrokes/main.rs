//! How long a key press takes in a package of 1 MB: from the change that an editor sends to the
//! diagnostics of that version, through the real `tplkit lsp`.
//!
//! `cargo bench --bench keystrokes`, or `… -- --keys 500`.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "this is where it measures and reports"
)]

#[path = "../check/generate.rs"]
mod generate;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The limit up to which every change gives findings.
const SIZE: usize = 1_000_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` passes no `--bench`: prove that it runs, on little.
    let small = !arguments.iter().any(|argument| argument == "--bench");
    let keys = arguments.iter().position(|argument| argument == "--keys");
    let keys = keys.and_then(|at| arguments.get(at + 1)?.parse().ok());
    let keys = keys.unwrap_or(if small { 5 } else { 300 });
    let size = if small { 100_000 } else { SIZE };
    println!("{keys} key presses each, diagnostics of that very version");
    for (name, rows) in [("mostly structure", 2), ("mostly rows", 200)] {
        let compact = largest(size, rows, &|text| text.to_owned());
        measure(&format!("{name}, one line"), &compact, keys);
        let indented = largest(size, rows, &|text| {
            let value: Value = serde_json::from_str(text).expect("JSON");
            serde_json::to_string_pretty(&value).expect("JSON")
        });
        measure(&format!("{name}, indented"), &indented, keys);
    }
}

/// The largest generated package of at most that size.
fn largest(size: usize, rows: usize, form: &dyn Fn(&str) -> String) -> String {
    let make = |tables: usize| form(&generate::package(1, tables, rows, 0));
    let mut tables = 1;
    while make(tables * 2).len() <= size {
        tables *= 2;
    }
    let mut step = tables / 2;
    while step > 0 {
        if make(tables + step).len() <= size {
            tables += step;
        }
        step /= 2;
    }
    make(tables)
}

/// Types and deletes a letter in the label of the first item, in a package with findings on both ends.
fn measure(name: &str, text: &str, keys: usize) {
    let mut server = Server::start();
    server.open(text);
    let at = text.find("\"label\"").expect("a label");
    let at = at + text[at + 7..].find('"').expect("its text") + 8;
    let line = text[..at].matches('\n').count();
    let column = at - text[..at].rfind('\n').map_or(0, |end| end + 1);
    let place = |column: usize| json!({"line": line, "character": column});
    let mut times: Vec<Duration> = Vec::new();
    for key in 0..keys {
        let version = i64::try_from(key).expect("few") + 2;
        let change = if key % 2 == 0 {
            json!({"range": {"start": place(column), "end": place(column)}, "text": "x"})
        } else {
            json!({"range": {"start": place(column), "end": place(column + 1)}, "text": ""})
        };
        times.push(server.change(version, &change));
    }
    times.sort();
    let of = |part: usize| times[(times.len() - 1) * part / 100].as_secs_f64() * 1000.0;
    println!(
        "{name:28} {:>9} bytes   p50 {:6.1} ms   p95 {:6.1} ms   longest {:6.1} ms",
        text.len(),
        of(50),
        of(95),
        of(100)
    );
}

struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Server {
    fn start() -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tplkit"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start");
        let stdin = child.stdin.take().expect("stdin");
        let stdout = BufReader::new(child.stdout.take().expect("stdout"));
        let mut server = Server {
            child,
            stdin,
            stdout,
        };
        let capabilities = json!({"general": {"positionEncodings": ["utf-16"]}});
        let params = json!({"capabilities": capabilities});
        server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
        server.receive();
        server
    }

    fn open(&mut self, text: &str) {
        let document =
            json!({"uri": "untitled:a", "languageId": "json", "version": 1, "text": text});
        self.notify("textDocument/didOpen", &json!({"textDocument": document}));
        self.wait(1);
    }

    fn change(&mut self, version: i64, change: &Value) -> Duration {
        let began = Instant::now();
        self.notify(
            "textDocument/didChange",
            &json!({
                "textDocument": {"uri": "untitled:a", "version": version},
                "contentChanges": [change],
            }),
        );
        self.wait(version);
        began.elapsed()
    }

    fn wait(&mut self, version: i64) {
        while self.receive()["params"]["version"] != version {}
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        write!(self.stdin, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("written");
        self.stdin.flush().expect("flushed");
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(
                self.stdout.read_line(&mut line).expect("read") > 0,
                "it ended"
            );
            if let Some(value) = line.trim_end().strip_prefix("Content-Length: ") {
                length = value.parse().expect("a length");
            } else if line.trim_end().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stdout.read_exact(&mut body).expect("a body");
        serde_json::from_slice(&body).expect("JSON")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
