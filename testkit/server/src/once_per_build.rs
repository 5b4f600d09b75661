//! Files that the first test of a build makes for all that come after: what takes long to make, and is the same each time.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The file of that name; `make` writes it where there is none of this build yet.
pub fn file(name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let program = std::env::current_exe().expect("this program has a path");
    let folder = folder_of(&program);
    let built = program.metadata().and_then(|program| program.modified());
    let built = built.expect("this program").duration_since(UNIX_EPOCH);
    let stamp = built.expect("a date").as_nanos();
    let file = folder.join(format!("{stamp}-{name}"));
    let turn = File::create(folder.join(format!("{name}.lock"))).expect("creates");
    turn.lock().expect("locks");
    if !file.exists() {
        for entry in fs::read_dir(&folder).expect("lists").flatten() {
            let found = entry.file_name();
            let of_before = found.to_str().and_then(|found| found.strip_suffix(name));
            if of_before.is_some_and(|before| before.ends_with('-')) {
                let _ = fs::remove_file(entry.path());
            }
        }
        // Whoever reads it sees the whole of it, though this process may end in between.
        let half = folder.join(format!("{name}.half"));
        let _ = fs::remove_file(&half);
        make(&half);
        fs::rename(half, &file).expect("renames");
    }
    file
}

/// The folder of a program, whichever build of it this is: another program is built at another time.
fn folder_of(program: &Path) -> PathBuf {
    let name = program.file_stem().and_then(OsStr::to_str);
    let name = name.expect("programs of tests have plain names");
    // What follows the name differs from build to build.
    let name = name.rsplit_once('-').map_or(name, |(name, _)| name);
    let folder = temporary_folder(program).join(name);
    fs::create_dir_all(&folder).expect("makes");
    folder
}

/// The folder that Cargo has for files of integration tests and benches. It is named (`CARGO_TARGET_TMPDIR`) to those
/// alone, and not to crates that they use; it is next to the folder of the profile, in whose `deps` they are.
pub(super) fn temporary_folder(program: &Path) -> PathBuf {
    let target = program.ancestors().nth(3);
    target
        .expect("a program in target/PROFILE/deps")
        .join("tmp")
}
