//! Sequence columns while rows are written: the store's current numbers, and which are free.

use super::Run;
use super::columns::Columns;
use super::sequence_counter::Counter;
use super::table::TableInsertion;
use crate::apply::ApplyError;
use crate::package::payload::RawRow;
use crate::rows::Identity;
use crate::workspace::Target;

/// Where a preview assumes a sequence that a remote workspace does not report: no row holds a number from here on, so that
/// none of them seems taken.
const UNREPORTED_START: u64 = 1 << 52;

impl<'a, T: Target> Run<'_, 'a, T> {
    /// Asks where the sequences stand, unless that is known; gives whether they stand elsewhere
    /// than was assumed.
    pub(super) async fn sequences(
        &mut self,
        entering: &mut TableInsertion<'a>,
    ) -> Result<bool, ApplyError<T::Error>> {
        let mut moved = false;
        if !entering.sequence_is_read {
            for counter in &mut entering.batch.sequences {
                let column = entering.columns.all[counter.slot].work.column.id;
                let sequence = self.target.sequence(entering.feature, column).await;
                let sequence = sequence.map_err(ApplyError::store("reading a sequence"))?;
                let stands = sequence.unwrap_or(UNREPORTED_START);
                moved |= stands != counter.stands;
                counter.stands = stands;
            }
            entering.sequence_is_read = true;
        }
        Ok(moved)
    }
}

impl<'a> TableInsertion<'a> {
    /// The sequences stand where the rows of the batch leave them.
    pub(super) fn number_on(&mut self) {
        for counter in &mut self.batch.sequences {
            counter.stands = counter.stands.max(counter.next);
        }
    }

    /// Numbers that rows of the package hold are not minted for others.
    pub(super) fn count_on(&mut self, rows: &(impl Iterator<Item = RawRow<'a>> + Clone)) {
        let columns = &self.columns;
        let counts = |slot: &usize| columns.all[*slot].rule.identity == Some(Identity::Sequence);
        let slots = (0..columns.all.len()).filter(counts);
        let counter = |slot| Counter {
            slot,
            stands: 1,
            next: 1,
            floor: largest(rows.clone(), columns, slot).saturating_add(1),
        };
        self.batch.sequences = slots.map(counter).collect();
    }
}

/// The largest number that rows hold in a sequence column.
fn largest<'t>(rows: impl Iterator<Item = RawRow<'t>>, columns: &Columns<'_>, slot: usize) -> u64 {
    let numbers = rows.filter_map(|row| {
        let raw = columns.cell(row.data, slot)?;
        let mut plain = String::new();
        columns.all[slot].rule.write(raw, &mut plain).ok()?;
        plain.parse().ok()
    });
    numbers.max().unwrap_or_default()
}
