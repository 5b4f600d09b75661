//! Stopping: nobody who has sent a request goes without a response.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::process::{Serving, database, read_response};

const BODY: &str = r#"{"email":"ann@acme.test","password":"secret word"}"#;

#[test]
fn open_requests_end_and_nothing_new_is_taken() {
    let folder = tempfile::tempdir().expect("a folder");
    let serving = Serving::start(&database(folder.path()));
    let mut request = serving.open("/v1/auth/token", BODY);
    request.write_all(&BODY.as_bytes()[..10]).expect("sends");
    // Who came before this one has been let in by now: a process that has nobody stops at once.
    serving.get("/v1/health");
    // While the process is stopping, a response comes to whoever asks; the last of its connection.
    serving.signal("-TERM");
    serving.wait_for("stopping");
    let ready = serving.get("/v1/ready");
    assert!(ready.starts_with("HTTP/1.1 503"), "{ready}");
    assert!(ready.contains("connection: close"), "{ready}");
    while TcpStream::connect(&serving.address).is_ok() {
        thread::sleep(Duration::from_millis(20));
    }
    request.write_all(&BODY.as_bytes()[10..]).expect("sends");
    let response = read_response(request);
    assert!(response.starts_with("HTTP/1.1 401"), "{response}");
    let (code, log) = serving.end();
    assert_eq!(code, Some(0));
    assert!(log.contains("/v1/auth/token"), "{log}");
    assert!(
        !log.contains("secret word") && !log.contains("ann@acme.test"),
        "{log}"
    );
    for line in log.lines() {
        let _: Value = serde_json::from_str(line).expect("a structured line");
    }
}

#[test]
fn an_open_request_has_until_the_deadline_and_idle_ones_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["--drain-seconds", "1"];
    let serving = Serving::start_with(&database(folder.path()), &arguments, &[]);
    let mut request = serving.open("/v1/auth/token", BODY);
    request.write_all(&BODY.as_bytes()[..10]).expect("sends");
    let idle = TcpStream::connect(&serving.address).expect("connects");
    serving.wait_for("serving");
    serving.signal("-TERM");
    let (code, log) = serving.end();
    assert_eq!(code, Some(0));
    assert!(log.contains("some had not ended"), "{log}");
    // An end, not a reset.
    assert_eq!(read_response(idle), "");
}

#[test]
fn a_second_signal_ends_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["--drain-seconds", "600"];
    let serving = Serving::start_with(&database(folder.path()), &arguments, &[]);
    let mut request = serving.open("/v1/auth/token", BODY);
    request.write_all(&BODY.as_bytes()[..10]).expect("sends");
    serving.signal("-TERM");
    serving.wait_for("stopping");
    serving.signal("-INT");
    let (code, _) = serving.end();
    assert_eq!(code, Some(130));
}

/// What clients with a connection that stays open see of a stop.
#[derive(Default)]
struct Tally {
    responded: AtomicUsize,
    lost: AtomicUsize,
}

#[test]
fn under_load_no_request_is_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["--rate-limit", "off", "--log-level", "warn"];
    let serving = Serving::start_with(&database(folder.path()), &arguments, &[]);
    let address: SocketAddr = serving.address.parse().expect("an address");
    let tally = Arc::new(Tally::default());
    let stopping = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..24)
        .map(|number| {
            let (tally, stopping) = (tally.clone(), stopping.clone());
            thread::spawn(move || client(address, number, &tally, &stopping))
        })
        .collect();
    while tally.responded.load(Ordering::Relaxed) < 2000 {
        thread::sleep(Duration::from_millis(5));
    }
    stopping.store(true, Ordering::SeqCst);
    serving.signal("-TERM");
    for client in clients {
        client.join().expect("ends");
    }
    let (code, log) = serving.end();
    assert_eq!(code, Some(0), "{log}");
    assert_eq!(tally.lost.load(Ordering::Relaxed), 0, "{log}");
    assert_eq!(log, "");
}

/// Asks again and again until connections are refused.
fn client(address: SocketAddr, number: usize, tally: &Tally, stopping: &AtomicBool) {
    // Some keep their connection for ever, some for one request, some think in between.
    let per_connection = if number.is_multiple_of(3) {
        1
    } else {
        usize::MAX
    };
    let pause = Duration::from_millis(if number % 3 == 1 { 3 } else { 0 });
    loop {
        let stream = match TcpStream::connect(address) {
            Ok(stream) => stream,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
                assert!(stopping.load(Ordering::SeqCst), "refused before the end");
                return;
            }
        };
        let mut reader = BufReader::new(stream);
        for _ in 0..per_connection {
            thread::sleep(pause);
            let Some(last) = exchange(&mut reader, "/v1/health") else {
                tally.lost.fetch_add(1, Ordering::Relaxed);
                break;
            };
            tally.responded.fetch_add(1, Ordering::Relaxed);
            if last {
                break;
            }
        }
    }
}

/// One request and its response: whether it is the last one, or nothing when there was none.
pub(crate) fn exchange(stream: &mut BufReader<TcpStream>, path: &str) -> Option<bool> {
    let request = format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n");
    stream.get_mut().write_all(request.as_bytes()).ok()?;
    let (mut last, mut length) = (false, 0);
    for number in 0.. {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        assert!(number > 0 || line.starts_with("HTTP/1.1 200"), "{line}");
        if line == "\r\n" {
            break;
        }
        last |= line.trim_end() == "connection: close";
        if let Some(text) = line.strip_prefix("content-length: ") {
            length = text.trim_end().parse().expect("a number");
        }
    }
    stream.read_exact(&mut vec![0; length]).ok()?;
    Some(last)
}
