//! A partner that takes calls of automations and never responds to them.

use std::net::{TcpListener, TcpStream};
use std::thread;

use serde_json::{Value, json};

use super::support::load::Connection;
use super::support::server::{Server, admin};

/// Gives the path at which a run begins that waits for such a partner.
pub(crate) fn runs(database: &str, server: &Server) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    // Calls stay open until the bench ends.
    thread::spawn(move || {
        let held: Vec<TcpStream> = listener.incoming().filter_map(Result::ok).collect();
        drop(held);
    });
    let connection = json!({"organization_id": server.organization, "name": "slow", "kind": "http",
        "url": format!("http://{address}")});
    post(server, "/v1/connections", &connection);
    let step = json!({"key": "http.request", "config": {"connectionName": "slow", "path": "/x"}});
    let body = json!({"workspace_id": server.workspace, "name": "waits", "is_draft": false,
        "trigger_config": {"type": "manual"}, "graph_config": {"steps": [step]}});
    let made = post(server, "/v1/workflows-v2", &body);
    let workflow = made["workflow_id"].as_str().expect("an id");
    admin(database, &["automation", "activate", workflow], "");
    format!("/v1/workflows-v2/{workflow}/runs")
}

/// What was made there.
pub(crate) fn post(server: &Server, path: &str, body: &Value) -> Value {
    let request = server.request("POST", path, body);
    let (status, response) = Connection::open(server.address).ask(&request);
    let text = String::from_utf8_lossy(&response);
    assert!(status < 300, "{path}: {text}");
    serde_json::from_str(&text).expect("JSON")
}
