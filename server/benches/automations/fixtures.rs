//! A server with two tables and an automation that writes a row into the second for each of the first.

use serde_json::{Value, json};

use super::load::{Connection, Request};
use super::process::{EMAIL, SECRET, Serving, admin, owner};

/// A running server.
pub(crate) struct Fixture {
    pub(crate) serving: Serving,
    pub(crate) connection: Connection,
    token: String,
    from: String,
    to: String,
    /// What nobody watches.
    aside: String,
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Automation {
    Active,
    None,
}

fn serve(database: &str, arguments: &[&str]) -> (Serving, Connection) {
    let all = [&["--rate-limit", "off", "--log-level", "warn"], arguments].concat();
    let serving = Serving::start_with(database, &all, &[]);
    let connection = Connection::open(serving.address.parse().expect("an address"));
    (serving, connection)
}

impl Fixture {
    /// Starts on an empty store.
    pub(crate) fn start(database: &str, automation: Automation, arguments: &[&str]) -> Fixture {
        let organization = owner(database);
        let (serving, connection) = serve(database, arguments);
        let mut fixture = Fixture {
            serving,
            connection,
            token: String::new(),
            from: String::new(),
            to: String::new(),
            aside: String::new(),
        };
        let credentials = json!({"email": EMAIL, "password": SECRET});
        let tokens = fixture.post("/v1/auth/token", &credentials);
        tokens["access_token"]
            .as_str()
            .expect("a token")
            .clone_into(&mut fixture.token);
        let workspace = json!({"organization_id": organization, "label": "Bench"});
        let workspace = text(&fixture.post("/v1/workspaces", &workspace), "id");
        fixture.from = fixture.table(&workspace, "From");
        fixture.to = fixture.table(&workspace, "To");
        fixture.aside = fixture.table(&workspace, "Aside");
        if automation == Automation::Active {
            let write = json!({"key": "feature.write", "config": {
                "mode": "insert", "targetFeatureId": fixture.to,
                "bindings": [{"targetColumn": "note", "value": "of {{record.note}}"}],
            }});
            let trigger = json!({"type": "record.event",
                "config": {"modes": ["created"], "featureId": fixture.from}});
            let body = json!({"workspace_id": workspace, "name": "copies", "is_draft": false,
                "trigger_config": trigger, "graph_config": {"steps": [write]}});
            let made = fixture.post("/v1/workflows-v2", &body);
            let activate = ["automation", "activate", &text(&made, "workflow_id")];
            admin(database, &activate, "").expect("a record");
        }
        fixture
    }

    /// Stops the server, and starts it again with other arguments.
    pub(crate) fn restart(self, database: &str, arguments: &[&str]) -> Fixture {
        self.serving.signal("-TERM");
        let (code, log) = self.serving.end();
        assert_eq!(code, Some(0), "{log}");
        let (serving, connection) = serve(database, arguments);
        Fixture {
            serving,
            connection,
            token: self.token,
            from: self.from,
            to: self.to,
            aside: self.aside,
        }
    }

    fn table(&mut self, workspace: &str, label: &str) -> String {
        let feature = json!({"workspace_id": workspace, "label": label});
        let feature = text(&self.post("/v1/features", &feature), "id");
        let column = json!({"label": "note", "type": "text"});
        self.post(&format!("/v1/features/{feature}/columns"), &column);
        feature
    }

    pub(crate) fn post(&mut self, path: &str, body: &Value) -> Value {
        let request = Request::new("POST", path, &self.token, Some(&body.to_string()));
        let (status, response) = self.connection.ask(&request);
        assert!(
            status < 300,
            "{path}: {}",
            String::from_utf8_lossy(&response)
        );
        serde_json::from_slice(&response).expect("JSON")
    }

    fn row(&self, feature: &str, number: usize) -> Request {
        let body = json!({"data": {"note": format!("row {number}")}}).to_string();
        let path = format!("/v1/features/{feature}/rows");
        Request::new("POST", &path, &self.token, Some(&body))
    }

    /// Creates a row that fires.
    pub(crate) fn firing(&self, number: usize) -> Request {
        self.row(&self.from, number)
    }

    /// Creates a row that nobody waits for.
    pub(crate) fn silent(&self, number: usize) -> Request {
        self.row(&self.aside, number)
    }

    /// Creates so many rows that fire.
    pub(crate) fn fire(&mut self, count: usize) {
        let path = format!("/v1/features/{}/rows:batch", self.from);
        for from in (0..count).step_by(500) {
            let rows =
                (from..count.min(from + 500)).map(|n| json!({"data": {"note": n.to_string()}}));
            let body = json!({"rows": rows.collect::<Vec<_>>()});
            self.post(&path, &body);
        }
    }

    /// Another connection to the server, and what to ask it for [`written`].
    pub(crate) fn watch(&self) -> (Connection, Request) {
        let path = format!("/v1/features/{}/rows:aggregate?op=count", self.to);
        let address = self.serving.address.parse().expect("an address");
        let request = Request::new("GET", &path, &self.token, None);
        (Connection::open(address), request)
    }
}

fn text(record: &Value, key: &str) -> String {
    record[key].as_str().expect("a text").to_owned()
}

/// How many rows the automation has written: so many runs have ended.
pub(crate) fn written(connection: &mut Connection, request: &Request) -> usize {
    let (status, response) = connection.ask(request);
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&response));
    let response: Value = serde_json::from_slice(&response).expect("JSON");
    let count = response["result"].as_u64().expect("a count");
    usize::try_from(count).expect("few")
}
