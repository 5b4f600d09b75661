//! What is kept of why a job stopped: the member `error` of its response (`rest` 6.5).
//!
//! Goes in: a code, a sentence, and the ref that they are about. Comes out: the text that the store keeps.
//! Does not decide what is wrong ([`failure`](super::failure)).

use schemars::JsonSchema;
use serde::Serialize;

/// Why a job stopped.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "TemplateJobError")]
pub(crate) struct JobError<'a> {
    /// A stable code.
    pub(super) code: &'a str,
    /// What is wrong, and what can be done about it.
    pub(super) detail: &'a str,
    /// The ref of the package that it is about.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub(super) reference: Option<&'a str>,
}

impl JobError<'_> {
    /// The text that is kept.
    pub(super) fn write(&self) -> String {
        // Texts always serialize.
        serde_json::to_string(self).unwrap_or_default()
    }
}
