//! `/v1/files`

mod content;
mod delete;
mod links;
mod list;
mod quota;
mod sweep;
mod upload;

use serde_json::Value;

use super::client::{Answer, Client};
use super::model::id;

/// Sends bytes as a file of a workspace.
pub(super) fn put(client: &Client, workspace: &str, name: &str, bytes: &[u8]) -> Answer {
    let path = format!("/v1/files?workspace_id={workspace}&name={name}");
    client.send(
        "POST",
        &path,
        &[("content-type", "text/plain")],
        Some(bytes),
    )
}

/// The record of a file that was taken.
#[track_caller]
pub(super) fn made(client: &Client, workspace: &str, name: &str, bytes: &[u8]) -> Value {
    put(client, workspace, name, bytes).expect(201).json()
}

/// Where a file is.
pub(super) fn of(file: &Value) -> String {
    format!("/v1/files/{}", id(file))
}

/// Where its bytes are.
pub(super) fn bytes_of(file: &Value) -> String {
    format!("{}/content", of(file))
}
