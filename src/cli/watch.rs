//! Watches the checked files, and checks again when they change.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use notify::event::ModifyKind;
use notify::{Event, EventKind, RecursiveMode, Watcher as _};

use tplkit::layout::INDEX;

use super::error::CliError;
use super::exit::Exit;
use super::output::{print_error, print_stdout, reader_left};
use super::session::Session;
use super::source::is_stdin;
use super::{config, unpacked_folders, walk};

/// Changes come in bursts: a burst is over when it has been quiet for so long.
const BURST_PAUSE: Duration = Duration::from_millis(80);

/// Files that say what a walk leaves out.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// Runs `once`, and again after every change to what is behind `paths`, until the process is
/// interrupted, or nobody reads what it writes. `once` names the other files that it reads before it reports anything.
pub(crate) fn run(
    paths: &[PathBuf],
    session: &Session,
    mut once: impl FnMut(&mut dyn FnMut(&Path)) -> Result<Exit, CliError>,
) -> Result<Exit, CliError> {
    let scope = Arc::new(Mutex::new(Scope::new(paths)));
    // Whoever sets up a watch waits for the one who holds events against the scope: no lock is kept meanwhile.
    let (folders, above) = {
        let scope = locked(&scope);
        (scope.folders(), scope.folders_above())
    };
    let (sender, changes) = mpsc::channel();
    let shared = Arc::clone(&scope);
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        // What was lost or failed may have been a change.
        let change = event.map_or(Some(Change::Content), |event| {
            locked(&shared).change(&event)
        });
        if let Some(change) = change {
            // The receiver lives as long as the process does.
            sender.send(change).ok();
        }
    })?;
    for (folder, mode) in folders {
        watcher.watch(&folder, mode)?;
    }
    for folder in above {
        // Who may not read it sees no new `tplkit.toml` in it, and goes on.
        watcher.watch(&folder, RecursiveMode::NonRecursive).ok();
    }
    let mut is_first = true;
    loop {
        let known = find_files(paths);
        clear()?;
        let exit = once(&mut |file| {
            let folders = locked(&scope).name(file);
            for folder in folders {
                // A file in a folder that is not there comes with another `tplkit.toml`.
                watcher.watch(&folder, RecursiveMode::NonRecursive).ok();
            }
        });
        let exit = match exit {
            // Somebody is in the middle of changing a file: the next change may put it right.
            Err(error) if !is_first && error.path().is_some() => {
                print_error(&error.report_error());
                error.exit()
            }
            exit => exit?,
        };
        is_first = false;
        if reader_left() {
            return Ok(exit);
        }
        session.note("Watching for changes; Ctrl-C ends it.");
        loop {
            match burst(&changes) {
                None => return Ok(Exit::Done),
                Some(Change::Content) => break,
                Some(Change::Names) if find_files(paths) != known => break,
                Some(Change::Names) => {}
            }
        }
    }
}

/// What happened to something that a check may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// Something came, went or got another name: perhaps a folder with packages in it.
    Names,
    /// A file that a check reads is another.
    Content,
}

/// The paths whose changes count. All of them are real paths, as events name them.
#[derive(Debug, Default)]
struct Scope {
    /// Files that were named, with the folder each is watched through: editors replace files.
    files: Vec<(PathBuf, PathBuf)>,
    /// Folders that are walked.
    walked: Vec<PathBuf>,
    /// Folders in which a `tplkit.toml` may hold for all of it.
    above: Vec<PathBuf>,
}

impl Scope {
    fn new(paths: &[PathBuf]) -> Scope {
        let mut scope = Scope::default();
        for path in paths {
            // A part of an unpacked package means all of it.
            let folder = Some(path.clone()).filter(|path| path.is_dir());
            if let Some(folder) = folder.or_else(|| unpacked_folders::folder_of(path)) {
                scope.walked.push(real(&folder));
                scope.add_above(&folder);
                continue;
            }
            scope.name(path);
            scope.add_above(folder_of(path));
        }
        scope
    }

    /// Adds a file. Gives the folders that are to be watched for it, where it is new.
    fn name(&mut self, path: &Path) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        if is_stdin(path) {
            return folders;
        }
        // A link and what it leads to are both what was named.
        for file in [path.to_owned(), real(path)] {
            let folder = real(folder_of(&file));
            let file = folder.join(file.file_name().unwrap_or_default());
            if !self.files.iter().any(|(known, _)| *known == file) {
                self.files.push((file, folder.clone()));
                folders.push(folder);
            }
        }
        folders.retain(|folder| !self.is_walked(folder));
        folders
    }

    /// Adds the folders in which the `tplkit.toml` of a folder is looked for.
    fn add_above(&mut self, folder: &Path) {
        let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        for folder in whole.ancestors().map(real) {
            if !self.above.contains(&folder) {
                self.above.push(folder);
            }
        }
    }

    /// Those of them that are not watched yet.
    fn folders_above(&self) -> Vec<PathBuf> {
        let watched = self.folders();
        let above = self.above.iter();
        let new = above.filter(|folder| !watched.contains_key(*folder) && !self.is_walked(folder));
        new.cloned().collect()
    }

    /// Whether a folder is watched along with one that is walked.
    fn is_walked(&self, folder: &Path) -> bool {
        self.walked.iter().any(|walked| folder.starts_with(walked))
    }

    /// What is to be watched. A folder that is walked stays so when a file in it was named too.
    fn folders(&self) -> BTreeMap<PathBuf, RecursiveMode> {
        let named = self.files.iter();
        let named = named.map(|(_, folder)| (folder.clone(), RecursiveMode::NonRecursive));
        let walked = self.walked.iter();
        let walked = walked.map(|folder| (folder.clone(), RecursiveMode::Recursive));
        named.chain(walked).collect()
    }

    /// What an event means to a check; nothing when it is about other files, such as the one that
    /// the report itself is written to.
    fn change(&self, event: &Event) -> Option<Change> {
        if event.need_rescan() {
            return Some(Change::Content);
        }
        let names = match event.kind {
            // Reading is not a change: our own check would wake us for ever.
            EventKind::Access(_) => return None,
            EventKind::Modify(ModifyKind::Data(_)) => false,
            _ => true,
        };
        let changes = event.paths.iter().filter_map(|path| {
            if self.reads(path) {
                Some(Change::Content)
            } else {
                (names && self.walks(path)).then_some(Change::Names)
            }
        });
        changes.max()
    }

    /// Whether a check reads a file of this path.
    fn reads(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default();
        let kind = || {
            walk::is_json(name)
                || is_part(name)
                || name == config::NAME
                || IGNORE_FILES.iter().any(|ignore| name == *ignore)
        };
        let is_above = || {
            let folder = path.parent();
            name == config::NAME
                && self
                    .above
                    .iter()
                    .any(|above| folder == Some(above.as_path()))
        };
        self.files.iter().any(|(file, _)| file == path) || kind() && self.walks(path) || is_above()
    }

    /// Whether a walk comes by this path.
    fn walks(&self, path: &Path) -> bool {
        self.walked.iter().any(|folder| {
            path.strip_prefix(folder).is_ok_and(|inside| {
                let above = inside.parent().unwrap_or(Path::new(""));
                !above.iter().any(|name: &OsStr| walk::is_hidden(name))
            })
        })
    }
}

/// Whether a file of that name may belong to an unpacked package, next to those ending in `.json`.
fn is_part(name: &OsStr) -> bool {
    name == INDEX || name.as_encoded_bytes().ends_with(b".jsonl")
}

/// Waits for changes and the quiet after them; gives the weightiest.
fn burst(changes: &Receiver<Change>) -> Option<Change> {
    let mut change = changes.recv().ok()?;
    while let Ok(next) = changes.recv_timeout(BURST_PAUSE) {
        change = change.max(next);
    }
    Some(change)
}

/// The files that a check of `paths` would read.
fn find_files(paths: &[PathBuf]) -> Vec<PathBuf> {
    let found = walk::packages(paths).found;
    found.into_iter().map(|file| file.path).collect()
}

/// What is not there is left to the watcher, which says so.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn locked(scope: &Mutex<Scope>) -> MutexGuard<'_, Scope> {
    scope.lock().unwrap_or_else(PoisonError::into_inner)
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

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use notify::event::{AccessKind, CreateKind, DataChange, Event, ModifyKind, RenameMode};
    use notify::{EventKind, RecursiveMode};

    use super::{Change, Scope};

    #[test]
    fn only_what_a_check_reads_is_a_change() {
        let scope = Scope {
            files: vec![(PathBuf::from("/named/a.json"), PathBuf::from("/named"))],
            walked: vec![PathBuf::from("/walked")],
            above: vec![PathBuf::from("/"), PathBuf::from("/named")],
        };
        let written = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        let renamed = EventKind::Modify(ModifyKind::Name(RenameMode::From));
        let read = EventKind::Access(AccessKind::Any);
        let made = EventKind::Create(CreateKind::Any);
        for (kind, path, expected) in [
            (written, "/named/a.json", Some(Change::Content)),
            (made, "/named/a.json", Some(Change::Content)),
            (read, "/named/a.json", None),
            (written, "/named/b.json", None),
            (written, "/named/out.txt", None),
            (made, "/named/out.txt", None),
            (written, "/walked/d/B.JSON", Some(Change::Content)),
            (written, "/walked/d/.gitignore", Some(Change::Content)),
            (written, "/walked/out.txt", None),
            (written, "/walked/d/tplkit.index", Some(Change::Content)),
            (written, "/walked/d/rows/a.jsonl", Some(Change::Content)),
            (written, "/walked/d/tplkit.toml", Some(Change::Content)),
            (made, "/tplkit.toml", Some(Change::Content)),
            (written, "/named/tplkit.toml", Some(Change::Content)),
            (made, "/other/tplkit.toml", None),
            (made, "/x.json", None),
            (written, "/walked/.git/x.json", None),
            (made, "/walked/.git/x", None),
            (renamed, "/walked/d", Some(Change::Names)),
            (made, "/walked/out.txt", Some(Change::Names)),
        ] {
            let event = Event::new(kind).add_path(PathBuf::from(path));
            assert_eq!(scope.change(&event), expected, "{kind:?} {path}");
        }
        let both = Event::new(renamed)
            .add_path(PathBuf::from("/walked/x.tmp"))
            .add_path(PathBuf::from("/walked/x.json"));
        assert_eq!(scope.change(&both), Some(Change::Content));
    }

    #[test]
    fn a_walked_folder_stays_walked_when_a_file_in_it_is_named_too() {
        let folder = PathBuf::from("/walked");
        let scope = Scope {
            files: vec![(folder.join("a.json"), folder.clone())],
            walked: vec![folder],
            ..Scope::default()
        };
        let mode = scope.folders().get(Path::new("/walked")).copied();
        assert_eq!(mode, Some(RecursiveMode::Recursive));
    }
}
