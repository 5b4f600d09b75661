//! What is read of responses of the API.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use tplkit::workspace::Id;

use crate::local_client::LocalResponse;
use crate::store::StoreError;

/// A record that was created.
#[derive(Deserialize)]
pub(super) struct CreatedRecord {
    /// Its id.
    pub(super) id: Id,
}

/// A job that was accepted.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AcceptedJob {
    /// Its id.
    pub(super) job_id: Id,
}

/// A refusal.
#[derive(Deserialize)]
pub(super) struct ProblemBody {
    /// A stable code.
    pub(super) code: String,
    /// Why, for people.
    pub(super) detail: String,
    /// Everything that is wrong, one by one.
    #[serde(default)]
    pub(super) errors: Vec<ProblemFault>,
}

/// One thing that is wrong in a request.
#[derive(Deserialize)]
pub(super) struct ProblemFault {
    /// Where, dotted.
    pub(super) path: String,
    /// Why, as a code.
    pub(super) code: String,
    /// Why, for people.
    pub(super) message: String,
}

/// The body of a response.
pub(super) fn read<T: DeserializeOwned>(response: &LocalResponse) -> Result<T, StoreError> {
    serde_json::from_slice(&response.body).map_err(|error| {
        let body = String::from_utf8_lossy(&response.body);
        StoreError::Internal(format!("{error}: {body}"))
    })
}
