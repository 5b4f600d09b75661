//! A client that sends exactly what a test names.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;
use tplkit_server::api::router::{RouteMatch, find};

use super::described::as_described;

/// A client with one identity, or none.
#[derive(Debug, Clone)]
pub struct Client {
    address: SocketAddr,
    credential: Option<String>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    headers: Vec<(String, String)>,
    /// The body as text.
    pub body: String,
}

impl Response {
    /// The body as a document.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The problem's code; every refusal has one and the right media type.
    pub fn code(&self) -> String {
        // The executor, outside `/v1`, has a form of its own.
        if self.header("content-type") == Some("application/json")
            && let Some(code) = self.json()["error"].as_str()
        {
            assert!(self.json()["detail"].is_string(), "{self:?}");
            return code.to_owned();
        }
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json"),
            "{self:?}"
        );
        let problem = self.json();
        assert_eq!(problem["status"], self.status, "{self:?}");
        let code = problem["code"].as_str().expect("a code").to_owned();
        assert_eq!(
            problem["type"],
            format!("urn:tplkit:problem:{code}"),
            "{self:?}"
        );
        code
    }

    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Whether there is a header whose name begins so.
    pub fn says(&self, prefix: &str) -> bool {
        self.headers
            .iter()
            .any(|(name, _)| name.starts_with(prefix))
    }

    /// The response, when it has that status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Response {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// The refusal, when it has that status and code.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Response {
        assert_eq!(
            (self.status, self.code().as_str()),
            (status, code),
            "{self:?}"
        );
        self
    }
}

impl Response {
    /// Fails when the table of operations does not list the status. What is refused before an operation
    /// is looked at, and bugs that tests provoke, are not part of the table.
    fn was_promised(&self, method: &str, path: &str) {
        let path = path.split('?').next().unwrap_or_default();
        // Preflights are not operations of their own.
        let preflight = method == "OPTIONS" && self.status == 204;
        let promised = match find(method, path) {
            RouteMatch::Operation(operation, _) => operation.all_statuses(),
            RouteMatch::OtherMethods(_) => vec![405],
            RouteMatch::Nothing => vec![404],
        };
        let broken = self.status == 500 || self.status == 413 || self.body.contains("header.host");
        assert!(
            broken || preflight || promised.contains(&self.status),
            "{method} {path} promises {promised:?}: {self:?}"
        );
    }
}

impl Client {
    /// Nobody, at that address.
    pub fn new(address: SocketAddr) -> Client {
        Client {
            address,
            credential: None,
        }
    }

    /// Where the server is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it sends as its bearer token.
    pub fn credential(&self) -> Option<&str> {
        self.credential.as_deref()
    }

    /// The same with another identity: a token or a key.
    pub fn with(&self, credential: &str) -> Client {
        Client {
            address: self.address,
            credential: Some(credential.to_owned()),
        }
    }

    /// Sends `GET`.
    pub fn get(&self, path: &str) -> Response {
        self.send("GET", path, &[], None)
    }

    /// Sends `DELETE`.
    pub fn delete(&self, path: &str) -> Response {
        self.send("DELETE", path, &[], None)
    }

    /// Sends `POST` with a document.
    pub fn post(&self, path: &str, body: &Value) -> Response {
        self.json("POST", path, &body.to_string())
    }

    /// Sends `PATCH` with a document.
    pub fn patch(&self, path: &str, body: &Value) -> Response {
        self.json("PATCH", path, &body.to_string())
    }

    /// Sends a text as JSON.
    pub fn json(&self, method: &str, path: &str, body: &str) -> Response {
        let headers = [("content-type", "application/json")];
        self.send(method, path, &headers, Some(body.as_bytes()))
    }

    /// Sends a body as it is, and how long it is.
    pub fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Response {
        let length = body.unwrap_or_default().len().to_string();
        let mut headers = headers.to_vec();
        if body.is_some() {
            headers.push(("content-length", &length));
        }
        self.send_raw(method, path, &headers, body.unwrap_or_default())
    }
}

/// The id of a record.
pub fn id(record: &Value) -> String {
    record["id"].as_str().expect("an id").to_owned()
}

impl Client {
    /// A new record.
    #[track_caller]
    pub fn create(&self, path: &str, body: &Value) -> Value {
        self.post(path, body).expect(201).json()
    }

    /// The items of a list that is one page.
    #[track_caller]
    pub fn items(&self, path: &str) -> Vec<Value> {
        let page = self.get(path).expect(200).json();
        assert_eq!(page["next_cursor"], Value::Null);
        page["items"].as_array().expect("a list").clone()
    }

    /// The ids of the items of a list that is one page.
    #[track_caller]
    pub fn ids(&self, path: &str) -> Vec<String> {
        self.items(path).iter().map(id).collect()
    }
}

/// Reads the last response of a connection.
pub fn read(bytes: &[u8]) -> Response {
    let text = String::from_utf8(bytes.to_vec()).expect("UTF-8");
    let (head, body) = text
        .split_once("\r\n\r\n")
        .unwrap_or_else(|| panic!("no response: {text:?}"));
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1));
    let headers = lines.filter_map(|line| line.split_once(": "));
    Response {
        status: status
            .and_then(|status| status.parse().ok())
            .expect("a status"),
        headers: headers
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect(),
        body: body.to_owned(),
    }
}

impl Client {
    /// A body in whatever framing the headers announce.
    pub fn send_raw(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        sent: &[u8],
    ) -> Response {
        let mut text = format!("{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n");
        if let Some(credential) = &self.credential {
            text.extend(["authorization: Bearer ", credential, "\r\n"]);
        }
        for (name, value) in headers {
            text.extend([*name, ": ", value, "\r\n"]);
        }
        text.push_str("\r\n");
        let mut stream = TcpStream::connect(self.address).expect("connects");
        stream.write_all(text.as_bytes()).expect("sends");
        // A server that refuses a body need not read it.
        let _ = stream.write_all(sent);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let response = read(&bytes);
        response.was_promised(method, path);
        let media_type = response.header("content-type").unwrap_or_default();
        as_described(
            (method, path),
            sent,
            response.status,
            media_type,
            &response.body,
        );
        response
    }
}
