//! The mark of a store in the place of its files: two stores never share a place.

use std::fmt;

use object_store::path::Path;
use object_store::{ObjectStoreExt as _, PutPayload};
use uuid::Uuid;

use super::place::{Place, PlaceError};
use crate::store::{Scope, Store, StoreError, Tx};

/// The name of the mark.
pub(super) const NAME: &str = "tplkit-store";

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
    /// The place is away.
    #[error("the place of files is not available: {0}")]
    Place(String),
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

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

impl From<PlaceError> for MarkError {
    fn from(error: PlaceError) -> MarkError {
        MarkError::Place(error.to_string())
    }
}

impl Place {
    async fn mark(&self) -> Result<MarkedAs, PlaceError> {
        let read = self.objects().get(&Path::from(NAME)).await;
        let bytes = match read.map_err(PlaceError::from) {
            Ok(found) => found.bytes().await.map_err(PlaceError::from)?,
            Err(PlaceError::Missing) => return Ok(MarkedAs::Nothing),
            Err(error) => return Err(error),
        };
        let id = std::str::from_utf8(&bytes)
            .ok()
            .and_then(|text| Uuid::try_parse(text.trim()).ok());
        Ok(id.map_or(MarkedAs::Other, MarkedAs::Store))
    }

    async fn set_mark(&self, store: Uuid) -> Result<(), PlaceError> {
        let text = PutPayload::from(format!("{store}\n"));
        self.objects().put(&Path::from(NAME), text).await?;
        Ok(())
    }
}

/// Makes sure that a place is that of a store, and marks one that is nobody's where the store has no files yet. Of a
/// place that goes with its process the records of files go instead.
///
/// # Errors
/// When it is another's, unless it is to be taken over; those of place and store.
pub async fn claim(store: &Store, place: &Place, adopt: bool) -> Result<(), MarkError> {
    if place.is_memory() {
        return Ok(store
            .write_long(&Scope::Operator, (), |tx, ()| Box::pin(forget_files(tx)))
            .await?);
    }
    let (id, has_files) = known(store).await?;
    let found = place.mark().await?;
    match found {
        MarkedAs::Store(found) if found == id => Ok(()),
        MarkedAs::Nothing if !has_files => Ok(place.set_mark(id).await?),
        _ if adopt => Ok(place.set_mark(id).await?),
        found => Err(MarkError::Other { found, store: id }),
    }
}

/// Makes sure that a place is not another store's.
///
/// # Errors
/// As [`claim`].
pub async fn check(store: &Store, place: &Place) -> Result<(), MarkError> {
    let (id, has_files) = known(store).await?;
    match place.mark().await? {
        MarkedAs::Store(found) if found == id => Ok(()),
        MarkedAs::Nothing if !has_files => Ok(()),
        found => Err(MarkError::Other { found, store: id }),
    }
}

async fn known(store: &Store) -> Result<(Uuid, bool), StoreError> {
    store
        .read(&Scope::Operator, (), |tx, ()| Box::pin(identity(tx)))
        .await
}

async fn identity(tx: &mut Tx) -> Result<(Uuid, bool), StoreError> {
    let sql = "SELECT id, EXISTS (SELECT 1 FROM files) FROM store_identity";
    let row = tx.first(sql, &[]).await?;
    let row = row.ok_or_else(|| StoreError::Internal("the store has no identity".to_owned()))?;
    Ok((row.get(0)?, row.get(1)?))
}

/// The bytes went with a process before: so do their records.
async fn forget_files(tx: &mut Tx) -> Result<(), StoreError> {
    for sql in [
        "DELETE FROM main.files",
        "DELETE FROM main.file_objects",
        "UPDATE main.organizations SET file_bytes = 0 WHERE file_bytes <> 0",
    ] {
        tx.query(sql, &[]).await?;
    }
    Ok(())
}
