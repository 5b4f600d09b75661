//! Takes away what a job wrote, told by its ledger (`rest` 6.8): one unit, all or nothing.
//!
//! Afterwards everything is as it was before the job: rows, configs, sequences. What people have
//! done since is not lost silently: it refuses the undo, unless that is asked for.

use std::collections::{HashMap, HashSet};
use std::fmt;

use indexmap::IndexMap;

use crate::problem::Code;
use crate::workspace::ledger::{Entry, Moved, RowDigest, Structure, Updates};
use crate::workspace::{
    Change, CommitError, Id, Kind, Progress, Refused, Removal, RowWrite, StoredRow, Target, Unit,
};

/// Why a job was not undone; nothing was taken away.
#[derive(Debug, thiserror::Error)]
pub enum UndoError<E> {
    /// It was undone before.
    #[error("the job was undone already; there is nothing left of it")]
    Conflict,
    /// Something that people did since would be lost.
    #[error("undo would lose what was done since: {}; undo with force to lose it", told(.0))]
    NotEmpty(Vec<Lost>),
    /// The store refused.
    #[error("the undo was refused, and nothing was taken away: {detail}")]
    Refused {
        /// The stable code.
        code: Code,
        /// Why.
        detail: String,
    },
    /// Somebody else works on the job.
    #[error("another worker has taken the job over; nothing was taken away")]
    Fenced,
    /// The store failed.
    #[error("the store failed {doing}; look at the job before trying again")]
    Store {
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        #[source]
        source: E,
    },
}

/// What an undo would lose of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// The table.
    pub feature: Id,
    /// Its name.
    pub name: String,
    /// Rows of the job that were edited since.
    pub edited: Vec<Id>,
    /// How many rows of others a table holds that the job created.
    pub foreign: u64,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = |count: u64| if count == 1 { "row" } else { "rows" };
        let edited = self.edited.len() as u64;
        write!(f, "table {:?} has ", self.name)?;
        if edited > 0 {
            write!(f, "{edited} {} edited since", rows(edited))?;
        }
        if edited > 0 && self.foreign > 0 {
            f.write_str(" and ")?;
        }
        if self.foreign > 0 {
            write!(f, "{} {} of others", self.foreign, rows(self.foreign))?;
        }
        Ok(())
    }
}

fn told(lost: &[Lost]) -> String {
    let texts: Vec<String> = lost.iter().map(Lost::to_string).collect();
    texts.join(", ")
}

/// Takes away what the job wrote; with `force` also what people did to it.
pub async fn undo<T: Target>(target: &mut T, force: bool) -> Result<(), UndoError<T::Error>> {
    let ledger = target.ledger().await.map_err(store("reading the ledger"))?;
    if ledger.iter().any(|entry| matches!(entry, Entry::Undone)) {
        return Err(UndoError::Conflict);
    }
    let traces = Traces::read(ledger);
    let mut changes = traces.restored_rows(target, force).await?;
    changes.extend(traces.removals(force));
    changes.extend(
        traces
            .sequences
            .iter()
            .rev()
            .map(|(feature, moved)| Change::RewindSequence {
                feature: *feature,
                column: moved.column,
                from: moved.to,
                to: moved.from,
            }),
    );
    changes.extend(
        traces
            .structures
            .iter()
            .rev()
            .flat_map(|s| taken_back(s, force)),
    );
    let unit = Unit {
        changes,
        entry: Some(Entry::Undone),
        progress: Progress {
            phase: "undo",
            done: 1,
            total: 1,
        },
        report: None,
    };
    match target.commit(unit).await {
        Ok(()) => Ok(()),
        Err(CommitError::Fenced) => Err(UndoError::Fenced),
        Err(CommitError::Store(source)) => Err(UndoError::Store {
            doing: "taking the job back",
            source,
        }),
        Err(CommitError::Refused(refused)) => Err(traces.explain(target, refused).await?),
    }
}

fn store<E>(doing: &'static str) -> impl FnOnce(E) -> UndoError<E> {
    move |source| UndoError::Store { doing, source }
}

/// What a ledger says was written.
#[derive(Default)]
struct Traces {
    structures: Vec<Structure>,
    /// Rows by table, with what they held when the job last wrote them.
    rows: IndexMap<Id, IndexMap<Id, RowDigest>>,
    updates: Vec<Updates>,
    sequences: Vec<(Id, Moved)>,
}

impl Traces {
    fn read(ledger: Vec<Entry>) -> Traces {
        let mut traces = Traces::default();
        for entry in ledger {
            match entry {
                Entry::Structure(structure) => traces.structures.push(structure),
                Entry::Rows(rows) => {
                    let table = traces.rows.entry(rows.feature).or_default();
                    table.extend(rows.rows.iter().map(|row| (row.id, row.digest)));
                    let moved = rows.sequences.into_iter();
                    traces
                        .sequences
                        .extend(moved.map(|moved| (rows.feature, moved)));
                }
                Entry::Links(links) => {
                    let table = traces.rows.entry(links.feature).or_default();
                    table.extend(links.rows.iter().map(|row| (row.id, row.digest)));
                }
                Entry::Updates(updates) => traces.updates.push(updates),
                Entry::Closed { .. }
                | Entry::Published { .. }
                | Entry::Completed
                | Entry::Undone => {}
            }
        }
        traces
    }

    /// Changed rows as they were, newest first. Rows that are gone stay gone.
    async fn restored_rows<T: Target>(
        &self,
        target: &T,
        force: bool,
    ) -> Result<Vec<Change>, UndoError<T::Error>> {
        let mut changes = Vec::new();
        if self.updates.is_empty() {
            return Ok(changes);
        }
        let structure = target.structure().await;
        let structure = structure.map_err(store("reading the structure"))?;
        let there = |updates: &&Updates| structure.feature(updates.feature).is_some();
        for updates in self.updates.iter().rev().filter(there) {
            let stored = self.stored(target, updates).await?;
            let rows = updates.rows.iter().zip(stored);
            let rows: Vec<RowWrite> = rows
                .filter(|(_, stored)| stored.is_some())
                .map(|(row, _)| RowWrite {
                    id: row.id,
                    cells: row.before.clone(),
                    replace: true,
                    digest: (!force).then_some(row.digest),
                })
                .collect();
            if !rows.is_empty() {
                let feature = updates.feature;
                changes.push(Change::UpdateRows { feature, rows });
            }
        }
        Ok(changes)
    }

    async fn stored<T: Target>(
        &self,
        target: &T,
        updates: &Updates,
    ) -> Result<Vec<Option<StoredRow>>, UndoError<T::Error>> {
        let ids: Vec<Id> = updates.rows.iter().map(|row| row.id).collect();
        let stored = target.fetch(updates.feature, &ids).await;
        stored.map_err(store("reading rows"))
    }

    fn removals(&self, force: bool) -> impl Iterator<Item = Change> {
        self.rows.iter().map(move |(feature, rows)| {
            let rows = rows.iter().map(|(id, digest)| Removal {
                id: *id,
                digest: (!force).then_some(*digest),
            });
            Change::RemoveRows {
                feature: *feature,
                rows: rows.collect(),
            }
        })
    }

    /// Why the store refused, told by name.
    async fn explain<T: Target>(
        &self,
        target: &T,
        refused: Refused,
    ) -> Result<UndoError<T::Error>, UndoError<T::Error>> {
        let mut lost = Vec::new();
        if refused.code == Code::NotEmpty {
            let structure = target.structure().await;
            let structure = structure.map_err(store("reading the structure"))?;
            let created: HashSet<Id> = self
                .structures
                .iter()
                .flat_map(|structure| &structure.created)
                .filter(|created| created.kind == Kind::Feature)
                .map(|created| created.id)
                .collect();
            for feature in structure.features.iter().chain(&structure.shared) {
                let mut found = Lost {
                    feature: feature.id,
                    name: feature.name.clone(),
                    edited: self.edited(target, feature.id).await?,
                    foreign: 0,
                };
                if created.contains(&feature.id) {
                    found.foreign = self.foreign(target, feature.id).await?;
                }
                if !found.edited.is_empty() || found.foreign > 0 {
                    lost.push(found);
                }
            }
        }
        Ok(if lost.is_empty() {
            UndoError::Refused {
                code: refused.code,
                detail: refused.message,
            }
        } else {
            UndoError::NotEmpty(lost)
        })
    }

    async fn edited<T: Target>(
        &self,
        target: &T,
        feature: Id,
    ) -> Result<Vec<Id>, UndoError<T::Error>> {
        let mut digests: HashMap<Id, RowDigest> = HashMap::new();
        let rows = self.rows.get(&feature).into_iter().flatten();
        digests.extend(rows.map(|(id, digest)| (*id, *digest)));
        // The newest word on a row is what it must still hold.
        for updates in self.updates.iter().filter(|u| u.feature == feature) {
            digests.extend(updates.rows.iter().map(|row| (row.id, row.digest)));
        }
        let mut ids: Vec<Id> = digests.keys().copied().collect();
        ids.sort_unstable();
        let mut edited = Vec::new();
        for ids in ids.chunks(PAGE) {
            let rows = target.fetch(feature, ids).await;
            let rows = rows.map_err(store("reading rows"))?;
            let changed = rows
                .into_iter()
                .flatten()
                .filter(|row| digests.get(&row.id) != Some(&RowDigest::of(&row.data)));
            edited.extend(changed.map(|row| row.id));
        }
        Ok(edited)
    }

    async fn foreign<T: Target>(
        &self,
        target: &T,
        feature: Id,
    ) -> Result<u64, UndoError<T::Error>> {
        let own = self.rows.get(&feature);
        let mut foreign = 0;
        let mut after = None;
        loop {
            let rows = target.rows(feature, after, PAGE).await;
            let rows = rows.map_err(store("reading rows"))?;
            let others = rows
                .iter()
                .filter(|row| !own.is_some_and(|own| own.contains_key(&row.id)));
            foreign += others.count() as u64;
            after = rows.last().map(|row| row.id);
            if rows.len() < PAGE {
                return Ok(foreign);
            }
        }
    }
}

/// Rows that are read at once.
const PAGE: usize = 500;

/// The first phase backwards: configs as they were, then what was created goes, newest first.
fn taken_back(structure: &Structure, force: bool) -> Vec<Change> {
    let restored = structure.replaced.iter().rev();
    let restored = restored.map(|replaced| Change::Restore {
        kind: replaced.kind,
        id: replaced.id,
        current: replaced.after.clone(),
        config: replaced.before.clone(),
    });
    let removed = structure.created.iter().rev();
    let removed = removed.map(|created| Change::Remove {
        kind: created.kind,
        id: created.id,
        force,
    });
    restored.chain(removed).collect()
}

#[cfg(test)]
mod tests;
