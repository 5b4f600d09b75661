//! Calls the server's validator of automations.

use reqwest::Method;
use serde::Deserialize;

use super::Client;
use super::error::Error;
use super::request::Request;
use super::with_document::WithDocument;

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
}
