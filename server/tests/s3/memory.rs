//! How much memory a large file takes on its way into a bucket and out of it.

use super::away::{PLACE, at};
use super::started;
use crate::memory::takes_pieces;
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
    takes_pieces(&serving, &organization, FILE, PIECES);
}
