//! `/v1/files`

mod blocked;
mod content;
mod delete;
mod links;
mod list;
mod plans;
mod quota;
mod races;
mod raw_upload;
mod row_security;
mod same_bytes;
mod sweep;
mod upload;
mod upload_forms;
mod upload_keys;
mod upload_refusals;

use std::path::Path;

use serde_json::Value;
use tplkit_server::app::Config;
use tplkit_server::files::{self, Files, claim_storage};

use super::client::{Client, Response};
use super::model::id;
use super::world::World;
use crate::stores::Place;

/// Sends bytes as a file of a workspace.
pub(super) fn put(client: &Client, workspace: &str, name: &str, bytes: &[u8]) -> Response {
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

/// A server that keeps files in a folder, which it has marked.
pub(super) async fn in_folder(place: Place, folder: &Path) -> World {
    let kept = files::FileStorage::folder(folder).expect("a folder");
    let config = Config {
        rate: None,
        files: Files::in_place(Some(kept)),
        ..Config::default()
    };
    let world = World::with(place, config).await;
    let kept = world.app.files.place().expect("a place");
    let claimed = claim_storage::claim(&world.store, kept, false).await;
    claimed.expect("is nobody's");
    world
}
