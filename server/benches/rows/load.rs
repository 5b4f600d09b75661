//! Requests over kept connections, as fast as answers come, and nothing else: what makes the load
//! must cost little beside what is measured.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// One request, ready to be sent.
#[derive(Debug, Clone)]
pub(crate) struct Request(Vec<u8>);

impl Request {
    pub(crate) fn new(method: &str, path: &str, token: &str, body: Option<&str>) -> Request {
        let mut text = format!("{method} {path} HTTP/1.1\r\nhost: bench\r\n");
        if !token.is_empty() {
            text.extend(["authorization: Bearer ", token, "\r\n"]);
        }
        if let Some(body) = body {
            let length = body.len().to_string();
            text.push_str("content-type: application/json\r\ncontent-length: ");
            text.extend([&length, "\r\n\r\n", body]);
        } else {
            text.push_str("\r\n");
        }
        Request(text.into_bytes())
    }
}

/// A kept connection.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    line: String,
    body: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Connection {
        let stream = TcpStream::connect(address).expect("connects");
        stream.set_nodelay(true).expect("sets");
        Connection {
            stream: BufReader::with_capacity(64 << 10, stream),
            line: String::new(),
            body: Vec::new(),
        }
    }

    /// Sends a request and reads the whole answer.
    pub(crate) fn ask(&mut self, request: &Request) -> (u16, &[u8]) {
        self.stream.get_mut().write_all(&request.0).expect("sends");
        self.line.clear();
        self.stream.read_line(&mut self.line).expect("answers");
        let status = self.line.split(' ').nth(1).and_then(|s| s.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no answer: {:?}", self.line));
        let (mut length, mut chunked) = (0, false);
        loop {
            self.line.clear();
            self.stream.read_line(&mut self.line).expect("a header");
            let line = self.line.trim_end();
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().expect("a length");
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                chunked = true;
            }
        }
        self.body.clear();
        if chunked {
            self.chunks();
        } else {
            self.body.resize(length, 0);
            self.stream.read_exact(&mut self.body).expect("a body");
        }
        (status, &self.body)
    }

    fn chunks(&mut self) {
        loop {
            self.line.clear();
            self.stream.read_line(&mut self.line).expect("a chunk");
            let length = usize::from_str_radix(self.line.trim(), 16).expect("a length");
            let from = self.body.len();
            self.body.resize(from + length, 0);
            self.stream
                .read_exact(&mut self.body[from..])
                .expect("a chunk");
            let mut end = [0; 2];
            self.stream.read_exact(&mut end).expect("an end");
            if length == 0 {
                return;
            }
        }
    }
}

/// What a run saw.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) asked: f64,
    pub(crate) per_second: f64,
    /// Microseconds.
    pub(crate) median: f64,
}

/// What is asked again and again.
pub(crate) struct Question<'a> {
    pub(crate) name: &'static str,
    /// The status of its answers.
    pub(crate) expected: u16,
    /// Makes a connection's request by its number.
    pub(crate) next: Box<dyn Fn(usize, usize) -> Request + Sync + 'a>,
}

impl<'a> Question<'a> {
    pub(crate) fn new(
        name: &'static str,
        expected: u16,
        next: impl Fn(usize, usize) -> Request + Sync + 'a,
    ) -> Question<'a> {
        let next = Box::new(next);
        Question {
            name,
            expected,
            next,
        }
    }

    /// Asks a server for a while over so many connections.
    pub(crate) fn ask(&self, address: SocketAddr, connections: usize, time: Duration) -> Seen {
        run(address, connections, time, self.expected, &self.next)
    }
}

/// Loads a server for a while over so many connections; `next` makes the request of a connection.
pub(crate) fn run(
    address: SocketAddr,
    connections: usize,
    time: Duration,
    expected: u16,
    next: impl Fn(usize, usize) -> Request + Sync,
) -> Seen {
    let stop = AtomicBool::new(false);
    let began = Instant::now();
    let mut times: Vec<u64> = thread::scope(|scope| {
        let workers: Vec<_> = (0..connections)
            .map(|worker| {
                let (stop, next) = (&stop, &next);
                scope.spawn(move || {
                    let mut connection = Connection::open(address);
                    let mut times = Vec::new();
                    while !stop.load(Ordering::Relaxed) {
                        let request = next(worker, times.len());
                        let began = Instant::now();
                        let (status, body) = connection.ask(&request);
                        let took = began.elapsed();
                        assert_eq!(status, expected, "{}", String::from_utf8_lossy(body));
                        times.push(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
                    }
                    times
                })
            })
            .collect();
        thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        let all = workers
            .into_iter()
            .map(|worker| worker.join().expect("runs"));
        all.flatten().collect()
    });
    let took = began.elapsed().as_secs_f64();
    times.sort_unstable();
    Seen {
        asked: times.len() as f64,
        per_second: times.len() as f64 / took,
        median: times
            .get(times.len() / 2)
            .map_or(0.0, |nanos| *nanos as f64 / 1000.0),
    }
}
