//! Claims the place of files for a store: two stores never share one.

use uuid::Uuid;

use super::storage::{FileStorage, FileStorageError, MarkedAs};
use crate::store::{Scope, Store, StoreError, Tx};

/// Why a place is not that of a store.
#[derive(Debug, thiserror::Error)]
pub enum MarkError {
    /// It is another store's, or nobody's.
    #[error(
        "the place of files belongs to {found}, and this is the store {store}: name the right place with --files, or \
         take this one over with --files-adopt"
    )]
    Other {
        /// What the mark says.
        found: MarkedAs,
        /// The id of the store.
        store: Uuid,
    },
    /// The same, of a place that is only looked at.
    #[error(
        "the place of files belongs to {found}, and this is the store {store}: name the place of its files with --files"
    )]
    Foreign {
        /// What the mark says.
        found: MarkedAs,
        /// The id of the store.
        store: Uuid,
    },
    /// The place is away.
    #[error("the place of files is not available: {0}")]
    Storage(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<FileStorageError> for MarkError {
    fn from(error: FileStorageError) -> MarkError {
        MarkError::Storage(error.to_string())
    }
}

/// Makes sure that a place is that of a store, and marks one that is nobody's where the store has no files yet. Of a
/// place that goes with its process the records of files go instead.
///
/// # Errors
/// When it is another's, unless it is to be taken over; those of place and store.
pub async fn claim(store: &Store, place: &FileStorage, adopt: bool) -> Result<(), MarkError> {
    if place.is_memory() {
        return Ok(store
            .write_long(&Scope::Operator, (), |tx, ()| Box::pin(forget_files(tx)))
            .await?);
    }
    let (id, has_files) = read_identity(store).await?;
    let others = match place.mark().await?.of {
        MarkedAs::Store(found) if found == id => return Ok(()),
        MarkedAs::Nothing if !has_files => match place.set_first_mark(id).await? {
            Some(others) => others,
            // Somebody was first: a process of this store, or another one.
            None => match place.mark().await?.of {
                MarkedAs::Store(found) if found == id => return Ok(()),
                found => return Err(MarkError::Other { found, store: id }),
            },
        },
        _ if adopt => place.replace_mark(id).await?,
        found => return Err(MarkError::Other { found, store: id }),
    };
    if !others.is_empty() {
        tracing::warn!(
            ?others,
            "the place of files holds other things, which are left alone; give files a place of their own"
        );
    }
    Ok(())
}

/// Makes sure that a place is not another store's, and takes nothing over.
///
/// # Errors
/// When it is another's, or nobody's although the store has files; those of place and store.
pub async fn check(store: &Store, place: &FileStorage) -> Result<(), MarkError> {
    let (id, has_files) = read_identity(store).await?;
    match place.mark().await?.of {
        MarkedAs::Store(found) if found == id => Ok(()),
        MarkedAs::Nothing if !has_files => Ok(()),
        found => Err(MarkError::Foreign { found, store: id }),
    }
}

async fn read_identity(store: &Store) -> Result<(Uuid, bool), StoreError> {
    store
        .read(&Scope::Operator, (), |tx, ()| Box::pin(identity(tx)))
        .await
}

async fn identity(tx: &mut Tx) -> Result<(Uuid, bool), StoreError> {
    let sql = "SELECT id, EXISTS (SELECT 1 FROM files) FROM store_identity {across operator}";
    let row = tx.first(sql, &[]).await?;
    let row = row.ok_or_else(|| StoreError::Internal("the store has no identity".to_owned()))?;
    Ok((row.get(0)?, row.get(1)?))
}

/// The bytes went with a process before: so do their records.
async fn forget_files(tx: &mut Tx) -> Result<(), StoreError> {
    for sql in [
        "DELETE FROM main.files {across operator}",
        "DELETE FROM main.file_objects {across operator}",
        "UPDATE main.organizations SET file_bytes = 0 WHERE file_bytes <> 0 {across operator}",
    ] {
        tx.query(sql, &[]).await?;
    }
    Ok(())
}
