//! A folder of the machine, and files that are written into it while their bytes come.
//!
//! Bytes are flushed to the disk in small portions, one upload at a time: a commit of a database on the same disk waits
//! for all that is in flight to it, and a large file at once would keep it waiting as long.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use object_store::PutPayload;
use sha2::{Digest as _, Sha256};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use super::FileStorageError;
use super::mark_object::{NOT_MOUNTED, is_mounted};
use crate::cpu_threads::{offer_turn, offload_low_priority};

/// What is flushed at a time, in bytes.
const PORTION: usize = 4 << 20;

/// A folder that holds objects.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Held by whoever flushes.
    flushing: Arc<Mutex<()>>,
}

impl Folder {
    pub(super) fn new(path: PathBuf) -> Folder {
        Folder {
            path,
            flushing: Arc::default(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Begins a file that does not exist yet, under a name in the folder.
    pub(super) async fn create(&self, name: &str) -> Result<GrowingFile, FileStorageError> {
        let path = self.path.join(name);
        let at = path.clone();
        let file = apart(move || {
            if let Some(above) = at.parent() {
                fs::create_dir_all(above)?;
            }
            OpenOptions::new().write(true).create_new(true).open(&at)
        });
        Ok(GrowingFile {
            file: Arc::new(file.await?),
            path,
            unflushed: 0,
            flushing: Arc::clone(&self.flushing),
        })
    }
}

impl Folder {
    /// Writes a small file, if there is none of that name; otherwise does nothing and returns false. On the disk it costs
    /// one flush of the file, where a temporary name would cost a second one; so it is for names that nobody
    /// reads before this returns. What is left where it fails goes with whatever else has no record.
    pub(super) async fn create_whole(
        &self,
        name: &str,
        bytes: PutPayload,
    ) -> Result<bool, FileStorageError> {
        let (folder, path) = (self.path.clone(), self.path.join(name));
        apart(move || {
            if !is_mounted(&folder)? {
                return Err(io::Error::other(NOT_MOUNTED));
            }
            let mut new = OpenOptions::new();
            new.write(true).create_new(true);
            let above = path.parent().unwrap_or(&folder);
            let (file, made) = match new.open(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    fs::create_dir_all(above)?;
                    (new.open(&path), true)
                }
                opened => (opened, false),
            };
            let mut file = match file {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
                opened => opened?,
            };
            let written = bytes.iter().try_for_each(|piece| file.write_all(piece));
            if let Err(error) = written.and_then(|()| file.sync_all()) {
                // Not by its name: that may be somebody else's by now.
                let _ = file.set_len(0);
                return Err(error);
            }
            let above = above
                .ancestors()
                .take_while(|path| path.starts_with(&folder));
            let changed = if made { usize::MAX } else { 1 };
            above.take(changed).try_for_each(flush_names)?;
            Ok(true)
        })
        .await
    }
}

/// Has the names in a folder on the disk.
fn flush_names(folder: &Path) -> io::Result<()> {
    // Elsewhere a folder cannot be opened, and names are on the disk with their files.
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// A file that gets longer.
#[derive(Debug)]
pub(super) struct GrowingFile {
    path: PathBuf,
    file: Arc<File>,
    /// Bytes that may not be on the disk yet.
    unflushed: usize,
    flushing: Arc<Mutex<()>>,
}

impl GrowingFile {
    /// Adds bytes, after those before, and hashes them.
    pub(super) fn write(
        &mut self,
        bytes: PutPayload,
        mut hash: Sha256,
    ) -> impl Future<Output = Result<Sha256, FileStorageError>> + Send + 'static {
        self.unflushed += bytes.content_length();
        let flush = self.unflushed >= PORTION;
        if flush {
            self.unflushed = 0;
        }
        let (file, flushing) = (Arc::clone(&self.file), Arc::clone(&self.flushing));
        async move {
            let to = Arc::clone(&file);
            let written = offload_low_priority(move || {
                for piece in &bytes {
                    hash.update(piece);
                    (&*to).write_all(piece)?;
                    offer_turn();
                }
                Ok::<_, io::Error>(hash)
            });
            let hash = written.await??;
            if flush {
                let _turn = flushing.lock().await;
                apart(move || file.sync_data()).await?;
            }
            Ok(hash)
        }
    }

    /// All bytes came: they are on the disk from now on.
    pub(super) async fn end(&mut self) -> Result<(), FileStorageError> {
        let _turn = self.flushing.lock().await;
        let file = Arc::clone(&self.file);
        apart(move || file.sync_all()).await
    }

    /// Removes it.
    pub(super) async fn remove(self) -> Result<(), FileStorageError> {
        apart(move || fs::remove_file(self.path)).await
    }
}

/// Does what may wait for the disk on a thread that may wait.
async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, FileStorageError> {
    let done = spawn_blocking(work).await;
    Ok(done.map_err(|error| FileStorageError::Unavailable(error.to_string()))??)
}
