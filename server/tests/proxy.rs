//! Programs in front of the server, and the long heads that they have to let through.

use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::api::client::{Client, id};
use crate::process::{EMAIL, SECRET, Serving, owner};

/// A running proxy, ended with the test.
pub(crate) struct Proxy {
    child: Child,
    pub(crate) address: String,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Proxy {
    /// Of a command without children of its own, which listens there.
    pub(crate) fn of(mut command: Command, address: String) -> Proxy {
        let command = command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.stderr(Stdio::null()).spawn().expect("starts");
        let mut proxy = Proxy { child, address };
        while TcpStream::connect(&proxy.address).is_err() {
            let ended = proxy.child.try_wait().expect("a child");
            assert!(ended.is_none(), "it does not take its configuration");
            thread::sleep(Duration::from_millis(10));
        }
        proxy
    }
}

/// Characters of each text that rows are sorted by: cursors are longer than that.
const LONG_TEXT: usize = 30_000;

/// A table of rows with long texts.
pub(crate) struct LongTexts {
    token: String,
    rows: String,
}

impl LongTexts {
    /// Writes them to a server of whose database nothing is known yet.
    pub(crate) fn write(serving: &Serving, database: &str) -> LongTexts {
        let organization = owner(database);
        let client = client(&serving.address);
        let body = json!({"email": EMAIL, "password": SECRET});
        let tokens = client.post("/v1/auth/token", &body).expect(200).json();
        let token = tokens["access_token"].as_str().expect("a token").to_owned();
        let client = client.with(&token);
        let body = json!({"organization_id": organization, "label": "W"});
        let workspace = id(&client.create("/v1/workspaces", &body));
        let body = json!({"workspace_id": workspace, "label": "F"});
        let feature = format!("/v1/features/{}", id(&client.create("/v1/features", &body)));
        let body = json!({"label": "note", "type": "long_text"});
        client.create(&format!("{feature}/columns"), &body);
        let rows = format!("{feature}/rows");
        for letter in ["a", "b", "c"] {
            let body = json!({"data": {"note": letter.repeat(LONG_TEXT)}});
            client.create(&rows, &body);
        }
        LongTexts { token, rows }
    }

    /// Pages through them by way of that address, and asks for a response whose own head is long.
    pub(crate) fn read_through(&self, address: &str) {
        let client = client(address).with(&self.token);
        let (mut cursor, mut seen) = (String::new(), 0);
        loop {
            let path = format!("{}?sort=note&limit=1{cursor}", self.rows);
            let page = client.get(&path).expect(200).json();
            seen += page["items"].as_array().expect("a list").len();
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert!(cursor.len() > LONG_TEXT);
        assert_eq!(seen, 3);
        let names: Vec<String> = (0..3_000)
            .map(|number| format!("unknown_{number}"))
            .collect();
        let names = names.join(",");
        let response = client.get(&format!("{}?limit=1&fields={names}", self.rows));
        let response = response.expect(200);
        assert_eq!(
            response.header("x-unknown-columns").map(str::len),
            Some(names.len())
        );
    }
}

fn client(address: &str) -> Client {
    Client::new(address.parse().expect("an address"))
}
