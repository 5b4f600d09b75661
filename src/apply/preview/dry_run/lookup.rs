//! What a dry run sees: the workspace, with what its own units have made of it.

use super::DryRun;
use super::tables::known_as;
use crate::workspace::{Id, Lookup, Source, StoredRow, Structure};

impl<T: Lookup + Sync> DryRun<'_, T> {
    /// Whether its own units have made something of a row.
    fn has(&self, feature: Id, id: Id) -> bool {
        self.tables.keeps(feature, id) && !self.hidden.contains(&id)
    }

    /// The places of rows of which the workspace is asked.
    fn unknown(&self, feature: Id, rows: &[Id]) -> Vec<usize> {
        if self.tables.is_fresh(feature) {
            return Vec::new();
        }
        let unknown =
            |at: &usize| !self.has(feature, rows[*at]) && !self.tables.is_minted(rows[*at]);
        (0..rows.len()).filter(unknown).collect()
    }
}

impl<T: Lookup + Sync> Source for DryRun<'_, T> {
    type Error = T::Error;

    async fn structure(&self) -> Result<Structure, T::Error> {
        self.base.structure().await
    }

    async fn rows(
        &self,
        feature: Id,
        after: Option<Id>,
        limit: usize,
    ) -> Result<Vec<StoredRow>, T::Error> {
        self.base.rows(feature, after, limit).await
    }
}

impl<T: Lookup + Sync> Lookup for DryRun<'_, T> {
    async fn matching(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<Option<StoredRow>>, T::Error> {
        let mut found = vec![None; values.len()];
        if !self.tables.is_fresh(feature) {
            // Perhaps of the first of them alone.
            found = self.base.matching(feature, column, values).await?;
            let is_key = self.tables.is_key(feature, column);
            for row in &found {
                match row {
                    row if is_key => self.note_row(feature, row.as_ref()),
                    // Which row has an identity makes no difference.
                    row => self.note(&row.is_some()),
                }
            }
        }
        for (value, found) in values.iter().zip(&mut found) {
            let row = found.take();
            let row = row.filter(|row| !self.has_given_up(row, column, value));
            *found = row.map(|row| self.as_freed(row)).or_else(|| {
                let kept = self.tables.kept_by(feature, column, known_as(value)?);
                kept.filter(|row| !self.hidden.contains(&row.id))
            });
        }
        Ok(found)
    }

    async fn fetch(&self, feature: Id, rows: &[Id]) -> Result<Vec<Option<StoredRow>>, T::Error> {
        let kept = |id: &Id| {
            let has = self.has(feature, *id);
            has.then(|| self.tables.kept(feature, *id)).flatten()
        };
        let mut found: Vec<Option<StoredRow>> = rows.iter().map(kept).collect();
        let open = self.unknown(feature, rows);
        let ids: Vec<Id> = open.iter().map(|at| rows[*at]).collect();
        let stored = match ids.as_slice() {
            [] => Vec::new(),
            ids => self.base.fetch(feature, ids).await?,
        };
        let unanswered = open.get(stored.len()).copied();
        for (at, row) in open.into_iter().zip(stored) {
            self.note_row(feature, row.as_ref());
            found[at] = row.map(|row| self.as_freed(row));
        }
        found.truncate(unanswered.unwrap_or(rows.len()));
        Ok(found)
    }

    async fn fetch_ahead(&self, feature: Id, rows: &[Id]) -> Result<(), T::Error> {
        let open = self.unknown(feature, rows).into_iter();
        let ids: Vec<Id> = open.map(|at| rows[at]).collect();
        match ids.as_slice() {
            [] => Ok(()),
            ids => self.base.fetch_ahead(feature, ids).await,
        }
    }

    async fn hidden(&self, feature: Id, rows: &[Id]) -> Result<Vec<Option<StoredRow>>, T::Error> {
        if self.tables.is_fresh(feature) {
            return Ok(vec![None; rows.len()]);
        }
        let found = self.base.hidden(feature, rows).await?;
        let kept = |(id, row): (&Id, Option<StoredRow>)| {
            self.note_row(feature, row.as_ref());
            row.map(|row| {
                let kept = self.tables.kept(feature, *id);
                kept.unwrap_or_else(|| self.as_freed(row))
            })
        };
        Ok(rows.iter().zip(found).map(kept).collect())
    }

    async fn taken(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<bool>, T::Error> {
        // Of the values of a unit that was just refused everything is known.
        let known = |value: &String| match self.tables.claim(feature, column, value) {
            Some(claim) => {
                let of_run = self.tables.holds(&claim);
                of_run.or_else(|| self.looked_up.get(&claim).copied())
            }
            None => Some(false),
        };
        let known: Vec<Option<bool>> = values.iter().map(known).collect();
        let open = values
            .iter()
            .zip(&known)
            .filter(|(_, known)| known.is_none());
        let open: Vec<String> = open.map(|(value, _)| value.clone()).collect();
        let mut unique = self.tables.unique(feature).into_iter();
        let at_base = match unique.find(|unique| unique.name == column) {
            Some(unique) if !open.is_empty() && !self.tables.is_fresh(feature) => {
                self.taken_at_base(feature, &unique, &open).await?
            }
            _ => Vec::new(),
        };
        let mut at_base = at_base.into_iter();
        let taken = known
            .into_iter()
            .map(|known| known.unwrap_or_else(|| at_base.next().unwrap_or_default()));
        Ok(taken.collect())
    }

    async fn row_capacity(&self) -> Result<Option<u64>, T::Error> {
        Ok(self.room)
    }

    async fn sequence(&self, feature: Id, column: Id) -> Result<Option<u64>, T::Error> {
        match self.sequences.get(&column) {
            Some(stands) => Ok(Some(*stands)),
            None if self.tables.is_fresh(feature) || self.tables.is_minted(column) => Ok(Some(1)),
            None => self.base.sequence(feature, column).await,
        }
    }
}
