//! A workspace whose structure is already read, so that the export sees what the user chose from.

use tplkit::client::{Error, RemoteWorkspace};
use tplkit::workspace::{Id, Source, StoredRow, Structure};

/// A remote workspace with the structure that was chosen from.
pub(super) struct CachedStructure<'r, 'c> {
    pub(super) remote: &'r RemoteWorkspace<'c>,
    pub(super) structure: Structure,
}

impl Source for CachedStructure<'_, '_> {
    type Error = Error;

    async fn structure(&self) -> Result<Structure, Error> {
        Ok(self.structure.clone())
    }

    async fn rows(
        &self,
        feature: Id,
        after: Option<Id>,
        limit: usize,
    ) -> Result<Vec<StoredRow>, Error> {
        self.remote.rows(feature, after, limit).await
    }
}
