//! A job that is killed at one of its units: before that is written, or after.

use tplkit::workspace::ledger::Entry;
use tplkit::workspace::{CommitError, Id, Lookup, Source, StoredRow, Structure, Target, Unit};

/// When a job is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kill {
    /// At which unit, counted from 0.
    pub(super) unit: usize,
    /// Whether that is written: the response is lost, the effect is not.
    pub(super) written: bool,
}

/// A workspace for one attempt at a job, which is killed on request.
pub(super) struct Attempt<'t, T> {
    target: &'t mut T,
    kill: Option<Kill>,
    /// Units that were asked for.
    pub(super) units: usize,
    pub(super) killed: bool,
    /// The report of the unit that completed the job, when the job was killed at it: nobody takes it up again.
    pub(super) completed: Option<String>,
}

impl<'t, T> Attempt<'t, T> {
    pub(super) fn new(target: &'t mut T, kill: Option<Kill>) -> Attempt<'t, T> {
        Attempt {
            target,
            kill,
            units: 0,
            killed: false,
            completed: None,
        }
    }
}

impl<T: Source + Sync> Source for Attempt<'_, T> {
    type Error = T::Error;

    async fn structure(&self) -> Result<Structure, T::Error> {
        self.target.structure().await
    }

    async fn rows(
        &self,
        feature: Id,
        after: Option<Id>,
        limit: usize,
    ) -> Result<Vec<StoredRow>, T::Error> {
        self.target.rows(feature, after, limit).await
    }
}

impl<T: Lookup + Sync> Lookup for Attempt<'_, T> {
    async fn matching(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<Option<StoredRow>>, T::Error> {
        self.target.matching(feature, column, values).await
    }

    async fn fetch(&self, feature: Id, ids: &[Id]) -> Result<Vec<Option<StoredRow>>, T::Error> {
        self.target.fetch(feature, ids).await
    }

    async fn taken(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<bool>, T::Error> {
        self.target.taken(feature, column, values).await
    }

    async fn row_capacity(&self) -> Result<Option<u64>, T::Error> {
        self.target.row_capacity().await
    }

    async fn sequence(&self, feature: Id, column: Id) -> Result<Option<u64>, T::Error> {
        self.target.sequence(feature, column).await
    }
}

impl<T: Target + Send + Sync> Target for Attempt<'_, T> {
    async fn ledger(&self) -> Result<Vec<Entry>, T::Error> {
        self.target.ledger().await
    }

    async fn commit(&mut self, unit: Unit) -> Result<(), CommitError<T::Error>> {
        let at = self.units;
        self.units += 1;
        match self.kill {
            Some(kill) if at >= kill.unit => {
                self.killed = true;
                if kill.written && at == kill.unit {
                    let report = unit.report.clone();
                    self.target.commit(unit).await?;
                    self.completed = report;
                }
                Err(CommitError::Fenced)
            }
            _ => self.target.commit(unit).await,
        }
    }
}
