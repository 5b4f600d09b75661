//! Lookups before rows are written: which keys exist already, and the targets of their links.

use std::collections::HashMap;

use foldhash::quality::FixedState;

use super::Run;
use super::columns::{Columns, Key};
use super::links::identities;
use super::row_outcome::RowOutcome;
use super::table::TableInsertion;
use crate::apply::{ApplyError, LinkWork};
use crate::package::payload::RawRow;
use crate::rows::{Cell, equal, hash};
use crate::workspace::{Target, match_each};

/// Whether the destination has what cells hold.
#[derive(Debug, Default)]
pub(super) struct MatchedKeys {
    /// In the order of rows, cells and elements.
    pub(super) here: Vec<bool>,
    /// Where those of each row begin.
    starts: Vec<usize>,
}

impl MatchedKeys {
    /// From that row on.
    pub(super) fn from(&self, row: usize) -> &[bool] {
        let start = self.starts.get(row).copied().unwrap_or_default();
        self.here.get(start..).unwrap_or_default()
    }
}

impl<'a, T: Target> Run<'_, 'a, T> {
    /// Leaves out the rows whose key the destination, or an earlier row, has. Values are compared
    /// as they are: `1` is not `"1"`, `a` is not `A`.
    pub(super) async fn by_key(
        &mut self,
        entering: &TableInsertion<'a>,
        rows: &[RawRow<'a>],
        column: &str,
        outcomes: &mut [RowOutcome],
    ) -> Result<(), ApplyError<T::Error>> {
        let slot = entering.columns.named(column);
        let key = |row: &RawRow<'a>| {
            let raw = entering.columns.cell(row.data, slot?)?;
            (raw != "null").then_some(raw)
        };
        let cells: Vec<(usize, &str)> = rows
            .iter()
            .enumerate()
            .filter(|(at, _)| matches!(outcomes[*at], RowOutcome::Out))
            .filter_map(|(at, row)| Some((at, key(row)?)))
            .collect();
        let values: Vec<String> = cells.iter().map(|(_, raw)| (*raw).to_owned()).collect();
        let mut found = Vec::new();
        if let Some(slot) = slot
            && !values.is_empty()
        {
            let name = &entering.columns.all[slot].work.column.name;
            let link_columns = entering.link_columns();
            let matching = match_each(&*self.target, entering.feature, name, &values, |row| {
                link_columns.of(row)
            });
            let matching = matching.await;
            found = matching.map_err(ApplyError::store("looking keys up"))?;
        }
        let state = FixedState::default();
        let mut earlier: HashMap<u64, Vec<(usize, &str)>> = HashMap::new();
        for ((at, raw), found) in cells.into_iter().zip(found) {
            if let Some(row) = found {
                outcomes[at] = RowOutcome::Existing(row);
                continue;
            }
            let holders = earlier.entry(hash(&state, Cell::new(raw))).or_default();
            match holders.iter().find(|(_, other)| equal(other, raw)) {
                Some((other, _)) => outcomes[at] = RowOutcome::Same(*other),
                None => holders.push((at, raw)),
            }
        }
        let unknown = outcomes
            .iter_mut()
            .filter(|outcome| matches!(outcome, RowOutcome::Out));
        for (new, outcome) in unknown.enumerate() {
            *outcome = RowOutcome::Enters(new);
        }
        Ok(())
    }

    /// For every identity that cells of links into mapped tables hold, in order, whether the
    /// destination has it.
    pub(super) async fn match_keys(
        &mut self,
        columns: &Columns<'a>,
        rows: impl Iterator<Item = (&str, Option<&str>)>,
    ) -> Result<MatchedKeys, ApplyError<T::Error>> {
        let looked_up =
            |slot: usize| matches!(columns.all[slot].work.link, LinkWork::Identity { .. });
        if !(0..columns.all.len()).any(looked_up) {
            return Ok(MatchedKeys::default());
        }
        let mut identity_cells: Vec<(usize, String)> = Vec::new();
        let mut starts = Vec::new();
        for (data, refs) in rows {
            starts.push(identity_cells.len());
            for (key, raw) in columns.cells(data) {
                let Key::Column(slot) = key else { continue };
                let name = columns.all[slot].name;
                let mut refs = refs.into_iter().flat_map(crate::rows::members);
                if looked_up(slot) && !refs.any(|(key, _)| key.is(name)) {
                    identity_cells.extend(identities(raw).map(|value| (slot, value.to_owned())));
                }
            }
        }
        let mut found = vec![false; identity_cells.len()];
        for slot in (0..columns.all.len()).filter(|slot| looked_up(*slot)) {
            let LinkWork::Identity { feature, column } = &columns.all[slot].work.link else {
                continue;
            };
            let of = |(at, (of, _)): (usize, &(usize, String))| (*of == slot).then_some(at);
            let places: Vec<usize> = identity_cells.iter().enumerate().filter_map(of).collect();
            if places.is_empty() {
                continue;
            }
            let values: Vec<String> = places
                .iter()
                .map(|at| identity_cells[*at].1.clone())
                .collect();
            let matching = match_each(&*self.target, *feature, column, &values, |row| {
                row.is_some()
            })
            .await;
            let matching = matching.map_err(ApplyError::store("looking links up"))?;
            for (at, here) in places.into_iter().zip(matching) {
                found[at] = here;
            }
        }
        Ok(MatchedKeys {
            here: found,
            starts,
        })
    }
}
