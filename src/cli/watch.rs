//! Checking again whenever something changes.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use notify::{Event, EventKind, RecursiveMode, Watcher as _};

use super::error::CliError;
use super::exit::Exit;
use super::output::print_stdout;
use super::session::Session;

/// Changes come in bursts: a burst is over when it has been quiet for so long.
const QUIET: Duration = Duration::from_millis(80);

/// Runs `once`, and again after every change below `paths`, until the process is interrupted.
pub(crate) fn run(
    paths: &[PathBuf],
    session: &Session,
    mut once: impl FnMut() -> Result<Exit, CliError>,
) -> Result<Exit, CliError> {
    let (sender, changes) = mpsc::channel();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        // Reading is no change: our own check would wake us for ever.
        let counts = event.map_or(true, |event| !matches!(event.kind, EventKind::Access(_)));
        if counts {
            // The receiver lives as long as the process does.
            sender.send(()).ok();
        }
    })?;
    for path in paths {
        // Editors replace files, so a file is watched through its folder.
        let (folder, mode) = if path.is_dir() {
            (path.as_path(), RecursiveMode::Recursive)
        } else {
            (folder_of(path), RecursiveMode::NonRecursive)
        };
        watcher.watch(folder, mode)?;
    }
    loop {
        clear()?;
        once()?;
        session.note("Watching for changes; Ctrl-C ends it.");
        if changes.recv().is_err() {
            return Ok(Exit::Done);
        }
        while changes.recv_timeout(QUIET).is_ok() {}
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Empties the screen, when there is one.
fn clear() -> Result<(), CliError> {
    if io::stdout().is_terminal() {
        return print_stdout("\u{1b}[2J\u{1b}[3J\u{1b}[H").map_err(CliError::Output);
    }
    Ok(())
}
