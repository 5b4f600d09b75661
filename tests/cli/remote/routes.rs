//! A server whose routes give one response after the other, and the records of a small catalog.

use std::collections::HashMap;
use std::sync::Mutex;

use serde_json::{Value, json};
use tplkit::workspace::memory::State;

use super::KEY;
use crate::scripted::{Response, Scripted, model};

pub(crate) const TEMPLATE: &str = "0198c0de-0000-7000-8000-0000000000aa";
pub(crate) const PUSHED: &str = "0198c0de-0000-7000-8000-0000000000ab";
pub(crate) const WORKSPACE: &str = "0198c0de-0000-7000-8000-000000000001";
pub(crate) const ORGANIZATION: &str = "00000000-0000-0000-0000-000000000009";
pub(crate) const JOB: &str = "0198c0de-0000-7000-8000-0000000000cc";

/// Routes by method and path; what is asked for more often than there are responses gets the last
/// again.
#[derive(Default)]
pub(crate) struct Routes {
    responses: HashMap<String, Vec<Response>>,
    state: Option<State>,
}

impl Routes {
    pub(crate) fn new() -> Routes {
        Routes::default()
    }

    /// With a workspace in memory behind the routes of the model.
    pub(crate) fn over(mut self, state: State) -> Routes {
        self.state = Some(state);
        self
    }

    pub(crate) fn on(
        mut self,
        route: &str,
        responses: impl IntoIterator<Item = Response>,
    ) -> Routes {
        let responses = responses.into_iter().collect();
        self.responses.insert(route.to_owned(), responses);
        self
    }

    pub(crate) fn serve(self) -> Scripted {
        let counts: Mutex<HashMap<String, usize>> = Mutex::default();
        Scripted::new(move |request| {
            if request.token() != Some(KEY) {
                return Response::problem(401, "unauthenticated");
            }
            let line = request.line();
            let route = line.split('?').next().unwrap_or_default().to_owned();
            if let Some(responses) = self.responses.get(&route) {
                let mut counts = counts.lock().expect("whole");
                let at = counts.entry(route).or_default();
                let response = responses[(*at).min(responses.len() - 1)].clone();
                *at += 1;
                return response;
            }
            let modelled = self
                .state
                .as_ref()
                .and_then(|state| model::respond(state, request));
            modelled.unwrap_or_else(|| Response::problem(404, "not_found"))
        })
    }
}

/// A server that has one template, plans it, and applies it by a job with these responses.
pub(crate) fn catalog(jobs: impl IntoIterator<Item = Response>) -> Routes {
    Routes::new()
        .on("GET /v1/templates", [page(&[record(TEMPLATE, "sales")])])
        .on(&plan_route(TEMPLATE), [Response::json(&plan(&json!({})))])
        .on(&apply_route(TEMPLATE), [started()])
        .on(&format!("GET /v1/template-jobs/{JOB}"), jobs)
}

pub(crate) fn plan_route(template: &str) -> String {
    format!("POST /v1/templates/{template}/plan")
}

pub(crate) fn apply_route(template: &str) -> String {
    format!("POST /v1/templates/{template}/apply")
}

pub(crate) fn page(items: &[Value]) -> Response {
    Response::json(&json!({"items": items, "next_cursor": null}))
}

pub(crate) fn record(id: &str, name: &str) -> Value {
    json!({
        "id": id, "organization_id": ORGANIZATION, "name": name, "label": "Sales", "scope": "workspace",
        "visibility": "org", "semver": "1.0.0", "tags": [], "template_version": 2,
        "updated_at": "2026-01-02T12:00:00.000000Z",
    })
}

pub(crate) fn started() -> Response {
    let body = json!({"jobId": JOB, "status": "pending"});
    Response::text(202, &body.to_string())
}

/// A plan, with these members instead of empty ones.
pub(crate) fn plan(members: &Value) -> Value {
    let mut plan = json!({
        "digest": "d1", "refusals": [], "create": [
            {"kind": "feature", "ref": "f_clients", "name": "clients", "label": "Clients"},
            {"kind": "column", "ref": "c_clients_name", "name": "name", "label": "Name"},
        ],
        "bind": [], "rename": [], "replaced_configs": [], "dropped_keys": [],
        "rows": {"f_clients": {"insert": 3, "existing": 0, "skipped": 0, "dropped_links": 0}},
        "go_live": [],
    });
    for (name, value) in members.as_object().expect("an object") {
        plan[name] = value.clone();
    }
    plan
}

/// A job that stands so.
pub(crate) fn job(status: &str) -> Response {
    Response::json(&job_document(status, &json!({})))
}

pub(crate) fn job_document(status: &str, members: &Value) -> Value {
    let mut job = json!({
        "id": JOB, "template_id": TEMPLATE, "workspace_id": WORKSPACE, "status": status,
        "progress": {"phase": status, "done": 1, "total": 3}, "locked_until": null,
        "report": {
            "rows": {"f_clients": {"inserted": 3, "updated": 0, "skipped": 0, "existing": 0, "recorded": 3}},
            "published": 0, "unresolved": [], "renamed": [], "dropped_keys": [], "errors": [],
        },
        "error": null, "created_at": "2026-01-02T12:00:00.000000Z",
        "updated_at": "2026-01-02T12:00:01.000000Z",
    });
    for (name, value) in members.as_object().expect("an object") {
        job[name] = value.clone();
    }
    job
}
