//! Servers that take what steps send, and remember it.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// A mail as it came: who it is for, and its text.
#[derive(Debug, Clone)]
pub struct Mail {
    /// Addresses, as the envelope has them.
    pub to: Vec<String>,
    /// Headers and body.
    pub text: String,
}

impl Mail {
    /// A header of it.
    pub fn header(&self, name: &str) -> String {
        let prefix = format!("{name}: ");
        let line = self
            .text
            .lines()
            .find_map(|line| line.strip_prefix(&prefix));
        line.unwrap_or_else(|| panic!("{name} {self:?}")).to_owned()
    }
}

/// A mail server that takes everything.
#[derive(Debug, Clone)]
pub struct MailSink {
    /// As a server takes it: `smtp://…`.
    pub url: String,
    mails: Arc<Mutex<Vec<Mail>>>,
}

impl MailSink {
    /// On a free port.
    pub fn start() -> MailSink {
        let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
        let address = listener.local_addr().expect("an address");
        let mails: Arc<Mutex<Vec<Mail>>> = Arc::default();
        let kept = mails.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = kept.clone();
                // A client that is killed in between leaves half a conversation.
                thread::spawn(move || drop(converse(stream, &kept)));
            }
        });
        MailSink {
            url: format!("smtp://{address}?from=desk@acme.test"),
            mails,
        }
    }

    /// What came so far.
    pub fn mails(&self) -> Vec<Mail> {
        self.mails.lock().expect("whole").clone()
    }
}

fn converse(stream: TcpStream, mails: &Mutex<Vec<Mail>>) -> std::io::Result<()> {
    let mut out = stream.try_clone()?;
    let mut lines = BufReader::new(stream);
    let mut to = Vec::new();
    out.write_all(b"220 sink\r\n")?;
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let upper = line.to_ascii_uppercase();
        if upper.starts_with("DATA") {
            out.write_all(b"354 go on\r\n")?;
            let mut text = String::new();
            loop {
                let mut line = String::new();
                if lines.read_line(&mut line)? == 0 {
                    return Ok(());
                }
                if line == ".\r\n" {
                    break;
                }
                text.push_str(&line);
            }
            let to = std::mem::take(&mut to);
            mails.lock().expect("whole").push(Mail { to, text });
            out.write_all(b"250 taken\r\n")?;
        } else if upper.starts_with("QUIT") {
            return out.write_all(b"221 bye\r\n");
        } else {
            if upper.starts_with("RCPT TO:") {
                let address = line.split(['<', '>']).nth(1).unwrap_or_default();
                to.push(address.to_owned());
            }
            out.write_all(b"250 fine\r\n")?;
        }
    }
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// The request line and the headers.
    pub head: String,
    /// As text.
    pub body: String,
}

/// An HTTP server that responds to everything alike.
#[derive(Debug, Clone)]
pub struct HttpSink {
    /// Where it is.
    pub url: String,
    received: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl HttpSink {
    /// On a free port, with its response: a status with its reason, and a document.
    pub fn start(status: &'static str, response: &'static str) -> HttpSink {
        let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
        let address = listener.local_addr().expect("an address");
        let received: Arc<Mutex<Vec<ReceivedRequest>>> = Arc::default();
        let kept = received.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = kept.clone();
                thread::spawn(move || drop(take(stream, &kept, (status, response))));
            }
        });
        HttpSink {
            url: format!("http://{address}/v1"),
            received,
        }
    }

    /// What came so far.
    pub fn received(&self) -> Vec<ReceivedRequest> {
        self.received.lock().expect("whole").clone()
    }
}

fn take(
    stream: TcpStream,
    received: &Mutex<Vec<ReceivedRequest>>,
    (status, response): (&str, &str),
) -> std::io::Result<()> {
    let mut out = stream.try_clone()?;
    let mut lines = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    lines.read_exact(&mut body)?;
    let body = String::from_utf8_lossy(&body).into_owned();
    received
        .lock()
        .expect("whole")
        .push(ReceivedRequest { head, body });
    let length = response.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         location: http://127.0.0.1:1/elsewhere\r\nconnection: close\r\n\r\n"
    );
    out.write_all(head.as_bytes())?;
    out.write_all(response.as_bytes())
}

/// An HTTP server that responds to nobody until it is released, and then to everybody at once.
#[derive(Debug, Clone)]
pub struct SlowPartner {
    /// Where it is.
    pub url: String,
    state: Arc<(Mutex<Waiting>, Condvar)>,
}

/// Who waits, and who did.
#[derive(Debug, Default)]
struct Waiting {
    released: bool,
    now: usize,
    most: usize,
    received: usize,
    keys: BTreeSet<String>,
}

impl SlowPartner {
    /// On a free port.
    pub fn start() -> SlowPartner {
        let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
        let address = listener.local_addr().expect("an address");
        let state: Arc<(Mutex<Waiting>, Condvar)> = Arc::default();
        let kept = state.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = kept.clone();
                thread::spawn(move || drop(hold(stream, &kept)));
            }
        });
        SlowPartner {
            url: format!("http://{address}"),
            state,
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.state.0.lock().expect("whole")
    }

    /// How many wait for a response.
    pub fn at_once(&self) -> usize {
        self.state().now
    }

    /// How many waited at once at the most.
    pub fn most(&self) -> usize {
        self.state().most
    }

    /// How many requests came.
    pub fn received(&self) -> usize {
        self.state().received
    }

    /// The different `Idempotency-Key`s that came.
    pub fn keys(&self) -> BTreeSet<String> {
        self.state().keys.clone()
    }

    /// Responds to everybody from now on.
    pub fn release(&self) {
        self.state().released = true;
        self.state.1.notify_all();
    }
}

fn hold(stream: TcpStream, (state, released): &(Mutex<Waiting>, Condvar)) -> std::io::Result<()> {
    let mut out = stream.try_clone()?;
    let mut lines = BufReader::new(stream);
    let mut key = String::new();
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("idempotency-key:") {
            value.trim().clone_into(&mut key);
        }
    }
    let mut waiting = state.lock().expect("whole");
    waiting.received += 1;
    waiting.now += 1;
    waiting.most = waiting.most.max(waiting.now);
    waiting.keys.insert(key);
    let waiting = released.wait_while(waiting, |waiting| !waiting.released);
    let mut waiting = waiting.expect("whole");
    waiting.now -= 1;
    drop(waiting);
    out.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
}
