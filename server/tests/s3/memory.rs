//! How much memory a large file takes on its way into a bucket and out of it.

use serde_json::json;

use super::away::{PLACE, at};
use super::started;
use crate::kill::signed_in;
use crate::memory::{peak, receive, send};
use crate::process::{Serving, database, owner};

/// More than the server may hold of it.
const FILE: usize = 80_000_000;
/// Two parts of 5 MiB, as they are and as they are sent, and what the connections take.
const PIECES: usize = 40_000_000;

#[test]
fn a_large_file_goes_into_a_bucket_and_out_of_it_in_parts() {
    let Some(buckets) = started() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let organization = owner(&database);
    let endpoint = format!("http://{}", buckets.address);
    let arguments = [&PLACE[..], &["--rate-limit", "off"]].concat();
    let serving = Serving::start_with(&database, &arguments, &at(&endpoint));
    let mut wire = signed_in(&serving);
    let body = json!({"organization_id": organization, "label": "W"});
    let workspace = wire.made("/v1/workspaces", &body);
    // What the first one takes stays.
    let (_, idle) = peak(&serving, || send(&serving, &wire.token, &workspace, 1000));
    let (path, took) = peak(&serving, || send(&serving, &wire.token, &workspace, FILE));
    assert!(
        took <= idle + PIECES,
        "up: {took} bytes, {idle} for a small one"
    );
    let (came, took) = peak(&serving, || receive(&serving, &wire.token, &path));
    assert!(came >= FILE, "{came}");
    assert!(
        took <= idle + PIECES,
        "down: {took} bytes, {idle} for a small one"
    );
}
