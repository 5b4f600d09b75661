//! The first reading: counts, carried columns, keys, values that others link to.

use std::borrow::Cow;
use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::FixedState;
use foldhash::quality::RandomState;

use super::reading::Reading;
use super::split::Splitter;
use super::table::{ExportedTable, Link};
use crate::context::Ids;
use crate::export::onto::{Contents, NewRows, PreviousPackage, match_rows};
use crate::export::{ExportError, ExportResult, Fault};
use crate::package::payload::RawEntry;
use crate::rows::Cell;
use crate::workspace::{Id, Source, StoredRow};

/// Reads the rows of one table. Those that an earlier package has keep their uids.
pub(in crate::export) async fn scan<S: Source + Sync>(
    source: &S,
    tables: &mut [ExportedTable],
    index: usize,
    previous: Option<&PreviousPackage<'_>>,
    ids: &mut (dyn Ids + Send),
) -> ExportResult<(), S> {
    let Some(table) = tables.get_mut(index) else {
        return Ok(());
    };
    let earlier = previous.and_then(|previous| previous.rows(&table.reference));
    let mut reading = Reading::new(table.feature);
    let mut scan = Scan {
        splitter: Splitter::default(),
        state: RandomState::default(),
        contents: earlier.map(|_| (Contents::default(), Vec::new())),
        rows: 0,
    };
    while let Some(page) = reading.next(source).await? {
        scan.page(table, &page).map_err(ExportError::Fault)?;
    }
    scan.end(table, earlier, ids).map_err(ExportError::Fault)
}

/// The first reading of a table.
struct Scan {
    splitter: Splitter,
    state: RandomState,
    /// What each row holds, when it may be a row of an earlier package.
    contents: Option<(Contents, Vec<u128>)>,
    rows: u32,
}

impl Scan {
    fn page(&mut self, table: &mut ExportedTable, page: &[StoredRow]) -> Result<(), Fault> {
        let mut cells = Vec::new();
        for row in page {
            let number = self.rows;
            self.rows = number
                .checked_add(1)
                .ok_or_else(|| Fault::Broken("more rows than can be counted".to_owned()))?;
            table.stamp = stamped(table.stamp, row);
            self.splitter.split(&table.names, &row.data, &mut cells);
            let mut shorter: Vec<(usize, String)> = Vec::new();
            for (at, slot) in table.columns.iter_mut().enumerate() {
                let Some(left) = cells[at].and_then(|cell| slot.left_of(cell)) else {
                    continue;
                };
                slot.emptied += 1;
                match left {
                    Cow::Borrowed(left) => cells[at] = Some(left),
                    Cow::Owned(left) => shorter.push((at, left)),
                }
            }
            let with_shorter;
            let cells: &[Option<&str>] = if shorter.is_empty() {
                &cells
            } else {
                with_shorter = replaced(&cells, &shorter);
                &with_shorter
            };
            if let Some((contents, held)) = &mut self.contents {
                let columns = table.columns.iter().zip(cells);
                let travelling = columns.filter(|(slot, _)| !slot.automatic);
                let travelling = travelling.filter_map(|(slot, cell)| Some((&slot.name, (*cell)?)));
                let numbers = travelling.map(|(name, cell)| contents.cell(name, cell));
                held.push(numbers.fold(0, u128::wrapping_add));
            }
            for (slot, cell) in table.columns.iter_mut().zip(cells) {
                slot.carried |= cell.is_some();
                if let Some(candidate) = &mut slot.candidate {
                    candidate.add(&self.state, *cell);
                }
                if let Some(values) = &mut slot.values {
                    match cell {
                        Some(value) if *value != "null" => values.insert(value, number),
                        // A row that was never given an identity is known by its id.
                        _ if slot.automatic => values.insert(&format!("\"{}\"", row.id), number),
                        _ => {}
                    }
                }
                if let Some(Link::Lost { count, .. }) = &mut slot.link
                    && cell.is_some_and(|cell| !Cell::new(cell).is_empty())
                {
                    *count += 1;
                }
            }
        }
        Ok(())
    }

    /// Chooses the key, and gives every row its uid.
    fn end(
        self,
        table: &mut ExportedTable,
        earlier: Option<&RawEntry<'_>>,
        ids: &mut dyn Ids,
    ) -> Result<(), Fault> {
        table.key = choose_key(table);
        let mut known: Vec<Option<String>> = Vec::new();
        if let (Some(earlier), Some((mut contents, held))) = (earlier, self.contents) {
            let keys = [table.earlier_key, table.key].into_iter().flatten();
            let keys = keys.filter_map(|at| {
                let slot = table.columns.get(at)?;
                Some((slot.name.as_str(), slot.candidate.as_ref()?.distinct()?))
            });
            let new = NewRows {
                keys: keys.collect(),
                state: &self.state,
                contents: &held,
            };
            let matched = match_rows(earlier, &new, &mut contents);
            table.unchanged = matched.unchanged;
            known = matched.uids;
        }
        let mut known = known.into_iter();
        for _ in 0..self.rows {
            if let Some(uid) = known.next().flatten() {
                table.uids.push_text(uid);
            } else {
                let uid = Id::try_parse(&ids.uuid());
                let uid = uid.map_err(|_| Fault::Broken("a minted id is not a UUID".to_owned()))?;
                table.uids.push(uid);
            }
        }
        // The values of all are forgotten.
        let columns = table.columns.iter_mut();
        columns.for_each(|slot| slot.candidate = None);
        Ok(())
    }
}

/// The cells of a row, some of which are others.
fn replaced<'r>(cells: &[Option<&'r str>], others: &'r [(usize, String)]) -> Vec<Option<&'r str>> {
    let mut replaced = cells.to_vec();
    for (at, cell) in others {
        replaced[*at] = Some(cell);
    }
    replaced
}

/// The best candidate that holds.
fn choose_key(table: &ExportedTable) -> Option<usize> {
    let candidates = table.columns.iter().zip(0..);
    let mut ranked: Vec<(u8, usize)> = candidates
        .filter_map(|(slot, at)| Some((slot.candidate.as_ref()?.rank?, at)))
        .collect();
    ranked.sort_unstable();
    let holds = |at: &usize| {
        let slot = table.columns.get(*at);
        let candidate = slot.and_then(|slot| slot.candidate.as_ref());
        candidate.is_some_and(|candidate| candidate.distinct().is_some())
    };
    ranked.into_iter().map(|(_, at)| at).find(holds)
}

/// What has been seen of the rows, one more included.
pub(super) fn stamped(stamp: u64, row: &StoredRow) -> u64 {
    let mut hasher = FixedState::with_seed(stamp).build_hasher();
    hasher.write_u128(row.id.as_u128());
    hasher.write(row.data.as_str().as_bytes());
    hasher.finish()
}
