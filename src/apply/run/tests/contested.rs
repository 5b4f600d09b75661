//! A workspace in which somebody else takes numbers of a sequence before a unit moves it.

use crate::apply::test_plan::nothing;
use crate::crashing::Memory;
use crate::workspace::{
    Change, CommitError, Id, Lookup, Source, StoredRow, Structure, Target, Unit, ledger,
};

/// A workspace in memory, and which of the units that move a sequence come too late.
pub(super) struct Contested {
    pub(super) memory: Memory,
    /// How many units have moved a sequence.
    moves: usize,
    before: Vec<usize>,
}

impl Contested {
    /// Somebody takes a number before each of these units, counted from one.
    pub(super) fn before<const N: usize>(units: [usize; N]) -> Contested {
        Contested {
            memory: Memory::new(nothing()),
            moves: 0,
            before: units.into(),
        }
    }
}

impl Source for Contested {
    type Error = <Memory as Source>::Error;

    async fn structure(&self) -> Result<Structure, Self::Error> {
        self.memory.structure().await
    }

    async fn rows(
        &self,
        feature: Id,
        after: Option<Id>,
        limit: usize,
    ) -> Result<Vec<StoredRow>, Self::Error> {
        self.memory.rows(feature, after, limit).await
    }
}

impl Lookup for Contested {
    async fn matching(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<Option<StoredRow>>, Self::Error> {
        self.memory.matching(feature, column, values).await
    }

    async fn fetch(&self, feature: Id, ids: &[Id]) -> Result<Vec<Option<StoredRow>>, Self::Error> {
        self.memory.fetch(feature, ids).await
    }

    async fn taken(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<bool>, Self::Error> {
        self.memory.taken(feature, column, values).await
    }

    async fn row_capacity(&self) -> Result<Option<u64>, Self::Error> {
        self.memory.row_capacity().await
    }

    async fn sequence(&self, feature: Id, column: Id) -> Result<Option<u64>, Self::Error> {
        self.memory.sequence(feature, column).await
    }
}

impl Target for Contested {
    async fn ledger(&self) -> Result<Vec<ledger::Entry>, Self::Error> {
        self.memory.ledger().await
    }

    async fn commit(&mut self, unit: Unit) -> Result<(), CommitError<Self::Error>> {
        let mut changes = unit.changes.iter();
        let moved = changes.find_map(|change| match change {
            Change::MoveSequence {
                feature, column, ..
            } => Some((*feature, *column)),
            _ => None,
        });
        self.moves += usize::from(moved.is_some());
        if let Some((feature, column)) = moved
            && self.before.contains(&self.moves)
        {
            let stands = self.memory.state().sequence(column);
            let theft = Change::MoveSequence {
                feature,
                column,
                from: stands,
                to: stands + 1,
            };
            self.memory
                .commit(Unit {
                    changes: vec![theft],
                    entry: None,
                    progress: unit.progress,
                    report: None,
                })
                .await?;
        }
        self.memory.commit(unit).await
    }
}
