//! Who runs the server when the tests run as root, as they do in many containers.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// A user of this machine.
#[derive(Debug, Clone, Copy)]
pub struct User {
    /// Of the user.
    pub uid: u32,
    /// Of its group.
    pub gid: u32,
}

/// The user to become: nobody else unless this is root, then `postgres` or else `nobody`.
pub fn user() -> io::Result<Option<User>> {
    // A file that this process makes belongs to whoever it runs as.
    if tempfile::tempfile()?.metadata()?.uid() != 0 {
        return Ok(None);
    }
    let accounts = fs::read_to_string("/etc/passwd")?;
    ["postgres", "nobody"]
        .iter()
        .find_map(|name| account(&accounts, name))
        .map(Some)
        .ok_or_else(|| io::Error::other("PostgreSQL refuses to run as root, and there is neither a user postgres nor nobody"))
}

fn account(accounts: &str, name: &str) -> Option<User> {
    let line = accounts
        .lines()
        .find(|line| line.split(':').next() == Some(name))?;
    let mut fields = line.split(':').skip(2);
    Some(User {
        uid: fields.next()?.parse().ok()?,
        gid: fields.next()?.parse().ok()?,
    })
}

/// The folder for temporary files, unless that is closed to another user: then `/tmp`.
pub fn temporary_folder(user: Option<&User>) -> PathBuf {
    let usual = std::env::temp_dir();
    let open = |folder: &Path| {
        fs::metadata(folder).is_ok_and(|metadata| metadata.permissions().mode() & 0o001 != 0)
    };
    if user.is_none() || usual.ancestors().all(open) {
        usual
    } else {
        PathBuf::from("/tmp")
    }
}
