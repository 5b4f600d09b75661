//! An HTTP server on this machine that responds as a test says, and remembers what it was
//! asked. It closes every connection after one response.

pub(crate) mod model;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The credential without `Bearer`.
    pub(crate) fn token(&self) -> Option<&str> {
        self.header("authorization")?.strip_prefix("Bearer ")
    }

    /// `METHOD target`.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.method, self.target)
    }
}

/// A response, as a test writes it.
#[derive(Debug, Clone)]
pub(crate) struct Response {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
    /// Closes the connection instead of responding.
    hangs_up: bool,
    /// Closes it after so many bytes of the body.
    breaks: Option<usize>,
}

impl Response {
    pub(crate) fn text(status: u16, body: &str) -> Response {
        Response {
            status,
            headers: Vec::new(),
            body: body.to_owned(),
            hangs_up: false,
            breaks: None,
        }
    }

    pub(crate) fn json(body: &Value) -> Response {
        Response::text(200, &body.to_string()).with("Content-Type", "application/json")
    }

    pub(crate) fn problem(status: u16, code: &str) -> Response {
        let body = json!({"status": status, "code": code, "detail": format!("detail of {code}")});
        Response::text(status, &body.to_string()).with("Content-Type", "application/problem+json")
    }

    pub(crate) fn hang_up() -> Response {
        Response {
            hangs_up: true,
            ..Response::text(0, "")
        }
    }

    /// Announces the whole body, and breaks off after so many bytes of it.
    pub(crate) fn breaking_after(mut self, bytes: usize) -> Response {
        self.breaks = Some(bytes);
        self
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Response {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// The server. It ends with the test process.
pub(crate) struct Scripted {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Scripted {
    /// Responds to every request by `script`.
    pub(crate) fn new(script: impl Fn(&Received) -> Response + Send + Sync + 'static) -> Scripted {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let received = Arc::new(Mutex::new(Vec::new()));
        let (seen, script) = (Arc::clone(&received), Arc::new(script));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, script) = (Arc::clone(&seen), Arc::clone(&script));
                thread::spawn(move || serve(&stream, &seen, &*script));
            }
        });
        Scripted { url, received }
    }

    /// Responds with these, in order; the last again and again.
    pub(crate) fn in_order(responses: Vec<Response>) -> Scripted {
        let next = Mutex::new(0);
        Scripted::new(move |_| {
            let mut next = next.lock().expect("no test fails while it holds this");
            let response = responses[(*next).min(responses.len() - 1)].clone();
            *next += 1;
            response
        })
    }

    /// What came so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().expect("whole").clone()
    }

    /// `METHOD target` of what came so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.received().iter().map(Received::line).collect()
    }
}

/// An address where nobody listens.
pub(crate) fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    format!("http://{}", listener.local_addr().expect("an address"))
}

fn serve(
    mut stream: &TcpStream,
    seen: &Mutex<Vec<Received>>,
    script: &dyn Fn(&Received) -> Response,
) {
    let Some(request) = read(stream) else {
        // As servers respond to what is not HTTP.
        let refusal = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
        stream.write_all(refusal).ok();
        return;
    };
    seen.lock().expect("whole").push(request.clone());
    let response = script(&request);
    if response.hangs_up {
        return;
    }
    let own = [
        ("Connection".to_owned(), "close".to_owned()),
        ("Content-Length".to_owned(), response.body.len().to_string()),
    ];
    let headers = own.iter().chain(&response.headers);
    let headers: Vec<String> = headers
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let status = response.status;
    let sent = response.breaks.unwrap_or(response.body.len());
    let text = format!(
        "HTTP/1.1 {status} Scripted\r\n{}\r\n{}",
        headers.concat(),
        &response.body[..sent]
    );
    // The client may have left.
    stream.write_all(text.as_bytes()).ok();
}

fn read(stream: &TcpStream) -> Option<Received> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length
        .and_then(|(_, value)| value.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Received {
        method,
        target,
        headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}
