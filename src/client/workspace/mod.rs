//! A workspace on a server as a `Source` and a `Lookup`, read over the routes that every `/v1` has.
//!
//! It never writes. Several requests are not a snapshot: callers that need one read twice and
//! compare, as the exporter does with rows. Named records of the organization (connections,
//! channels, timer profiles) are read where the server has routes for them; elsewhere their lists
//! are absent.

mod matching;
mod organization;
mod record;
mod rows;
mod structure;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Client;
use super::error::Error;
use crate::workspace::{Id, Lookup, Source, StoredRow, Structure};
use rows::Stream;

/// A workspace on a server, to read.
pub struct RemoteWorkspace<'c> {
    client: &'c Client,
    id: Id,
    /// Readings of tables that have not come to their end.
    streams: Mutex<HashMap<Id, Stream>>,
    /// Called with the number of rows so far.
    report: &'c (dyn Fn(usize) + Sync),
    /// Whether the server turned out to have no automations.
    without_automations: AtomicBool,
}

impl std::fmt::Debug for RemoteWorkspace<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RemoteWorkspace({})", self.id)
    }
}

impl<'c> RemoteWorkspace<'c> {
    /// The workspace of that id.
    pub fn new(client: &'c Client, id: Id) -> RemoteWorkspace<'c> {
        RemoteWorkspace {
            client,
            id,
            streams: Mutex::default(),
            report: &|_| (),
            without_automations: AtomicBool::new(false),
        }
    }

    /// Whether the server has no route for automations, so that none were read.
    pub fn lacks_automations(&self) -> bool {
        self.without_automations.load(Ordering::Relaxed)
    }

    /// With a callback that receives the number of rows of each page.
    #[must_use]
    pub fn reporting(mut self, report: &'c (dyn Fn(usize) + Sync)) -> RemoteWorkspace<'c> {
        self.report = report;
        self
    }
}

impl Source for RemoteWorkspace<'_> {
    type Error = Error;

    async fn structure(&self) -> Result<Structure, Error> {
        let (structure, automations) = structure::read(self.client, self.id)?;
        let lacking = automations == structure::Automations::NoRoute;
        self.without_automations.store(lacking, Ordering::Relaxed);
        Ok(structure)
    }

    async fn rows(
        &self,
        feature: Id,
        after: Option<Id>,
        limit: usize,
    ) -> Result<Vec<StoredRow>, Error> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = streams.remove(&feature).filter(|one| one.stands_at(after));
        let mut stream = stream.unwrap_or_else(|| Stream::after(feature, after));
        let rows = stream.take(self.client, limit)?;
        (self.report)(rows.len());
        if rows.len() == limit {
            streams.insert(feature, stream);
        }
        Ok(rows)
    }
}

impl Lookup for RemoteWorkspace<'_> {
    async fn matching(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<Option<StoredRow>>, Error> {
        matching::by_value(self.client, feature, column, values)
    }

    async fn fetch(&self, feature: Id, rows: &[Id]) -> Result<Vec<Option<StoredRow>>, Error> {
        matching::by_id(self.client, feature, rows)
    }

    async fn taken(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<bool>, Error> {
        let rows = self.matching(feature, column, values).await?;
        Ok(rows.iter().map(Option::is_some).collect())
    }

    /// No route says it.
    async fn row_capacity(&self) -> Result<Option<u64>, Error> {
        Ok(None)
    }

    /// No route says it.
    async fn sequence(&self, _: Id, _: Id) -> Result<Option<u64>, Error> {
        Ok(None)
    }
}
