//! Files that the first test of a build makes for all that come after: what takes long to make, and is the same each time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The file of that name; `make` writes it where there is none of this build yet.
pub(crate) fn file(name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let built = std::env::current_exe().and_then(|program| program.metadata()?.modified());
    let built = built.expect("this program").duration_since(UNIX_EPOCH);
    let stamp = built.expect("a date").as_nanos();
    let file = folder.join(format!("{stamp}-{name}"));
    let turn = File::create(folder.join(format!("{name}.lock"))).expect("creates");
    turn.lock().expect("locks");
    if !file.exists() {
        for entry in fs::read_dir(folder).expect("lists").flatten() {
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
