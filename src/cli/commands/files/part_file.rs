//! `FILE.part`: a file that is still coming. It stays where a download breaks, so that the next one goes on.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use tplkit::printable;

use crate::cli::error::CliError;

/// How much is read at once.
const CHUNK_BYTES: usize = 64 << 10;

/// The part of a file that has come.
pub(super) struct PartFile {
    path: PathBuf,
    target: PathBuf,
    file: File,
    length: u64,
    hash: Sha256,
    /// Length and hash of what was there when it was opened.
    earlier: (u64, Sha256),
}

impl PartFile {
    /// Opens what there is of a file. What is longer than the whole is not its beginning, and goes with `force` alone.
    ///
    /// # Errors
    /// It cannot be written, another download writes it, or it is something else.
    pub(super) fn open(target: &Path, size: u64, force: bool) -> Result<PartFile, CliError> {
        let mut path = target.as_os_str().to_owned();
        path.push(".part");
        let path = PathBuf::from(path);
        let unwritten = |source| CliError::Write {
            path: path.clone(),
            source,
        };
        let file = open(&path).map_err(unwritten)?;
        let mut length = file.metadata().map_err(unwritten)?.len();
        if length > size {
            if !force {
                let why = format!("it has {length} bytes, and the file {size}");
                return Err(no_beginning(&path, &why));
            }
            file.set_len(0).map_err(unwritten)?;
            length = 0;
        }
        let mut part = PartFile {
            target: target.to_owned(),
            file,
            length: 0,
            hash: Sha256::new(),
            earlier: (0, Sha256::new()),
            path: path.clone(),
        };
        part.read(length).map_err(unwritten)?;
        part.earlier = (part.length, part.hash.clone());
        Ok(part)
    }

    /// Reads what is there already.
    fn read(&mut self, length: u64) -> io::Result<()> {
        let mut bytes = vec![0; CHUNK_BYTES];
        while self.length < length {
            let read = self.file.read(&mut bytes)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.hash.update(&bytes[..read]);
            self.length += read as u64;
        }
        Ok(())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// How much has come.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Forgets what has come.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn begin_anew(&mut self) -> Result<(), CliError> {
        self.hash = Sha256::new();
        self.length = 0;
        let emptied = self.file.set_len(0).and_then(|()| self.file.rewind());
        emptied.map_err(|source| self.unwritten(source))
    }

    /// Forgets what has come since it was opened.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn go_back(&mut self) -> Result<(), CliError> {
        (self.length, self.hash) = self.earlier.clone();
        let cut = self.file.set_len(self.length);
        let cut = cut.and_then(|()| self.file.seek(SeekFrom::Start(self.length)));
        cut.map(drop).map_err(|source| self.unwritten(source))
    }

    /// The refusal of what stands there, which is not the beginning of the file.
    pub(super) fn no_beginning(self) -> CliError {
        no_beginning(&self.path, "it holds other bytes than the file begins with")
    }

    /// Takes what comes next.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        let written = self.file.write_all(bytes);
        written.map_err(|source| self.unwritten(source))?;
        self.hash.update(bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// SHA-256 of what has come, in hexadecimal digits.
    pub(super) fn sha256(&self) -> String {
        hex(self.hash.clone())
    }

    /// Gives the whole file its name; an older one of that name stays without `force`.
    ///
    /// # Errors
    /// There is one, or it cannot be written.
    pub(super) fn keep(self, force: bool) -> Result<(), CliError> {
        let kept = self.file.sync_all().and_then(|()| {
            if force {
                fs::rename(&self.path, &self.target)
            } else {
                name(&self.path, &self.target)
            }
        });
        kept.map_err(|source| CliError::Write {
            path: self.target.clone(),
            source,
        })
    }

    /// Takes it away where it holds nothing, or nothing of use.
    pub(super) fn remove(self) {
        // Whoever looks for it finds it empty, at worst.
        fs::remove_file(&self.path).ok();
    }

    fn unwritten(&self, source: io::Error) -> CliError {
        CliError::Write {
            path: self.path.clone(),
            source,
        }
    }
}

/// The digits of a digest.
pub(super) fn hex(hash: Sha256) -> String {
    printable::hex(hash.finalize().as_slice())
}

fn open(path: &Path) -> io::Result<File> {
    if fs::symlink_metadata(path).is_ok_and(|there| !there.is_file()) {
        let why = "it is there already, and no file";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
    }
    let mut options = OpenOptions::new();
    let file = options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let why = "another download is writing it";
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, why));
        }
        // Some file systems have no locks.
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    Ok(file)
}

fn no_beginning(path: &Path, why: &str) -> CliError {
    let shown = printable::path(path);
    CliError::Usage {
        message: format!("`{shown}` is not the beginning of the file: {why}"),
        help: "move it away, or replace it with `--force`".to_owned(),
    }
}

/// Renames a file to a name that nothing has.
fn name(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Some file systems have no such links.
        Err(_) if fs::symlink_metadata(to).is_err() => fs::rename(from, to),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::PartFile;

    #[test]
    fn what_has_come_is_gone_on_with() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a.txt");
        let mut part = PartFile::open(&target, 6, false).expect("opens");
        part.write(b"abc").expect("writes");
        assert!(PartFile::open(&target, 6, false).is_err(), "one at a time");
        drop(part);
        let mut part = PartFile::open(&target, 6, false).expect("opens");
        assert_eq!(part.length(), 3);
        part.write(b"def").expect("writes");
        let abcdef = "bef57ec7f53a6d40beb640a780a639c83bc29ac8a9816f1fc6c5c6dcd93c4721";
        assert_eq!(part.sha256(), abcdef);
        // Somebody was faster.
        fs::write(&target, "x").expect("writes");
        assert!(part.keep(false).is_err());
        let part = PartFile::open(&target, 6, false).expect("opens");
        assert_eq!(part.sha256(), abcdef);
        part.keep(true).expect("renames");
        assert_eq!(fs::read_to_string(&target).expect("a file"), "abcdef");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn what_cannot_be_a_part_of_it_goes_with_force_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a.txt");
        let foreign = folder.path().join("a.txt.part");
        fs::write(&foreign, "longer than that").expect("writes");
        let refused = PartFile::open(&target, 6, false).err().expect("refuses");
        assert!(refused.to_string().contains("a.txt.part"), "{refused}");
        let kept = fs::read_to_string(&foreign).expect("a file");
        assert_eq!(kept, "longer than that");
        let mut part = PartFile::open(&target, 6, true).expect("opens");
        assert_eq!(part.length(), 0);
        part.write(b"abcxyz").expect("writes");
        part.begin_anew().expect("empties");
        part.write(b"abcdef").expect("writes");
        part.keep(false).expect("links");
        assert_eq!(fs::read_to_string(&target).expect("a file"), "abcdef");
        fs::remove_file(&target).expect("is there");
        // What was there stays as it was, whatever came behind it.
        fs::write(&foreign, "mine").expect("writes");
        let mut part = PartFile::open(&target, 6, false).expect("opens");
        let mine = part.sha256();
        part.write(b"ef").expect("writes");
        part.go_back().expect("cuts");
        assert_eq!((part.length(), part.sha256()), (4, mine));
        let refused = part.no_beginning();
        assert!(refused.to_string().contains("a.txt.part"), "{refused}");
        assert_eq!(fs::read_to_string(&foreign).expect("a file"), "mine");
        fs::create_dir(folder.path().join("b.part")).expect("a folder");
        assert!(PartFile::open(&folder.path().join("b"), 6, true).is_err());
    }
}
