//! Automations in requests, and the switch that lets them fire.

use serde_json::{Value, json};
use tplkit_server::automation::{self, SwitchOutcome};
use tplkit_server::refusal::Refusal;
use tplkit_server::store::{Scope, Store};
use uuid::Uuid;

use super::client::{Client, Response};
use super::world::World;

/// Where automations are.
pub const PATH: &str = "/v1/workflows-v2";

/// The path of one, or of what lies below it.
pub fn path(workflow: &str, tail: &str) -> String {
    format!("{PATH}/{workflow}{tail}")
}

/// A graph with these steps.
pub fn graph(steps: &Value) -> Value {
    json!({"steps": steps})
}

/// Steps that deliver something.
pub fn steps() -> Value {
    json!([{"key": "notify", "config": {"scopeType": "organization", "title": "x"}}])
}

/// The body that creates an automation that is started by hand.
pub fn body(workspace: &str, draft: bool) -> Value {
    json!({
        "workspace_id": workspace, "name": "an automation", "is_draft": draft,
        "trigger_config": {"type": "manual"}, "graph_config": graph(&steps()),
    })
}

/// The id of the automation that a version is of.
pub fn workflow(version: &Value) -> String {
    version["workflow_id"].as_str().expect("an id").to_owned()
}

/// A text member.
pub fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key]
        .as_str()
        .unwrap_or_else(|| panic!("{key} {value}"))
}

impl Client {
    /// The response to `POST …/{tail}` of an automation.
    pub fn post_to(&self, workflow: &str, tail: &str, body: &Value) -> Response {
        self.post(&path(workflow, tail), body)
    }
}

/// Lets the newest published version fire, or none, as an administrator at the machine does.
pub async fn switch(store: &Store, now: i64, workflow: &str, on: bool) -> bool {
    let input = (Uuid::parse_str(workflow).expect("an id"), on, now);
    let switched: Result<SwitchOutcome, Refusal> = store
        .write(&Scope::Operator, input, |tx, input| {
            let (workflow, on, now) = *input;
            Box::pin(async move {
                if on {
                    automation::activate(tx, workflow, now).await
                } else {
                    automation::pause(tx, workflow, now).await
                }
            })
        })
        .await;
    matches!(switched.expect("switches"), SwitchOutcome::Done(_))
}

impl World {
    /// The same in the store of this world.
    pub async fn switch(&self, workflow: &str, on: bool) -> bool {
        switch(&self.store, self.context.now(), workflow, on).await
    }
}
