//! Requests on one connection.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use crate::api::document::Request;

/// Status, and headers and body in one text.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) text: String,
}

/// A connection that is opened again when the server closes it.
pub(super) struct Wire {
    address: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
}

impl Wire {
    pub(super) fn new(address: SocketAddr) -> Wire {
        Wire {
            address,
            stream: None,
        }
    }

    pub(super) fn ask(
        &mut self,
        credential: Option<&str>,
        method: &str,
        request: &Request,
    ) -> Response {
        let mut text = format!("{method} {} HTTP/1.1\r\nhost: test\r\n", request.path);
        if let Some(credential) = credential {
            text.extend(["authorization: Bearer ", credential, "\r\n"]);
        }
        if let Some((media_type, body)) = &request.body {
            let length = body.len().to_string();
            text.extend(["content-type: ", media_type, "\r\n"]);
            text.extend(["content-length: ", &length, "\r\n"]);
        }
        text.push_str("\r\n");
        if let Some((_, body)) = &request.body {
            text.push_str(body);
        }
        let mut stream = self.stream.take().unwrap_or_else(|| {
            let stream = TcpStream::connect(self.address).expect("connects");
            stream.set_nodelay(true).expect("a socket");
            BufReader::new(stream)
        });
        stream.get_mut().write_all(text.as_bytes()).expect("sends");
        let mut head = String::new();
        let (mut length, mut last, mut status) = (0, false, 0);
        loop {
            let mut line = String::new();
            let read = stream.read_line(&mut line).expect("a response");
            assert!(read > 0, "no response: {text}");
            if line == "\r\n" {
                break;
            }
            if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
                status = rest[..3].parse().expect("a status");
            } else if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.trim_end().parse().expect("a length");
            }
            last |= line.trim_end() == "connection: close";
            // They differ between any two responses.
            if !line.starts_with("x-request-id") && !line.starts_with("date") {
                head.push_str(&line);
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).expect("a body");
        if !last {
            self.stream = Some(stream);
        }
        Response {
            status,
            text: head + &String::from_utf8(body).expect("UTF-8"),
        }
    }
}
