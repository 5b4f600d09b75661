//! Requests over kept connections, as fast as responses come, and nothing else: what makes the load
//! must cost little next to what is measured, so a thread watches several connections.

#[path = "response.rs"]
mod response;

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use mio::{Events, Interest, Poll, Token};

use response::Response;

/// Threads that make load, as many as pgbench is given.
pub(crate) const THREADS: usize = 2;

/// Expected of a load that reads and writes: any success.
pub(crate) const SUCCESS: u16 = 0;

/// Bytes that are read at once.
const PIECE: usize = 64 << 10;

/// One request, ready to be sent.
#[derive(Debug, Clone)]
pub(crate) struct Request(Vec<u8>);

impl Request {
    pub(crate) fn new(method: &str, path: &str, token: &str, body: Option<&str>) -> Request {
        let Some(body) = body else {
            return Request((Request::head(method, path, token) + "\r\n").into_bytes());
        };
        Request::of_bytes(method, path, token, "application/json", body.as_bytes())
    }

    /// A request whose body is of another type.
    pub(crate) fn of_bytes(
        method: &str,
        path: &str,
        token: &str,
        content_type: &str,
        body: &[u8],
    ) -> Request {
        let mut bytes = Request::head_of_body(method, path, token, content_type, body.len());
        bytes.extend_from_slice(body);
        Request(bytes)
    }

    /// Everything before a body of so many bytes.
    pub(crate) fn head_of_body(
        method: &str,
        path: &str,
        token: &str,
        content_type: &str,
        length: usize,
    ) -> Vec<u8> {
        let head = Request::head(method, path, token);
        format!("{head}content-type: {content_type}\r\ncontent-length: {length}\r\n\r\n")
            .into_bytes()
    }

    fn head(method: &str, path: &str, token: &str) -> String {
        let mut text = format!("{method} {path} HTTP/1.1\r\nhost: bench\r\n");
        if !token.is_empty() {
            text.extend(["authorization: Bearer ", token, "\r\n"]);
        }
        text
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A kept connection on which one thing is asked at a time.
pub(crate) struct Connection {
    stream: TcpStream,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Connection {
        let stream = open(address);
        Connection { stream }
    }

    /// One that something was sent over already.
    pub(crate) fn of(stream: TcpStream) -> Connection {
        Connection { stream }
    }

    /// Sends a request and reads the whole response.
    pub(crate) fn ask(&mut self, request: &Request) -> (u16, Vec<u8>) {
        self.stream.write_all(&request.0).expect("sends");
        self.hear()
    }

    /// Reads the whole response to what was sent.
    pub(crate) fn hear(&mut self) -> (u16, Vec<u8>) {
        let (mut received, mut piece) = (Vec::new(), vec![0; PIECE]);
        loop {
            let length = self.stream.read(&mut piece).expect("responds");
            assert!(length > 0, "no response: {received:?}");
            received.extend_from_slice(&piece[..length]);
            if let Some(response) = Response::read(&received) {
                return (response.status, response.body.into_owned());
            }
        }
    }
}

fn open(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("connects");
    stream.set_nodelay(true).expect("sets");
    stream
}

/// What a run saw.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) requests: f64,
    pub(crate) per_second: f64,
    /// Microseconds.
    pub(crate) median: f64,
    /// Microseconds within which 95 of 100 responses came, where each was timed.
    pub(crate) p95: Option<f64>,
}

/// What is asked again and again.
pub(crate) struct Question<'a> {
    pub(crate) name: &'static str,
    /// The status of its responses.
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
    let began = Instant::now();
    let until = began + time;
    let mut times: Vec<u64> = thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS.min(connections))
            .map(|first| {
                let own = (first..connections).step_by(THREADS);
                let load = own.map(|number| Asking::new(address, number, expected, &next));
                let load: Vec<_> = load.collect();
                scope.spawn(move || watch(load, until))
            })
            .collect();
        let all = workers
            .into_iter()
            .map(|worker| worker.join().expect("runs"));
        all.flatten().collect()
    });
    let took = began.elapsed().as_secs_f64();
    times.sort_unstable();
    let within = |percent: usize| {
        let nanos = times.get(times.len() * percent / 100);
        nanos.map_or(0.0, |nanos| *nanos as f64 / 1000.0)
    };
    Seen {
        requests: times.len() as f64,
        per_second: times.len() as f64 / took,
        median: within(50),
        p95: Some(within(95)),
    }
}

/// Keeps connections busy until a moment, and reads what was asked by then to its end.
fn watch<N: Fn(usize, usize) -> Request>(mut load: Vec<Asking<N>>, until: Instant) -> Vec<u64> {
    let mut poll = Poll::new().expect("polls");
    for (token, asking) in load.iter_mut().enumerate() {
        let both = Interest::READABLE | Interest::WRITABLE;
        let registry = poll.registry();
        let registered = registry.register(&mut asking.stream, Token(token), both);
        registered.expect("is watched");
        asking.ask();
    }
    let mut events = Events::with_capacity(load.len());
    let mut open = load.len();
    while open > 0 {
        poll.poll(&mut events, None).expect("polls");
        for event in &events {
            let asking = &mut load[event.token().0];
            if event.is_writable() {
                asking.send();
            }
            if asking.hear() {
                if Instant::now() < until {
                    asking.ask();
                } else {
                    open -= 1;
                }
            }
        }
    }
    load.into_iter().flat_map(|asking| asking.times).collect()
}

/// A connection of a load, with what was asked over it last.
struct Asking<N> {
    stream: mio::net::TcpStream,
    /// Makes the next request.
    next: N,
    number: usize,
    expected: u16,
    request: Request,
    sent: usize,
    began: Instant,
    received: Vec<u8>,
    heard: usize,
    /// Nanoseconds that each response took.
    times: Vec<u64>,
}

impl<N: Fn(usize, usize) -> Request> Asking<N> {
    fn new(address: SocketAddr, number: usize, expected: u16, next: N) -> Asking<N> {
        let stream = open(address);
        stream.set_nonblocking(true).expect("sets");
        Asking {
            stream: mio::net::TcpStream::from_std(stream),
            next,
            number,
            expected,
            request: Request(Vec::new()),
            sent: 0,
            began: Instant::now(),
            received: vec![0; PIECE],
            heard: 0,
            times: Vec::new(),
        }
    }

    fn ask(&mut self) {
        self.request = (self.next)(self.number, self.times.len());
        self.sent = 0;
        self.began = Instant::now();
        self.send();
    }

    /// Sends as much as goes; there will be word when more does.
    fn send(&mut self) {
        while self.sent < self.request.0.len() {
            match self.stream.write(&self.request.0[self.sent..]) {
                Ok(length) => self.sent += length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => panic!("does not send: {error}"),
            }
        }
    }

    /// Reads what is there; true when that ends a response. Nothing else is in flight then: what comes
    /// later is reported anew.
    fn hear(&mut self) -> bool {
        loop {
            if self.heard == self.received.len() {
                self.received.resize(2 * self.heard, 0);
            }
            match self.stream.read(&mut self.received[self.heard..]) {
                Ok(0) => panic!("the server hung up"),
                Ok(length) => self.heard += length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                Err(error) => panic!("no response: {error}"),
            }
            let Some(response) = Response::read(&self.received[..self.heard]) else {
                continue;
            };
            let took = self.began.elapsed();
            let said = &response.body;
            let as_expected = match self.expected {
                SUCCESS => response.status < 300,
                status => response.status == status,
            };
            assert!(
                as_expected,
                "{}: {}",
                response.status,
                String::from_utf8_lossy(said)
            );
            assert_eq!(response.length, self.heard, "one response at a time");
            self.heard = 0;
            let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
            self.times.push(nanos);
            return true;
        }
    }
}
