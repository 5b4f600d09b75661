//! What strangers send over a socket: slow, much, malformed, unusual.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use tplkit_server::app::Config;
use tplkit_server::edge::Limits;
use tplkit_server::http::rate_limit::Rate;

use crate::api::client::{Response, read};
use crate::api::world::{PASSWORD, World};
use crate::stores::{Place, run};

fn config(edge: Limits) -> Config {
    Config {
        rate: None,
        edge,
        ..Config::default()
    }
}

/// Runs a test on a server with these limits.
fn with(limits: Limits, body: impl FnOnce(SocketAddr) + Send + 'static) {
    run(Some(Place::sqlite()), |place| async move {
        let world = World::with(place, config(limits)).await;
        let address = world.nobody.address();
        tokio::task::spawn_blocking(move || body(address))
            .await
            .expect("holds");
    });
}

fn send(address: SocketAddr, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("connects");
    stream.write_all(bytes).expect("sends");
    stream
}

/// Everything that comes, and whether it ended in order.
fn rest(mut stream: TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("no reset");
    bytes
}

fn exchange(address: SocketAddr, bytes: &[u8]) -> Response {
    read(&rest(send(address, bytes)))
}

fn is_well(address: SocketAddr) {
    let request = b"GET /v1/health HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    exchange(address, request).expect(200);
}

#[test]
fn what_is_not_request_is_refused_like_everything_else() {
    with(Limits::default(), |address| {
        let long = "a".repeat(70_000);
        let long_target = format!("GET /{long} HTTP/1.1\r\nhost: a\r\n\r\n");
        let long_line = format!("GET / HTTP/1.1\r\nhost: a\r\nx: {long}\r\n\r\n");
        let many_lines = format!(
            "GET / HTTP/1.1\r\nhost: a\r\n{}\r\n",
            "x: y\r\n".repeat(200)
        );
        for (bytes, status, code) in [
            (&b"nonsense\r\n\r\n"[..], 422, "validation_failed"),
            (
                b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
                422,
                "validation_failed",
            ),
            (b"GET / HTTP/3.0\r\n\r\n", 422, "validation_failed"),
            (
                b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                422,
                "validation_failed",
            ),
            (
                b"GET / /x HTTP/1.1\r\nhost: a\r\n\r\n",
                422,
                "validation_failed",
            ),
            (
                b"GET / HTTP/1.1\r\nbad name: a\r\n\r\n",
                422,
                "validation_failed",
            ),
            (
                b"GET / HTTP/1.1\r\nhost: a\r\nx: \0\r\n\r\n",
                422,
                "validation_failed",
            ),
            (
                b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
                422,
                "validation_failed",
            ),
            (
                b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n",
                422,
                "validation_failed",
            ),
            (long_target.as_bytes(), 413, "payload_too_large"),
            (long_line.as_bytes(), 413, "payload_too_large"),
            (many_lines.as_bytes(), 413, "payload_too_large"),
        ] {
            let refused = exchange(address, bytes).refused(status, code);
            assert!(refused.header("x-request-id").is_some(), "{refused:?}");
            assert_eq!(refused.header("connection"), Some("close"));
            // Nothing of it comes back.
            assert!(!refused.body.contains("nonsense"), "{refused:?}");
        }
        is_well(address);
    });
}

#[test]
fn a_host_has_to_be_named_once() {
    with(Limits::default(), |address| {
        for head in [
            "GET /v1/health HTTP/1.1\r\nconnection: close\r\n\r\n",
            "GET /v1/health HTTP/1.1\r\nhost: a\r\nhost: b\r\nconnection: close\r\n\r\n",
        ] {
            let refused = exchange(address, head.as_bytes()).refused(422, "validation_failed");
            assert_eq!(refused.json()["errors"][0]["path"], "header.host");
        }
        // HTTP/1.0 did not know it yet, and closes after its response.
        let old = exchange(address, b"GET /v1/health HTTP/1.0\r\n\r\n").expect(200);
        assert_eq!(old.header("content-length"), Some("33"));
    });
}

#[test]
fn a_body_that_is_not_framed_as_announced_is_refused() {
    with(Limits::default(), |address| {
        let head = "POST /v1/auth/token HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n";
        let chunked = format!("{head}transfer-encoding: chunked\r\n\r\nzz\r\n{{}}\r\n");
        exchange(address, chunked.as_bytes()).refused(422, "invalid_json");
        let mut short = send(
            address,
            format!("{head}content-length: 10\r\n\r\n{{").as_bytes(),
        );
        short.shutdown(std::net::Shutdown::Write).expect("shuts");
        let mut bytes = Vec::new();
        short.read_to_end(&mut bytes).expect("no reset");
        read(&bytes).refused(422, "invalid_json");
    });
}

#[test]
fn a_response_reaches_who_is_still_sending() {
    with(Limits::default(), |address| {
        // Larger than all buffers on the way: refused before it is read.
        let length = 32 << 20;
        let head = format!(
            "POST /v1/auth/token HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n"
        );
        let mut stream = send(address, head.as_bytes());
        stream.write_all(&vec![b' '; length]).expect("is taken");
        read(&rest(stream)).refused(413, "payload_too_large");
    });
}

#[test]
fn requests_in_a_row_get_responses_in_order() {
    with(Limits::default(), |address| {
        let requests = "HEAD /v1/health HTTP/1.1\r\nhost: a\r\n\r\n\
             GET /v1/nothing HTTP/1.1\r\nhost: a\r\n\r\n\
             GET /v1/health HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
        let text = String::from_utf8(rest(send(address, requests.as_bytes()))).expect("UTF-8");
        let lines: Vec<&str> = text.lines().filter(|l| l.contains("HTTP/1.1 ")).collect();
        // Bodies end without a line feed; the next response stands behind them.
        assert_eq!(lines.len(), 3, "{text}");
        for (line, status) in lines.iter().zip(["200", "404", "200"]) {
            assert!(line.contains(&format!("HTTP/1.1 {status}")), "{text}");
        }
        // Also when what follows is none.
        let broken = "GET /v1/health HTTP/1.1\r\nhost: a\r\n\r\nnonsense\r\n\r\n";
        let text = String::from_utf8(rest(send(address, broken.as_bytes()))).expect("UTF-8");
        assert!(
            text.starts_with("HTTP/1.1 200") && text.contains("HTTP/1.1 422"),
            "{text}"
        );
        assert!(!text.contains("400"), "{text}");
    });
}

#[test]
fn who_asks_before_sending_gets_a_response() {
    with(Limits::default(), |address| {
        let head = |kind: &str| {
            format!(
                "POST /v1/auth/token HTTP/1.1\r\nhost: a\r\ncontent-type: {kind}\r\n\
                 content-length: 2\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n"
            )
        };
        let mut stream = send(address, head("application/json").as_bytes());
        let mut interim = [0; 25];
        stream.read_exact(&mut interim).expect("goes on");
        assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
        stream.write_all(b"{}").expect("sends");
        read(&rest(stream)).refused(422, "validation_failed");
        // What is refused anyway need not be sent.
        exchange(address, head("text/plain").as_bytes()).refused(415, "unsupported_media_type");
    });
}

/// Reads one response, and leaves what follows it where it is.
fn one(stream: &mut TcpStream) -> Response {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).expect("a head");
        bytes.push(byte[0]);
    }
    let length = read(&bytes)
        .header("content-length")
        .map_or(0, |length| length.parse().expect("a number"));
    let mut body = vec![0; length];
    stream.read_exact(&mut body).expect("a body");
    bytes.extend(body);
    read(&bytes)
}

const HEALTH: &[u8] = b"GET /v1/health HTTP/1.1\r\nhost: a\r\n\r\n";

/// Requests that are refused before anybody wants their bodies, and how.
const EARLY: [(&str, u16); 5] = [
    (
        "POST /v1/workspaces HTTP/1.1\r\ncontent-type: application/json",
        401,
    ),
    (
        "POST /v1/nothing HTTP/1.1\r\ncontent-type: application/json",
        404,
    ),
    (
        "PUT /v1/health HTTP/1.1\r\ncontent-type: application/json",
        405,
    ),
    (
        "POST /v1/auth/token HTTP/1.1\r\ncontent-type: text/plain",
        415,
    ),
    // With a body, although there is nothing that it could be for.
    (
        "GET /v1/health HTTP/1.1\r\ncontent-type: application/json",
        200,
    ),
];

#[test]
fn a_connection_outlives_a_refusal() {
    with(Limits::default(), |address| {
        for (head, status) in EARLY {
            let body = "{\"a\": 1}".repeat(7000);
            for length in [1, 20, 40_000] {
                let body = &body.as_bytes()[..length];
                let mut stream = TcpStream::connect(address).expect("connects");
                // In two sends, with and without time between them, again and again.
                for pause in [0, 30, 30] {
                    let head = format!("{head}\r\nhost: a\r\ncontent-length: {length}\r\n\r\n");
                    stream.write_all(head.as_bytes()).expect("sends");
                    thread::sleep(Duration::from_millis(pause));
                    stream.write_all(body).expect("sends");
                    let refused = one(&mut stream).expect(status);
                    assert_eq!(refused.header("connection"), None, "{refused:?}");
                }
                stream.write_all(HEALTH).expect("sends");
                one(&mut stream).expect(200);
            }
            // In chunks, each with its length.
            let mut stream = TcpStream::connect(address).expect("connects");
            let head = format!("{head}\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n");
            stream.write_all(head.as_bytes()).expect("sends");
            for piece in ["5\r\n{\"a\":\r\n", "3\r\n 1}\r\n", "0\r\n\r\n"] {
                thread::sleep(Duration::from_millis(10));
                stream.write_all(piece.as_bytes()).expect("sends");
            }
            one(&mut stream).expect(status);
            // Several at once, each with its body behind it.
            let many = format!("{head}5\r\n{{\"a\":\r\n3\r\n 1}}\r\n0\r\n\r\n").repeat(3);
            stream.write_all(many.as_bytes()).expect("sends");
            stream.write_all(HEALTH).expect("sends");
            for _ in 0..3 {
                one(&mut stream).expect(status);
            }
            one(&mut stream).expect(200);
        }
    });
}

#[test]
fn a_connection_that_cannot_go_on_says_so() {
    with(Limits::default(), |address| {
        for (head, status) in EARLY {
            for framing in [
                "content-length: 65537",
                // The client waits to hear whether to send it.
                "content-length: 2\r\nexpect: 100-continue",
            ] {
                let head = format!("{head}\r\nhost: a\r\n{framing}\r\n\r\n");
                let mut stream = send(address, head.as_bytes());
                let refused = one(&mut stream).expect(status);
                assert_eq!(refused.header("connection"), Some("close"), "{refused:?}");
                assert_eq!(rest(stream), b"");
            }
            // Nobody knows how long it is, and it is too long.
            let head = format!("{head}\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n");
            let mut stream = send(address, head.as_bytes());
            let piece = format!("10001\r\n{}\r\n0\r\n\r\n", "x".repeat(0x10001));
            stream.write_all(piece.as_bytes()).expect("sends");
            let refused = one(&mut stream).expect(status);
            assert_eq!(refused.header("connection"), Some("close"), "{refused:?}");
        }
    });
}

#[test]
fn a_body_of_which_nothing_comes_is_not_waited_for_for_ever() {
    with(Limits::default(), |address| {
        let (head, status) = EARLY[0];
        let head = format!("{head}\r\nhost: a\r\ncontent-length: 2\r\n\r\n");
        let mut stream = send(address, head.as_bytes());
        let refused = one(&mut stream).expect(status);
        assert_eq!(refused.header("connection"), Some("close"), "{refused:?}");
    });
}

#[test]
fn a_body_that_is_too_large_or_one_too_many_is_read_where_it_is_short() {
    run(Some(Place::sqlite()), |place| async move {
        let config = Config {
            max_body: 1000,
            rate: Some(Rate::per_second(1)),
            ..Config::default()
        };
        let world = World::with(place, config).await;
        let token = world.token("owner@acme.test", PASSWORD).json()["access_token"].clone();
        let token = token.as_str().expect("a token").to_owned();
        let address = world.nobody.address();
        let body = move || {
            let head = |route: &str, length: usize| {
                format!(
                    "POST {route} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {token}\r\n\
                     content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
                )
            };
            let mut stream = TcpStream::connect(address).expect("connects");
            for (length, status) in [(2000, 413), (20, 429), (40_000, 429)] {
                let head = head("/v1/workspaces", length);
                stream.write_all(head.as_bytes()).expect("sends");
                thread::sleep(Duration::from_millis(30));
                stream.write_all(&vec![b' '; length]).expect("sends");
                let refused = one(&mut stream).expect(status);
                assert_eq!(refused.header("connection"), None, "{refused:?}");
            }
            stream.write_all(HEALTH).expect("sends");
            one(&mut stream).expect(200);
            let head = head("/v1/modules", 70_000);
            stream.write_all(head.as_bytes()).expect("sends");
            let refused = one(&mut stream).expect(413);
            assert_eq!(refused.header("connection"), Some("close"), "{refused:?}");
        };
        tokio::task::spawn_blocking(body).await.expect("holds");
    });
}

#[test]
fn a_slow_head_a_slow_body_and_a_slow_reader_hold_nothing_for_ever() {
    let limits = Limits {
        head_time: Duration::from_millis(300),
        body_time: Duration::from_millis(300),
        write_time: Duration::from_millis(300),
        ..Limits::default()
    };
    with(limits, |address| {
        // A byte now and then.
        let trickle = |begin: &[u8]| {
            let mut stream = send(address, begin);
            let mut writer = stream.try_clone().expect("clones");
            let writer = thread::spawn(move || {
                while writer.write_all(b"x").is_ok() {
                    thread::sleep(Duration::from_millis(30));
                }
            });
            let mut bytes = Vec::new();
            let _ = stream.read_to_end(&mut bytes);
            drop(stream);
            writer.join().expect("ends");
            bytes
        };
        assert_eq!(trickle(b"GET /v1/health HTTP/1.1\r\nx: "), b"");
        let head = b"POST /v1/auth/token HTTP/1.1\r\nhost: a\r\n\
            content-type: application/json\r\ncontent-length: 100000\r\n\r\n\"";
        let refused = read(&trickle(head)).refused(422, "invalid_json");
        assert!(refused.body.contains("in time"), "{refused:?}");
        // Asks for a lot and reads nothing of it: at some point nobody reads the questions either.
        let mut deaf = TcpStream::connect(address).expect("connects");
        let many = b"GET /v1/nothing HTTP/1.1\r\nhost: a\r\n\r\n".repeat(1000);
        while deaf.write_all(&many).is_ok() {}
        is_well(address);
    });
}

#[test]
fn a_flood_of_idle_sockets_leaves_room() {
    const FLOOD: usize = 2500;
    // Both ends are in this process.
    let files = rlimit::increase_nofile_limit(u64::MAX).expect("a limit");
    let flood = FLOOD.min(usize::try_from(files).unwrap_or(FLOOD).saturating_sub(600) / 2);
    let limits = Limits {
        connections: flood / 2,
        ..Limits::default()
    };
    with(limits, move |address| {
        let mut busy = send(
            address,
            b"POST /v1/auth/token HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\
              content-type: application/json\r\ncontent-length: 2\r\n\r\n{",
        );
        let mut idle = Vec::new();
        for number in 0..flood {
            let mut stream = TcpStream::connect(address).expect("connects");
            if number % 2 == 0 {
                // The beginning of a request does not make anybody more important.
                let _ = stream.write_all(b"GET /v1/health HT");
            }
            idle.push(stream);
            if number % 500 == 0 {
                is_well(address);
            }
        }
        is_well(address);
        // Whoever waited for a response was not sent away.
        busy.write_all(b"}").expect("sends");
        read(&rest(busy)).refused(422, "validation_failed");
        drop(idle);
        is_well(address);
    });
}
