//! Templates at the server of a bench.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::load::{Connection, Request};
use super::server::{Server, id};

/// How long to wait between two requests for the status of a job.
const POLL_EVERY: Duration = Duration::from_millis(20);

impl Server {
    /// Sends a request over a connection of its own, and gives what comes back.
    pub(crate) fn send(&self, request: &Request) -> Value {
        let (status, body) = Connection::open(self.address).ask(request);
        assert!(status < 300, "{}", String::from_utf8_lossy(&body));
        serde_json::from_slice(&body).expect("JSON")
    }

    /// A new workspace of the organization, with nothing in it.
    pub(crate) fn new_workspace(&self, label: &str) -> String {
        let workspace = json!({"organization_id": self.organization, "label": label});
        id(&self.send(&self.request("POST", "/v1/workspaces", &workspace)))
    }

    /// The request that imports a package.
    pub(crate) fn import(&self, package: &str) -> Request {
        let path = format!("/v1/templates/import?organization_id={}", self.organization);
        self.request_text("POST", &path, package)
    }

    /// Waits until a job has a status, and gives it.
    pub(crate) fn wait_for_job(&self, job: &str, status: &str) -> Value {
        let request = self.get_path(&format!("/v1/template-jobs/{job}"));
        loop {
            let found = self.send(&request);
            match found["status"].as_str() {
                Some(now) if now == status => return found,
                Some("failed") => panic!("{found}"),
                _ => thread::sleep(POLL_EVERY),
            }
        }
    }
}
