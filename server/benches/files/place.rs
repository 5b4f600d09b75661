//! A server that takes files and gives them back: this one, or one of files alone.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::Value;

use super::SMALL;
use super::support::load::{Connection, Request};
use super::support::server::Server;

/// Bytes that are sent or received at once: what a network card hands over together.
const PIECE: usize = 64 << 10;
const BINARY: &str = "application/octet-stream";

/// Every upload has a content of its own: content that is there already would be free.
static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// Where files go.
pub(crate) struct Place {
    address: SocketAddr,
    token: String,
    kind: Kind,
}

enum Kind {
    /// This server, with the workspace that has the files.
    Server { workspace: String },
    /// Files at the paths that they were put to, below a folder.
    WebDav { folder: PathBuf },
}

impl Place {
    pub(crate) fn of_server(server: &Server) -> Place {
        Place {
            address: server.address,
            token: server.token().to_owned(),
            kind: Kind::Server {
                workspace: server.workspace.clone(),
            },
        }
    }

    pub(crate) fn web_dav(address: SocketAddr, folder: PathBuf) -> Place {
        Place {
            address,
            token: String::new(),
            kind: Kind::WebDav { folder },
        }
    }

    /// Sends a file of so many bytes in pieces, and gives its name.
    pub(crate) fn upload(&self, length: usize) -> String {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let (method, path) = self.target(number);
        let mut stream = TcpStream::connect(self.address).expect("connects");
        stream.set_nodelay(true).expect("sets");
        let head = Request::head_of_body(method, &path, &self.token, BINARY, length);
        stream.write_all(&head).expect("sends");
        let piece = content(number, PIECE);
        let mut left = length;
        while left > 0 {
            let next = left.min(piece.len());
            stream.write_all(&piece[..next]).expect("sends");
            left -= next;
        }
        let mut connection = Connection::of(stream);
        let response = connection.hear();
        self.name(number, response)
    }

    /// Reads a file to its end, and says how long it was.
    pub(crate) fn download(&self, name: &str) -> usize {
        let mut stream = TcpStream::connect(self.address).expect("connects");
        let request = Request::new("GET", &self.content_path(name), &self.token, None);
        stream.write_all(request.as_bytes()).expect("sends");
        let mut piece = vec![0; PIECE];
        let mut head = Vec::new();
        // Bytes that are still to come, once the head is read.
        let (length, mut left) = loop {
            let read = stream.read(&mut piece).expect("responds");
            assert!(read > 0, "no response");
            head.extend_from_slice(&piece[..read]);
            if let Some((start, length)) = read_head(&head) {
                break (length, length + start - head.len());
            }
        };
        while left > 0 {
            let read = stream.read(&mut piece).expect("responds");
            assert!(read > 0, "the response breaks off");
            left -= read;
        }
        length
    }

    /// Sends so many small files over kept connections.
    pub(crate) fn upload_many(&self, count: usize, connections: usize) -> Vec<String> {
        self.over(connections, |connection, first| {
            let mut names = Vec::new();
            for _ in (first..count).step_by(connections) {
                let number = NUMBER.fetch_add(1, Ordering::Relaxed);
                let (method, path) = self.target(number);
                let body = content(number, SMALL);
                let request = Request::of_bytes(method, &path, &self.token, BINARY, &body);
                names.push(self.name(number, connection.ask(&request)));
            }
            names
        })
    }

    /// Reads files over kept connections.
    pub(crate) fn download_many(&self, names: &[String], connections: usize) {
        self.over(connections, |connection, first| {
            for name in names.iter().skip(first).step_by(connections) {
                let request = Request::new("GET", &self.content_path(name), &self.token, None);
                let (status, body) = connection.ask(&request);
                assert_eq!((status, body.len()), (200, SMALL), "a small file");
            }
            Vec::new()
        });
    }

    pub(crate) fn delete(&self, names: &[String]) {
        let mut connection = Connection::open(self.address);
        for name in names {
            let path = self.path(name);
            let (status, body) = connection.ask(&Request::new("DELETE", &path, &self.token, None));
            assert_eq!(status, 204, "{}", String::from_utf8_lossy(&body));
        }
    }

    /// Works over connections at once, each with its number.
    fn over(
        &self,
        connections: usize,
        work: impl Fn(&mut Connection, usize) -> Vec<String> + Sync,
    ) -> Vec<String> {
        thread::scope(|scope| {
            let workers: Vec<_> = (0..connections)
                .map(|first| {
                    let work = &work;
                    scope.spawn(move || work(&mut Connection::open(self.address), first))
                })
                .collect();
            let names = workers
                .into_iter()
                .flat_map(|worker| worker.join().expect("works"));
            names.collect()
        })
    }

    /// Method and path of an upload.
    fn target(&self, number: usize) -> (&'static str, String) {
        match &self.kind {
            Kind::Server { workspace } => (
                "POST",
                format!("/v1/files?workspace_id={workspace}&name={number}.bin"),
            ),
            Kind::WebDav { .. } => ("PUT", format!("/{number}.bin")),
        }
    }

    /// What an uploaded file is called from now on.
    fn name(&self, number: usize, (status, body): (u16, Vec<u8>)) -> String {
        assert_eq!(status, 201, "{}", String::from_utf8_lossy(&body));
        match &self.kind {
            Kind::Server { .. } => {
                let record: Value = serde_json::from_slice(&body).expect("JSON");
                record["id"].as_str().expect("an id").to_owned()
            }
            Kind::WebDav { folder } => {
                let name = format!("{number}.bin");
                let file = File::open(folder.join(&name)).expect("opens");
                file.sync_all().expect("is on the disk");
                name
            }
        }
    }

    fn path(&self, name: &str) -> String {
        match self.kind {
            Kind::Server { .. } => format!("/v1/files/{name}"),
            Kind::WebDav { .. } => format!("/{name}"),
        }
    }

    fn content_path(&self, name: &str) -> String {
        match self.kind {
            Kind::Server { .. } => format!("/v1/files/{name}/content"),
            Kind::WebDav { .. } => format!("/{name}"),
        }
    }
}

/// Bytes that begin with their number and do not repeat soon.
fn content(number: usize, length: usize) -> Vec<u8> {
    let mut state = number as u64 + 1;
    let mut bytes = number.to_le_bytes().to_vec();
    while bytes.len() < length {
        // A generator of Lehmer: quick, and what it gives cannot be packed.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        bytes.extend(state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// Where the body begins and how long it is, once the head is there.
fn read_head(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut head = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(start) = head.parse(bytes).expect("a response") else {
        return None;
    };
    assert_eq!(head.code, Some(200), "a file");
    let mut headers = head.headers.iter();
    let length = headers
        .find(|header| header.name.eq_ignore_ascii_case("content-length"))
        .and_then(|header| std::str::from_utf8(header.value).ok()?.parse().ok());
    Some((start, length.expect("a length")))
}
