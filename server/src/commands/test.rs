//! `test`: declared tests from standard input, on a store that is gone afterwards.

use std::io;

use tplkit::package_tests::TestSuite;
use tplkit_server::package_tests;

use super::signals::Signals;
use super::{Failure, print};

pub(super) async fn run() -> Result<(), Failure> {
    let mut signals = Signals::new()?;
    let read = tokio::task::spawn_blocking(|| io::read_to_string(io::stdin()));
    let text = tokio::select! {
        text = read => text.map_err(io::Error::other)??,
        () = signals.next() => return Err(Failure::Interrupted),
    };
    let suite: TestSuite = serde_json::from_str(&text)
        .map_err(|error| Failure::Usage(format!("standard input has no tests: {error}")))?;
    let mut folder = tempfile::Builder::new();
    folder.prefix("tplkit-test-");
    // It lies where everybody may look, and stays there when the process is killed.
    #[cfg(unix)]
    folder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    // It is removed when it goes out of scope, however else this ends.
    let folder = folder.tempdir()?;
    let outcome = tokio::select! {
        outcome = package_tests::run(&suite, folder.path()) => outcome?,
        () = signals.next() => return Err(Failure::Interrupted),
    };
    folder.close()?;
    print(&outcome)
}
