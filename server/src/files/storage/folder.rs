//! A folder of the machine, and files that are written into it while their bytes come.
//!
//! Bytes are flushed to the disk in small portions, one upload at a time: a commit of a database on the same disk waits
//! for all that is in flight to it, and a large file at once would keep it waiting as long.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use object_store::PutPayload;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use super::FileStorageError;

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
    /// Adds bytes, after those before.
    pub(super) fn write(
        &mut self,
        bytes: PutPayload,
    ) -> impl Future<Output = Result<(), FileStorageError>> + Send + 'static {
        self.unflushed += bytes.content_length();
        let flush = self.unflushed >= PORTION;
        if flush {
            self.unflushed = 0;
        }
        let (file, flushing) = (Arc::clone(&self.file), Arc::clone(&self.flushing));
        async move {
            let to = Arc::clone(&file);
            apart(move || bytes.iter().try_for_each(|piece| (&*to).write_all(piece))).await?;
            if flush {
                let _turn = flushing.lock().await;
                apart(move || file.sync_data()).await?;
            }
            Ok(())
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
