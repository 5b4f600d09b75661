//! Automations of a server: their versions, their runs, and its validator.

use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;

use super::Client;
use super::error::Error;
use super::page::Pages;
use super::request::Request;
use super::rows::segment;
use super::with_document::{WithDocument, leniently};

/// One version of an automation.
#[derive(Debug, Clone, Deserialize)]
pub struct AutomationVersion {
    /// Of the version.
    pub id: String,
    /// Of the automation.
    pub workflow_id: String,
    /// Where it is.
    #[serde(default)]
    pub workspace_id: Option<String>,
    /// Free text.
    #[serde(default)]
    pub name: String,
    /// Rises with each version.
    #[serde(default)]
    pub version: i64,
    /// Whether it was not published yet.
    #[serde(default)]
    pub is_draft: bool,
    /// Whether it fires.
    #[serde(default)]
    pub is_active: bool,
    /// What starts it.
    #[serde(default)]
    pub trigger_config: Value,
    /// Its steps.
    #[serde(default)]
    pub graph_config: Value,
    /// When it was created.
    #[serde(default)]
    pub created_at: Option<String>,
}

/// One execution of an automation.
#[derive(Debug, Clone, Deserialize)]
pub struct AutomationRun {
    /// Its id.
    pub id: String,
    /// Of the automation.
    #[serde(default)]
    pub workflow_id: Option<String>,
    /// The version that it executes.
    #[serde(default)]
    pub version: i64,
    /// `queued`, `running`, `succeeded` or `failed`.
    pub status: String,
    /// What started it.
    #[serde(default)]
    pub trigger: Option<String>,
    /// The row that it runs for.
    #[serde(default)]
    pub row_id: Option<String>,
    /// Whether nothing is kept.
    #[serde(default)]
    pub dry_run: bool,
    /// When it began.
    #[serde(default)]
    pub started_at: Option<String>,
    /// When it ended.
    #[serde(default)]
    pub finished_at: Option<String>,
    /// Why it failed.
    #[serde(default, deserialize_with = "leniently")]
    pub error: Option<RunFailure>,
    /// The steps that were carried out.
    #[serde(default)]
    pub steps: Vec<RunStep>,
}

/// Why a run or a step failed.
#[derive(Debug, Clone, Deserialize)]
pub struct RunFailure {
    /// Stable.
    pub code: String,
    /// For people who may read it.
    #[serde(default)]
    pub detail: Option<String>,
}

/// One step of a run.
#[derive(Debug, Clone, Deserialize)]
pub struct RunStep {
    /// Where, dotted.
    #[serde(default)]
    pub path: String,
    /// Which step it is.
    #[serde(default)]
    pub key: String,
    /// How it ended.
    #[serde(default)]
    pub status: String,
    /// Why it failed.
    #[serde(default, deserialize_with = "leniently")]
    pub error: Option<RunFailure>,
}

impl AutomationRun {
    /// Whether it ended, and whether well.
    pub fn ended(&self) -> Option<bool> {
        match self.status.as_str() {
            "succeeded" => Some(true),
            "failed" => Some(false),
            _ => None,
        }
    }
}

/// What a server says of an automation.
#[derive(Debug, Clone, Deserialize)]
pub struct AutomationVerdict {
    /// Whether there is no error.
    pub ok: bool,
    /// Everything that it found.
    #[serde(default)]
    pub issues: Vec<VerdictIssue>,
}

/// One thing that it found.
#[derive(Debug, Clone, Deserialize)]
pub struct VerdictIssue {
    /// The stable code.
    pub code: String,
    /// `error` or `warning`; the specification does not name the words.
    #[serde(default)]
    pub severity: Option<String>,
    /// Dotted.
    #[serde(default)]
    pub path: Option<String>,
    /// `trigger` or `graph`.
    #[serde(default)]
    pub target: Option<String>,
    /// For people.
    #[serde(default)]
    pub message: Option<String>,
}

impl Client {
    /// `POST /v1/workflows-v2/validate` of a JSON text: writes nothing.
    pub fn validate_automation(
        &self,
        body: &str,
    ) -> Result<WithDocument<AutomationVerdict>, Error> {
        let mut request = Request::new(Method::POST, "/v1/workflows-v2/validate");
        request.body = Some(body.as_bytes().to_vec());
        self.read(&request.harmless())
    }

    /// `GET /v1/workflows-v2` of a workspace: all versions of its automations.
    pub fn automations(&self, workspace: &str) -> Pages<'_, WithDocument<AutomationVersion>> {
        let request = Request::get("/v1/workflows-v2").with("workspace_id", workspace);
        self.pages(request, None)
    }

    /// `GET /v1/workflows-v2/{workflow_id}`: the version in force.
    pub fn automation(&self, id: &str) -> Result<WithDocument<AutomationVersion>, Error> {
        self.read(&Request::get(path(id, "")))
    }

    /// `POST /v1/workflows-v2/{workflow_id}/runs`
    pub fn start_run(&self, id: &str, body: &Value) -> Result<WithDocument<AutomationRun>, Error> {
        self.read(&self.keyed(Request::post(path(id, "/runs"), body)))
    }

    /// `GET /v1/workflows-v2/{workflow_id}/runs`, at most so many.
    pub fn runs(&self, id: &str, most: Option<usize>) -> Pages<'_, WithDocument<AutomationRun>> {
        self.pages(Request::get(path(id, "/runs")), most)
    }

    /// `GET /v1/workflow-runs/{run_id}`
    pub fn run(&self, id: &str) -> Result<WithDocument<AutomationRun>, Error> {
        self.read(&Request::get(format!("/v1/workflow-runs/{}", segment(id))))
    }
}

fn path(id: &str, rest: &str) -> String {
    format!("/v1/workflows-v2/{}{rest}", segment(id))
}
