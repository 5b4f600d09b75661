//! Whoever reads the log does not decide whether the server runs.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::process::ChildStderr;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::drain::exchange;
use crate::process::{Serving, command, database, read_response, run, stderr};

/// More lines than a pipe holds.
const MANY: usize = 1000;

/// A server, and what it logs, which nobody reads.
fn unread(database: &str, arguments: &[&str]) -> (Serving, ChildStderr) {
    let mut command = command(&["serve", "--listen", "127.0.0.1:0", "--rate-limit", "off"]);
    command.args(["--no-worker", "--database", database]);
    command.args(arguments);
    Serving::unread(command)
}

/// Asks so many times on one connection.
fn request(serving: &Serving, path: &str, times: usize) {
    let stream = TcpStream::connect(&serving.address).expect("connects");
    let patience = Some(Duration::from_secs(30));
    stream.set_read_timeout(patience).expect("is set");
    let mut stream = BufReader::new(stream);
    for number in 0..times {
        assert_eq!(exchange(&mut stream, path), Some(false), "{path} {number}");
    }
}

#[test]
fn a_server_serves_and_stops_next_to_a_log_that_nobody_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    let (serving, _log) = unread(&database(folder.path()), &[]);
    request(&serving, "/v1/health", MANY);
    serving.signal("-TERM");
    let (code, _) = serving.end();
    assert_eq!(code, Some(0));
}

#[test]
fn a_second_signal_ends_at_once_next_to_a_log_that_nobody_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    let (serving, _log) = unread(&database(folder.path()), &["--drain-seconds", "600"]);
    request(&serving, "/v1/health", MANY);
    let _open = serving.open("/v1/auth/token", "{}");
    // Who came before this one has been let in by now.
    serving.get("/v1/health");
    serving.signal("-TERM");
    while TcpStream::connect(&serving.address).is_ok() {
        thread::sleep(Duration::from_millis(20));
    }
    serving.signal("-INT");
    let (code, _) = serving.end();
    assert_eq!(code, Some(130));
}

#[test]
fn lines_that_are_lost_are_counted_and_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["--log", "sql", "--metrics-listen", "127.0.0.1:0"];
    let (serving, log) = unread(&database(folder.path()), &arguments);
    let parsed = |line: io::Result<String>| -> Value {
        serde_json::from_str(&line.expect("UTF-8")).expect("a whole line")
    };
    let mut log = BufReader::new(log).lines().map(parsed);
    let shown = log.find(|line| line["message"] == "numbers are shown at /metrics");
    let shown = shown.expect("a line");
    let address = shown["address"].as_str().expect("an address");
    let lost = || -> u64 {
        let mut stream = TcpStream::connect(address).expect("connects");
        let request = b"GET /metrics HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
        stream.write_all(request).expect("sends");
        let page = read_response(stream);
        let mut lines = page.lines();
        let lost = lines.find_map(|line| line.strip_prefix("tplkit_log_lines_lost_total "));
        lost.expect("is shown").parse().expect("a number")
    };
    while lost() == 0 {
        request(&serving, "/v1/ready", 200);
    }
    let reported = log.find(|line| line["lost"].is_u64()).expect("a line");
    assert_eq!(reported["level"], "WARN");
    assert_eq!(reported["lost"].as_u64(), Some(lost()));
}

#[test]
fn an_error_at_the_start_stands_behind_the_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    run(&["migrate", "--database", &database]);
    let file = database.strip_prefix("sqlite:").expect("a file");
    let store = rusqlite::Connection::open(file).expect("opens");
    let newer = "INSERT INTO schema_migrations VALUES (4711, '4711_later', '')";
    store.execute(newer, []).expect("writes");
    let output = run(&["serve", "--log", "sql", "--database", &database]);
    assert_eq!(output.status.code(), Some(1));
    let printed = stderr(&output);
    let lines: Vec<&str> = printed.lines().collect();
    let (last, log) = lines.split_last().expect("lines");
    assert!(
        last.starts_with("error: ") && last.contains("4711"),
        "{printed}"
    );
    assert!(log.len() > 3, "{printed}");
    for line in log {
        let _: Value = serde_json::from_str(line).expect("a structured line");
    }
}
