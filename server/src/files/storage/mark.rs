//! The mark of a store in its place, and what was there before it.
//!
//! It is an object of lines: the id of the store, then the names of what lay in the folder when it was marked. These are
//! no business of the store.

use std::fmt;
use std::io;

use futures_util::StreamExt as _;
use object_store::path::Path;
use object_store::{ObjectStoreExt as _, PutPayload};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::{FileStorage, FileStorageError, Kind, STAGING};

/// The name of the mark.
const NAME: &str = "tplkit-store";

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
            MarkedAs::Other => f.write_str("something that is no store"),
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

    /// Whether something is the mark, was there before, or belongs to what was: a database has files beside it.
    pub fn knows(&self, key: &str) -> bool {
        let top = key.split('/').next().unwrap_or_default();
        if key == NAME {
            return true;
        }
        self.before.iter().any(|known| {
            let rest = top.strip_prefix(known.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        })
    }
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

    /// Marks the place, and gives the names of what else lies in the folder: it is left alone from then on.
    ///
    /// # Errors
    /// When the place is away, full, or may not be written.
    pub async fn set_mark(&self, store: Uuid) -> Result<Vec<String>, FileStorageError> {
        let before = self.others().await?;
        let lines = std::iter::once(store.to_string()).chain(before.iter().cloned());
        let text: String = lines.flat_map(|line| [line, "\n".to_owned()]).collect();
        let mark = PutPayload::from(text);
        self.objects.put(&Path::from(NAME), mark).await?;
        Ok(before)
    }

    /// What lies in a folder and has no name that the server gives. Names of several lines are nobody's.
    async fn others(&self) -> Result<Vec<String>, FileStorageError> {
        let Kind::Folder(folder) = &self.kind else {
            return Ok(Vec::new());
        };
        let path = folder.path().to_owned();
        let names = spawn_blocking(move || {
            let mut names = Vec::new();
            for entry in std::fs::read_dir(path)? {
                names.push(entry?.file_name().to_string_lossy().into_owned());
            }
            names.sort();
            Ok::<_, io::Error>(names)
        });
        let names = names
            .await
            .map_err(|error| FileStorageError::Unavailable(error.to_string()))?;
        let mut names = match names {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            names => names?,
        };
        names.retain(|name| !is_own(name) && !name.contains('\n'));
        Ok(names)
    }

    /// Makes sure that the place is there. A folder that is not mounted is empty or none, and a bucket that is none cannot
    /// be listed.
    ///
    /// # Errors
    /// When it is not.
    pub(super) async fn is_there(&self) -> Result<(), FileStorageError> {
        if !self.is_memory() && !matches!(self.kind, Kind::Folder(_)) {
            let first = self.list(None).await?.next().await;
            return first.transpose().map(drop);
        }
        self.is_mounted().await
    }

    /// The same before something is written: a folder would be made anew, and a bucket that is none says so then.
    pub(super) async fn is_mounted(&self) -> Result<(), FileStorageError> {
        let Kind::Folder(folder) = &self.kind else {
            return Ok(());
        };
        let path = folder.path().to_owned();
        let empty = spawn_blocking(move || {
            if std::fs::exists(path.join(NAME))? {
                return Ok(false);
            }
            match std::fs::read_dir(path) {
                Ok(mut entries) => Ok(entries.next().is_none()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
                Err(error) => Err(error),
            }
        });
        let empty = empty.await;
        if empty.map_err(|error| FileStorageError::Unavailable(error.to_string()))?? {
            let why = "the folder is empty or not there; it may not be mounted";
            return Err(FileStorageError::Unavailable(why.to_owned()));
        }
        Ok(())
    }

    /// What it means that an object is not there.
    pub(super) async fn why_missing(&self) -> FileStorageError {
        self.is_there()
            .await
            .err()
            .unwrap_or(FileStorageError::Missing)
    }
}

/// Whether a name at the top of the place is one that the server gives.
fn is_own(name: &str) -> bool {
    let plain = name.split('#').next().unwrap_or_default();
    plain == NAME || plain == STAGING || Uuid::try_parse(plain).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{Mark, MarkedAs};
    use uuid::Uuid;

    #[test]
    fn a_mark_knows_what_was_there_before() {
        let mark = Mark::read(b"0198c0de-0000-7000-8000-0000000000c1\nx.db\nphotos\n");
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
        ] {
            assert_eq!(mark.knows(key), known, "{key}");
        }
        assert_eq!(Mark::read(b"hello").of, MarkedAs::Other);
        assert_eq!(Mark::read(&[0xFF]).of, MarkedAs::Other);
    }
}
