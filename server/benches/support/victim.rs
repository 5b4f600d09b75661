//! The one that should notice nothing: another organization's rows, asked for at a quiet pace.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::load::{Connection, Request};
use super::rows;
use super::server::{admin, id};

const EMAIL: &str = "victim@example.com";
const PASSWORD: &str = "another battery staple";
/// Between two requests.
const PACE: Duration = Duration::from_millis(10);

/// What it asks, in turn: a row, a page, and a new row.
pub(crate) struct Victim {
    address: SocketAddr,
    requests: [Request; 3],
}

/// How long its requests took, ascending.
pub(crate) struct Times(Vec<Duration>);

impl Victim {
    /// An organization with a table of so many rows.
    pub(crate) fn new(database: &str, address: SocketAddr, count: usize) -> Victim {
        let create = ["create-organization", "--label", "Victim"];
        let organization = id(&admin(database, &create, ""));
        let create = ["create-user", "--email", EMAIL, "--password-stdin"];
        admin(database, &create, PASSWORD);
        let add = ["add-member", "--organization", &organization];
        let add = [&add[..], &["--email", EMAIL, "--role", "owner"]].concat();
        admin(database, &add, "");
        let mut connection = Connection::open(address);
        let mut send = |token: &str, path: &str, body: &Value| -> Value {
            let request = Request::new("POST", path, token, Some(&body.to_string()));
            let (status, response) = connection.ask(&request);
            assert!(
                status < 300,
                "{path}: {}",
                String::from_utf8_lossy(&response)
            );
            serde_json::from_slice(&response).expect("JSON")
        };
        let signed_in = json!({"email": EMAIL, "password": PASSWORD});
        let token = send("", "/v1/auth/token", &signed_in);
        let token = token["access_token"].as_str().expect("a token").to_owned();
        let workspace = json!({"organization_id": organization, "label": "W"});
        let workspace = id(&send(&token, "/v1/workspaces", &workspace));
        let feature = json!({"workspace_id": workspace, "label": "T"});
        let feature = id(&send(&token, "/v1/features", &feature));
        let path = format!("/v1/features/{feature}/rows");
        let mut row = String::new();
        for n in 0..count {
            row = id(&send(&token, &path, &json!({"data": rows::data(n)})));
        }
        let new = json!({"data": rows::data(count)}).to_string();
        Victim {
            address,
            requests: [
                Request::new("GET", &format!("{path}/{row}"), &token, None),
                Request::new("GET", &path, &token, None),
                Request::new("POST", &path, &token, Some(&new)),
            ],
        }
    }

    /// Asks for so long.
    pub(crate) fn ask(&self, time: Duration) -> Times {
        Victim::time_requests(self.address, &self.requests, time)
    }

    /// Asks while something is done on another thread.
    pub(crate) fn time_requests_during<T: Send>(
        &self,
        work: impl FnOnce() -> T + Send,
    ) -> (T, Times) {
        thread::scope(|scope| {
            let working = scope.spawn(work);
            let goes_on = || !working.is_finished();
            let times = Victim::time_requests_while(self.address, &self.requests, goes_on);
            (working.join().expect("is done"), times)
        })
    }

    /// Reads alone, and then writes alone, for so long together.
    pub(crate) fn time_reads_and_writes(&self, time: Duration) -> [Times; 2] {
        let (reads, writes) = self.requests.split_at(2);
        [reads, writes].map(|requests| Victim::time_requests(self.address, requests, time / 2))
    }

    fn time_requests(address: SocketAddr, requests: &[Request], time: Duration) -> Times {
        let begun = Instant::now();
        Victim::time_requests_while(address, requests, || begun.elapsed() <= time)
    }

    fn time_requests_while(
        address: SocketAddr,
        requests: &[Request],
        goes_on: impl Fn() -> bool,
    ) -> Times {
        let mut connection = Connection::open(address);
        let mut times = Vec::new();
        for request in requests.iter().cycle() {
            if !times.is_empty() && !goes_on() {
                break;
            }
            let begun = Instant::now();
            let (status, response) = connection.ask(request);
            let took = begun.elapsed();
            assert!(status < 300, "{}", String::from_utf8_lossy(&response));
            times.push(took);
            thread::sleep(PACE);
        }
        times.sort_unstable();
        Times(times)
    }
}

impl Times {
    /// What so many of a hundred requests took at most.
    pub(crate) fn percent(&self, percent: usize) -> Duration {
        let at = self.0.len() * percent / 100;
        self.0[at.min(self.0.len() - 1)]
    }
}
