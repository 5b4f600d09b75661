//! Uploads that are refused before they have arrived, that nobody takes, and whose source fails; downloads that break.

use std::any::Any;
use std::io::{self, Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;
use tplkit::client::{
    BaseUrl, Cause, Client, Credential, Error, FileRecord, Host, NewFile, Options, Upload,
};

use crate::host::{client, client_as};
use crate::scripted::{Response, Scripted};

const NEW: NewFile<'static> = NewFile {
    workspace: "w",
    name: "large.bin",
    content_type: "application/octet-stream",
};

/// So many bytes that never were anywhere.
fn zeros(size: u64) -> Upload {
    Upload::new(size, move || Ok(Box::new(io::repeat(0))))
}

/// Reads the head of a request.
fn read_head(stream: &mut TcpStream) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read > 0) {
        head.push(byte[0]);
    }
}

/// A server that does that with every connection.
fn serving(serve: impl Fn(TcpStream) + Send + Sync + Copy + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream));
        }
    });
    format!("http://{address}")
}

#[test]
fn a_refusal_before_the_end_of_a_body_is_heard() {
    let url = serving(|mut stream| {
        read_head(&mut stream);
        let body = r#"{"code": "quota_exceeded", "detail": "No room."}"#;
        let length = body.len();
        let response = format!(
            "HTTP/1.1 409 Conflict\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(response.as_bytes()).ok();
        stream.shutdown(std::net::Shutdown::Write).ok();
        // Whatever is in flight is taken, or the response could get lost.
        io::copy(&mut stream, &mut io::sink()).ok();
    });
    let (client, waits) = client(&url);
    let error = client.upload(&NEW, zeros(1 << 30)).expect_err("no room");
    assert_eq!(error.status(), Some(409), "{error}");
    assert!(waits.lock().expect("whole").is_empty(), "not tried again");
}

#[test]
fn an_upload_that_nobody_takes_ends_in_time() {
    let url = serving(|mut stream| {
        read_head(&mut stream);
        thread::sleep(Duration::from_secs(60));
    });
    let options = Options {
        silence: Duration::from_millis(50),
        whole: Duration::from_millis(200),
        ..Options::default()
    };
    for size in [1, 1 << 30] {
        let (client, _) = client_as(&url, Credential::None, options);
        let error = client
            .upload(&NEW, zeros(size))
            .expect_err("nobody takes it");
        let timeout = Cause::Timeout;
        assert!(
            matches!(&error, Error::Unreachable { cause, .. } if *cause == timeout),
            "{error}"
        );
    }
}

/// Notes how long each response may take.
struct Asked(Arc<Mutex<Vec<Duration>>>);

impl Host for Asked {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
    fn uuid(&self) -> String {
        "key".to_owned()
    }
    fn wait(&self, _: Duration) {}
    fn asking(&self, _: &str, most: Duration) -> Option<Box<dyn Any>> {
        self.0.lock().expect("whole").push(most);
        None
    }
}

#[test]
fn whoever_uploads_hears_that_the_rest_of_a_response_is_waited_for() {
    let url = serving(|mut stream| {
        read_head(&mut stream);
        let head = "HTTP/1.1 201 Created\r\ncontent-length: 100\r\n\r\n{";
        stream.write_all(head.as_bytes()).ok();
        thread::sleep(Duration::from_secs(60));
    });
    let options = Options {
        whole: Duration::from_secs(1),
        ..Options::default()
    };
    let asked = Arc::new(Mutex::new(Vec::new()));
    let host = Asked(Arc::clone(&asked));
    let base = BaseUrl::parse(&url).expect("an address");
    let client = Client::new(base, Credential::None, options, Box::new(host)).expect("a client");
    let error = client.upload(&NEW, zeros(1)).expect_err("half a response");
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    assert!(asked.lock().expect("whole").contains(&options.whole));
}

#[test]
fn a_source_that_fails_is_no_fault_of_the_server() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let url = serving(|mut stream| {
        read_head(&mut stream);
        io::copy(&mut stream, &mut io::sink()).ok();
    });
    let (client, waits) = client(&url);
    let failing = Upload::new(10, || Ok(Box::new(Failing)));
    let error = client.upload(&NEW, failing).expect_err("no source");
    assert_eq!(
        error.to_string(),
        "the body of POST /v1/files cannot be read: the disk is gone"
    );
    let closed = Upload::new(10, || Err(io::ErrorKind::PermissionDenied.into()));
    let error = client.upload(&NEW, closed).expect_err("no source");
    assert!(matches!(error, Error::Source { .. }), "{error}");
    assert!(waits.lock().expect("whole").is_empty(), "not tried again");
}

/// A server whose content breaks after four bytes, again and again; `tags` says whether it knows what it has.
fn breaking(tags: bool) -> Scripted {
    const BYTES: &str = "0123456789abcdefghij";
    Scripted::new(move |request| {
        let range = request.header("range").filter(|_| tags);
        let from = range.and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-'));
        let response = match from.and_then(|from| from.parse::<usize>().ok()) {
            Some(from) => Response::text(206, &BYTES[from..])
                .with("Content-Range", &format!("bytes {from}-19/20")),
            None => Response::text(200, BYTES),
        };
        response.breaking_after(4)
    })
}

#[test]
fn a_download_goes_on_where_it_broke_and_nowhere_else() {
    let record = json!({"id": "f", "name": "n", "size": 20, "sha256": "s"});
    let file: FileRecord = serde_json::from_value(record).expect("a record");
    for (tags, came) in [(true, 16), (false, 4)] {
        let server = breaking(tags);
        let (client, _) = client(&server.url);
        let mut content = client.content(&file, 0).expect("a beginning");
        let mut part = [0; 64];
        let error = loop {
            match content.next(&mut part) {
                Ok(length) => assert!(length > 0, "it is whole"),
                Err(error) => break error,
            }
        };
        assert_eq!(content.at(), came, "{error}");
        let other = matches!(&error, Error::Unreadable { .. });
        assert_eq!(other, !tags, "{error}");
        let received = server.received();
        assert_eq!(received.len(), if tags { 4 } else { 2 });
        assert_eq!(received[1].header("if-range"), Some("\"s\""));
        assert_eq!(received[1].header("range"), Some("bytes=4-"));
    }
}

#[test]
fn a_download_may_take_longer_than_a_silence() {
    const PARTS: usize = 10;
    let url = serving(|mut stream| {
        read_head(&mut stream);
        let length = PARTS * 2048;
        let head =
            format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).ok();
        for _ in 0..PARTS {
            stream.write_all(&[7; 2048]).ok();
            thread::sleep(Duration::from_millis(100));
        }
    });
    let options = Options {
        silence: Duration::from_millis(500),
        ..Options::default()
    };
    let (client, waits) = client_as(&url, Credential::None, options);
    let record = json!({"id": "f", "name": "n", "size": PARTS * 2048, "sha256": "s"});
    let file: FileRecord = serde_json::from_value(record).expect("a record");
    let mut content = client.content(&file, 0).expect("a beginning");
    let mut part = [0; 64];
    while content.next(&mut part).expect("goes on") > 0 {}
    assert_eq!(content.at(), file.size);
    assert!(waits.lock().expect("whole").is_empty(), "not tried again");
}
