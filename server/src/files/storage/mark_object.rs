//! The object that marks a place as that of a store, and what was there before it.
//!
//! It is an object of lines: the id of the store, then the names of what lay there when it was marked. These are
//! no business of the store, nor is what lies below the mark of another one.

use std::fmt;
use std::io;
use std::path::{Path as FilePath, PathBuf};

use futures_util::StreamExt as _;
use object_store::path::Path;
use object_store::{ObjectStore as _, ObjectStoreExt as _, PutMode, PutOptions, PutPayload};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::own_name::{self, is_own};
use super::{FileStorage, FileStorageError, NAME, StorageKind};

/// Whose a place is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkedAs {
    /// Nobody's.
    Nothing,
    /// Another store's.
    Store(Uuid),
    /// Something else is there under that name.
    Other,
}

impl fmt::Display for MarkedAs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MarkedAs::Nothing => f.write_str("no store (it has no mark)"),
            MarkedAs::Store(id) => write!(f, "the store {id}"),
            MarkedAs::Other => f.write_str("something that is not a store"),
        }
    }
}

/// What the mark says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Whose the place is.
    pub of: MarkedAs,
    /// What lay there before, by name.
    pub before: Vec<String>,
}

impl Mark {
    fn read(text: &[u8]) -> Mark {
        let mut lines = std::str::from_utf8(text).unwrap_or_default().lines();
        let of = lines.next().and_then(|id| Uuid::try_parse(id.trim()).ok());
        Mark {
            of: of.map_or(MarkedAs::Other, MarkedAs::Store),
            before: lines.map(str::to_owned).collect(),
        }
    }

    /// Whether something is the mark, was there before, or belongs to what was: a database has files next to it. What has
    /// the name of an object is the store's all the same.
    pub fn knows(&self, key: &str) -> bool {
        if key == NAME {
            return true;
        }
        let top = one_line(key.split('/').next().unwrap_or_default());
        let known = self.before.iter().any(|known| {
            let rest = top.strip_prefix(known.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        });
        known && !is_own(key)
    }
}

/// A name as a mark has it.
fn one_line(name: &str) -> String {
    name.replace(['\n', '\r'], "\u{FFFD}")
}

impl FileStorage {
    /// The mark.
    ///
    /// # Errors
    /// When the place is away.
    pub async fn mark(&self) -> Result<Mark, FileStorageError> {
        let read = self.objects.get(&Path::from(NAME)).await;
        match read.map_err(FileStorageError::from) {
            Ok(found) => Ok(Mark::read(&found.bytes().await?)),
            Err(FileStorageError::Missing) => Ok(Mark {
                of: MarkedAs::Nothing,
                before: Vec::new(),
            }),
            Err(error) => Err(error),
        }
    }

    /// Marks a place that has no mark, and gives the names of what else lies in it: it is left alone from then on. Nothing
    /// where another store was first.
    ///
    /// # Errors
    /// When the place is away, full, or may not be written.
    pub async fn set_first_mark(
        &self,
        store: Uuid,
    ) -> Result<Option<Vec<String>>, FileStorageError> {
        let before = self.names().await?;
        let create = PutOptions::from(PutMode::Create);
        let name = Path::from(NAME);
        let written = self.objects.put_opts(&name, text(store, &before), create);
        match written.await {
            Ok(_) => Ok(Some(before)),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(None),
            // Not every bucket and not every file system can refuse to write over an object.
            Err(_) if self.mark().await?.of == MarkedAs::Nothing => {
                self.objects.put(&name, text(store, &before)).await?;
                Ok(Some(before))
            }
            Err(_) => Ok(None),
        }
    }

    /// Marks a place that is taken over, and gives the names of what lies there and belongs to no store:
    /// that is left alone from then on.
    ///
    /// # Errors
    /// When the place is away, full, or may not be written.
    pub async fn replace_mark(&self, store: Uuid) -> Result<Vec<String>, FileStorageError> {
        let mut before = self.names().await?;
        before.retain(|name| !own_name::is_top(name));
        self.objects
            .put(&Path::from(NAME), text(store, &before))
            .await?;
        Ok(before)
    }

    /// The names at the top of the place, but for its mark.
    async fn names(&self) -> Result<Vec<String>, FileStorageError> {
        let mut names: Vec<String> = if let StorageKind::Folder(folder) = &self.kind {
            names_in(folder.path().to_owned()).await?
        } else {
            let found = self.objects.list_with_delimiter(None).await?;
            let objects = found.objects.into_iter().map(|object| object.location);
            let names = found.common_prefixes.into_iter().chain(objects);
            names.map(|name| name.to_string()).collect()
        };
        names.retain(|name| name != NAME);
        for name in &mut names {
            *name = one_line(name);
        }
        names.sort();
        Ok(names)
    }

    /// The names below the place that bear the mark of another store, each with a slash behind it.
    ///
    /// # Errors
    /// When the place is away.
    pub async fn marks_below(&self) -> Result<Vec<String>, FileStorageError> {
        let mut marks = Vec::new();
        let mut listing = self.list(None).await?;
        while let Some(listed) = listing.next().await {
            let key = listed?.key;
            if let Some(folder) = key.strip_suffix(NAME)
                && folder.ends_with('/')
                && !folder.split('/').next().is_some_and(own_name::is_top)
            {
                marks.push(folder.to_owned());
            }
        }
        Ok(marks)
    }

    /// Makes sure that the place is there. A folder that is not mounted is empty or none, and a bucket that is none cannot
    /// be listed.
    ///
    /// # Errors
    /// When it is not.
    pub async fn is_there(&self) -> Result<(), FileStorageError> {
        if !self.is_memory() && !matches!(self.kind, StorageKind::Folder(_)) {
            let first = self.list(None).await?.next().await;
            return first.transpose().map(drop);
        }
        self.is_mounted().await
    }

    /// The same before something is written: a folder would be made anew, and a bucket that is none says so then.
    pub(super) async fn is_mounted(&self) -> Result<(), FileStorageError> {
        let StorageKind::Folder(folder) = &self.kind else {
            return Ok(());
        };
        let path = folder.path().to_owned();
        let mounted = spawn_blocking(move || is_mounted(&path)).await;
        if mounted.map_err(|error| FileStorageError::Unavailable(error.to_string()))?? {
            return Ok(());
        }
        Err(FileStorageError::Unavailable(NOT_MOUNTED.to_owned()))
    }

    /// What it means that an object is not there.
    pub(super) async fn why_missing(&self) -> FileStorageError {
        self.is_there()
            .await
            .err()
            .unwrap_or(FileStorageError::Missing)
    }
}

/// What is wrong with a folder that is not mounted.
pub(super) const NOT_MOUNTED: &str = "the folder is empty or not there; it may not be mounted";

/// Whether a folder has its mark, or anything else.
pub(super) fn is_mounted(folder: &FilePath) -> io::Result<bool> {
    if std::fs::exists(folder.join(NAME))? {
        return Ok(true);
    }
    match std::fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The text of a mark.
fn text(store: Uuid, before: &[String]) -> PutPayload {
    let lines = std::iter::once(store.to_string()).chain(before.iter().cloned());
    let text: String = lines.flat_map(|line| [line, "\n".to_owned()]).collect();
    PutPayload::from(text)
}

/// The names in a folder, which may not be there.
async fn names_in(folder: PathBuf) -> Result<Vec<String>, FileStorageError> {
    let names = spawn_blocking(move || {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        Ok::<_, io::Error>(names)
    });
    let names = names.await;
    match names.map_err(|error| FileStorageError::Unavailable(error.to_string()))? {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        names => Ok(names?),
    }
}

#[cfg(test)]
mod tests {
    use super::{Mark, MarkedAs};
    use uuid::Uuid;

    #[test]
    fn a_mark_knows_what_was_there_before() {
        let mark = Mark::read(
            "0198c0de-0000-7000-8000-0000000000c1\nx.db\nphotos\na\u{FFFD}b\npictures\n".as_bytes(),
        );
        let id = "0198c0de-0000-7000-8000-0000000000c1";
        assert_eq!(
            mark.of,
            MarkedAs::Store(Uuid::try_parse(id).expect("an id"))
        );
        for (key, known) in [
            ("tplkit-store", true),
            ("x.db", true),
            ("x.db-wal", true),
            ("x.dbs", false),
            ("photos/a/b.jpg", true),
            ("photos2/a", false),
            ("uploads/x", false),
            ("a\nb", true),
            ("pictures-1", true),
            ("photos/0198c0de-0000-7000-8000-0000000000c1", true),
        ] {
            assert_eq!(mark.knows(key), known, "{key}");
        }
        assert_eq!(Mark::read(b"hello").of, MarkedAs::Other);
        assert_eq!(Mark::read(&[0xFF]).of, MarkedAs::Other);
    }
}
